package scenario

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"memoir/bench/memory/marks"
)

// entryForm is an entry as it is written: one key says what it is, others go with it.
type entryForm struct {
	Kinds   map[string]yaml.Node `yaml:",inline"`
	At      time.Time            `yaml:"at"`
	In      string               `yaml:"in"`
	Exit    int                  `yaml:"exit"`
	Output  string               `yaml:"output"`
	Old     string               `yaml:"old"`
	New     string               `yaml:"new"`
	Content string               `yaml:"content"`
	Input   map[string]any       `yaml:"input"`
	Fails   string               `yaml:"fails"`
	Reason  string               `yaml:"reason"`
}

// kinds are the keys that say what an entry is, in the order of Kind.
var kinds = []string{"person", "agent", "run", "read", "edit", "write", "search", "tool", "refused", "queued",
	"interrupted", "injected", "summary"}

// entry reads one form, the nth of its file.
func (f entryForm) entry(path string, n int) (Entry, error) {
	e := Entry{N: n, At: f.At, In: f.In, Exit: f.Exit, Output: strings.TrimRight(f.Output, "\n"), Old: f.Old, New: f.New,
		Content: f.Content, Input: f.Input, Fails: strings.TrimSpace(f.Fails)}
	if !e.At.IsZero() {
		e.At = e.At.UTC()
	}
	kind := -1
	for key, node := range f.Kinds {
		kind = slices.Index(kinds, key)
		e.Kind, e.Text = Kind(kind), strings.TrimSpace(node.Value)
	}
	if len(f.Kinds) != 1 || kind < 0 {
		return e, marks.Errorf(path, "entry %d has one key of %s, not %d", n, strings.Join(kinds, ", "), len(f.Kinds))
	}
	switch e.Kind {
	case Refused: // a call; it has no result
		var inner entryForm
		node := f.Kinds["refused"]
		if err := node.Decode(&inner); err != nil {
			return e, marks.Errorf(path, "entry %d: %v", n, err)
		}
		call, err := inner.entry(path, n)
		if err != nil {
			return e, err
		}
		if !call.IsCall() {
			return e, marks.Errorf(path, "entry %d: only a tool call can be refused", n)
		}
		e.Call, e.Text = &call, strings.TrimSpace(f.Reason)
	case Interrupted:
		e.Text = ""
	case Edit:
		if e.Old == e.New {
			return e, marks.Errorf(path, "entry %d: an edit that changes nothing", n)
		}
	}
	if e.Text == "" && e.Kind != Refused && e.Kind != Interrupted {
		return e, marks.Errorf(path, "entry %d: %s is empty", n, kinds[e.Kind])
	}
	return e, nil
}
