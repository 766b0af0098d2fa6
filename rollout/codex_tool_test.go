package rollout

import "testing"

func TestCodexToolResultsOfEveryVersion(t *testing.T) {
	t.Parallel()
	custom := func(id, name, input string) string {
		return `response_item {"type":"custom_tool_call","name":"` + name + `","input":` + q(input) + `,"call_id":"` + id + `","status":"completed"}`
	}
	customOut := func(id, raw string) string {
		return `response_item {"type":"custom_tool_call_output","call_id":"` + id + `","output":` + raw + `}`
	}
	play(t, "x.jsonl", cxSession, []scene{
		{"JSON in a string", []string{cxCall("1", "shell", `{"command":["bash","-lc","go test"]}`), cxOutput("1", q(`{"output":"FAIL\n","metadata":{"exit_code":1,"duration_seconds":2}}`))},
			[]string{"shell(go test) !1 FAIL"}},
		{"an argument vector", []string{cxCall("1", "shell", `{"command":["git","commit","-m","a b"]}`), cxOutput("1", q(`{"output":"","metadata":{"exit_code":0}}`))},
			[]string{"shell(git commit -m 'a b') =0"}},
		{"Exit code first", []string{cxCall("1", "shell_command", `{"command":"make"}`), cxOutput("1", q("Exit code: 2\nWall time: 0.2 seconds\nOutput:\nno rule\n"))},
			[]string{"shell_command(make) !2 no rule"}},
		{"a chunk", []string{cxCall("1", "exec_command", `{"cmd":"ls","workdir":"/w"}`), cxOutput("1", q("Chunk ID: ab12\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 3\nOutput:\na.go\n"))},
			[]string{"exec_command(ls) =0 a.go"}},
		{"a truncated chunk", []string{cxCall("1", "exec_command", `{"cmd":"ls"}`), cxOutput("1", q("Chunk ID: ab12\nProcess exited with code 0\nOutput:\nTotal output lines: 900\n\na.go\n"))},
			[]string{"exec_command(ls) =0 a.go"}},
		{"still running", []string{cxCall("1", "exec_command", `{"cmd":"sleep 9"}`), cxOutput("1", q("Chunk ID: ab12\nWall time: 1 seconds\nProcess running with session ID 7\nOutput:\n"))},
			[]string{"exec_command(sleep 9) ="}},
		{"output that looks like a frame stays", []string{cxCall("1", "exec_command", `{"cmd":"cat f"}`), cxOutput("1", q("Process exited with code 0\nOutput:\nExit code: 5\nOutput:\nx"))},
			[]string{"exec_command(cat f) =0 Exit code: 5\nOutput:\nx"}},
		{"a local shell call", []string{`response_item {"type":"local_shell_call","call_id":"1","status":"completed","action":{"type":"exec","command":["zsh","-c","ls -l"]}}`, cxOutput("1", q("x"))},
			[]string{"local_shell_call(ls -l) = x"}},
		{"an object", []string{cxCall("1", "view", `{"path":"a"}`), cxOutput("1", `{"content":"nope","success":false}`)},
			[]string{`view({"path":"a"}) ! nope`}},
		{"blocks", []string{cxCall("1", "srv__find", `{"q":1}`), cxOutput("1", `[{"type":"input_text","text":"one"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"},{"type":"input_text","text":"two"}]`)},
			[]string{`srv__find({"q":1}) = one` + "\ntwo"}},
		{"an MCP result as JSON", []string{cxCall("1", "srv__find", `{}`), cxOutput("1", q("Wall time: 0.1 seconds\nOutput:\n"+`[{"type":"text","text":"found"}]`))},
			[]string{`srv__find({}) = found`}},
		{"a patch", []string{custom("1", "apply_patch", "*** Begin Patch\n*** End Patch"), customOut("1", q(`{"output":"Success. Updated the following files:\nM a.go\n","metadata":{"exit_code":0}}`))},
			[]string{"apply_patch(*** Begin Patch\n*** End Patch) =0 Success. Updated the following files:\nM a.go"}},
		{"a patch that does not fit", []string{custom("1", "apply_patch", "*** Begin Patch"), customOut("1", q("apply_patch verification failed: no such line"))},
			[]string{"apply_patch(*** Begin Patch) ! apply_patch verification failed: no such line"}},
		{"a patch whose event says that it failed", []string{custom("1", "apply_patch", "*** Begin Patch"), `event_msg {"type":"patch_apply_end","call_id":"1","success":false}`, customOut("1", q("x"))},
			[]string{"apply_patch(*** Begin Patch) ! x"}},
		{"one command in code mode", []string{custom("1", "exec", `const r = await tools.exec_command({cmd:"go test ./...","workdir":"/w"}); text(r.output)`),
			customOut("1", `[{"type":"input_text","text":"Script completed\nWall time 0.1 seconds\nOutput:\n"},{"type":"input_text","text":"ok\n"}]`)},
			[]string{"exec_command(go test ./...) = ok"}},
		{"a command in code mode that prints its result", []string{custom("1", "exec", `const r = await tools.exec_command({cmd:"false"}); text(JSON.stringify(r))`),
			customOut("1", `[{"type":"input_text","text":"Script completed\nOutput:\n"},{"type":"input_text","text":"{\"chunk_id\":\"a\",\"wall_time_seconds\":0.1,\"exit_code\":1,\"output\":\"no\"}"}]`)},
			[]string{"exec_command(false) !1 no"}},
		{"several commands in code mode", []string{custom("1", "exec", "const r = await Promise.all([\n tools.exec_command({cmd:'git status'}),\n tools.exec_command({\"cmd\":`ls \"x\"`})]);"),
			customOut("1", `"Script running with cell ID 4\nWall time 10.0 seconds\nOutput:\n"`)},
			[]string{"exec_command(git status\nls \"x\") ="}},
		{"a patch in code mode", []string{custom("1", "exec", "const patch = \"*** Begin Patch\\n+x\\n*** End Patch\";\ntext(await tools.apply_patch(patch));"), customOut("1", `[{"type":"input_text","text":"Script failed\nWall time 0.1 seconds\nOutput:\n"},{"type":"input_text","text":"bad"}]`)},
			[]string{"apply_patch(*** Begin Patch\n+x\n*** End Patch) ! bad"}},
		{"a script that is more than commands", []string{custom("1", "exec", `for (const c of list) await tools.exec_command({cmd:c})`), customOut("1", `[]`)},
			[]string{"exec(for (const c of list) await tools.exec_command({cmd:c})) ="}},
		{"a patch in a here document", []string{cxCall("1", "shell", `{"command":["bash","-lc","apply_patch <<'EOF'\n*** Begin Patch\n+x\n*** End Patch\nEOF"]}`), cxOutput("1", q(`{"output":"Success.","metadata":{"exit_code":0}}`))},
			[]string{"shell(apply_patch <<'EOF'\n*** Begin Patch\n+x\n*** End Patch\nEOF) =0 Success."}},
		{"a patch as an argument", []string{cxCall("1", "shell", `{"command":["apply_patch","*** Begin Patch\n+x\n*** End Patch"]}`), cxOutput("1", q(`{"output":"no","metadata":{"exit_code":1}}`))},
			[]string{"shell(apply_patch '*** Begin Patch\n+x\n*** End Patch') !1 no"}},
		{"a patch's exit code", []string{custom("1", "apply_patch", "*** Begin Patch"), customOut("1", q("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess. Updated the following files:\nM a.go\n"))},
			[]string{"apply_patch(*** Begin Patch) =0 Success. Updated the following files:\nM a.go"}},
		{"MCP with its name space", []string{`response_item {"type":"function_call","name":"find","namespace":"mcp__srv__","arguments":"{\"q\":1}","call_id":"1"}`, cxOutput("1", `[{"type":"input_text","text":"Wall time: 0.1 seconds\nOutput:"},{"type":"input_text","text":"found"}]`)},
			[]string{`mcp__srv__find({"q":1}) = found`}},
		{"a command that was refused", []string{cxCall("1", "shell_command", `{"command":"rm -rf x"}`), cxOutput("1", q("exec command rejected by user"))},
			[]string{"shell_command(rm -rf x) ! exec command rejected by user"}},
		{"a command that the person interrupted", []string{cxCall("1", "exec_command", `{"cmd":"sleep 100"}`), cxOutput("1", q("Wall time: 4.4 seconds\naborted by user"))},
			[]string{"exec_command(sleep 100) ! aborted by user"}},
		{"a command that was cut off by time", []string{cxCall("1", "shell", `{"command":["sleep","9"]}`), cxOutput("1", q(`{"output":"command timed out after 1000 milliseconds\n","metadata":{"exit_code":124,"duration_seconds":1}}`))},
			[]string{"shell(sleep 9) !124 command timed out after 1000 milliseconds"}},
		{"a script that fails", []string{custom("1", "exec", `text(await tools.exec_command({cmd:"ls"}))`), customOut("1", `[{"type":"input_text","text":"Script failed\nWall time 0.1 seconds\nOutput:\n"},{"type":"input_text","text":"Script error:\nno tool"}]`)},
			[]string{"exec_command(ls) ! Script error:\nno tool"}},
		{"a search", []string{`response_item {"type":"web_search_call","status":"completed","action":{"type":"search","query":"go zstd"}}`},
			[]string{"web_search_call(go zstd) ="}},
		{"results that come later, twice and without a call", []string{cxUser("a"),
			cxCall("1", "exec_command", `{"cmd":"one"}`), cxCall("2", "exec_command", `{"cmd":"two"}`), cxCall("3", "exec_command", `{"cmd":"three"}`),
			cxOutput("2", q("second")), cxOutput("1", q("first")), cxOutput("1", q("first again")),
			cxCall("5", "exec_command", `{"cmd":"five"}`), cxUser("b"), cxOutput("9", q("nobody asked")), cxOutput("5", q("fifth")), cxCall("4", "exec_command", `{"cmd":"four"}`)},
			[]string{"typed: a", "exec_command(two) = second", "exec_command(one) = first", "exec_command(three) =",
				"typed: b", "unknown() = nobody asked", "exec_command(five) = fifth", "exec_command(four) ="}},
	})
}

