package rollout

import (
	"strings"
	"testing"

	"memoir"
)

func TestPlacesAndPromptsOfProgramsTellWhoStartedASession(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cwd, prompt string
		want        memoir.SessionKind
	}{
		{"/home/x/app", "You are a careful reviewer. Automation: none", memoir.KindMain},
		{"/home/x/claude-mem", "fix the observer", memoir.KindMain},
		{"/home/x/.claude-mem/observer-sessions", "hi", memoir.KindAutomation},
		{`C:\Users\x\.claude-mem\observer-sessions`, "hi", memoir.KindAutomation},
		{"/home/x/.codex/memories", "hi", memoir.KindAutomation},
		{"/home/x/app", "You are a Claude-Mem, a specialized observer tool", memoir.KindAutomation},
		{"/home/x/app", "Hello memory agent, you are continuing to observe the primary session.", memoir.KindAutomation},
		{"/home/x/app", "Automation: tidy\nAutomation ID: tidy-1\n\nTidy up.", memoir.KindAutomation},
	} {
		for name, path := range map[string]string{
			"pi":    write(t, "x.jsonl", strings.Replace(piV3, `"cwd":"/w/app"`, `"cwd":`+q(tt.cwd), 1), pe("1", "", piUser(tt.prompt))),
			"codex": write(t, "y.jsonl", cx(`session_meta {"id":"`+thread+`","timestamp":"2026-03-01T10:00:00Z","cwd":`+q(tt.cwd)+`}`, cxUser(tt.prompt))...),
		} {
			if h := probe(t, path); h.Kind != tt.want || h.CWD != tt.cwd {
				t.Errorf("%s in %q, %q: %s in %q", name, tt.cwd, tt.prompt, h.Kind, h.CWD)
			}
		}
	}
}
