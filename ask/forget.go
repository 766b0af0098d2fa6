package ask

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/store"
)

type memoryForgetIn struct {
	Session string `json:"session,omitempty" jsonschema:"its key, or memoir:note-N"`
	Line    string `json:"line,omitempty" jsonschema:"a whole line of MEMORY.md"`
	Confirm bool   `json:"confirm,omitempty" jsonschema:"true: do it"`
}

type memoryForgetOut struct {
	Forgotten bool     `json:"forgotten"`
	Sessions  []string `json:"sessions" jsonschema:"that go"`
	Lines     []string `json:"lines" jsonschema:"that go"`
	Note      string   `json:"note"`
}

// memoryForget is the tool memory_forget. Like `memoir forget`, it removes a line with the sessions that state it,
// since the next run would write it again.
func (s *server) memoryForget(ctx context.Context, in memoryForgetIn) (out memoryForgetOut, err error) {
	if (in.Session == "") == (in.Line == "") || len(in.Session)+len(in.Line) > maxQuery {
		return out, usage("", "memory_forget takes a session or a line, of at most %d bytes", maxQuery)
	}
	project, root, err := s.root(ctx)
	if err != nil {
		return out, err
	}
	options, st, err := s.Change(ctx)
	if err != nil {
		return out, err
	}
	defer st.Close()
	options.ProjectIDs = []string{project.ID}
	what := store.Forgetting{Projects: []string{project.ID}}
	var lines []string
	if in.Session != "" {
		session, err := s.findSession(ctx, st, strings.TrimPrefix(in.Session, sessionScheme))
		if err != nil {
			return out, err
		}
		if session.ProjectID != project.ID { // a tool changes only its own project
			return out, errOther
		}
		what.Keys = []string{session.Key()}
	} else if lines, err = s.findLine(ctx, st, options, root, in.Line, &what); err != nil {
		return out, err
	}
	noted := "nothing was forgotten yet: ask the user, then call again with confirm"
	if in.Confirm {
		report, err := pipeline.Forget(ctx, st, options, what)
		if err != nil {
			return out, err
		}
		noted = forgotten(report, what.Keys)
	}
	return fit(usualTokens, len(what.Keys)+len(lines), func(n int) memoryForgetOut {
		keys, _ := first(n, what.Keys)
		shown, left := first(n, lines)
		return memoryForgetOut{Forgotten: in.Confirm, Sessions: keys, Lines: shown,
			Note: strings.Join(append([]string{noted}, left...), "; ")}
	}), nil
}

// findLine sets what to the text of a line of MEMORY.md and the sessions that contain it. It returns the lines of
// memory that contain the text.
func (s *server) findLine(ctx context.Context, st *store.Store, options pipeline.Options, root memory.Root, line string,
	what *store.Forgetting) (lines []string, err error) {
	live, err := root.Current()
	if err != nil {
		return nil, err
	}
	words := memoir.Folded(consolidate.Words(line))
	if len(words) < minInjected {
		return nil, usage("`memoir forget --match` accepts a text with three letters or digits",
			"without its bullet and citation, the line has %d bytes; at least %d are needed", len(words), minInjected)
	}
	for l := range strings.Lines(string(live.Files[memoir.MemoryFile])) {
		own := consolidate.Words(l)
		if memoir.Folded(own) == words && !strings.HasPrefix(l, "#") {
			what.Text = own
		}
	}
	if what.Text == "" {
		return nil, memoir.Errorf(memoir.CodeNotFound, "memory_get with memory://root/MEMORY.md shows its lines",
			"MEMORY.md has no such line")
	}
	found, err := pipeline.FindText(ctx, st, options, what.Text)
	if err != nil {
		return nil, err
	}
	for _, session := range found.Sessions {
		what.Keys = append(what.Keys, session.Key())
	}
	for _, l := range found.Lines {
		lines = append(lines, s.Clean(fmt.Sprintf("%s:%d: %s", l.Path, l.Line, l.Text)))
	}
	return lines, nil
}

func forgotten(report pipeline.ForgetReport, keys []string) string {
	note := "no memory contained it"
	for _, p := range report.Projects {
		if p.Outcome == pipeline.OutcomePublished {
			note = fmt.Sprintf("published generation %d without it", p.Generation)
		}
	}
	if slices.ContainsFunc(keys, memoir.IsKept) { // Forget purges these
		note += "; notes, journal lines and conversations are gone for good"
	} else {
		note += "; earlier generations may contain it (`memoir forget --purge SESSION` removes it there)"
	}
	if slices.ContainsFunc(keys, func(key string) bool { return !memoir.IsKept(key) }) {
		note += "; forgotten sessions are not read again until `memoir forget --undo SESSION`, and the agents' own files stay"
	}
	return note
}
