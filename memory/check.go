package memory

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
)

// State says whether the working tree still bears out what a memory states.
type State string

// The states of an anchor and of a line, those that decide first last.
const (
	Unverifiable State = "unverifiable" // nothing to look for, or nowhere to look
	Fresh        State = "fresh"        // the text stands where it stood
	Moved        State = "moved"        // it stands in another file now
	Gone         State = "gone"         // its file is not there
	Stale        State = "stale"        // its file is there, and does not hold it
)

var weight = map[State]int{Unverifiable: 0, Fresh: 1, Moved: 2, Gone: 3, Stale: 4}

// Checked is a line of a memory as a working tree bears it out: by the anchor that decides. One anchor that
// is stale makes the line stale, else one that is gone makes it gone; it is fresh only if all that can be
// verified are.
type Checked struct {
	Line   string
	State  State
	Anchor memoir.Anchor // the one that decided; zero if the line has none
	At     string        // of a line that is moved, the file in which the text stands
}

// Outdated reports whether the line is not to be told to an agent as it stands.
func (c Checked) Outdated() bool { return c.State == Stale || c.State == Gone }

// judge says how one anchor stands. A value whose key was given another one, or that has left a file that is
// still there, is stale; a name may have moved. A path alone is not read.
func (t *Tree) judge(a memoir.Anchor) Checked {
	text, err := "", error(nil)
	if a.Text == "" {
		_, err = t.root.Lstat(a.Path)
	} else {
		text, err = t.look(a.Path)
	}
	c := Checked{Anchor: a, State: Stale}
	switch standing := a.In(text); {
	case absent(err):
		c.State = Gone
	case err != nil:
		c.State = Unverifiable
		return c
	case a.Text == "" || standing == memoir.Present:
		c.State = Fresh
		return c
	case standing == memoir.Replaced || a.Key == "" && memoir.IsValue(a.Text):
		return c
	}
	if c.At = t.elsewhere(a, c.State == Gone); c.At != "" {
		c.State = Moved
	}
	return c
}

// Check looks lines up by their anchors, which are named by memoir.LineKey. Where the texts of a file went
// tells where the file did, so these are looked up first.
func (t *Tree) Check(lines []string, anchors map[string][]memoir.Anchor) []Checked {
	out := make([]Checked, len(lines))
	for _, paths := range []bool{false, true} {
		for i, line := range lines {
			for _, a := range anchors[memoir.LineKey(line)] {
				if !a.Valid() || paths != (a.Text == "") {
					continue
				}
				c, known := t.verdicts[a]
				if !known {
					c = t.judge(a)
					t.verdicts[a] = c
				}
				if out[i].State == "" || weight[c.State] > weight[out[i].State] {
					out[i] = c
				}
			}
		}
	}
	for i, line := range lines {
		out[i].Line, out[i].State = line, cmp.Or(out[i].State, Unverifiable)
	}
	return out
}

// known reports whether a tree has any of the paths that a memory is anchored to. One that has none is
// another machine's, or another branch's: nothing can be verified there.
func (t *Tree) known(anchors map[string][]memoir.Anchor) bool {
	for _, list := range anchors {
		for _, a := range list {
			if _, err := t.root.Lstat(a.Path); err == nil && a.Valid() {
				return true
			}
		}
	}
	return false
}

// Check looks up in the working tree at dir what lines of the live memory state, in their order. Lines
// are known by their words, in whichever file they stand. Without a tree, or in one that has nothing of
// what the memory is anchored to, all are Unverifiable. It writes nothing.
func (r Root) Check(dir string, lines []string) ([]Checked, error) {
	anchors, err := r.anchors()
	if err != nil {
		return nil, err
	}
	tree, err := OpenTree(dir)
	if err != nil { // there is none
		return new(Tree).Check(lines, nil), nil
	}
	defer tree.Close()
	if !tree.known(anchors) {
		anchors = nil
	}
	return tree.Check(lines, anchors), nil
}

// BorneOut is a summary without the lines that the working tree at dir does not bear out any more, and
// these lines. What cannot be verified stays, so it does if the anchors cannot be read.
func (r Root) BorneOut(dir, summary string) (string, []Checked) {
	checked, err := r.Check(dir, strings.SplitAfter(summary, "\n"))
	if err != nil {
		return summary, nil
	}
	var held []Checked
	return Without(summary, func(n int, _ string) bool {
		if checked[n].Outdated() {
			held = append(held, checked[n])
		}
		return checked[n].Outdated()
	}), held
}

// Without is a text without some of its lines, which are counted from 0, and the headings below which nothing
// is left.
func Without(text string, drop func(n int, line string) bool) string {
	var out strings.Builder
	open, lost := "", false // a heading that waits for its first line, of which one was dropped
	for n, line := range strings.SplitAfter(text, "\n") {
		switch trimmed := strings.TrimSpace(line); {
		case drop(n, line):
			lost = true
		case heading(trimmed):
			if !lost {
				out.WriteString(open)
			}
			open, lost = line, false
		case trimmed == "" && open != "":
			open += line
		default:
			out.WriteString(open + line)
			open = ""
		}
	}
	if !lost {
		out.WriteString(open)
	}
	return out.String()
}

// anchors are those of the live generation. It reads the manifest no further than to them. A manifest that a person
// removed has none; the next run puts it back.
func (r Root) anchors() (anchors map[string][]memoir.Anchor, err error) {
	manifest, err := r.Open(manifestName)
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		return nil, nil
	}
	found := gjson.GetBytes(manifest, "anchors")
	if found.IsObject() && json.Unmarshal([]byte(found.Raw), &anchors) != nil {
		return nil, nil
	}
	return anchors, err
}
