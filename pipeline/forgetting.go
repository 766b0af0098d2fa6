package pipeline

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/store"
)

// A forgetting is what one project's memory is made to forget.
type forgetting struct {
	edits bool // a language model makes the memory, so code takes the lines out

	what  consolidate.Forgotten
	seq   int64
	purge bool
	keys  map[string]bool   // of all sessions that were forgotten
	in    consolidate.Input // of the generation that was made
	lines store.Hashes      // that earlier forgettings left in archives
	edit  func(memoir.Note) (memoir.Note, bool)
	found []tainted // by archives
}

// tainted is an archive that rests on what was forgotten, or tells of it.
type tainted struct {
	at memory.Root
	n  int
}

// load reads what was begun for a project.
func (f *forgetting) load(ctx context.Context, st *store.Store, projectID string) error {
	extractions, err := st.WithdrawnExtractions(ctx, projectID)
	if err != nil {
		return err
	}
	all, err := st.Withdrawals(ctx)
	if err != nil {
		return err
	}
	f.what, f.seq, f.purge = consolidate.Forgotten{Extractions: extractions}, 0, false
	for _, w := range all {
		if w.ProjectID == projectID {
			f.what.Texts, f.seq, f.purge = w.Texts, w.Seq, w.Purge
		}
	}
	return nil
}

// restrict makes an input one for forgetting: notes have no trace of what is
// forgotten, and where lines are taken out of a language model's memory that memory
// rests on no more than it did.
func (f *forgetting) restrict(in *consolidate.Input, live memory.Snapshot) {
	if live.Generation == 0 { // there is no memory to forget anything
		in.Extractions = nil
	}
	f.edit = f.what.Editor(*in)
	notes := in.Notes[:0:0]
	for _, n := range in.Notes {
		if n, keep := f.edit(n); keep {
			notes = append(notes, n)
		}
	}
	if f.edits {
		last := map[string]string{}
		for _, input := range live.Manifest.Inputs {
			last[input.Session] = input.Hash
		}
		extractions := in.Extractions[:0:0]
		for _, e := range in.Extractions {
			hash, known := last[e.SessionKey]
			if !known {
				in.Known = append(slices.Clip(in.Known), e.SessionKey)
				continue
			}
			e.ContentHash = hash // what is new in it is still to be consolidated
			extractions = append(extractions, e)
		}
		in.Extractions, in.Changed = extractions, map[string]bool{}
	}
	in.Notes = notes
	f.in = *in
}

// clean is text that a person wrote without what must be forgotten.
func (r *run) clean(text string, in consolidate.Input) string {
	var what consolidate.Forgotten
	if r.forgetting != nil {
		what = r.forgetting.what
	}
	return what.Clean(text, in)
}

// archives names the earlier generations that rest on what was forgotten, or tell of
// it, those of merged projects included, by their paths in the project's folder. Lines
// are those by which they tell of it without a citation, unless the archives go.
func (f *forgetting) archives(root memory.Root) (names, lines []string, err error) {
	names, lines = []string{}, []string{}
	f.found = nil
	err = f.each(root, func(at memory.Root, n int) error {
		f.found = append(f.found, tainted{at, n})
		name, err := filepath.Rel(root.Dir(), at.Archive(n))
		names = append(names, filepath.ToSlash(name))
		if err != nil || f.purge { // then nothing of it is left to tell by
			return err
		}
		if files, err := at.ReadArchive(n); err == nil {
			lines = append(lines, f.what.Silenced(files, f.in)...)
		}
		return nil
	})
	slices.Sort(lines)
	return names, slices.Compact(lines), err
}

// purgeRoot removes those that archives found, and the live directories that are no longer
// linked.
func (f *forgetting) purgeRoot(root memory.Root) error {
	if err := eachRoot(root, memory.Root.RemovePrevious); err != nil {
		return err
	}
	for _, t := range f.found {
		if t.at != root { // nothing is published there any more, so its live files may go
			if live, err := t.at.Current(); err != nil || live.Generation == t.n {
				if err := t.at.Clear(false); err != nil {
					return err
				}
			}
		}
		if err := t.at.RemoveArchive(t.n); err != nil {
			return err
		}
	}
	return nil
}

// each calls fn for each archive that rests on what was forgotten, but for the live
// one of the project itself.
func (f *forgetting) each(root memory.Root, fn func(at memory.Root, n int) error) error {
	return eachRoot(root, func(at memory.Root) error {
		generations, err := at.Generations()
		if err != nil {
			return err
		}
		for _, g := range generations {
			if g.Live && at == root || !f.taints(at, g) {
				continue
			}
			if err := fn(at, g.Number); err != nil {
				return err
			}
		}
		return nil
	})
}

// taints reports whether a generation rests on what was forgotten, or tells of it.
// What cannot be read may hold anything.
func (f *forgetting) taints(at memory.Root, g memory.Generation) bool {
	if g.Err != nil || slices.ContainsFunc(g.Manifest.Inputs, func(in memory.Input) bool { return f.keys[in.Session] || slices.Contains(f.in.Withdrawn, in.Session) }) {
		return true
	}
	files, err := at.ReadArchive(g.Number)
	if err != nil || len(f.what.Traces(files, f.in)) > 0 || tells(files, f.lines) {
		return true
	}
	if !g.Live {
		return false
	}
	live, err := at.Current() // as people changed it since
	return err != nil || len(f.what.Traces(live.Files, f.in)) > 0
}

// tells reports whether files have a line, or a path, that was forgotten.
func tells(files memory.Files, lines store.Hashes) bool {
	if lines.Len() == 0 {
		return false
	}
	for path, content := range files {
		if lines.Has(path) {
			return true
		}
		for line := range strings.Lines(string(content)) {
			if lines.Has(strings.TrimSpace(line)) {
				return true
			}
		}
	}
	return false
}

// eachRoot visits a root, and those that were merged into it.
func eachRoot(root memory.Root, visit func(memory.Root) error) error {
	if err := visit(root); err != nil {
		return err
	}
	merged, err := root.Merged()
	if err != nil {
		return err
	}
	for _, m := range merged {
		if err := eachRoot(m, visit); err != nil {
			return err
		}
	}
	return nil
}

// TombstonesNamed are those of tombstones that a person names by a key, a thread id
// or the beginning of one.
func TombstonesNamed(stones []store.Tombstone, ref string) []store.Tombstone {
	match := func(ok func(key, id string) bool) []store.Tombstone {
		return slices.DeleteFunc(slices.Clone(stones), func(s store.Tombstone) bool {
			_, id, _ := strings.Cut(s.Key, ":")
			return !ok(s.Key, id)
		})
	}
	if exact := match(func(key, id string) bool { return key == ref || id == ref }); len(exact) > 0 {
		return exact
	}
	return match(func(key, id string) bool { return strings.HasPrefix(key, ref) || strings.HasPrefix(id, ref) })
}
