package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/consolidate"
	"memoir/internal/disk"
	"memoir/memory"
	"memoir/rollout"
	"memoir/store"
)

// A forgetting is what one project's memory must forget.
type forgetting struct {
	what  consolidate.Forgotten
	seq   int64
	purge bool
	keys  map[string]bool   // of all forgotten sessions
	auto  map[string]bool   // lines of journals that no person wrote
	in    consolidate.Input // input of the new generation
	edit  func(memoir.HandEdit) (memoir.HandEdit, bool)
}

// loadForgetting reads the unfinished withdrawals of a project.
func loadForgetting(ctx context.Context, st *store.Store, projectID string) (*forgetting, error) {
	extractions, err1 := st.WithdrawnExtractions(ctx)
	all, err2 := st.Withdrawals(ctx)
	lines, err3 := st.Entries(ctx, store.EntryFilter{Projects: []string{projectID}, Kind: memoir.EntryJournal,
		Disabled: true})
	forgotten, err4 := st.Forgotten(ctx)
	unshared, err5 := st.Unshared(ctx, projectID)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return nil, err
	}
	noPersons := func(e memoir.Entry) (string, bool) { return "- " + e.Text, e.Author != memoir.AuthorUser }
	f := &forgetting{what: consolidate.Forgotten{Extractions: extractions, Unshared: unshared}, keys: forgotten,
		auto: memoir.MapOf(lines, noPersons)}
	for _, w := range all {
		if w.ProjectID == projectID {
			f.what.Texts, f.seq, f.purge = w.Texts, w.Seq, w.Purge
		}
	}
	return f, nil
}

// restrict removes forgotten text from the hand edits of an input.
func (f *forgetting) restrict(in *consolidate.Input) {
	in.Withdrawn = slices.AppendSeq(in.Withdrawn, maps.Keys(f.keys)) // one may have belonged to this project before
	slices.Sort(in.Withdrawn)
	in.Withdrawn = slices.Compact(in.Withdrawn)
	if in.Base != nil {
		in.Base.Texts = f.what.Texts
	}
	f.edit = f.what.Editor(*in)
	edits := in.HandEdits[:0:0]
	for _, n := range in.HandEdits {
		if n, keep := f.edit(n); keep {
			edits = append(edits, n)
		}
	}
	in.HandEdits = edits
	f.in = *in
}

// clean removes forgotten text from a text that a person wrote; f may be nil.
func (f *forgetting) clean(text string, in consolidate.Input) string {
	var what consolidate.Forgotten
	if f != nil {
		what = f.what
	}
	return what.Clean(text, in)
}

// clearFiles removes forgotten text from journals, conversations and the history. A purge also removes it from files
// that were saved too late to be merged, about which otherwise a person decides, and removes the archives of
// generations that depend on it. clearFiles returns their paths in the project's folder.
func (f *forgetting) clearFiles(ctx context.Context, st *store.Store, root memory.Root) (removed []string, err error) {
	err = st.Alone(ctx, func() error {
		return root.RewriteBeside(func(name, text string) string {
			if !f.purge && strings.HasPrefix(name, "unmerged/") {
				return text
			}
			return f.withoutTraces(name, text)
		})
	})
	if err != nil || !f.purge {
		return nil, err
	}
	return dropGenerations(root, func(g memory.Generation) bool { return f.taints(root, g) })
}

// withoutTraces removes the lines with traces of forgotten text from a file, and headings that lose all of their
// lines. Lines of conversations, and lines that a person wrote into a journal, stay if they only have the same words.
func (f *forgetting) withoutTraces(name, text string) string {
	found := memoir.MapOf(f.what.Traces(map[string][]byte{name: []byte(text)}, f.in),
		func(t consolidate.Trace) (int, consolidate.Trace) { return t.Line, t })
	if _, named := found[0]; named {
		return ""
	}
	return memory.Without(text, func(n int, line string) bool {
		trace, traced := found[n+1]
		own := strings.HasPrefix(name, "conversations/") ||
			strings.HasPrefix(name, "journal/") && !f.auto[strings.TrimSpace(line)]
		return traced && !(trace.Alone && own)
	})
}

