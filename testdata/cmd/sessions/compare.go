package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/testdata/mockmodel"
)

// finding is what comparing shows.
type finding struct {
	differences []string // what the reader gives is not what was said and done
	notes       []string // worth knowing, and not wrong
}

func (f *finding) differ(format string, args ...any) {
	f.differences = append(f.differences, fmt.Sprintf(format, args...))
}

func (f *finding) note(format string, args ...any) {
	f.notes = append(f.notes, fmt.Sprintf(format, args...))
}

// truth is what must be true of every session of a run.
type truth struct {
	agent
	work       string
	begin, end time.Time
}

// compareAll compares sessions with the conversations that were held.
func compareAll(f *finding, t truth, held []conversation, sessions []session) {
	found := make([][]session, len(held))
	for _, s := range sessions {
		at := slices.IndexFunc(held, func(c conversation) bool { return s.holds(c.turns) })
		// A copy holds the prompts of what it was copied from, too.
		for i := range held {
			if i > at && at >= 0 && s.holds(held[i].turns) {
				at = i
			}
		}
		if at < 0 {
			f.differ("a session that nobody held: %s %s %q with %d items", s.head.Kind, s.head.ID, s.head.Title, len(s.items))
			continue
		}
		found[at] = append(found[at], s)
	}
	for i, c := range held {
		switch n := len(found[i]); {
		case n == 0 && c.sub:
			f.note("%s: no session of its own", c.name)
		case n == 0:
			f.differ("%s: no session", c.name)
		case n > 1:
			f.differ("%s: %d sessions", c.name, n)
		default:
			compare(f, t, c, found[i][0])
			if parent, is := found[i][0].head.ParentID, found[max(i-1, 0)]; c.sub && len(is) == 1 && parent != is[0].head.ID {
				f.differ("%s: its parent is %q, want %q", c.name, parent, is[0].head.ID)
			}
		}
	}
}

// holds reports whether any of the prompts is a person's in a session.
func (s session) holds(turns mockmodel.Script) bool {
	return slices.ContainsFunc(s.items, func(it memoir.Item) bool {
		return it.Kind == memoir.ItemMessage && it.Role == memoir.RoleUser &&
			slices.ContainsFunc(turns, func(turn mockmodel.Turn) bool { return strings.Contains(it.Text, turn.Prompt) })
	})
}

// compare compares one session.
func compare(f *finding, t truth, c conversation, s session) {
	differ := func(format string, args ...any) { f.differ(c.name+": "+format, args...) }
	kind := t.kind
	switch {
	case c.own:
		kind = memoir.KindOwnRun
	case c.sub:
		kind = memoir.KindSubagent
	case c.name == forkName && t.forkKind != "":
		kind = t.forkKind
	}
	h := s.head
	if h.Source != t.source || h.Kind != kind || h.ID == "" {
		differ("the head is of %s, %s, id %q; want %s, %s", h.Source, h.Kind, h.ID, t.source, kind)
	}
	if h.CWD != t.work {
		differ("working directory %q, want %q", h.CWD, t.work)
	}
	if h.Branch != "" && h.Branch != branch {
		differ("branch %q, want %q", h.Branch, branch)
	}
	if h.CreatedAt.Before(t.begin) || h.UpdatedAt.After(t.end) || h.UpdatedAt.Before(h.CreatedAt) {
		differ("from %s to %s, want within %s to %s", clock(h.CreatedAt), clock(h.UpdatedAt), clock(t.begin), clock(t.end))
	}
	if st := s.stats; st.Malformed+st.Oversized+st.Elided > 0 || st.CutTail && !c.cut {
		differ("damage where there is none: %+v", st)
	}
	for kind, n := range s.stats.Unknown {
		f.note("%s: %d records of the unknown type %q", c.name, n, kind)
	}
	items := s.items
	if n := replayed(items, c); n > 0 && c.name == forkName {
		f.note("%s: repeats %d items of the session it was copied from", c.name, n)
		items = items[n:]
	}
	compareItems(differ, t, c, items)
}

func clock(t time.Time) string { return t.Format(time.RFC3339) }

// replayed counts the items before the first prompt of a conversation.
func replayed(items []memoir.Item, c conversation) int {
	return max(0, slices.IndexFunc(items, func(it memoir.Item) bool {
		return it.Role == memoir.RoleUser && strings.Contains(it.Text, c.turns[0].Prompt)
	}))
}

