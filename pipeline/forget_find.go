package pipeline

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"memoir"
	"memoir/memory"
	"memoir/rollout"
	"memoir/store"
)

// Found is what says a text, as memoir.Folded compares it.
type Found struct {
	Sessions []memoir.Session // the latest first
	Lines    []FoundLine      // of live memories, by project, path and number
	Noted    []string         // ids of the projects where a change that a person made by hand says it
	Archives []FoundArchive   // earlier generations, those of merged projects included
	Unread   int              // sessions whose transcripts could not be read
}

// FoundArchive is an earlier generation.
type FoundArchive struct {
	Project string `json:"project"`
	Path    string `json:"path"` // in the project's folder
}

// Empty reports whether nothing says it.
func (f Found) Empty() bool {
	return len(f.Sessions)+len(f.Lines)+len(f.Noted)+len(f.Archives) == 0
}

// Projects are the ids of the projects whose memories say it, sorted.
func (f Found) Projects() []string {
	ids := slices.Clone(f.Noted)
	for _, line := range f.Lines {
		ids = append(ids, line.Project)
	}
	for _, archive := range f.Archives {
		ids = append(ids, archive.Project)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// FoundLine is a line of a live memory.
type FoundLine struct {
	Project string `json:"project"`
	Path    string `json:"path"`
	Line    int    `json:"line"` // from 1; 0: the path itself says it
	Text    string `json:"text"`
}

// FindText looks for a text in all transcripts that memory may be made of, as Phase 1
// sees them but before secrets are taken out, in what was extracted from sessions, in
// what the registry says of them, in the live memories, in what people changed in them
// and in earlier generations. Sessions that are
// forgotten already are left out. opts.ProjectIDs limits it to projects.
func FindText(ctx context.Context, st *store.Store, opts Options, text string) (Found, error) {
	var out Found
	text = memoir.Folded(text)
	sessions, err := st.Sessions(ctx, store.Filter{})
	if err != nil {
		return out, err
	}
	extracted, err := st.ExtractedSaying(ctx, text)
	if err != nil {
		return out, err
	}
	sessions = slices.DeleteFunc(sessions, func(s memoir.Session) bool {
		return s.Reason == memoir.ReasonForgotten || len(opts.ProjectIDs) > 0 && !slices.Contains(opts.ProjectIDs, s.ProjectID)
	})
	says := make([]bool, len(sessions))
	var mu sync.Mutex
	done := 0
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(max(1, opts.Settings.Memories.Concurrency))
	for i, s := range sessions {
		g.Go(func() error {
			found, err := saysText(within, s, text)
			if within.Err() != nil {
				return context.Cause(within)
			}
			mu.Lock()
			defer mu.Unlock()
			says[i] = found || extracted[s.Key()]
			if err != nil && !says[i] {
				out.Unread++
			}
			if done++; opts.Progress != nil {
				opts.Progress(Progress{Stage: StageSearch, Done: done, Total: len(sessions)})
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return out, err
	}
	for i, s := range sessions {
		if says[i] {
			out.Sessions = append(out.Sessions, s)
		}
	}
	return out, out.inMemories(ctx, st, opts, text)
}

// errSays ends the reading of a session that says the text.
var errSays = errors.New("it says the text")

func saysText(ctx context.Context, s memoir.Session, text string) (found bool, err error) {
	for _, of := range []string{s.Title, s.CWD, s.WorkCWD, s.Branch, s.Remote, s.Error} {
		if strings.Contains(memoir.Folded(of), text) {
			return true, nil
		}
	}
	if s.Kind != memoir.KindMain && s.Kind != memoir.KindAutomation || len(s.Files) == 0 {
		return false, nil
	}
	parts, err := Parts(ctx, s)
	if err != nil {
		return false, err
	}
	_, err = rollout.Read(ctx, parts, func(it memoir.Item) error {
		for _, of := range []string{it.Text, it.Input, it.Output} {
			if strings.Contains(memoir.Folded(of), text) {
				found = true
				return errSays
			}
		}
		return nil
	})
	if found {
		err = nil
	}
	return found, err
}

// inMemories looks for a text in what memoir has made.
func (f *Found) inMemories(ctx context.Context, st *store.Store, opts Options, text string) error {
	noted, err := st.NotedSaying(ctx, text)
	if err != nil {
		return err
	}
	projects, err := st.Projects(ctx)
	if err != nil {
		return err
	}
	for _, p := range projects {
		if len(opts.ProjectIDs) > 0 && !slices.Contains(opts.ProjectIDs, p.ID) {
			continue
		}
		if noted[p.ID] {
			f.Noted = append(f.Noted, p.ID)
		}
		root := memory.At(opts.Home, p.ID)
		live, err := root.Current()
		if err != nil {
			return err
		}
		for _, path := range live.Files.Paths() {
			if strings.Contains(memoir.Folded(path), text) {
				f.Lines = append(f.Lines, FoundLine{Project: p.ID, Path: path})
			}
			lines := strings.Split(string(live.Files[path]), "\n")
			for _, n := range memoir.LinesHolding(string(live.Files[path]), text) {
				f.Lines = append(f.Lines, FoundLine{p.ID, path, n, strings.TrimSpace(lines[n-1])})
			}
		}
		err = eachRoot(root, func(at memory.Root) error { return f.inArchives(ctx, p.ID, root, at, text) })
		if err != nil {
			return err
		}
	}
	return nil
}

// inArchives looks for a text in the earlier generations of a root.
func (f *Found) inArchives(ctx context.Context, id string, root, at memory.Root, text string) error {
	generations, err := at.Generations()
	if err != nil {
		return err
	}
	for _, g := range generations {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if files, err := at.ReadArchive(g.Number); err != nil || g.Live && at == root || !says(files, text) {
			continue // what cannot be read is told by doctor
		}
		name, err := filepath.Rel(root.Dir(), at.Archive(g.Number))
		if err != nil {
			return err
		}
		f.Archives = append(f.Archives, FoundArchive{id, filepath.ToSlash(name)})
	}
	return nil
}

// says reports whether a file, or its path, holds a folded text.
func says(files memory.Files, text string) bool {
	return slices.ContainsFunc(files.Paths(), func(path string) bool {
		return strings.Contains(memoir.Folded(path), text) || len(memoir.LinesHolding(string(files[path]), text)) > 0
	})
}

// Forks are the sessions that began as copies of some, and are not forgotten: what
// they repeat is not read from them as long as the files of the first are there.
func Forks(ctx context.Context, st *store.Store, keys []string) ([]memoir.Session, error) {
	sessions, err := st.Sessions(ctx, store.Filter{})
	return slices.DeleteFunc(sessions, func(s memoir.Session) bool {
		return s.ParentID == "" || s.Kind == memoir.KindSubagent || s.Reason == memoir.ReasonForgotten ||
			slices.Contains(keys, s.Key()) || !slices.Contains(keys, memoir.SessionKey(s.Source, s.ParentID))
	}), err
}
