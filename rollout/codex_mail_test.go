package rollout

import "testing"

func TestCodexGivesWhatAgentsWriteToOneAnother(t *testing.T) {
	t.Parallel()
	record := func(author, recipient, content string) string {
		return `inter_agent_communication {"author":"` + author + `","recipient":"` + recipient + `","other_recipients":[],"content":` + q(content) + `,"trigger_turn":false}`
	}
	item := func(author, recipient, content string) string {
		return `response_item {"type":"agent_message","author":"` + author + `","recipient":"` + recipient + `","content":[{"type":"input_text","text":` + q(content) + `}]}`
	}
	const child = `,"agent_path":"/root/worker"`
	tests := []struct {
		name, meta string
		lines      []string
		want       []string
		injected   int
	}{
		{"a record of its own", "", []string{record("/root/worker", "/root", "child done")},
			[]string{"typed: go", "agent_message(/root/worker) = child done"}, 0},
		{"a response item, with its metadata", "", []string{`inter_agent_communication_metadata {"trigger_turn":true}`, item("/root/worker", "/root", "child done")},
			[]string{"typed: go", "agent_message(/root/worker) = child done"}, 0},
		{"both", "", []string{record("/root/worker", "/root", "child done"), item("/root/worker", "/root", "child done"), item("/root/worker", "/root", "and more")},
			[]string{"typed: go", "agent_message(/root/worker) = child done", "agent_message(/root/worker) = and more"}, 1},
		{"in an envelope", "", []string{item("/root/worker", "/root", "Message Type: MESSAGE\nTask name: /root\nSender: /root/worker\nPayload:\nchild done\nPayload:\nx")},
			[]string{"typed: go", "agent_message(/root/worker) = child done\nPayload:\nx"}, 0},
		{"encrypted", "", []string{`response_item {"type":"agent_message","author":"/root/worker","recipient":"/root","content":[{"type":"input_text","text":"Message Type: MESSAGE\nTask name: /root\nSender: /root/worker\nPayload:\n"},{"type":"encrypted_content","encrypted_content":"zzz"}]}`,
			`inter_agent_communication {"author":"/root/worker","recipient":"/root","other_recipients":[],"content":"","encrypted_content":"zzz","trigger_turn":true}`},
			[]string{"typed: go"}, 2},
		{"its own words", "", []string{item("/root", "/root/worker", "look it up")}, []string{"typed: go"}, 0},
		{"what a subagent is told", child, []string{item("/root", "/root/worker", "look it up")},
			[]string{"typed: go", "agent_message(/root) = look it up"}, 0},
		{"a subagent's own words", child, []string{item("/root/worker", "/root", "done")}, []string{"typed: go"}, 0},
	}
	for _, tt := range tests {
		items, stats := read(t, write(t, "x.jsonl", cx(append([]string{cxMeta(tt.meta), cxTurn("t1"), cxUser("go")}, tt.lines...)...)...))
		expect(t, items, tt.want...)
		if stats.Injected != tt.injected || len(stats.Unknown) > 0 {
			t.Errorf("%s: %+v", tt.name, stats)
		}
	}
}
