package scenario

import (
	"slices"
	"strings"

	"memoir/bench/memory/marks"
)

// kinds are the keys that say what an entry is, in the order of Kind.
var kinds = []string{"person", "agent", "run", "read", "edit", "write", "search", "tool", "refused", "queued",
	"interrupted", "injected", "summary"}

// complete makes the nth entry of its file of what was decoded: one key says what it is, others
// go with it.
func (e *Entry) complete(path string, n int) error {
	e.N, e.At, e.Output, e.Fails = n, e.At.UTC(), strings.TrimRight(e.Output, "\n"), strings.TrimSpace(e.Fails)
	kind := -1
	for key, node := range e.Kinds {
		kind = slices.Index(kinds, key)
		e.Kind, e.Text = Kind(kind), strings.TrimSpace(node.Value)
	}
	if len(e.Kinds) != 1 || kind < 0 {
		return marks.Errorf(path, "entry %d has one key of %s, not %d", n, strings.Join(kinds, ", "), len(e.Kinds))
	}
	switch e.Kind {
	case Refused: // a call; it has no result
		node := e.Kinds["refused"]
		e.Call, e.Text = &Entry{}, strings.TrimSpace(e.Reason)
		if err := node.Decode(e.Call); err != nil {
			return marks.Errorf(path, "entry %d: %v", n, err)
		}
		if err := e.Call.complete(path, n); err != nil {
			return err
		}
		if !e.Call.IsCall() {
			return marks.Errorf(path, "entry %d: only a tool call can be refused", n)
		}
	case Interrupted:
		e.Text = ""
	case Edit:
		if e.Old == e.New {
			return marks.Errorf(path, "entry %d: an edit that changes nothing", n)
		}
	}
	if e.Text == "" && e.Kind != Refused && e.Kind != Interrupted {
		return marks.Errorf(path, "entry %d: %s is empty", n, kinds[e.Kind])
	}
	return nil
}
