package rollout

import (
	"strings"
	"testing"
	"time"

	"memoir"
)

const geminiHead = `"sessionId":"dddddddd-0000-4000-8000-000000000001","projectHash":"abc","startTime":"2026-01-09T18:08:00.000Z","lastUpdated":"2026-01-09T18:09:00.000Z"`

func geminiDoc(messages ...string) string {
	return "{" + geminiHead + `,"messages":[` + strings.Join(messages, ",") + "]}"
}

func gm(id, kind, content, extra string) string {
	return `{"id":"` + id + `","timestamp":"2026-01-09T18:08:30.000Z","type":"` + kind + `","content":` + content + extra + `}`
}

func TestGeminiGivesItems(t *testing.T) {
	t.Parallel()
	shell := `,"toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"make"},"status":"success","result":[{"functionResponse":{"id":"c1","response":{"output":` +
		q("Command: make\nDirectory: (root)\nOutput: no rule\nError: (none)\nExit Code: 2\nSignal: 0") + `}}}]}]`
	tests := []struct {
		name     string
		messages []string
		want     []string
	}{
		{"a turn", []string{gm("1", "user", `"hi"`, ""), gm("2", "gemini", `"hello"`, "")}, []string{"typed: hi", "agent: hello"}},
		{"parts", []string{gm("1", "user", `[{"text":"hi"},{"inlineData":{"data":"AAAA"}}]`, "")}, []string{"typed: hi"}},
		{"a shell call", []string{gm("1", "gemini", `"I run it"`, shell)}, []string{"agent: I run it", "run_shell_command(make) !2 no rule"}},
		{"a failed call", []string{gm("1", "gemini", `""`, `,"toolCalls":[{"id":"c","name":"read_file","args":{ "file_path" : "a" },"status":"error","result":[{"functionResponse":{"response":{"error":"no such file"}}}]}]`)},
			[]string{`read_file({"file_path":"a"}) ! no such file`}},
		{"a call that was cancelled", []string{gm("1", "gemini", `""`, `,"toolCalls":[{"id":"c","name":"edit","args":{},"status":"cancelled"}]`)}, []string{"edit({}) !"}},
		{"what the client says", []string{gm("1", "info", `"update available"`, ""), gm("2", "error", `"quota"`, ""), gm("3", "user", `"System: Please continue."`, "")}, nil},
		{"what was typed before files were put in", []string{gm("1", "user", `"explain\n--- a.go ---\npackage a"`, `,"displayContent":"explain @a.go"`)}, []string{"typed: explain @a.go"}},
		{"an injected context", []string{gm("1", "user", `"<session_context>\nToday\n</session_context>"`, ""), gm("2", "user", `"hi"`, "")}, []string{"typed: hi"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			items, _ := read(t, write(t, "session.json", geminiDoc(tt.messages...)))
			expect(t, items, tt.want...)
		})
	}
}

func TestGeminiReadsLines(t *testing.T) {
	t.Parallel()
	head := "{" + geminiHead + `,"kind":"main"}`
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"messages", []string{gm("1", "user", `"hi"`, ""), gm("2", "gemini", `"hello"`, "")}, []string{"typed: hi", "agent: hello"}},
		{"a later line replaces an earlier", []string{gm("1", "user", `"hi"`, ""), gm("2", "gemini", `"hel"`, ""), gm("2", "gemini", `"hello"`, "")}, []string{"typed: hi", "agent: hello"}},
		{"a rewind", []string{gm("1", "user", `"hi"`, ""), gm("2", "user", `"old"`, ""), gm("3", "gemini", `"OLD"`, ""), `{"$rewindTo":"2"}`, gm("4", "user", `"new"`, "")}, []string{"typed: hi", "typed: new"}},
		{"a replaced list", []string{gm("1", "user", `"old"`, ""), `{"$set":{"messages":[` + gm("2", "user", `"hi"`, "") + `]}}`, gm("3", "gemini", `"hello"`, "")}, []string{"typed: hi", "agent: hello"}},
		{"a patch of something else", []string{gm("1", "user", `"hi"`, ""), `{"$set":{"lastUpdated":"2026-01-09T18:10:00.000Z"}}`}, []string{"typed: hi"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			items, _ := read(t, write(t, "session.jsonl", append([]string{head}, tt.lines...)...))
			expect(t, items, tt.want...)
		})
	}
}

func TestGeminiHead(t *testing.T) {
	t.Parallel()
	doc := geminiDoc(gm("1", "user", `"hi there"`, ""))
	for _, content := range []string{doc, strings.NewReplacer("{", "{\n  ", ",", ",\n  ").Replace(doc)} {
		head := probe(t, write(t, "session.json", content))
		if head.Source != memoir.SourceGemini || head.ID != "dddddddd-0000-4000-8000-000000000001" || head.Title != "hi there" || head.CWD != "" {
			t.Errorf("head %+v", head)
		}
		if want := time.Date(2026, 1, 9, 18, 9, 0, 0, time.UTC); !head.UpdatedAt.Equal(want) {
			t.Errorf("updated %v", head.UpdatedAt)
		}
	}
}

func TestGeminiDocumentThatWasCut(t *testing.T) {
	t.Parallel()
	doc := geminiDoc(gm("1", "user", `"hi"`, ""), gm("2", "gemini", `"hello"`, ""))
	items, stats := read(t, write(t, "session.json", doc[:len(doc)-20]))
	expect(t, items, "typed: hi")
	if !stats.CutTail {
		t.Error("the document is cut")
	}
}
