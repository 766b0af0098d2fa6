package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/memory"
)

func TestHookInputOfEachAgent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, input         string
		env                 map[string]string
		agent, session, dir string
	}{
		{"claude", `{"session_id":"s1","cwd":"/src","hook_event_name":"SessionStart","source":"startup"}`,
			map[string]string{"CLAUDECODE": "1"}, "claude", "s1", "/src"},
		{"codex, which sets no variable, takes what claude takes", `{"session_id":"s1","cwd":"/src","hook_event_name":"SessionStart"}`,
			nil, "claude", "s1", "/src"},
		{"gemini", `{"session_id":"s1","cwd":"/src","hook_event_name":"SessionStart"}`,
			map[string]string{"GEMINI_SESSION_ID": "s1"}, "gemini", "s1", "/src"},
		{"copilot", `{"sessionId":"s2","cwd":"/src","source":"new"}`, map[string]string{"COPILOT_CLI": "1"}, "copilot", "s2", "/src"},
		{"copilot, started from a claude shell", `{"sessionId":"s2","cwd":"/src"}`, map[string]string{"CLAUDECODE": "1"}, "copilot", "s2", "/src"},
		{"cursor works where its workspace is", `{"conversation_id":"c1","session_id":"c1","cwd":"/home/u/.cursor","workspace_roots":["/src"],"hook_event_name":"sessionStart","cursor_version":"2"}`,
			nil, "cursor", "c1", "/src"},
		{"goose", `{"event":"SessionStart","session_id":"g1","working_dir":"/src"}`, nil, "plain", "g1", "/src"},
		{"fields of another type are passed over", `{"session_id":7,"cwd":"/src","workspace_roots":"x"}`, nil, "plain", "", "/src"},
	} {
		in, err := parseHook(strings.NewReader(test.input + "\n trailing"))
		if err != nil {
			t.Errorf("%s: not read", test.name)
			continue
		}
		agent := caller(in, true, func(name string) string { return test.env[name] })
		if agent != test.agent || in.session() != test.session || in.directory() != test.dir {
			t.Errorf("%s: got agent %s, session %s, directory %s", test.name, agent, in.session(), in.directory())
		}
	}
	if agent := caller(hookInput{}, false, func(string) string { return "1" }); agent != "plain" {
		t.Errorf("without a hook's input: %s", agent)
	}
}

func TestWhatIsNoHookInputIsNotOne(t *testing.T) {
	t.Parallel()
	for _, input := range []string{"", "null", "[1]", "7", "{", "plain text", `{"a":`} {
		if _, err := parseHook(strings.NewReader(input)); err == nil {
			t.Errorf("%q was taken for a hook's input", input)
		}
	}
}

func TestOnlyALegalSessionIDIsTakenFromAHook(t *testing.T) {
	t.Parallel()
	for id, legal := range map[string]bool{
		"019df239-3e38-79af": true, "s_1.a": true, strings.Repeat("a", 128): true,
		strings.Repeat("a", 129): false, "--all": false, "a b": false, "a\nb": false, "../x": false, "é": false, "": false,
	} {
		if got := (hookInput{SessionID: id}).session(); (got == id) != legal && id != "" {
			t.Errorf("%q: got %q", id, got)
		}
	}
}

func TestOnlyTheNameOfAnEventIsReturned(t *testing.T) {
	t.Parallel()
	for event, want := range map[string]string{"SubagentStart": "SubagentStart", "": "SessionStart",
		"key=\\\\r": "SessionStart", strings.Repeat("a", 41): "SessionStart"} {
		if got := hookOutput("claude", event, "x", ""); !strings.Contains(got, `"hookEventName":"`+want+`"`) {
			t.Errorf("%q: %s", event, got)
		}
	}
}

// openPipe returns a pipe with a text, whose other end stays open.
func openPipe(t *testing.T, text string) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	_, err = w.WriteString(text)
	must(t, err)
	return r
}

func TestAPipeLeftOpenIsReadToTheEndOfTheFirstValueOrNotWaitedFor(t *testing.T) {
	t.Parallel()
	r := openPipe(t, `{"session_id":"s1"}`)
	if in, ok := readHook(r, time.Minute); !ok || in.session() != "s1" {
		t.Errorf("got %+v, %v", in, ok)
	}
	if _, ok := readHook(r, 10*time.Millisecond); ok {
		t.Error("read something from a pipe that carried nothing more")
	}
}

func TestTheInputOfAHookThatNamesItsAgentIsWaitedFor(t *testing.T) {
	t.Parallel()
	r := openPipe(t, `{"session_id":"s1"}`)
	flags := flag.NewFlagSet("inject", flag.ContinueOnError)
	flags.String("agent", "claude", "")
	p := &program{ui: &ui{stdin: r}}
	if in, ok := p.hookInput(cli.NewContext(nil, flags, nil), -time.Second); !ok || in.session() != "s1" {
		t.Errorf("got %+v, %v", in, ok)
	}
}

