package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/internal/lazyregexp"
	"memoir/memory"
	"memoir/rollout"
	"memoir/store"
)

// adopt restores the state of projects from their memories on disk if the database is older than them,
// because it is new or a backup. For each project whose live generation is not recorded it stores the
// project, its generations, the inputs of the live one and the hand edits. Otherwise the next
// consolidation would treat unknown inputs as withdrawn. The scan, which finds the sessions, comes
// first. No file is changed.
//
// Calls of forget and disable after the backup are lost.
func (r *run) adopt(ctx context.Context) error {
	if r.opts.DryRun {
		return nil
	}
	rows, err := r.store.Projects(ctx)
	if err != nil {
		return err
	}
	recorded := map[string]int64{}
	for _, row := range rows {
		recorded[row.ID] = row.Generation
	}
	removed, err := r.store.RemovedProjects(ctx)
	if err != nil {
		return err
	}
	ids, err := projectFolders(r.opts.Home)
	if err != nil && len(rows) > 0 {
		return nil // each project that is due reports the error
	}
	if err != nil {
		return err
	}
	for _, id := range ids {
		linked, err := memory.At(r.opts.Home, id).Linked()
		if err != nil || int64(linked) <= recorded[id] || slices.Contains(removed, id) {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.adoptProject(ctx, id, recorded[id]); err != nil {
			return err
		}
	}
	return nil
}

// adoptProject adopts one project's memory, and warns if it cannot be read.
func (r *run) adoptProject(ctx context.Context, id string, recorded int64) error {
	a, err := r.adoption(id)
	if err != nil || len(a.Generations) == 0 {
		if err != nil && recorded == 0 { // otherwise its next publication reports the error
			r.warn(fmt.Sprintf("project %s: its memory is not adopted: %s", id, r.redact(err.Error())), memoir.HintOf(err))
		}
		return nil
	}
	adopted, err := r.store.Adopt(ctx, a)
	if err != nil {
		return err
	}
	// If only the generation was not recorded, because the process was killed, nothing is lost.
	if adopted.New || adopted.Extractions+adopted.HandEdits > 0 {
		taken := memoir.Count(adopted.Extractions, "extraction")
		if adopted.HandEdits > 0 {
			taken += " and " + memoir.Count(adopted.HandEdits, "hand edit")
		}
		verb := "are"
		if adopted.Extractions == 1 && adopted.HandEdits == 0 {
			verb = "is"
		}
		r.warn(fmt.Sprintf("project %s: the database does not know generation %d: %s %s taken from its files",
			id, a.Generations[len(a.Generations)-1].N, taken, verb),
			"calls of `memoir forget` and `memoir sessions disable` that the database held are lost: repeat them")
	}
	return nil
}

// projectFolders lists the folders below a home that have the form of a project's id.
func projectFolders(home string) (ids []string, err error) {
	entries, err := os.ReadDir(filepath.Join(home, "projects"))
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrNotExist) { // the next publication reports it
		return nil, nil
	}
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeStorage, "make the directory readable", "list projects: %w", err)
	}
	for _, entry := range entries {
		if entry.IsDir() && projectID.MatchString(entry.Name()) {
			ids = append(ids, entry.Name())
		}
	}
	return ids, nil
}

// projectID is the form of a project's id: its name and a hash.
var projectID = lazyregexp.New(`^[^.].*-[0-9a-f]{12}$`)