// taints reports whether a generation depends on forgotten sessions, names one that a restoration set aside, or
// has forgotten text. An archive that cannot be read counts as one that does.
func (f *forgetting) taints(at memory.Root, g memory.Generation) bool {
	gone := func(in memory.Input) bool { return slices.Contains(f.in.Withdrawn, in.Session) }
	if g.Err != nil || slices.ContainsFunc(slices.Concat(g.Manifest.Inputs, g.Manifest.Deferred), gone) {
		return true
	}
	files, err := at.ReadArchive(g.Number)
	return err != nil || len(f.what.Traces(files, f.in)) > 0
}

// dropGenerations removes the archives of earlier generations for which drop returns true, and live
// directories that are no longer linked. It returns the archives' paths in the project's folder.
func dropGenerations(root memory.Root, drop func(memory.Generation) bool) (removed []string, err error) {
	_, err1 := root.RemovePrevious()
	generations, err2 := root.Generations()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	for _, g := range generations {
		if g.Live || !drop(g) {
			continue
		}
		if err := root.RemoveArchive(g.Number); err != nil {
			return removed, err
		}
		removed = append(removed, "generations/"+filepath.Base(root.Archive(g.Number)))
	}
	return removed, nil
}

// fileOfTombstones has a line of hashes for each forgotten session, beside the memories: of its key, by which a
// database that was lost with its backup learns what not to read; of its title, and of its items, by which copies are
// known. Entries are not in it: their numbers may be given again, and no file has them.
func fileOfTombstones(home string) string { return filepath.Join(home, "projects", "forgotten") }

// Tombstones reads the lines of a home's file, by their first hash, and all hashes.
func Tombstones(home string) (lines map[string]string, hashes map[string]bool, err error) {
	lines, hashes = map[string]string{}, map[string]bool{}
	text, err := disk.ReadFile(fileOfTombstones(home), maxLog)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, memoir.Errorf(memoir.CodeStorage, disk.HintOr(err, "--home"), "read what was forgotten: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		for i, hash := range strings.Fields(line) {
			if hashes[hash] = true; i == 0 {
				lines[hash] = line
			}
		}
	}
	return lines, hashes, nil
}

// IsForgotten reports whether the hashes of Tombstones have a session.
func IsForgotten(hashes map[string]bool, key string) bool { return hashes[tombstone(key)] }

