package transcript

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/bench/memory/scenario"
	"memoir/rollout"
)

// RoundTrip writes a session below a directory and verifies what is read of it.
func RoundTrip(ctx context.Context, dir string, p scenario.Project, s scenario.Session) (differences []string,
	err error) {
	file, err := New(p, s).Save(dir)
	if err != nil {
		return nil, err
	}
	return Verify(ctx, file, p, s)
}

// Verify reads a written session as memoir does and lists where that differs from
// what the scenario says: who said what, which calls failed and how, what was
// rejected, and that nothing which a program put in passes for a person's words.
func Verify(ctx context.Context, file string, p scenario.Project, s scenario.Session) (differences []string,
	err error) {
	head, err := rollout.Probe(rollout.Entry{File: memoir.File{Path: file}})
	if err != nil {
		return nil, err
	}
	var items []memoir.Item
	stats, err := rollout.Read(ctx, []rollout.Part{{Path: file, Head: head}}, func(it memoir.Item) error {
		items = append(items, it)
		return nil
	})
	if err != nil {
		return nil, err
	}
	say := func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }
	if string(head.Source) != s.Agent || head.CWD != p.Dir || head.Kind != memoir.KindMain {
		say("it is a %s session of %s in %s", head.Kind, head.Source, head.CWD)
	}
	if stats.Malformed+stats.Undone+len(stats.Unknown) > 0 {
		say("%d records are malformed, %d undone, unknown are %v", stats.Malformed, stats.Undone, stats.Unknown)
	}
	want := expect(s)
	for i := range max(len(want), len(items)) {
		switch {
		case i >= len(items):
			say("line %d: %s is not read", want[i].line, want[i].what)
		case i >= len(want):
			say("item %d: %s %q is read and not said", items[i].N, items[i].Origin, short(items[i].Text+items[i].Input))
		default:
			if wrong := want[i].differs(items[i]); wrong != "" {
				say("line %d: %s: %s", want[i].line, want[i].what, wrong)
				return differences, nil // what follows is shifted
			}
		}
	}
	return differences, nil
}

// wanted is one item that must be read.
type wanted struct {
	line    int
	what    string
	kind    string
	origins []memoir.Origin
	text    string // of a message: all of it; of a summary: a part
	tool    string // "" is any
	input   string // a part of a call's
	whole   bool   // the call's input is that
	output  string // a part of the call's
	failed  bool
	exit    int  // not 0: must be read
	final   bool // with settles
	settles bool // the format says which answer closes a turn
}

// expect lists what must be read of a session.
func expect(s scenario.Session) []wanted {
	agent := memoir.Source(s.Agent)
	settles := agent == memoir.SourceCodex
	typed := []memoir.Origin{memoir.OriginTyped, memoir.OriginSlashCommand, memoir.OriginQueued}
	var out []wanted
	for i, e := range s.Said {
		switch e.Kind {
		case scenario.Person, scenario.Queued:
			out = append(out, wanted{line: e.N, what: "the person's words", kind: memoir.ItemMessage, origins: typed,
				text: e.Text})
		case scenario.Agent:
			out = append(out, wanted{line: e.N, what: "the agent's words", kind: memoir.ItemMessage,
				origins: []memoir.Origin{memoir.OriginAgent},
				text:    e.Text, final: s.Closing(i), settles: settles})
		case scenario.Summary:
			out = append(out, wanted{line: e.N, what: "the summary", kind: memoir.ItemSummary,
				origins: []memoir.Origin{memoir.OriginCompactionSummary}, text: e.Text})
		case scenario.Refused:
			call := expectCall(agent, *e.Call)
			call.line, call.what, call.failed, call.output, call.exit = e.N, "the rejected call", true, "", 0
			out = append(out, call)
			if e.Text == "" {
				continue
			}
			origins := typed
			if agent == memoir.SourceClaude {
				origins = []memoir.Origin{memoir.OriginRejection}
			}
			out = append(out, wanted{line: e.N, what: "what the person said to the call", kind: memoir.ItemMessage,
				origins: origins, text: e.Text})
		case scenario.Injected, scenario.Interrupted:
		default:
			out = append(out, expectCall(agent, e))
		}
	}
	return out
}

func expectCall(agent memoir.Source, e scenario.Entry) wanted {
	w := wanted{line: e.N, what: "the call", kind: memoir.ItemTool, origins: []memoir.Origin{memoir.OriginTool},
		failed: e.Fails != "" || e.Exit != 0, exit: e.Exit, output: firstLine(e.Output)}
	if e.Fails != "" {
		w.output = firstLine(e.Fails)
	}
	codex := agent == memoir.SourceCodex
	switch {
	case e.Kind == scenario.Tool:
		w.tool = e.Text
	case codex && codexCommand(e) != "":
		w.tool, w.input, w.whole, w.exit = "exec_command", codexCommand(e), true, codexExit(e)
		w.failed = w.exit != 0
	case e.Kind == scenario.Run:
		w.input, w.whole = commandLine(e), true
	case e.Kind == scenario.Search:
		w.input = string(encode(e.Text))
	default:
		w.input = path.Base(e.Text)
	}
	return w
}

// differs says what is wrong with an item, "" if nothing is.
func (w wanted) differs(it memoir.Item) string {
	switch {
	case it.Kind != w.kind || !slices.Contains(w.origins, it.Origin):
		return fmt.Sprintf("read is a %s (%s) %q", it.Kind, it.Origin, short(it.Text+it.Input))
	case w.kind == memoir.ItemMessage && it.Text != w.text, w.kind == memoir.ItemSummary &&
		!strings.Contains(it.Text, w.text):
		return fmt.Sprintf("%q, read is %q", short(w.text), short(it.Text))
	case w.settles && it.Final != w.final:
		return fmt.Sprintf("closing the turn is %v, read as %v", w.final, it.Final)
	case w.kind != memoir.ItemTool:
		return ""
	case w.tool != "" && it.Tool != w.tool:
		return fmt.Sprintf("of the tool %s is read as of %s", w.tool, it.Tool)
	case w.whole && it.Input != w.input, !strings.Contains(it.Input, w.input):
		return fmt.Sprintf("the input %q is read as %q", w.input, short(it.Input))
	case !strings.Contains(it.Output, w.output):
		return fmt.Sprintf("the output %q is read as %q", w.output, short(it.Output))
	case it.Failed != w.failed:
		return fmt.Sprintf("having failed is %v, read as %v", w.failed, it.Failed)
	case w.exit != 0 && (it.Exit == nil || *it.Exit != w.exit):
		return fmt.Sprintf("the exit status %d is not read", w.exit)
	}
	return ""
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimRight(text, " \t\r\n"), "\n")
	return strings.TrimSpace(line)
}

func short(text string) string {
	const most = 80
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
