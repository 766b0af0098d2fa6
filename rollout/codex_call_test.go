package rollout

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func cxCustom(id, input string) string {
	return `response_item {"type":"custom_tool_call","name":"exec","input":` + q(input) + `,"call_id":"` + id + `","status":"completed"}`
}

func cxCell(id, status string, texts ...string) string {
	blocks := []string{`{"type":"input_text","text":` + q(status+"\nWall time 0.1 seconds\nOutput:\n") + `}`}
	for _, s := range texts {
		blocks = append(blocks, `{"type":"input_text","text":`+q(s)+`}`)
	}
	return `response_item {"type":"custom_tool_call_output","call_id":"` + id + `","output":[` + strings.Join(blocks, ",") + `]}`
}

func cxRuns(id string, session int, output string) string {
	return cxOutput(id, q(fmt.Sprintf("Chunk ID: a\nWall time: 1.0 seconds\nProcess running with session ID %d\nOutput:\n%s", session, output)))
}

func cxExits(id string, code int, output string) string {
	return cxOutput(id, q(fmt.Sprintf("Chunk ID: b\nWall time: 1.0 seconds\nProcess exited with code %d\nOutput:\n%s", code, output)))
}

func cxPoll(id string, session int, chars string) string {
	return cxCall(id, "write_stdin", fmt.Sprintf(`{"session_id":%d,"chars":%q}`, session, chars))
}

func TestACommandThatOutlivesItsCallHasItsWholeOutputAndItsExit(t *testing.T) {
	t.Parallel()
	play(t, "x.jsonl", cxSession, []scene{
		{"asked after until it ends", []string{cxUser("a"), cxCall("1", "exec_command", `{"cmd":"make"}`), cxRuns("1", 7, "one\n"),
			cxPoll("2", 7, ""), cxRuns("2", 7, "two\n"), cxAgent("still"), cxPoll("3", 7, ""), cxExits("3", 2, "three\n")},
			[]string{"typed: a", "agent: still", "exec_command(make) !2 one\ntwo\nthree"}},
		{"another command ends before it", []string{cxCall("1", "exec_command", `{"cmd":"make"}`), cxRuns("1", 7, ""),
			cxCall("2", "exec_command", `{"cmd":"ls"}`), cxExits("2", 0, "x"), cxPoll("3", 7, ""), cxExits("3", 0, "ok")},
			[]string{"exec_command(ls) =0 x", "exec_command(make) =0 ok"}},
		{"typed into", []string{cxCall("1", "exec_command", `{"cmd":"login","tty":true}`), cxRuns("1", 7, "sure? "),
			cxPoll("2", 7, "y\n"), cxExits("2", 0, "done")},
			[]string{`write_stdin({"session_id":7,"chars":"y\n"}) =`, "exec_command(login) =0 sure? \ndone"}},
		{"asked after once the user has spoken, to its end", []string{cxCall("1", "exec_command", `{"cmd":"make"}`), cxRuns("1", 7, "one"),
			cxUser("well?"), cxPoll("2", 7, ""), cxExits("2", 1, "two")},
			[]string{"typed: well?", "exec_command(make) !1 one\ntwo"}},
		{"never seen to end", []string{cxCall("1", "exec_command", `{"cmd":"serve"}`), cxRuns("1", 7, "up"), cxPoll("2", 7, ""), cxRuns("2", 7, "GET /"),
			cxUser("b"), cxPoll("3", 7, ""), cxRuns("3", 7, "GET /b"), cxAgent("fine")},
			[]string{"typed: b", "exec_command(serve) = up\nGET /\nGET /b", "agent: fine"}},
		{"never asked after", []string{cxCall("1", "exec_command", `{"cmd":"serve"}`), cxRuns("1", 7, "up"), cxAgent("b")},
			[]string{"exec_command(serve) = up", "agent: b"}},
		{"a number used again", []string{cxCall("1", "exec_command", `{"cmd":"a"}`), cxRuns("1", 7, ""), cxPoll("2", 7, ""), cxExits("2", 0, "A"),
			cxCall("3", "exec_command", `{"cmd":"b"}`), cxRuns("3", 7, ""), cxPoll("4", 7, ""), cxExits("4", 3, "B")},
			[]string{"exec_command(a) =0 A", "exec_command(b) !3 B"}},
		{"a command that nobody started", []string{cxPoll("2", 9, ""), cxExits("2", 4, "late")},
			[]string{`write_stdin({"session_id":9,"chars":""}) !4 late`}},
		{"ended by an event alone", []string{cxCall("1", "exec_command", `{"cmd":"make"}`), cxRuns("1", 7, "one"), cxAgent("later"),
			`event_msg {"type":"exec_command_end","call_id":"1","exit_code":2,"aggregated_output":"one\ntwo"}`},
			[]string{"agent: later", "exec_command(make) !2 one\ntwo"}},
		{"in code mode, results printed as JSON", []string{cxCustom("1", `const r = await tools.exec_command({cmd:"make"}); text(JSON.stringify(r))`),
			cxCell("1", "Script completed", `{"chunk_id":"a","wall_time_seconds":1,"session_id":7,"output":"one\n"}`),
			cxCustom("2", `text(JSON.stringify(await tools.write_stdin({session_id:7, chars:"", yield_time_ms:1})))`),
			cxCell("2", "Script completed", "Warning: truncated output (original token count: 9)\nTotal output lines: 1\n\n"+`{"chunk_id":"b","wall_time_seconds":1,"exit_code":1,"output":"two"}`)},
			[]string{"exec_command(make) !1 one\ntwo"}},
		{"a cell that is waited for", []string{cxCustom("1", `text((await tools.exec_command({cmd:"make"})).output)`), cxCell("1", "Script running with cell ID 3", "one"),
			cxCall("2", "wait", `{"cell_id":"3"}`), cxCell("2", "Script running with cell ID 3"), cxCall("3", "wait", `{"cell_id":"3"}`), cxCell("3", "Script completed", "two")},
			[]string{"exec_command(make) = one\ntwo"}},
		{"a cell that fails at last", []string{cxCustom("1", `for (;;) await f()`), cxOutput("1", q("Script running with cell ID 3\nWall time 1.0 seconds\nOutput:\n")),
			cxCall("2", "wait", `{"cell_id":3}`), cxCell("2", "Script failed", "Script error:\nno f")},
			[]string{"exec(for (;;) await f()) ! Script error:\nno f"}},
		{"one of several commands failed before", []string{cxCustom("1", `const rs = await Promise.all([tools.exec_command({cmd:"a"}), tools.exec_command({cmd:"b"})]); rs.forEach(r => text(JSON.stringify(r)))`),
			cxCell("1", "Script completed", `{"wall_time_seconds":1,"exit_code":5,"output":"A"}`, `{"wall_time_seconds":1,"session_id":7,"output":"B"}`),
			cxPoll("2", 7, ""), cxExits("2", 0, "b")},
			[]string{"exec_command(a\nb) !5 A\nB\nb"}},
	})
}

