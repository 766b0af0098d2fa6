package integrate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readPlugin returns a file of the plugin.
func readPlugin(t *testing.T, path string) (value object) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "plugin", filepath.FromSlash(path)))
	if err == nil {
		err = json.Unmarshal(content, &value)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return value
}

// The hooks of the plugin end in silence where the program is missing.
func TestThePluginCallsWhatInstallInstalls(t *testing.T) {
	t.Parallel()
	agent, _ := Named("claude")
	files := agent.files(site{Options: Options{Program: "memoir", Flags: []string{"--plugin"}}, agent: agent.Name,
		Env: Env{Getenv: func(string) string { return "" }}})
	hooks := object{}
	for _, e := range files[0].entries {
		group := e.Value.(object)
		for _, h := range group["hooks"].([]any) {
			handler := h.(object)
			words := []string{handler["command"].(string)}
			for _, word := range handler["args"].([]any) {
				words = append(words, word.(string))
			}
			delete(handler, "args")
			handler["command"] = "command -v memoir >/dev/null || exit 0; exec " + commandLine(words)
		}
		hooks[e.At[1]] = []any{group}
	}
	want, err := plain(object{"hooks": hooks})
	if diff := cmp.Diff(want, any(readPlugin(t, "hooks/hooks.json"))); err != nil || diff != "" {
		t.Errorf("hooks/hooks.json is not what install writes: %v\n%s", err, diff)
	}
	want, err = plain(object{"mcpServers": object{"memoir": files[1].entries[0].Value}})
	if diff := cmp.Diff(want, any(readPlugin(t, ".mcp.json"))); err != nil || diff != "" {
		t.Errorf(".mcp.json is not what install writes: %v\n%s", err, diff)
	}
	portable := readPlugin(t, "plugin.json")
	if portable["$schema"] != "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json" {
		t.Errorf("plugin.json has the schema %v", portable["$schema"])
	}
	delete(portable, "$schema")
	if diff := cmp.Diff(readPlugin(t, ".claude-plugin/plugin.json"), portable); diff != "" {
		t.Errorf("the two manifests differ:\n%s", diff)
	}
}
