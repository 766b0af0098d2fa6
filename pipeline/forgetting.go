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
	what  consolidate.Forgotten
	seq   int64
	purge bool
	keys  map[string]bool   // of all sessions that were forgotten
	auto  map[string]bool   // lines of journals that no person wrote
	in    consolidate.Input // of the generation that was made
	edit  func(memoir.Note) (memoir.Note, bool)
}

// loadForgetting reads what was begun for a project.
func loadForgetting(ctx context.Context, st *store.Store, projectID string) (*forgetting, error) {
	extractions, err := st.WithdrawnExtractions(ctx, projectID)
	if err != nil {
		return nil, err
	}
	all, err := st.Withdrawals(ctx)
	if err != nil {
		return nil, err
	}
	lines, err := st.Entries(ctx, store.EntryFilter{Projects: []string{projectID}, Kind: memoir.EntryJournal,
		Disabled: true})
	if err != nil {
		return nil, err
	}
	f := &forgetting{what: consolidate.Forgotten{Extractions: extractions}, auto: map[string]bool{}}
	for _, e := range lines {
		f.auto["- "+e.Text] = e.Author != memoir.AuthorUser
	}
	for _, w := range all {
		if w.ProjectID == projectID {
			f.what.Texts, f.seq, f.purge = w.Texts, w.Seq, w.Purge
		}
	}
	return f, nil
}

// restrict makes an input one for forgetting: notes have no trace of what is forgotten.
func (f *forgetting) restrict(in *consolidate.Input) {
	f.edit = f.what.Editor(*in)
	notes := in.Notes[:0:0]
	for _, n := range in.Notes {
		if n, keep := f.edit(n); keep {
			notes = append(notes, n)
		}
	}
	in.Notes = notes
	f.in = *in
}

// clean is text that a person wrote without what must be forgotten; f may be nil.
func (f *forgetting) clean(text string, in consolidate.Input) string {
	var what consolidate.Forgotten
	if f != nil {
		what = f.what
	}
	return what.Clean(text, in)
}

