package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/rollout"
)

var (
	begin = time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)
	facts = truth{agent: agent{source: memoir.SourceCodex, kind: memoir.KindMain}, work: "/w", begin: begin, end: begin.Add(time.Minute)}
)

// faithful is a session as a reader without fault gives it.
func faithful(c conversation) session {
	s := session{head: rollout.Head{Source: facts.source, Kind: facts.kind, ID: c.name, CWD: facts.work, Branch: branch,
		CreatedAt: begin, UpdatedAt: begin}}
	origin := memoir.OriginTyped
	switch {
	case c.own:
		s.head.Kind = memoir.KindOwnRun
	case c.sub:
		s.head.Kind, s.head.ParentID, origin = memoir.KindSubagent, conversations("")[helped].name, memoir.OriginSubagentTask
	}
	add := func(it memoir.Item) {
		it.At, it.CWD = begin, facts.work
		s.items = append(s.items, it)
	}
	for _, turn := range c.turns {
		add(memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: origin, Text: turn.Prompt})
		for _, step := range turn.Steps {
			if step.Text != "" {
				add(memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Text: step.Text})
			}
			if step.Shell != "" {
				it := memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "bash", Input: step.Shell, Output: outputs[step.Shell]}
				if status, ok := exits[step.Shell]; ok {
					it.Exit, it.Failed = &status, true
				}
				add(it)
				if c.cut {
					return s
				}
			}
			if step.Agent != "" {
				add(memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "task", Input: `{"prompt":"` + step.Agent + `"}`})
			}
			if step.Write != nil {
				b, _ := json.Marshal(step.Write)
				add(memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "write", Input: string(b)})
			}
		}
	}
	return s
}

func all() (held []conversation, sessions []session) {
	held = conversations(facts.work)
	for _, c := range held {
		sessions = append(sessions, faithful(c))
	}
	return held, sessions
}

func TestWhatIsReadFaithfullyDoesNotDiffer(t *testing.T) {
	t.Parallel()
	held, sessions := all()
	var f finding
	compareAll(&f, facts, held, sessions)
	if len(f.differences)+len(f.notes) != 0 {
		t.Errorf("%+v", f)
	}
}

func TestACopyMayRepeatWhatItWasCopiedFrom(t *testing.T) {
	t.Parallel()
	held, sessions := all()
	sessions[branchedOff].items = append(append([]memoir.Item(nil), sessions[talk].items...), sessions[branchedOff].items...)
	var f finding
	compareAll(&f, facts, held, sessions)
	if len(f.differences) != 0 || len(f.notes) != 1 || !strings.Contains(f.notes[0], "repeats 11 items") {
		t.Errorf("%+v", f)
	}
}

func TestEveryFaultOfAReaderIsFound(t *testing.T) {
	t.Parallel()
	one := 1
	// The items of the conversation: 0 prompt, 1 text, 2 command, 3 text,
	// 4 command that fails, 5 text, 6 file, 7 answer, 8 prompt, 9 command, 10 answer.
	for _, c := range []struct {
		name  string
		spoil func(s *session)
		want  string
	}{
		{"a prompt is lost", func(s *session) { s.items = s.items[1:] }, `missing: prompt "Please`},
		{"a prompt is cut", func(s *session) { s.items[8].Text = "Now" }, `missing: prompt "Now always`},
		{"a prompt is not typed", func(s *session) { s.items[0].Origin = memoir.OriginInjected }, "is injected of the user"},
		{"an answer is lost", func(s *session) { s.items = append(s.items[:7], s.items[8:]...) }, `missing: text "The lantern`},
		{"something is said twice", func(s *session) { s.items = append(s.items, s.items[10]) }, `unexpected: message, agent: "Understood`},
		{"something stands out of order", func(s *session) { s.items[1], s.items[3] = s.items[3], s.items[1] }, "unexpected: bash"},
		{"a command is lost", func(s *session) { s.items = append(s.items[:2], s.items[3:]...) }, `missing: command "echo lantern`},
		{"an output has a frame", func(s *session) { s.items[2].Output += "\nWall time: 1 s" }, `Wall time: 1 s", want "lantern-ok`},
		{"an exit status is lost", func(s *session) { s.items[4].Exit = nil }, "no exit status, want 3"},
		{"an exit status is wrong", func(s *session) { s.items[4].Exit = &one }, "exit status 1, want 3"},
		{"a failure passes for success", func(s *session) { s.items[4].Failed = false }, "failed is false"},
		{"a success passes for failure", func(s *session) { s.items[2].Failed = true }, "failed is true"},
		{"a file is lost", func(s *session) { s.items[6].Input = "{}" }, "missing: file /w/NOTES.md"},
		{"a file failed", func(s *session) { s.items[6].Failed = true }, "file /w/NOTES.md: failed"},
		{"an item is elsewhere", func(s *session) { s.items[3].CWD = "/" }, `in "/", want "/w"`},
		{"an item is of another time", func(s *session) { s.items[3].At = time.Time{} }, "at 0001-01-01"},
		{"the session is elsewhere", func(s *session) { s.head.CWD = "" }, `working directory "", want "/w"`},
		{"the branch is wrong", func(s *session) { s.head.Branch = "x" }, `branch "x"`},
		{"the kind is wrong", func(s *session) { s.head.Kind = memoir.KindSubagent }, "subagent"},
		{"the times are wrong", func(s *session) { s.head.UpdatedAt = begin.Add(time.Hour) }, "want within"},
		{"damage is seen", func(s *session) { s.stats.Malformed = 1 }, "damage"},
		{"the session is lost", func(s *session) { *s = session{} }, "conversation: no session"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			held, sessions := all()
			c.spoil(&sessions[talk])
			var f finding
			compareAll(&f, facts, held, sessions)
			if got := strings.Join(f.differences, "\n"); !strings.Contains(got, c.want) {
				t.Errorf("differences\n%s\nwant %q among them", got, c.want)
			}
		})
	}
}