func TestScriptsAreReadOnlyWherePlain(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, js, tool, input string }{
		{"a comment and a string that name tools", `// tools.x()` + "\n" + `const s = "tools.y()"; await tools.exec_command({cmd: "ls"})`, "exec_command", "ls"},
		{"a later key", `tools.exec_command({workdir:"/w", prefix_rule: ["a", 2], cmd:'a\'b'})`, "exec_command", "a'b"},
		{"a template with a substitution", "tools.exec_command({cmd:`ls ${dir}`})", "exec", "tools.exec_command({cmd:`ls ${dir}`})"},
		{"different tools", `tools.exec_command({cmd:"a"}); tools.web__run({})`, "exec", `tools.exec_command({cmd:"a"}); tools.web__run({})`},
		{"a plan beside a command", `await tools.update_plan({plan:[{step:"tools.x()"}]}); text((await tools.exec_command({cmd:"a"})).output)`, "exec_command", "a"},
		{"a plan alone", `await tools.update_plan({plan:[]})`, "update_plan", `{"plan":[]}`},
		{"one call of another tool", `const r = await tools.mcp__db__query({sql:"select 1"}); text(r)`, "mcp__db__query", `{"sql":"select 1"}`},
		{"a command by name", `const cmd = "go test ./..."; text(await tools.exec_command({cmd, workdir:"/w"}))`, "exec_command", "go test ./..."},
		{"a name that changes", `let c = "a"; c = "b"; tools.exec_command({cmd: c})`, "exec", `let c = "a"; c = "b"; tools.exec_command({cmd: c})`},
		{"a raw patch", "const p = String.raw`+\\d \"x\"`;\nawait tools.apply_patch(p)", "apply_patch", `+\d "x"`},
		{"escapes", `tools.exec_command({cmd:"a!\uD83D\uDE00\$\'\\"})`, "exec_command", `a!😀$'\`},
		{"different directories", `tools.exec_command({cmd:"a",workdir:"/a"}); tools.exec_command({cmd:"b # all",workdir:"/b c"}); tools.exec_command({cmd:"d"})`, "exec_command",
			"(cd /a && a)\n(cd '/b c' && b # all\n)\nd"},
		{"a concatenation", `const a = "x" + y; tools.exec_command({cmd: a, workdir: "/w" + a})`, "exec", `const a = "x" + y; tools.exec_command({cmd: a, workdir: "/w" + a})`},
		{"comments with quotes", "/* don't */ tools.exec_command({ // it's\ncmd: 'a' /* \" */ })", "exec_command", "a"},
		{"a template patch", "await tools.apply_patch(`*** Begin Patch\n+a \\`b\\` \\\\ \"c\"\n`)", "apply_patch", "*** Begin Patch\n+a `b` \\ \"c\"\n"},
		{"input to a running command", `text(await tools.write_stdin({session_id:7,chars:"q"}))`, "write_stdin", `{"session_id":7,"chars":"q"}`},
		{"an open string", `tools.exec_command({cmd:"a`, "exec", `tools.exec_command({cmd:"a`},
		{"no tools", `text(1)`, "exec", `text(1)`},
	}
	for _, tt := range tests {
		if tool, input, _ := codexScript(tt.js); tool != tt.tool || input != tt.input {
			t.Errorf("%s: %s %q, want %s %q", tt.name, tool, input, tt.tool, tt.input)
		}
	}
}