// archives lists the earlier generations that rest on what was forgotten, or contain it, by
// their paths in the project's folder, and files that were saved too late. With a purge these
// archives are removed, and the files rewritten.
func (f *forgetting) archives(ctx context.Context, st *store.Store, root memory.Root) ([]string, error) {
	// Journals and the history are read as they are; of what was saved too late a person decides.
	err := st.Alone(ctx, func() error {
		return root.RewriteBeside(func(name, text string) string {
			if !f.purge && strings.HasPrefix(name, "unmerged/") {
				return text
			}
			return f.withoutTraces(name, text)
		})
	})
	if err != nil {
		return nil, err
	}
	if f.purge {
		return dropGenerations(root, func(g memory.Generation) bool { return f.taints(root, g) })
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
	late, err := root.Beside()
	if err != nil { // what cannot be read may hold anything
		names = append(names, pathIn(root, filepath.Join(root.Dir(), "unmerged")))
	}
	for _, name := range late.Paths() {
		if f.withoutTraces(name, string(late[name])) != string(late[name]) {
			names = append(names, name)
		}
	}
	return names, nil
}

// withoutTraces is the text of a file without the lines that tell of what was forgotten, and headings that lost
// all of theirs. What a person wrote into a journal, and what another conversation has, may say the same.
func (f *forgetting) withoutTraces(name, text string) string {
	told := map[int]consolidate.Trace{}
	for _, trace := range f.what.Traces(map[string][]byte{name: []byte(text)}, f.in) {
		told[trace.Line] = trace
	}
	if _, named := told[0]; named {
		return ""
	}
	return memory.Without(text, func(n int, line string) bool {
		trace, tells := told[n+1]
		own := strings.HasPrefix(name, "conversations/") ||
			strings.HasPrefix(name, "journal/") && !f.auto[strings.TrimSpace(line)]
		return tells && !(trace.Alone && own)
	})
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

// RestingOnForgotten returns the generations that rest on sessions that were forgotten.
func RestingOnForgotten(ctx context.Context, st *store.Store, generations []memory.Generation) (map[int]bool, error) {
	forgotten, err := st.Forgotten(ctx)
	out := map[int]bool{}
	for _, g := range generations {
		out[g.Number] = slices.ContainsFunc(g.Manifest.Inputs, func(in memory.Input) bool { return forgotten[in.Session] })
	}
	return out, err
}

// Found is what holds a text, as memoir.Folded compares it.
type Found struct {
	Sessions []memoir.Session // whose extraction, messages, title or directory hold it, the latest first
	Lines    []FoundLine      // of live memories, by project, path and number
	Projects []string         // ids of those whose memory, its archives or hand edits hold it; sorted
}

// Empty reports whether nothing was found.
func (f Found) Empty() bool { return len(f.Sessions)+len(f.Projects) == 0 }

// FoundLine is a line of a live memory.
type FoundLine struct {
	Project string
	Path    string
	Line    int // from 1; 0: the path itself holds the text
	Text    string
}

// FindText looks for a text in extractions, messages and memories; transcripts are not read. Sessions
// that are forgotten already are left out. opts.ProjectIDs limits it to projects.
func FindText(ctx context.Context, st *store.Store, opts Options, text string) (Found, error) {
	var out Found
	text = memoir.Folded(text)
	s, err := newSweep(ctx, st, opts)
	if err != nil {
		return out, err
	}
	extracted := map[string]bool{}
	err = s.each(ctx, func(at StoredPlace, value string) {
		held := memoir.LinesHolding(value, text)
		switch {
		case len(held) == 0:
			return
		case at.Table == "extraction", at.Table == "fallback":
			extracted[at.Key] = true
			return
		case at.Table == "message":
			_, key, _ := strings.Cut(at.Key, " ")
			extracted[key] = true
			return
		case at.Table != "note" && at.Table != "" || at.Project == "":
			return
		case at.live != "" && at.Line == 0: // the path
			out.Lines = append(out.Lines, FoundLine{Project: at.Project, Path: at.live})
		case at.live != "":
			lines := strings.Split(value, "\n")
			for _, n := range held {
				out.Lines = append(out.Lines, FoundLine{at.Project, at.live, n, strings.TrimSpace(lines[n-1])})
			}
		}
		out.Projects = append(out.Projects, at.Project)
	})
	if err != nil {
		return out, err
	}
	slices.Sort(out.Projects)
	out.Projects = slices.Compact(out.Projects)
	if err := supporting(opts.Home, out.Lines, extracted); err != nil {
		return out, err
	}
	sessions, err := st.Sessions(ctx, store.Filter{})
	for _, session := range sessions {
		about := strings.Join([]string{session.Title, session.CWD, session.Branch, session.Remote, session.Error}, "\n")
		wanted := session.Reason != memoir.ReasonForgotten && (s.project == "" || s.project == session.ProjectID)
		if wanted && (extracted[session.Key()] || strings.Contains(memoir.Folded(about), text)) {
			out.Sessions = append(out.Sessions, session)
		}
	}
	return out, err
}

// supporting adds the sessions that lines of MEMORY.md cite of which none holds the text: what was
// made of them would be made of them again.
func supporting(home string, lines []FoundLine, holding map[string]bool) error {
	for _, line := range lines {
		if line.Path != memoir.MemoryFile {
			continue
		}
		live, err := memory.At(home, line.Project).Current()
		if err != nil {
			return err
		}
		inputs := live.Manifest.Inputs
		var cited []string
		for _, ref := range consolidate.Cited(line.Text, live.Manifest.Citations) {
			for _, in := range inputs {
				if _, id := memoir.SplitKey(in.Session); in.Session == ref || strings.HasPrefix(id, ref) {
					cited = append(cited, in.Session)
				}
			}
		}
		if !slices.ContainsFunc(cited, func(key string) bool { return holding[key] }) {
			for _, key := range cited {
				holding[key] = true
			}
		}
	}
	return nil
}