func TestWhatAFormatDoesNotSayIsNotMissed(t *testing.T) {
	t.Parallel()
	held, sessions := all()
	sessions[branchedOff].head.Kind = memoir.KindAutomation
	cut := &sessions[interrupted]
	cut.items = cut.items[:len(cut.items)-1] // the call
	var f finding
	compareAll(&f, facts, held, sessions)
	if len(f.differences) != 2 {
		t.Errorf("differences %q, want two", f.differences)
	}
	lesser := facts
	lesser.forkKind, lesser.late = memoir.KindAutomation, true
	f = finding{}
	compareAll(&f, lesser, held, sessions)
	if len(f.differences) != 0 {
		t.Errorf("%q", f.differences)
	}
	cut.items = cut.items[:len(cut.items)-1] // what was said before it
	compareAll(&f, lesser, held, sessions)
	if len(f.differences) != 1 {
		t.Errorf("differences %q, want one", f.differences)
	}
}

func TestSessionsAreToldApart(t *testing.T) {
	t.Parallel()
	held, sessions := all()
	stranger := faithful(conversation{name: "stranger"})
	var f finding
	compareAll(&f, facts, held, append(sessions, stranger, sessions[talk]))
	want := []string{"a session that nobody held: main stranger \"\" with 0 items", "conversation: 2 sessions"}
	if strings.Join(f.differences, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", f.differences)
	}
}

func TestSubAgentsBelongToTheirParents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spoil func(parent, sub *session)
		want  string
	}{
		{"another parent", func(_, sub *session) { sub.head.ParentID = "x" }, `sub-agent: its parent is "x"`},
		{"taken for a person's", func(_, sub *session) { sub.head.Kind = memoir.KindMain }, "want codex, subagent"},
		{"a task that was typed", func(_, sub *session) { sub.items[0].Origin = memoir.OriginTyped }, "is typed of the user, want subagent_task"},
		{"a task that is lost", func(parent, _ *session) { parent.items[2].Input = "{}" }, "parent: missing: sub-agent's task"},
		{"its work in the parent", func(parent, sub *session) { parent.items = append(parent.items, sub.items[2]) }, `unexpected: bash of tool: "echo lamps=2;`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			held, sessions := all()
			c.spoil(&sessions[helped], &sessions[helper])
			var f finding
			compareAll(&f, facts, held, sessions)
			if got := strings.Join(f.differences, "\n"); !strings.Contains(got, c.want) {
				t.Errorf("differences\n%s\nwant %q among them", got, c.want)
			}
		})
	}
	held, sessions := all()
	var f finding
	compareAll(&f, facts, held, sessions[:helper]) // some formats have none
	if len(f.differences) != 0 || len(f.notes) != 1 {
		t.Errorf("%+v", f)
	}
}

func TestVersionsAreFoundInWhatIsPrinted(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]string{
		"2.1.330 (Claude Code)\n": "2.1.330", "WARNING: x\ncodex-cli 0.169.0\n": "0.169.0", "omp/18.2.3": "18.2.3",
		"GitHub Copilot CLI 1.0.102.\nRun 'copilot update'": "1.0.102", "1.5.0-beta.2\n": "1.5.0-beta.2", "": "unknown",
	} {
		if got := versionOf(printed); got != want {
			t.Errorf("%q: %q, want %q", printed, got, want)
		}
	}
}
