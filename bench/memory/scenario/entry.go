package scenario

import (
	"slices"
	"strings"
	"time"

	"memoir/bench/memory/marks"
)

// entryForm is an entry as it is written: one key says what it is, others go with it.
type entryForm struct {
	Person      *string     `yaml:"person"`
	Agent       *string     `yaml:"agent"`
	Run         *string     `yaml:"run"`
	Read        *string     `yaml:"read"`
	Edit        *string     `yaml:"edit"`
	Write       *string     `yaml:"write"`
	Search      *string     `yaml:"search"`
	Tool        *string     `yaml:"tool"`
	Refused     *callForm   `yaml:"refused"`
	Queued      *string     `yaml:"queued"`
	Interrupted *bool       `yaml:"interrupted"`
	Injected    *string     `yaml:"injected"`
	Summary     *string     `yaml:"summary"`
	At          *time.Time  `yaml:"at"`
	In          *string     `yaml:"in"`
	Exit        *int        `yaml:"exit"`
	Output      *string     `yaml:"output"`
	Old         *string     `yaml:"old"`
	New         *string     `yaml:"new"`
	Content     *string     `yaml:"content"`
	Input       *inputField `yaml:"input"`
	Fails       *string     `yaml:"fails"`
	Reason      *string     `yaml:"reason"`
}

// callForm is a call that was refused: it has no result.
type callForm struct {
	Run     *string     `yaml:"run"`
	Read    *string     `yaml:"read"`
	Edit    *string     `yaml:"edit"`
	Write   *string     `yaml:"write"`
	Search  *string     `yaml:"search"`
	Tool    *string     `yaml:"tool"`
	In      *string     `yaml:"in"`
	Old     *string     `yaml:"old"`
	New     *string     `yaml:"new"`
	Content *string     `yaml:"content"`
	Input   *inputField `yaml:"input"`
}

type inputField = map[string]any

// allowed lists what may go with an entry's own key.
var allowed = map[Kind][]string{
	Run:     {"in", "exit", "output"},
	Read:    {"output", "fails"},
	Edit:    {"old", "new", "fails"},
	Write:   {"content", "fails"},
	Search:  {"output", "fails"},
	Tool:    {"input", "output", "fails"},
	Refused: {"reason"},
}

// entry reads one form. Line is where it begins.
func (f entryForm) entry(path string, line int) (Entry, error) {
	e := Entry{Line: line}
	var own []string
	for _, key := range []struct {
		name string
		kind Kind
		text *string
	}{
		{"person", Person, f.Person},
		{"agent", Agent, f.Agent},
		{"run", Run, f.Run},
		{"read", Read, f.Read},
		{"edit", Edit, f.Edit},
		{"write", Write, f.Write},
		{"search", Search, f.Search},
		{"tool", Tool, f.Tool},
		{"queued", Queued, f.Queued},
		{"injected", Injected, f.Injected},
		{"summary", Summary, f.Summary},
	} {
		if key.text != nil {
			own = append(own, key.name)
			e.Kind, e.Text = key.kind, strings.TrimSpace(*key.text)
			if e.Text == "" {
				return e, marks.Errorf(path, line, "%s is empty", key.name)
			}
		}
	}
	if f.Refused != nil {
		own = append(own, "refused")
		call, err := f.Refused.form().entry(path, line)
		if err != nil {
			return e, err
		}
		if !call.IsCall() {
			return e, marks.Errorf(path, line, "only a tool call can be refused")
		}
		e.Kind, e.Call, e.Text = Refused, &call, strings.TrimSpace(value(f.Reason))
	}
	if f.Interrupted != nil {
		own = append(own, "interrupted")
		e.Kind = Interrupted
	}
	if len(own) != 1 {
		return e, marks.Errorf(path, line,
			"an entry is one of person, agent, a call, refused, queued, interrupted, injected and summary; this is %q", own)
	}
	if name, ok := f.unexpected(e.Kind); ok {
		return e, marks.Errorf(path, line, "%s does not go with %s", name, own[0])
	}
	f.details(&e)
	if e.Kind == Edit && e.Old == e.New {
		return e, marks.Errorf(path, line, "an edit that changes nothing")
	}
	return e, nil
}

// details fills in the fields that are the same for every kind.
func (f entryForm) details(e *Entry) {
	e.In, e.Output, e.Old, e.New = value(f.In), strings.TrimRight(value(f.Output), "\n"), value(f.Old), value(f.New)
	e.Content, e.Fails = value(f.Content), strings.TrimSpace(value(f.Fails))
	if f.Exit != nil {
		e.Exit = *f.Exit
	}
	if f.Input != nil {
		e.Input = *f.Input
	}
	if f.At != nil {
		e.At = f.At.UTC()
	}
}

// unexpected names a field that does not go with a kind of entry.
func (f entryForm) unexpected(kind Kind) (string, bool) {
	for name, given := range map[string]bool{
		"in": f.In != nil, "exit": f.Exit != nil, "output": f.Output != nil, "old": f.Old != nil, "new": f.New != nil,
		"content": f.Content != nil, "input": f.Input != nil, "fails": f.Fails != nil, "reason": f.Reason != nil,
	} {
		if given && !slices.Contains(allowed[kind], name) {
			return name, true
		}
	}
	return "", false
}

func (f callForm) form() entryForm {
	return entryForm{Run: f.Run, Read: f.Read, Edit: f.Edit, Write: f.Write, Search: f.Search, Tool: f.Tool,
		In: f.In, Old: f.Old, New: f.New, Content: f.Content, Input: f.Input}
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