func TestTheOutputOfALongCommandIsBounded(t *testing.T) {
	t.Parallel()
	lines := []string{cxMeta(""), cxCall("start", "exec_command", `{"cmd":"build"}`), cxRuns("start", 7, "begin\n")}
	piece := strings.Repeat("some words ", 5000)
	for i := range 40 {
		id := fmt.Sprint("p", i)
		lines = append(lines, cxPoll(id, 7, ""), cxRuns(id, 7, piece))
	}
	lines = append(lines, cxPoll("last", 7, ""), cxExits("last", 1, "error: the end"))
	items, stats := read(t, write(t, "x.jsonl", cx(lines...)...))
	if len(items) != 1 || items[0].Exit == nil || *items[0].Exit != 1 {
		t.Fatalf("%d items", len(items))
	}
	out := items[0].Output
	if len(out) > maxJoined+100 || !strings.HasPrefix(out, "begin\n") || !strings.HasSuffix(out, "\nerror: the end") {
		t.Errorf("%d bytes, from %.10q to %q", len(out), out, out[len(out)-20:])
	}
	if stats.Elided == 0 {
		t.Error("what was left out is not counted")
	}
}

func TestCommandsInsideAScriptAreReportedByEvents(t *testing.T) {
	t.Parallel()
	ended := func(id, line string, code int) string {
		return fmt.Sprintf(`event_msg {"type":"item_completed","turn_id":"t1","item":{"type":"CommandExecution","id":%q,"command":["/bin/bash","-lc",%q],"cwd":"file:///w","status":"completed","exit_code":%d,"aggregated_output":"out of %s"}}`, id, line, code, line)
	}
	play(t, "x.jsonl", cxSession, []scene{
		{"exit statuses that the script did not print", []string{cxCustom("1", `text((await tools.exec_command({cmd:"make"})).output)`), ended("exec-1", "make", 2), cxCell("1", "Script completed", "no rule")},
			[]string{"exec_command(make) !2 no rule"}},
		{"the first failure of several", []string{cxCustom("1", `for (const c of ["a","b","c"]) await tools.exec_command({cmd:c})`), ended("exec-1", "a", 0), ended("exec-2", "b", 3), ended("exec-3", "c", 0), cxCell("1", "Script completed")},
			[]string{`exec(for (const c of ["a","b","c"]) await tools.exec_command({cmd:c})) !3`}},
		{"beside other tools", []string{cxCustom("1", `await tools.web__run({}); await tools.exec_command({cmd:"a"})`), ended("exec-1", "a", 0), cxCell("1", "Script completed", "x")},
			[]string{`exec(await tools.web__run({}); await tools.exec_command({cmd:"a"})) =0 x`}},
		{"of a plain call, by its own id", []string{cxCall("1", "exec_command", `{"cmd":"make"}`), ended("1", "make", 2), cxOutput("1", q("no frame"))},
			[]string{"exec_command(make) !2 no frame"}},
		{"of nothing known", []string{ended("exec-1", "a", 1), cxUser("a")}, []string{"typed: a"}},
	})
}

