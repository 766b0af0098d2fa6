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

// restrict removes forgotten text from the hand edits of an input.
func (f *forgetting) restrict(in *consolidate.Input) {
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

// archives lists the archives of earlier generations that depend on forgotten sessions or have forgotten
// text, and files that were saved too late to be merged. Paths are relative to the project's folder. A
// purge removes the archives and rewrites the files.
func (f *forgetting) archives(ctx context.Context, st *store.Store, root memory.Root) ([]string, error) {
	// Journals and the history are always rewritten. A person decides about files that were saved too late.
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
	if err != nil { // a file that cannot be read may have forgotten text
		names = append(names, pathIn(root, filepath.Join(root.Dir(), "unmerged")))
	}
	for _, name := range late.Paths() {
		if f.withoutTraces(name, string(late[name])) != string(late[name]) {
			names = append(names, name)
		}
	}
	return names, nil
}

// withoutTraces removes the lines with traces of forgotten text from a file, and headings that lose all of their
// lines. Lines of conversations, and lines that a person wrote into a journal, stay if they only have the same words.
func (f *forgetting) withoutTraces(name, text string) string {
	found := map[int]consolidate.Trace{}
	for _, trace := range f.what.Traces(map[string][]byte{name: []byte(text)}, f.in) {
		found[trace.Line] = trace
	}
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
	gone := func(in memory.Input) bool { return f.keys[in.Session] || slices.Contains(f.in.Withdrawn, in.Session) }
	if g.Err != nil || slices.ContainsFunc(slices.Concat(g.Manifest.Inputs, g.Manifest.Deferred), gone) {
		return true
	}
	files, err := at.ReadArchive(g.Number)
	return err != nil || len(f.what.Traces(files, f.in)) > 0
}

// RestingOnForgotten reports for each generation whether it depends on forgotten sessions.
func RestingOnForgotten(ctx context.Context, st *store.Store, generations []memory.Generation) (map[int]bool, error) {
	forgotten, err := st.Forgotten(ctx)
	out := map[int]bool{}
	for _, g := range generations {
		out[g.Number] = slices.ContainsFunc(g.Manifest.Inputs, func(in memory.Input) bool { return forgotten[in.Session] })
	}
	return out, err
}

// Found lists where a text was found, as memoir.Folded compares it.
type Found struct {
	Sessions []memoir.Session // whose extraction, messages, title or directory contain it, the latest first
	Lines    []FoundLine      // of live memories, journals, histories and conversations, by project
	Projects []string         // ids of those whose memory, archives or hand edits contain it; sorted
}

// Empty reports whether nothing was found.
func (f Found) Empty() bool { return len(f.Sessions)+len(f.Projects) == 0 }

// FoundLine is a line of a live memory, or of a file beside it.
type FoundLine struct {
	Project string
	Path    string // in the memory, or in the project's folder
	Line    int    // from 1; 0: the path contains the text
	Text    string
}

// FindText searches extractions, messages and memories for a text, but not transcripts. Forgotten sessions
// are left out. opts.ProjectIDs limits it to projects.
func FindText(ctx context.Context, st *store.Store, opts Options, text string) (Found, error) {
	var out Found
	text = memoir.Folded(text)
	s, err := newStoredScan(ctx, st, opts)
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
		case at.Table != "hand_edit" && at.Table != "" || at.Project == "":
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

// supporting adds the sessions that a line of MEMORY.md cites if none of them contains the text. Otherwise
// the next consolidation would make the line from them again.
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