func tombstone(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// beginning is what was read of a session, to find what it repeats from a forgotten one.
type beginning struct {
	source memoir.Source
	items  rollout.Hasher
	said   int // bytes of the agent's words
}

// leastSaid is the number of bytes that an agent does not write twice by chance.
const leastSaid = 1 << 10

// add adds an item. It returns the item's mark, and a hash of all items so far by their words alone, since some agents
// give a fork's items new times; it is empty below leastSaid, since sessions may begin with the same words.
func (b *beginning) add(it memoir.Item) (mark, run string) {
	b.items.Add(it)
	if it.Origin == memoir.OriginAgent {
		b.said += len(it.Text)
	}
	if b.said >= leastSaid {
		run = b.items.Sum()[:16]
	}
	return rollout.Mark(b.source, it), run
}

// repeats reports whether a session begins with a copy from a forgotten one, or has its title as a fork that it names.
func repeats(h rollout.Head, forgotten map[string]bool) bool {
	return forgotten[h.Opening] || h.ParentID != "" && forgotten[tombstone(h.ParentID+h.Title)]
}

// begin begins to forget, also the sessions that repeat a forgotten one and still have its title: they have not been
// read since. forgotten has the hashes.
func (r *run) begin(ctx context.Context, what store.Forgetting, forgotten map[string]bool) error {
	known, err1 := r.store.Files(ctx)
	heads, err2 := r.store.Heads(ctx, slices.Collect(maps.Keys(known)))
	for path, text := range heads {
		var h rollout.Head
		if json.Unmarshal(text, &h) == nil && h.Title != "" && repeats(h, forgotten) {
			what.Copies = append(what.Copies, known[path].SessionKey)
		}
	}
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	r.epoch++ // this begins it
	return r.store.BeginForgetting(ctx, what)
}

// keepTombstones adds the forgotten sessions of the database to the file, after their copies were found.
func (f *forgetter) keepTombstones(ctx context.Context) error {
	lines, hashes, err1 := Tombstones(f.opts.Home)
	missing, err2 := f.store.Forgotten(ctx)
	maps.DeleteFunc(missing, func(key string, _ bool) bool { return lines[tombstone(key)] != "" || memoir.IsKept(key) })
	_, none := os.Lstat(fileOfTombstones(f.opts.Home) + disk.Beside)
	if err := errors.Join(err1, err2); err != nil || len(missing) == 0 && none != nil {
		return err
	}
	if len(missing) == 0 { // a process was killed while it lifted one
		return f.store.Alone(ctx, func() error { return disk.Discard(fileOfTombstones(f.opts.Home) + disk.Beside) })
	}
	sessions, err1 := f.store.Sessions(ctx, store.Filter{Keys: slices.Collect(maps.Keys(missing))})
	purging, err2 := f.store.Purging(ctx)
	added := map[string]string{}
	for key := range missing { // some may not be registered
		added[key] = tombstone(key) + "\n"
	}
	for _, s := range sessions {
		added[s.Key()] = f.tombstoneOf(ctx, s)
	}
	for _, hash := range strings.Fields(strings.Join(slices.Collect(maps.Values(added)), "")) {
		hashes[hash] = true
	}
	if err := errors.Join(err1, err2, context.Cause(ctx)); err != nil {
		return err
	}
	if err := f.begin(ctx, store.Forgetting{Purge: purging}, hashes); err != nil {
		return err
	}
	return f.store.Alone(ctx, func() error {
		forgotten, err := f.store.Forgotten(ctx) // one may have been lifted meanwhile
		maps.DeleteFunc(added, func(key, _ string) bool { return !forgotten[key] })
		return errors.Join(err, bury(f.opts.Home, slices.Collect(maps.Values(added)), ""))
	})
}

// tombstoneOf returns the line of a session. If its files are gone, or cannot be read, its copies are not known.
func (f *forgetter) tombstoneOf(ctx context.Context, s memoir.Session) string {
	line := tombstone(s.Key())
	parts, err := Parts(ctx, s, rollout.Probe)
	if err != nil {
		return line + "\n"
	}
	for i := range parts { // which of two files is the copy may not be known
		parts[i].Whole = parts[i].Head.ParentID == ""
	}
	line += " " + tombstone(s.ID+titleOf(parts[0].Head, f.clean))
	read := beginning{source: s.Source}
	_, _ = rollout.Read(ctx, parts, func(it memoir.Item) error {
		mark, run := read.add(it)
		line += " " + mark + " " + run
		return nil
	})
	return line + "\n"
}

func titleOf(h rollout.Head, clean func(string) string) string {
	return memoir.ShortTitle(h.CleanTitle(clean))
}

// bury adds lines to the file, and removes that of the session that Unforget lifts. The caller is Alone.
func bury(home string, added []string, lifted string) error {
	lines, _, err := Tombstones(home)
	if err != nil {
		return err
	}
	for _, line := range added {
		lines[strings.Fields(line)[0]] = line
	}
	delete(lines, tombstone(lifted))
	text := strings.Join(slices.Sorted(maps.Values(lines)), "")
	if err := disk.Replace(fileOfTombstones(home), []byte(text), 0o600); err != nil {
		return memoir.Errorf(memoir.CodeStorage, disk.HintOr(err, "--home"), "write what was forgotten: %w", err)
	}
	return nil
}

// Unforget is store.Unforget, also for a later database.
func Unforget(ctx context.Context, st *store.Store, home, key string) error {
	return st.Alone(ctx, func() error {
		if err := bury(home, nil, key); err != nil {
			return err
		}
		return st.Unforget(ctx, key)
	})
}

// forgetAgain forgets the registered sessions that have a tombstone only in the file.
func (s *scan) forgetAgain(ctx context.Context) error {
	if len(s.forgotten) == 0 {
		return nil
	}
	known, err1 := s.store.Files(ctx)
	forgotten, err2 := s.store.Forgotten(ctx)
	var again []string
	for _, row := range known {
		if s.forgotten[tombstone(row.SessionKey)] && !forgotten[row.SessionKey] {
			again = append(again, row.SessionKey)
		}
	}
	if err := errors.Join(err1, err2); err != nil || len(again) == 0 {
		return err
	}
	return s.begin(ctx, store.Forgetting{Keys: again}, s.forgotten)
}
