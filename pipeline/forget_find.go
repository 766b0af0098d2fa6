package pipeline

import (
	"context"
	"slices"
	"strings"

	"memoir"
	"memoir/memory"
	"memoir/store"
)

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
		about := strings.Join([]string{s.Title, s.CWD, s.WorkCWD, s.Branch, s.Remote, s.Error}, "\n")
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
	return eachRoot(root, func(at memory.Root) error {
		if late, err := at.ReadUnmerged(); err == nil && says(late, text) {
			f.Projects = append(f.Projects, projectID)
			return nil
		}
		generations, err := at.Generations()
		if err != nil {
			return err
		}
		for _, g := range generations {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if files, err := at.ReadArchive(g.Number); err == nil && says(files, text) {
				f.Projects = append(f.Projects, projectID)
				return nil
			}
		}
		return nil
	})
}

// says reports whether a file, or its path, holds a folded text.
func says(files memory.Files, text string) bool {
	return slices.ContainsFunc(files.Paths(), func(path string) bool {
		return strings.Contains(memoir.Folded(path), text) || len(memoir.LinesHolding(string(files[path]), text)) > 0
	})
}
