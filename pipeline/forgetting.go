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
	edit  func(memoir.Note) (memoir.Note, bool)
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

// archives lists the earlier generations that rest on what was forgotten, or contain it, by
// their paths in the project's folder. With a purge it removes them and rewrites what was
// saved too late; without one, it lists those files, too.
func (f *forgetting) archives(root memory.Root) ([]string, error) {
	if f.purge {
		removed, err := dropGenerations(root, func(g memory.Generation) bool { return f.taints(root, g) })
		if err == nil {
			err = root.RewriteUnmerged(f.withoutTraces)
		}
		return list(removed), err
	}
	names := []string{}
	generations, err := root.Generations()
	if err != nil {
		return nil, err
	}
	for _, g := range generations {
		if !g.Live && f.taints(root, g) {
			names = append(names, pathIn(root, root.Archive(g.Number)))
		}
	}
	late, err := root.ReadUnmerged()
	if err != nil { // what cannot be read may hold anything
		names = append(names, pathIn(root, filepath.Join(root.Dir(), "unmerged")))
	}
	for _, name := range late.Paths() {
		if len(f.what.Traces(map[string][]byte{name: late[name]}, f.in)) > 0 {
			names = append(names, pathIn(root, filepath.Join(root.Dir(), filepath.FromSlash(name))))
		}
	}
	return names, nil
}

// withoutTraces is the text of a file without the lines that tell of what was forgotten.
func (f *forgetting) withoutTraces(name, text string) string {
	told := map[int]bool{}
	for _, trace := range f.what.Traces(map[string][]byte{name: []byte(text)}, f.in) {
		told[trace.Line] = true
	}
	if told[0] { // the name itself
		return ""
	}
	var out strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		if n++; !told[n] {
			out.WriteString(line)
		}
	}
	return out.String()
}

func list(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// taints reports whether a generation rests on what was forgotten, or tells of it.
// What cannot be read may hold anything.
func (f *forgetting) taints(at memory.Root, g memory.Generation) bool {
	gone := func(in memory.Input) bool { return f.keys[in.Session] || slices.Contains(f.in.Withdrawn, in.Session) }
	if g.Err != nil || slices.ContainsFunc(g.Manifest.Inputs, gone) {
		return true
	}
	files, err := at.ReadArchive(g.Number)
	return err != nil || len(f.what.Traces(files, f.in)) > 0
}

// TellOfForgotten returns the generations that rest on sessions that were forgotten.
func TellOfForgotten(ctx context.Context, st *store.Store, generations []memory.Generation) (map[int]bool, error) {
	forgotten, err := st.Forgotten(ctx)
	if err != nil {
		return nil, err
	}
	out := map[int]bool{}
	for _, g := range generations {
		if slices.ContainsFunc(g.Manifest.Inputs, func(in memory.Input) bool { return forgotten[in.Session] }) {
			out[g.Number] = true
		}
	}
	return out, nil
}

// Found is what holds a text, as memoir.Folded compares it.
type Found struct {
	Sessions []memoir.Session // whose extraction, title or directory holds it, the latest first
	Lines    []FoundLine      // of live memories, by project, path and number
	Projects []string         // ids of those whose memory, its archives or hand edits hold it; sorted
}

// Empty reports whether nothing was found.
func (f Found) Empty() bool { return len(f.Sessions)+len(f.Projects) == 0 }

// FoundLine is a line of a live memory.
type FoundLine struct {
	Project string `json:"project"`
	Path    string `json:"path"`
	Line    int    `json:"line"` // from 1; 0: the path itself holds the text
	Text    string `json:"text"`
}

// FindText looks for a text in extractions and memories; transcripts are not read. Sessions
// that are forgotten already are left out. opts.ProjectIDs limits it to projects.
func FindText(ctx context.Context, st *store.Store, opts Options, text string) (Found, error) {
	var out Found
	text = memoir.Folded(text)
	holds := func(of string) bool { return strings.Contains(memoir.Folded(of), text) }
	wanted := func(projectID string) bool {
		return len(opts.ProjectIDs) == 0 || slices.Contains(opts.ProjectIDs, projectID)
	}
	extracted := map[string]bool{}
	err := st.Texts(ctx, "", func(t store.Text) error {
		switch {
		case t.Table == "extraction" && holds(t.Value):
			extracted[t.Key] = true
		case t.Table == "note" && holds(t.Value) && wanted(t.ProjectID):
			out.Projects = append(out.Projects, t.ProjectID)
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	sessions, err := st.Sessions(ctx, store.Filter{})
	if err != nil {
		return out, err
	}
	for _, s := range sessions {
		about := strings.Join([]string{s.Title, s.CWD, s.Branch, s.Remote, s.Error}, "\n")
		if s.Reason != memoir.ReasonForgotten && wanted(s.ProjectID) && (extracted[s.Key()] || holds(about)) {
			out.Sessions = append(out.Sessions, s)
		}
	}
	projects, err := st.Projects(ctx)
	if err != nil {
		return out, err
	}
	for _, p := range projects {
		if wanted(p.ID) {
			if err := out.inMemory(ctx, memory.At(opts.Home, p.ID), p.ID, text); err != nil {
				return out, err
			}
		}
	}
	slices.Sort(out.Projects)
	out.Projects = slices.Compact(out.Projects)
	return out, nil
}

// inMemory looks for a folded text in a project's live memory, its archives, and what was
// saved too late.
func (f *Found) inMemory(ctx context.Context, root memory.Root, projectID, text string) error {
	live, err := root.Current()
	if err != nil {
		return err
	}
	for _, path := range live.Files.Paths() {
		if strings.Contains(memoir.Folded(path), text) {
			f.Lines = append(f.Lines, FoundLine{Project: projectID, Path: path})
		}
		content := string(live.Files[path])
		lines := strings.Split(content, "\n")
		for _, n := range memoir.LinesHolding(content, text) {
			f.Lines = append(f.Lines, FoundLine{projectID, path, n, strings.TrimSpace(lines[n-1])})
		}
	}
	if says(live.Files, text) {
		f.Projects = append(f.Projects, projectID)
		return nil
	}
	if late, err := root.ReadUnmerged(); err == nil && says(late, text) {
		f.Projects = append(f.Projects, projectID)
		return nil
	}
	generations, err := root.Generations()
	if err != nil {
		return err
	}
	for _, g := range generations {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if files, err := root.ReadArchive(g.Number); err == nil && says(files, text) {
			f.Projects = append(f.Projects, projectID)
			return nil
		}
	}
	return nil
}

// says reports whether a file, or its path, holds a folded text.
func says(files memory.Files, text string) bool {
	return slices.ContainsFunc(files.Paths(), func(path string) bool {
		return strings.Contains(memoir.Folded(path), text) || len(memoir.LinesHolding(string(files[path]), text)) > 0
	})
}