func FuzzCodexScript(f *testing.F) {
	f.Add("tools.exec_command({cmd:\"ls\"})")
	f.Add("const p = `x`;\ntools.apply_patch(p)")
	f.Add("tools.a(tools.b({'c':")
	f.Add(`const a = "xxxxxxxx"; const b = [a, a, a]; const c = [b, b, b]; const d = [c, c, c]; tools.a([d, d, d])`)
	f.Add("const a = `${b}` + 'c'; let b = [\"d\", a].join('-'); for (const e of [a, b]) tools.exec_command({e, cmd: e})")
	f.Add("[\"\\u{41}\\x4\\0\", String.raw`x`].map(c => tools.exec_command({cmd: c /* ' */}))")
	f.Fuzz(func(t *testing.T, js string) {
		tool, input, _ := codexScript(js)
		if tool == "exec" && input != js {
			t.Errorf("a script that is not understood must stay as it is")
		}
		if len(input) > 4*len(js)+100 {
			t.Errorf("%d bytes of input from a script of %d", len(input), len(js))
		}
	})
}

func TestACallRunsInTheDirectoryThatItNames(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind, payload, want string
	}{
		"named":                {"function_call", `{"name":"exec_command","arguments":"{\"cmd\":\"ls\",\"workdir\":\"/other\"}"}`, "/other"},
		"as an object":         {"function_call", `{"name":"shell","arguments":{"command":["ls"],"workdir":"/other"}}`, "/other"},
		"relative":             {"function_call", `{"name":"shell","arguments":"{\"command\":[\"ls\"],\"workdir\":\"sub\"}"}`, "/turn/sub"},
		"of Windows":           {"function_call", `{"name":"shell","arguments":"{\"command\":[\"dir\"],\"workdir\":\"C:\\\\src\"}"}`, `C:\src`},
		"not named":            {"function_call", `{"name":"exec_command","arguments":"{\"cmd\":\"ls\"}"}`, "/turn"},
		"broken arguments":     {"function_call", `{"name":"exec_command","arguments":"{\"cmd\""}`, "/turn"},
		"local shell":          {"local_shell_call", `{"action":{"command":["ls"],"working_directory":"/other"}}`, "/other"},
		"code mode":            {"custom_tool_call", `{"name":"exec","input":"await tools.exec_command({cmd:'ls', workdir:'/other'})"}`, "/other"},
		"code mode, several":   {"custom_tool_call", `{"name":"exec","input":"tools.exec_command({cmd:'ls',workdir:'/a'}); tools.exec_command({cmd:'ls',workdir:'/b'})"}`, "/turn"},
		"a patch in code mode": {"custom_tool_call", `{"name":"exec","input":"tools.apply_patch('x')"}`, "/turn"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, dir := codexCall(tt.kind, []byte(tt.payload))
			if got := inTurn(dir, "/turn"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