// adoption reads the state of a project from its folder.
func (r *run) adoption(id string) (store.Adoption, error) {
	var a store.Adoption
	root := memory.At(r.opts.Home, id)
	live, err := root.Current()
	if err != nil || live.Generation == 0 {
		return a, err
	}
	a.Extractions = extractionsIn(live.Files, live.Manifest.Inputs)
	a.Project = r.ownerOf(id, a.Extractions)
	kept, err := root.Generations()
	if err != nil {
		return a, err
	}
	last := store.GenerationRecord{
		N: int64(live.Generation), ManifestHash: live.Manifest.Hash(), Inputs: inputsByKey(live.Manifest.Inputs),
	}
	for _, g := range kept {
		switch {
		case g.Number == live.Generation:
			last.At = g.ModTime
		case g.Number < live.Generation && g.Err == nil && g.Manifest.EditedFrom == 0:
			a.Generations = append(a.Generations, store.GenerationRecord{
				N: int64(g.Number), ManifestHash: g.Manifest.Hash(), Inputs: inputsByKey(g.Manifest.Inputs), At: g.ModTime,
			})
		}
	}
	slices.SortFunc(a.Generations, func(a, b store.GenerationRecord) int { return int(a.N - b.N) })
	a.Generations = append(a.Generations, last)

	past, err := root.PastEdits()
	a.HandEdits = map[int64][]memoir.HandEdit{}
	for _, p := range past {
		a.HandEdits[int64(p.Base)] = append(a.HandEdits[int64(p.Base)], memory.HandEdits(id, p.Edits, p.At)...)
	}
	return a, err
}

// ownerOf returns the project with an id that is not registered: the one that the directory of an
// extraction leads to, else one of which only the id is known.
func (r *run) ownerOf(id string, extractions []memoir.Extraction) memoir.Project {
	identify := r.identifier()
	for _, e := range extractions {
		if p, status := identify(e.CWD, ""); status.OK() && p.ID == id {
			return p
		}
	}
	return memoir.Project{ID: id, Name: id[:strings.LastIndexByte(id, '-')], Identity: id}
}

// extractionsIn parses the extractions from the files that companions wrote, including hand edits. It
// leaves out an extraction of which a part is missing.
func extractionsIn(files memory.Files, inputs []memory.Input) []memoir.Extraction {
	found := map[string]memoir.Extraction{}
	for _, at := range files.Paths() {
		if !strings.HasPrefix(at, summariesDir) {
			continue
		}
		if e, body, ok := readHeader(string(files[at])); ok {
			e.RolloutSummary = strings.TrimSpace(body)
			e.RolloutSlug = consolidate.SlugIn(path.Base(at), e.SessionKey)
			found[e.SessionKey] = e
		}
	}
	for _, section := range sections(string(files[rawMemoriesFile])) {
		heading, after, _ := strings.Cut(section, "\n\n")
		if read, body, ok := readHeader(after); ok {
			e := found[read.SessionKey]
			if memoir.IsEntry(read.SessionKey) { // which has no summary
				e = read
			}
			e.RawMemory = strings.TrimSpace(body)
			_, e.Title, _ = strings.Cut(strings.TrimPrefix(heading, "# "), " ")
			found[read.SessionKey] = e
		}
	}
	var out []memoir.Extraction
	for _, in := range inputs {
		e := found[in.Session]
		if e.RawMemory == "" || e.RolloutSummary == "" && memoir.EntryID(in.Session) == 0 {
			continue
		}
		e.ContentHash, e.FilterVersion = adopted(in.Hash), rollout.FilterVersion
		out = append(out, e)
	}
	return out
}

var sectionStart = lazyregexp.New(`(?m)^# .*\n\nsession: `)

// sections splits raw_memories.md by session. Each section begins with a heading, a blank line and a
// session's header.
func sections(text string) []string {
	var out []string
	starts := append(sectionStart.FindAllStringIndex(text, -1), []int{len(text)})
	for i, next := range starts[1:] {
		out = append(out, text[starts[i][0]:next[0]])
	}
	return out
}

// readHeader is the inverse of header. It returns the session of a text, and the text after the header.
func readHeader(text string) (e memoir.Extraction, body string, ok bool) {
	head, body, _ := strings.Cut(text, "\n\n")
	fields := map[string]string{}
	for line := range strings.SplitSeq(head, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		fields[name] = value
	}
	ended, err := time.Parse(time.RFC3339, fields["ended"])
	if err != nil || fields["session"] == "" || fields["agent"] == "" {
		return e, "", false
	}
	e.SessionKey = memoir.SessionKey(memoir.Source(fields["agent"]), fields["session"])
	e.EndedAt, e.StartedAt, e.CWD, e.Branch = ended, ended, fields["cwd"], fields["branch"]
	return e, body, true
}
