package memory

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/extract"
)

// State is the result of a check of an anchor or a line against the working tree.
type State string

// The states of an anchor and of a line, the weakest first (see Checked).
const (
	Unverifiable State = "unverifiable" // no anchor, no working tree, or an unreadable file
	Fresh        State = "fresh"        // the text is still in its file
	Moved        State = "moved"        // the text is in another file now
	Gone         State = "gone"         // its file, or the target of a command, no longer exists
	Stale        State = "stale"        // its file exists, but does not contain the text
	Told         State = "told"         // an instruction or build file of the project says it, too
)

var weight = map[State]int{Unverifiable: 0, Fresh: 1, Moved: 2, Gone: 3, Stale: 4}

// Checked is the state of a memory's line in a working tree: the strongest state of its anchors. One stale
// anchor makes the line stale. The line is fresh only if all verifiable anchors are.
type Checked struct {
	Line   string
	State  State
	Anchor memoir.Anchor // the anchor with this state; zero if the line has none
	At     string        // the file that has the text now, if the line is moved
}

// Outdated reports whether the line must not be injected as it is.
func (c Checked) Outdated() bool { return c.State == Stale || c.State == Gone }

// judge checks one anchor. A value is stale if its key has another value, or if its file exists without it;
// a name may have moved. A file without a text to look for is not read.
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

// Check checks lines by their anchors, which have memoir.LineKey as keys. Anchors with a text are checked
// first: the new places of a file's texts show where the file was moved.
func (t *Tree) Check(lines []string, anchors map[string][]memoir.Anchor) []Checked {
	out, of := make([]Checked, len(lines)), make([][]memoir.Anchor, len(lines))
	for i := 0; i < len(lines) && len(anchors) > 0; i++ {
		of[i] = anchors[memoir.LineKey(lines[i])]
	}
	for _, paths := range []bool{false, true} {
		for i := range lines {
			for _, a := range of[i] {
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

// known reports whether the tree has a path of any anchor, or only one path is known. A tree without any of several is
// of another machine or branch, and cannot verify anything.
func (t *Tree) known(anchors map[string][]memoir.Anchor) bool {
	paths := map[string]bool{}
	for _, list := range anchors {
		for _, a := range list {
			if _, err := t.root.Lstat(a.Path); err == nil && a.Valid() {
				return true
			}
			paths[a.Path] = true
		}
	}
	return len(paths) == 1 && len(t.list()) > 0
}

// Check checks lines of the live memory against the working tree at dir, and returns them in their order. A
// line is identified by its words, in any file. All lines are Unverifiable if dir is not a readable directory,
// or has no path of an anchor. It writes nothing.
func (r Root) Check(dir string, lines []string) ([]Checked, error) {
	anchors, err := r.anchors()
	if err != nil {
		return nil, err
	}
	tree, err := OpenTree(dir)
	if err != nil {
		return new(Tree).Check(lines, nil), nil
	}
	defer tree.Close()
	if len(anchors) > 0 && !tree.known(anchors) {
		return tree.Check(lines, nil), nil
	}
	checked := tree.Check(lines, anchors)
	for i, line := range lines {
		if c := tree.commands(line); c.State != "" && weight[checked[i].State] <= weight[Fresh] {
			checked[i] = c
		}
	}
	return checked, nil
}

// commands checks the targets and scripts of the command in a line, of a failure's fix, whether a session saw them or
// not. An empty directory tells nothing.
func (t *Tree) commands(line string) Checked {
	of := line
	if _, fix, failed := strings.Cut(line, "; fixed by `"); failed {
		of = "run: `" + fix
	}
	exists := func(name string) bool { _, there := t.Look(name); return there }
	for _, target := range extract.Targets(of, exists) {
		if !t.has(target) {
			at := append(target.Files, target.Paths...)[0]
			return Checked{Line: line, State: Gone, Anchor: memoir.Anchor{Path: at, Text: target.Name}}
		}
	}
	return Checked{}
}

// has reports whether the tree has a target, or may have it: among files that are not listed, or built.
func (t *Tree) has(target extract.Target) bool {
	if len(t.list()) == 0 || t.more && strings.HasPrefix(append(target.Files, target.Paths...)[0], "*/") {
		return true
	}
	for _, name := range target.Files {
		for _, name := range t.find(name, `$`) {
			if text, err := t.look(name); !absent(err) && (err != nil || target.Defined(text)) {
				return true
			}
		}
	}
	return slices.ContainsFunc(target.Paths, func(name string) bool {
		_, exists := t.Look(name)
		return exists || len(target.Files) == 0 && t.ignored(name) || len(t.find(name, `[./]`)) > 0
	})
}

// find returns the files that a name of a target matches, of which end is the pattern of what follows it.
func (t *Tree) find(name, end string) []string {
	rest, anywhere := strings.CutPrefix(name, "*/")
	if !anywhere && end == `$` {
		return []string{name}
	}
	form := regexp.MustCompile(map[bool]string{false: `^`, true: `^(?:.*/)?`}[anywhere] + regexp.QuoteMeta(rest) + end)
	return slices.DeleteFunc(slices.Clone(t.list()), func(name string) bool { return !form.MatchString(name) })
}

// ignored reports whether a file is not the project's own text.
func (t *Tree) ignored(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	text, _ := t.look(".gitignore")
	return slices.Contains(skippedDirs, first) || slices.ContainsFunc(strings.Fields(text), func(l string) bool {
		l = strings.Trim(l, "/*")
		return l != "" && strings.HasPrefix(name+"/", l+"/")
	})
}

// BorneOut returns a summary without the lines that are outdated in the working tree at top, or that its own files at
// the top and in dir say, and these lines. Lines that cannot be verified stay, as do all if the anchors are unreadable.
// Told are no lines of people, of notes and of failures, nor those that were added since the publication.
func (r Root) BorneOut(top, dir, summary string) (string, []Checked) {
	checked, err := r.Check(top, strings.SplitAfter(summary, "\n"))
	if err != nil {
		return summary, nil
	}
	own, lines := Own(top, dir), map[string]gjson.Result{}
	if len(own.Files) > 0 {
		manifest, _ := r.Open(manifestName)
		lines = gjson.GetBytes(manifest, "lines").Map()
	}
	var held []Checked
	return Without(summary, func(n int, line string) bool {
		c, from := checked[n], memoir.LineOrigin{}
		if len(lines) > 0 && !c.Outdated() {
			origin, known := lines[memoir.LineKey(line)]
			if _ = from.UnmarshalText([]byte(origin.Str)); known && !from.Hand && !from.Kept {
				if file := own.Says(line); file != "" {
					c.State, c.Anchor = Told, memoir.Anchor{Path: file}
				}
			}
		}
		if c.Outdated() || c.State == Told {
			held = append(held, c)
		}
		return c.Outdated() || c.State == Told
	}), held
}

// Without returns a text without the lines, counted from 0, for which drop returns true, and without headings
// whose content was all dropped.
func Without(text string, drop func(n int, line string) bool) string {
	var out strings.Builder
	open, lost := "", false // a heading without a line so far; lost: a line below it was dropped
	for n, line := range strings.SplitAfter(text, "\n") {
		switch trimmed := strings.TrimSpace(line); {
		case drop(n, line):
			lost = true
		case memoir.IsHeading(trimmed):
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

// anchors returns the anchors of the live generation, and parses only this part of the manifest. There are
// none if a person removed the manifest; the next run writes it again.
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
