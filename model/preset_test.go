//go:build unix

package model

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
)

// agent is a preset whose program is a script; $DIR is a directory of the test's, and
// "$@" what the preset gives it.
func agent(t *testing.T, name, text string, o Options) (Model, string) {
	t.Helper()
	dir := t.TempDir()
	o.API, o.Preset, o.Command = APIExec, name, []string{"env", "DIR=" + dir, "sh", "-c", text, name}
	m, err := Open(Spec{Provider: "exec", Model: name + "/lamp"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return m, dir
}

const strictSchema = `{"type":"object","properties":{"lamp":{"type":"string"}},"required":["lamp"],"additionalProperties":false}`

// said are outputs in the form of each agent, as the versions that were verified print
// them, and what is read in them.
var said = []struct {
	preset, name, stdout string
	want                 Answer
}{
	{"claude", "a text", `{"type":"result","subtype":"success","is_error":false,"result":"north","stop_reason":"end_turn","total_cost_usd":0.5,"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":70,"output_tokens":9}}`,
		Answer{Text: "north", Stop: StopEnd, Usage: memoir.Usage{Calls: 1, InputTokens: 100, CachedTokens: 70, OutputTokens: 9, Cost: 0.5}}},
	{"claude", "a text in a form", `{"type":"result","is_error":false,"result":"Done.","structured_output":{"lamp":"north"},"usage":{"input_tokens":10,"output_tokens":9}}`,
		Answer{Text: `{"lamp":"north"}`, Stop: StopEnd, Usage: memoir.Usage{Calls: 1, InputTokens: 10, OutputTokens: 9}}},
	{"claude", "half a text", `{"type":"result","result":"nor","stop_reason":"max_tokens","usage":{"input_tokens":10,"output_tokens":9}}`,
		Answer{Text: "nor", Stop: StopLength, Usage: memoir.Usage{Calls: 1, InputTokens: 10, OutputTokens: 9}}},
	{"claude", "no", `{"type":"result","result":"","stop_reason":"refusal","usage":{"input_tokens":10,"output_tokens":9}}`,
		Answer{Text: "", Stop: StopRefusal, Usage: memoir.Usage{Calls: 1, InputTokens: 10, OutputTokens: 9}}},
	{"codex", "a text after a hitch", `{"type":"thread.started","thread_id":"x"}
{"type":"error","message":"Reconnecting... 1/5"}
{"type":"item.completed","item":{"id":"0","type":"reasoning","text":"hm"}}
{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"north"}}
{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":70,"output_tokens":9}}`,
		Answer{Text: "north", Stop: StopEnd, Usage: memoir.Usage{Calls: 1, InputTokens: 100, CachedTokens: 70, OutputTokens: 9}}},
	{"pi", "a text after another try", `{"type":"session","id":"x"}
{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"which?"}]}}
{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"500"}}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"no"},{"type":"text","text":"rth"}],"stopReason":"stop","usage":{"input":30,"output":9,"cacheRead":60,"cacheWrite":10,"cost":{"total":0.5}}}}`,
		Answer{Text: "north", Stop: StopEnd, Usage: memoir.Usage{Calls: 1, InputTokens: 100, CachedTokens: 60, OutputTokens: 9, Cost: 0.5}}},
	{"omp", "half a text", `{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"nor"}],"stopReason":"length","usage":{"input":30,"output":9}}}`,
		Answer{Text: "nor", Stop: StopLength, Usage: memoir.Usage{Calls: 1, InputTokens: 30, OutputTokens: 9}}},
	{"opencode", "a text", `{"type":"step_start","part":{}}
{"type":"text","part":{"type":"text","text":"north"}}
{"type":"step_finish","part":{"reason":"stop","cost":0.5,"tokens":{"input":30,"output":5,"reasoning":4,"cache":{"read":60,"write":10}}}}`,
		Answer{Text: "north", Stop: StopEnd, Usage: memoir.Usage{Calls: 1, InputTokens: 100, CachedTokens: 60, OutputTokens: 9, Cost: 0.5}}},
	{"opencode", "half a text", `{"type":"text","part":{"text":"nor"}}
{"type":"step_finish","part":{"reason":"length","tokens":{"input":30,"output":5}}}`,
		Answer{Text: "nor", Stop: StopLength, Usage: memoir.Usage{Calls: 1, InputTokens: 30, OutputTokens: 5}}},
}

func TestWhatAnAgentSaysIsRead(t *testing.T) {
	t.Parallel()
	for _, tt := range said {
		t.Run(tt.preset+" says "+tt.name, func(t *testing.T) {
			t.Parallel()
			m, dir := agent(t, tt.preset, `cat "$DIR/said"`, Options{})
			if err := os.WriteFile(filepath.Join(dir, "said"), []byte(tt.stdout+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			a := ask(t, m, Request{Input: "which?"})
			if diff := cmp.Diff(tt.want, a); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The words are those of the agents, when their provider refused them.
func TestWhatAnAgentFailsOfIsTold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		preset, text string
		class        Class
		message      string
	}{
		{"claude", `echo '{"type":"result","is_error":true,"result":"API Error: Request rejected (429)"}'; exit 1`, ClassLimited, "API Error: Request rejected (429)"},
		{"claude", `echo '{"type":"result","is_error":true,"result":"You have hit your 5-hour limit"}'; exit 1`, ClassLimited, "You have hit"},
		{"claude", `echo '{"type":"result","is_error":true,"result":"Not logged in · Please run /login"}'; exit 1`, ClassDenied, "Not logged in"},
		{"claude", `echo '{"type":"result","is_error":true,"subtype":"error_max_turns","errors":["too many turns"]}'; exit 1`, ClassProgram, "too many turns"},
		{"claude", `echo '{"type":"result","is_error":true,"result":"Prompt is too long · the limit is 200000"}'; exit 1`, ClassTooLong, "Prompt is too long"},
		{"claude", `echo oops`, ClassProgram, "it printed no result in the requested form: oops"},
		{"claude", `echo "error: unknown option --tools" >&2; exit 1`, ClassProgram, "error: unknown option --tools"},
		{"codex", `echo '{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: invalid x-api-key"}}'; exit 1`, ClassDenied, "unexpected status 401"},
		{"codex", `echo '{"type":"error","message":"Codex ran out of room in the model'"'"'s context window."}'; exit 1`, ClassTooLong, "Codex ran out"},
		{"codex", `echo '{"type":"turn.failed","error":{"message":"We are experiencing high demand, which may cause temporary errors."}}'; exit 1`, ClassTemporary, "We are"},
		{"pi", `echo '{"type":"message_end","message":{"role":"assistant","stopReason":"error","errorMessage":"500: Internal server error"}}'`, ClassTemporary, "500"},
		{"pi", `echo '{"type":"message_end","message":{"role":"assistant","stopReason":"error","errorMessage":"404: model: nothing-5"}}'`, ClassMissing, "404"},
		{"opencode", `echo '{"type":"error","error":{"name":"APIError","data":{"message":"model: nothing-5","statusCode":404}}}'; exit 1`, ClassMissing, "APIError: 404: model: nothing-5"},
		{"opencode", `echo '{"type":"error","error":{"name":"UnknownError"}}'; exit 1`, ClassProgram, "UnknownError"},
	} {
		t.Run(tt.preset+" "+tt.message, func(t *testing.T) {
			t.Parallel()
			m, _ := agent(t, tt.preset, tt.text, Options{})
			_, err := m.Call(t.Context(), Request{Input: "which?"})
			if e := failure(t, err); e.Class != tt.class || !strings.HasPrefix(e.Message, tt.message) || e.Hint() == "" && !e.Again() {
				t.Errorf("%s %q, hint %q", e.Class, e.Message, e.Hint())
			}
		})
	}
}

// keeps is what an agent is asked with: its arguments, and the files that they name.
const keeps = `for a; do echo "$a"; case "$a" in /*) [ -f "$a" ] && echo "file: $(cat "$a")";; esac; done >"$DIR/args"; env >"$DIR/env"; cat >"$DIR/stdin"
	find . -type f -exec cat {} + >"$DIR/files"; exit 9`

func TestAnAgentIsGivenItsSwitches(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		args   []string // among others
		env    string
		schema bool // has a switch for it
		inArgs bool // the system prompt is in a file that an argument names
	}{
		"claude": {args: []string{"--model", "lamp", "--no-session-persistence", "--strict-mcp-config", "--effort", "low", strictSchema},
			env: "CLAUDE_CODE_MAX_OUTPUT_TOKENS=77", schema: true, inArgs: true},
		"codex":    {args: []string{"-m", "lamp", "--ephemeral", "--ignore-user-config", `model_reasoning_effort="minimal"`, "file: " + strictSchema}, schema: true},
		"pi":       {args: []string{"--model", "lamp", "--no-session", "--no-tools", "--no-mcp", "--thinking", "minimal"}, inArgs: true},
		"omp":      {args: []string{"--model", "lamp", "--no-session", "--no-tools", "--thinking", "minimal"}, inArgs: true},
		"opencode": {args: []string{"--model", "lamp", "--pure", "--variant", "minimal"}, env: `"prompt": "Keep the log."`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, dir := agent(t, name, keeps, Options{Effort: "minimal", MaxOutput: 77})
			_, err := m.Call(t.Context(), Request{System: "Keep the log.", Input: "Which lamp?", Schema: json.RawMessage(strictSchema)})
			if e := failure(t, err); e.Status != 9 {
				t.Error(err)
			}
			args, env, stdin := read(t, dir, "args"), read(t, dir, "env"), read(t, dir, "stdin")
			lines := strings.Split(args, "\n")
			for _, arg := range want.args {
				if !slices.Contains(lines, arg) {
					t.Errorf("no %q in\n%s", arg, args)
				}
			}
			if !strings.Contains(env, want.env) || !strings.Contains(env, "\nMEMOIR_CHILD=1\n") {
				t.Errorf("environment:\n%s", env)
			}
			if !strings.HasPrefix(stdin, memoir.OwnRunMarker+"\n") || !strings.Contains(stdin, "Which lamp?") || strings.Contains(args, "Which lamp?") {
				t.Errorf("stdin:\n%s", stdin)
			}
			if strings.Contains(stdin, strictSchema) == want.schema {
				t.Errorf("the schema is told twice, or not at all:\n%s", stdin)
			}
			if want.inArgs != strings.Contains(args, "file: Keep the log.") {
				t.Errorf("system prompt in a file: %s", args)
			}
		})
	}
}

func TestAnOlderAgentIsCalledWithoutTheSwitchThatItRefuses(t *testing.T) {
	t.Parallel()
	m, dir := agent(t, "pi", `case " $* " in *" --no-mcp "*) echo "Error: Unknown option: --no-mcp" >&2; exit 1;; esac
		cat >"$DIR/stdin"; exit 9`, Options{})
	_, err := m.Call(t.Context(), Request{Input: "Which lamp?"})
	if e := failure(t, err); e.Status != 9 || !strings.Contains(read(t, dir, "stdin"), "Which lamp?") {
		t.Error(err)
	}
}

func TestTheModelsNameIsWhatFollowsThePreset(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		spec  Spec
		o     Options
		model string
	}{
		{Spec{"exec", "claude/opus"}, Options{Preset: "claude", Command: []string{"sh"}}, "opus"},
		{Spec{"exec", "pi/mock/mock-1"}, Options{Preset: "pi", Command: []string{"sh"}}, "mock/mock-1"},
		{Spec{"exec", "claude"}, Options{Preset: "claude", Command: []string{"sh"}}, ""},
		{Spec{"mine", "opus"}, Options{Preset: "claude", Command: []string{"sh"}}, "opus"},
		{Spec{"exec", "opus"}, Options{Command: []string{"sh"}}, "opus"},
	} {
		p, called, err := presetOf(tt.spec, tt.o)
		if err != nil || called != tt.model || (p == nil) != (tt.o.Preset == "") {
			t.Errorf("%s: %+v, %q, %v", tt.spec, p, called, err)
		}
	}
}