func TestEventsSayThatACallFailed(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]string{
		"a patch":          `{"type":"patch_apply_end","call_id":"1","success":false}`,
		"a patch, as item": `{"type":"item_completed","item":{"type":"FileChange","id":"1","status":"failed","changes":{}}}`,
		"a refused patch":  `{"type":"item_completed","item":{"type":"FileChange","id":"1","status":"declined","changes":{}}}`,
		"MCP":              `{"type":"mcp_tool_call_end","call_id":"1","invocation":{"server":"s","tool":"t"},"result":{"Err":"no"}}`,
		"MCP, as item":     `{"type":"item_completed","item":{"type":"McpToolCall","id":"1","server":"s","tool":"t","status":"failed","error":{"message":"no"}}}`,
		"a client's tool":  `{"type":"item_completed","item":{"type":"DynamicToolCall","id":"1","tool":"t","status":"completed","success":false}}`,
	} {
		items, _ := read(t, write(t, "x.jsonl", cx(cxMeta(""), cxCall("1", "s__t", `{}`), "event_msg "+event, cxOutput("1", q("x")))...))
		if len(items) != 1 || !items[0].Failed {
			t.Errorf("%s: %v", name, sketch(items))
		}
		good := strings.NewReplacer("false", "true", "failed", "completed", "declined", "completed", `"Err"`, `"Ok"`, `,"error":{"message":"no"}`, "").Replace(event)
		items, _ = read(t, write(t, "x.jsonl", cx(cxMeta(""), cxCall("1", "s__t", `{}`), "event_msg "+good, cxOutput("1", q("x")))...))
		if len(items) != 1 || items[0].Failed {
			t.Errorf("%s that did not fail: %v", name, sketch(items))
		}
	}
}

var exitLine = regexp.MustCompile(`(?m)\AChunk ID: .*\n(?:Wall time: .*\n)?Process exited with code (-?\d+)$`)

// Each exit status that a real session records is that of one item, and no other.
func TestCorpusKeepsEveryExitStatus(t *testing.T) {
	t.Parallel()
	for _, e := range collect(t, func(fn func(Entry) error) error {
		return WalkDir(t.Context(), filepath.Join(corpusDir(t), "codex"), fn)
	}) {
		parts := []Part{{Path: e.Path, Head: probe(t, e.Path)}}
		var want, got []string
		err := (&tape{parts: parts, stats: &Stats{}}).each(t.Context(), false, func(_ place, raw []byte) error {
			if l := parseCodexLine(raw); l.sub == "function_call_output" {
				if m := exitLine.FindStringSubmatch(getText(l.payload, "output")); m != nil {
					want = append(want, m[1])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		items, _ := readParts(t, parts)
		for _, it := range items {
			if (it.Tool == "exec_command" || it.Tool == "write_stdin") && it.Exit != nil {
				got = append(got, fmt.Sprint(*it.Exit))
			}
		}
		if len(want) == 0 || parts[0].Head.ParentID != "" { // code mode; a fork has its parent's too
			continue
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			t.Errorf("%s: %d exits of %d", e.Path, len(got), len(want))
		}
	}
}
