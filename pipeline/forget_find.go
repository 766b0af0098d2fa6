package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"memoir"
	"memoir/memory"
	"memoir/rollout"
	"memoir/store"
)

// Found is what says a text, in upper or lower case.
type Found struct {
	Sessions []memoir.Session // the latest first
	Lines    []FoundLine      // of live memories, by project, path and number
	Unread   int              // sessions whose transcripts could not be read
}

// FoundLine is a line of a live memory.
type FoundLine struct {
	Project string `json:"project"`
	Path    string `json:"path"`
	Line    int    `json:"line"` // from 1
	Text    string `json:"text"`
}

// FindText looks for a text in all transcripts that memory may be made of, as Phase 1
// sees them but before secrets are taken out, in what was extracted from sessions, in
// what the registry says of them, and in the live memories. Sessions that are
// forgotten already are left out. opts.ProjectIDs limits it to projects.
func FindText(ctx context.Context, st *store.Store, opts Options, text string) (Found, error) {
	var out Found
	text = strings.ToLower(text)
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
	out.Lines, err = linesSaying(ctx, st, opts, text)
	return out, err
}

// errSays ends the reading of a session that says the text.
var errSays = errors.New("it says the text")

func saysText(ctx context.Context, s memoir.Session, text string) (found bool, err error) {
	for _, of := range []string{s.Title, s.CWD, s.WorkCWD, s.Branch, s.Remote, s.Error} {
		if strings.Contains(strings.ToLower(of), text) {
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
			if strings.Contains(strings.ToLower(of), text) {
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

// linesSaying lists the lines of live memories that hold a text.
func linesSaying(ctx context.Context, st *store.Store, opts Options, text string) ([]FoundLine, error) {
	var out []FoundLine
	projects, err := st.Projects(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range projects {
		if len(opts.ProjectIDs) > 0 && !slices.Contains(opts.ProjectIDs, p.ID) {
			continue
		}
		live, err := memory.At(opts.Home, p.ID).Current()
		if err != nil {
			return nil, err
		}
		for _, path := range live.Files.Paths() {
			n := 0
			for line := range strings.Lines(string(live.Files[path])) {
				if n++; strings.Contains(strings.ToLower(line), text) {
					out = append(out, FoundLine{p.ID, path, n, strings.TrimSpace(line)})
				}
			}
		}
	}
	return out, nil
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