// compareItems goes through what was said and done, in order.
func compareItems(differ func(string, ...any), t truth, c conversation, items []memoir.Item) {
	// What is asked beside the script gets the same answer each time.
	items = slices.DeleteFunc(slices.Clone(items), func(it memoir.Item) bool {
		return it.Role == memoir.RoleAssistant && it.Text == mockmodel.SideAnswer || it.Tool == mockmodel.EndTool
	})
	at := 0
	expect := func(what string, is func(memoir.Item) bool) *memoir.Item {
		i := slices.IndexFunc(items[at:], is)
		if i < 0 {
			differ("missing: %s", what)
			return nil
		}
		for _, extra := range items[at : at+i] {
			differ("unexpected: %s", describe(extra))
		}
		it := &items[at+i]
		at += i + 1
		if it.CWD != t.work {
			differ("%s: in %q, want %q", what, it.CWD, t.work)
		}
		if it.At.Before(t.begin) || it.At.After(t.end) {
			differ("%s: at %s", what, clock(it.At))
		}
		return it
	}
	for n, turn := range c.turns {
		what := fmt.Sprintf("prompt %q", turn.Prompt)
		prompted := func(it memoir.Item) bool { return it.Kind == memoir.ItemMessage && it.Text == turn.Prompt }
		if it := expect(what, prompted); it != nil {
			origin := memoir.OriginTyped
			if c.sub {
				origin = memoir.OriginSubagentTask
			}
			if it.Role != memoir.RoleUser || it.Origin != origin {
				differ("%s is %s of the %s, want %s of the user", what, it.Origin, it.Role, origin)
			}
		}
		cut := c.cut && n == len(c.turns)-1
		for _, step := range turn.Steps {
			if step.Text != "" {
				expect(fmt.Sprintf("text %q", step.Text), func(it memoir.Item) bool {
					return it.Kind == memoir.ItemMessage && it.Role == memoir.RoleAssistant && it.Text == step.Text
				})
			}
			if cut && t.late && at == len(items) {
				break
			}
			if step.Shell != "" {
				what := fmt.Sprintf("command %q", step.Shell)
				it := expect(what, func(it memoir.Item) bool { return it.Shell() && it.Input == step.Shell })
				if it != nil && !cut {
					compareCommand(differ, what, step.Shell, *it)
				}
				if cut {
					for at < len(items) && items[at].Role != memoir.RoleUser {
						at++ // some agents still write that they were stopped
					}
					break
				}
			}
			if step.Agent != "" {
				expect("sub-agent's task", func(it memoir.Item) bool { return it.Kind == memoir.ItemTool && strings.Contains(it.Input, step.Agent) })
			}
			if step.Write != nil {
				what := fmt.Sprintf("file %s", step.Write.Path)
				it := expect(what, func(it memoir.Item) bool { return it.Kind == memoir.ItemTool && !it.Shell() && wrote(it, *step.Write) })
				if it != nil && it.Failed {
					differ("%s: failed: %s", what, it.Output)
				}
			}
		}
	}
	for _, extra := range items[at:] {
		differ("unexpected: %s", describe(extra))
	}
}

// compareCommand compares what a command printed and how it ended. A format may
// leave out that it ended well.
func compareCommand(differ func(string, ...any), what, command string, it memoir.Item) {
	if it.Output != outputs[command] {
		differ("%s: output %q, want %q", what, it.Output, outputs[command])
	}
	exit, failed := exits[command], exits[command] != 0
	switch {
	case it.Exit == nil && failed:
		differ("%s: no exit status, want %d", what, exit)
	case it.Exit != nil && *it.Exit != exit:
		differ("%s: exit status %d, want %d", what, *it.Exit, exit)
	}
	if it.Failed != failed {
		differ("%s: failed is %t", what, it.Failed)
	}
}

// wrote reports whether a tool's input names a file and holds its lines, as text
// or as a JSON string.
func wrote(it memoir.Item, file mockmodel.File) bool {
	if !strings.Contains(it.Input, file.Path) {
		return false
	}
	for line := range strings.Lines(file.Content) {
		line = strings.TrimSuffix(line, "\n")
		quoted, _ := json.Marshal(line)
		if !strings.Contains(it.Input, line) && !strings.Contains(it.Input, strings.Trim(string(quoted), `"`)) {
			return false
		}
	}
	return true
}

func describe(it memoir.Item) string {
	if it.Kind == memoir.ItemTool {
		return fmt.Sprintf("%s of %s: %.80q", it.Tool, it.Origin, it.Input)
	}
	return fmt.Sprintf("%s, %s: %.80q", it.Kind, it.Origin, it.Text)
}
