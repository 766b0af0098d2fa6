package scenario

import (
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
	Refused     *entryForm  `yaml:"refused"` // a call; it has no result
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

type inputField = map[string]any

// entry reads one form, the nth of its file.
func (f entryForm) entry(path string, n int) (Entry, error) {
	e := Entry{N: n}
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
				return e, marks.Errorf(path, "entry %d: %s is empty", n, key.name)
			}
		}
	}
	if f.Refused != nil {
		own = append(own, "refused")
		call, err := f.Refused.entry(path, n)
		if err != nil {
			return e, err
		}
		if !call.IsCall() {
			return e, marks.Errorf(path, "entry %d: only a tool call can be refused", n)
		}
		e.Kind, e.Call, e.Text = Refused, &call, strings.TrimSpace(value(f.Reason))
	}
	if f.Interrupted != nil {
		own = append(own, "interrupted")
		e.Kind = Interrupted
	}
	if len(own) != 1 {
		return e, marks.Errorf(path,
			"entry %d is one of person, agent, a call, refused, queued, interrupted, injected and summary, not %q", n, own)
	}
	f.details(&e)
	if e.Kind == Edit && e.Old == e.New {
		return e, marks.Errorf(path, "entry %d: an edit that changes nothing", n)
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

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