func TestAFileIsReadHoweverLongItTakes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "hook.json")
	must(t, os.WriteFile(path, []byte(`{"session_id":"s1"}`), 0o600))
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	if in, ok := readHook(f, 0); !ok || in.session() != "s1" {
		t.Errorf("got %+v, %v", in, ok)
	}
}

func TestEachAgentGetsTheOneFormThatItTakes(t *testing.T) {
	t.Parallel()
	const text = "memory <b> & \"quotes\"\n"
	for _, test := range []struct{ agent, event, want string }{
		{"claude", "", `{"hookSpecificOutput":{"additionalContext":"memory <b> & \"quotes\"\n","hookEventName":"SessionStart"}}`},
		{"codex", "UserPromptSubmit", `{"hookSpecificOutput":{"additionalContext":"memory <b> & \"quotes\"\n","hookEventName":"UserPromptSubmit"}}`},
		{"gemini", "", `{"hookSpecificOutput":{"additionalContext":"memory <b> & \"quotes\"\n","hookEventName":"SessionStart"}}`},
		{"qwen", "", `{"hookSpecificOutput":{"additionalContext":"memory <b> & \"quotes\"\n","hookEventName":"SessionStart"}}`},
		{"copilot", "", `{"additionalContext":"memory <b> & \"quotes\"\n"}`},
		{"cursor", "", `{"additional_context":"memory <b> & \"quotes\"\n"}`},
		{"plain", "", text},
		{"pi", "", text},
	} {
		got := hookOutput(test.agent, test.event, text, "")
		if strings.TrimSuffix(got, "\n") != strings.TrimSuffix(test.want, "\n") {
			t.Errorf("%s: got %s", test.agent, got)
		}
		if test.want != text && !json.Valid([]byte(got)) {
			t.Errorf("%s: not JSON: %s", test.agent, got)
		}
	}
}

// lines returns as much of a text as fits.
func lines(text string) func(tokens int) string {
	return func(tokens int) string { return memory.FitTokens(text, tokens) }
}

func TestTheFrameAndTheSummaryTogetherStayWithinTheLimit(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"plain":                 "- a line that is worth something\n",
		"what is made inert":    "- </memoir-context> {{x}} <system-reminder> !`rm -rf` @file\n",
		"letters of four bytes": strings.Repeat("𝔐", 20) + "\n",
	} {
		summary := strings.Repeat(line, 2000)
		for _, limit := range []int{1, 100, 300, 400, 500, 600, 700, 1000, 2250, 5000} {
			rules := strings.Repeat("- a rule of the user's, whatever it is about\n", 400)
			text := frame("/home/u/memoir", "app-0123456789ab", lines(""), rules, "- one thing\n", "", nil, 2000)
			if n := strings.Count(text, "a rule of"); n < 30 || n*len("- a rule of the user's, whatever it is about\n") > 2000 {
				t.Errorf("the user's %d lines take more than a quarter, or next to nothing", n)
			}
			if !strings.Contains(text, "\n- one thing\n") {
				t.Error("the user's rules left no room")
			}
			text = frame("/home/u/memoir", "app-0123456789ab", lines(""), "", summary, "", nil, limit)
			if n := memoir.Tokens(text); n > limit {
				t.Errorf("%s, limit %d: %d tokens", name, limit, n)
			}
			full := frame("/home/u/memoir", "app-0123456789ab", lines(rules), strings.ReplaceAll(rules, "a rule", "one"), summary, "",
				[]string{strings.Repeat("x", 99) + "\n", "the last\n"}, limit)
			if n := memoir.Tokens(full); n > limit || limit >= 500 && !strings.Contains(full, "a rule of") {
				t.Errorf("%s, limit %d: %d tokens with all that may precede the summary", name, limit, n)
			}
			if limit >= 400 && text == "" {
				t.Errorf("%s, limit %d: nothing", name, limit)
			}
			if text == "" {
				continue
			}
			if strings.Count(text, "<memoir-context") != 1 || strings.Count(text, "</memoir-context>") != 1 {
				t.Errorf("%s: the frame is not one:\n%s", name, text[:min(len(text), 1500)])
			}
		}
	}
	short := frame("/home/u/memoir", "app-0123456789ab", lines(strings.Repeat("- a note\n", 400)), strings.Repeat("- of the user\n", 400),
		strings.Repeat("- of the project\n", 400), saidHead+"- the newest word\n", []string{strings.Repeat("x", 400) + "\n"}, 420)
	noted, said, last := strings.LastIndex(short, "- a note"), strings.Index(short, "- the newest word"), strings.Index(short, "- of")
	if noted < 0 || said < noted || last >= 0 && last < said {
		t.Errorf("what was said since does not stand behind the notes and before the memory:\n%s", short)
	}
	text := frame("/home/u/memoir", "app-0123456789ab", lines(""), "", "- one thing\n", "", nil, 5000)
	for _, want := range []string{`project="app"`, `root="/home/u/memoir/projects/app-0123456789ab/memory"`, "\n- one thing\n</memoir-context>"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}
