package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"memoir"
	"memoir/search"
	"memoir/testdata"
)

// remembering returns a home with the memory of the fixture sessions. Tests must not change it.
var remembering = once(func(t *testing.T) string {
	t.Helper()
	dir := sharedDir(t)
	_, err := testdata.Write(filepath.Join(dir, "sessions"))
	must(t, err)
	home := filepath.Join(dir, "home")
	cmd := exec.Command(released(t), "run", "--all", "--sessions", filepath.Join(dir, "sessions"), "--home", home,
		"--min-idle", "0", "--max-age", "0", "--now", testdata.Now.Format(time.RFC3339))
	cmd.Env = environment("HOME=" + dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
	return home
})

// serving returns the command of a server for a fixture project, in an empty directory.
func serving(t *testing.T, environ ...string) *exec.Cmd {
	t.Helper()
	home := remembering(t)
	cmd := exec.Command(released(t), "mcp", "--agent", "claude", "--home", home, "--project", "lanternd-97c055e77a45")
	cmd.Dir = t.TempDir()
	cmd.Env = environment(append(environ, "HOME="+cmd.Dir)...)
	return cmd
}

func TestTheServerAnswersTheClientOfTheSDK(t *testing.T) {
	t.Parallel()
	cmd := serving(t)
	var said bytes.Buffer
	cmd.Stderr = &said
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	must(t, err)
	for tool, call := range map[string]struct{ argument, value, want string }{
		"memory_search": {"query", "unsigned tags", "not instructions"},
		"memory_get":    {"path", "session:2b9ad815", "make lint"},
		"search":        {"query", "unsigned tags", "results"},
		"fetch":         {"id", "memory://root/MEMORY.md#5", "Said once"},
		"memory_forget": {"session", "2b9ad815", "nothing was forgotten yet"},
	} {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool,
			Arguments: map[string]any{call.argument: call.value}})
		must(t, err)
		if text := result.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, call.want) && search.Available {
			t.Errorf("%s: %s", tool, text)
		}
	}
	read, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "memory://root/MEMORY.md"})
	must(t, err)
	if !strings.Contains(read.Contents[0].Text, "Said once") {
		t.Errorf("read %s", read.Contents[0].Text)
	}
	if err := session.Close(); err != nil || said.Len() > 0 {
		t.Errorf("it ended with %v and said %s", err, said.String())
	}
}

func TestTheServerKeepsTheMannersOfTheProtocol(t *testing.T) {
	t.Parallel()
	const (
		initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
			`"clientInfo":{"name":"test","version":"1"}}}` + "\n"
		list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n"
	)
	meta := func(method string, id int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"notifications":{},"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`+"\n", id, method)
	}
	child := memoir.ChildVariable + "=1"
	for _, test := range []struct {
		name, input, environ string
		answers              map[string]string // by id: gjson path in the answer and its value
	}{
		{"nothing", "", "", nil},
		{"a probe before initialize", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`, "",
			map[string]string{"1": "error.code -32601"}},
		{"an unknown method before initialize", `{"jsonrpc":"2.0","id":"x","method":"no/such"}`, "",
			map[string]string{"x": "error.code -32601"}},
		{"an unknown method later", initialize + `{"jsonrpc":"2.0","id":7,"method":"no/such"}`, "",
			map[string]string{"7": "error.code -32601"}},
		{"an input that ends before the answer", initialize + list, "",
			map[string]string{"1": "result.serverInfo.name memoir", "2": "result.tools.# 5"}},
		{"lines that are no messages", initialize + "{\"jsonrpc\":\n\n" + list, "",
			map[string]string{"": "error.code -32700", "2": "result.tools.# 5"}},
		{"two messages in a line", strings.TrimSpace(list) + list + initialize, "",
			map[string]string{"": "error.code -32700", "1": "result.serverInfo.name memoir"}},
		{"a line that is too long", initialize + `{"jsonrpc":"2.0","id":9,"method":"` + strings.Repeat("x", 17<<20) + "\"}\n" + list, "",
			map[string]string{"": "error.code -32700", "2": "result.tools.# 5"}},
		{"a message of another form", "[]\n" + initialize, "",
			map[string]string{"": "error.code -32600", "1": "result.serverInfo.name memoir"}},
		{"an input that ends in a message", initialize + `{"jsonrpc":"2.0","id":2,"meth`, "",
			map[string]string{"1": "result.serverInfo.name memoir"}},
		{"a client of the newest protocol, which listens on", meta("server/discover", 1) + meta("subscriptions/listen", 2) +
			meta("tools/list", 3), "", map[string]string{"1": "result.supportedVersions.0 2026-07-28", "3": "result.tools.# 5"}},
		{"a process that memoir started", initialize + list, child,
			map[string]string{"1": "result.instructions ", "2": "result.tools.# 0"}},
	} {
		cmd := serving(t, test.environ)
		cmd.Stdin = strings.NewReader(test.input)
		out := capture(t, cmd)
		if out.code != 0 || out.stderr != "" {
			t.Errorf("%s: ended with %d and said %s", test.name, out.code, out.stderr)
		}
		answers := map[string]string{}
		for line := range strings.Lines(out.stdout) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: on standard output stands %q", test.name, line)
			}
			answers[gjson.Get(line, "id").String()] = line
		}
		for id, want := range test.answers {
			path, value, _ := strings.Cut(want, " ")
			if got := gjson.Get(answers[id], path).String(); got != strings.TrimSpace(value) {
				t.Errorf("%s: %s of %s is %q", test.name, path, answers[id], got)
			}
		}
	}
}
