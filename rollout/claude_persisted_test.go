package rollout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// saved is a result whose output stands in a file.
func saved(path string) string {
	return "<persisted-output>\nOutput too large (100.5KB). Full output saved to: " + path + "\n\nPreview (first 2KB):\nhead\n...\n</persisted-output>"
}

func TestClaudeReadsAnOutputFromTheSessionsOwnFiles(t *testing.T) {
	t.Parallel()
	const home = "/home/x/.claude/projects/-w/"
	long := "first line\n" + strings.Repeat("middle words\n", 200_000) + "last line"
	tests := []struct {
		name, path string
		files      map[string]string // below the session's directory; -> makes a link
		want       []string          // what the output holds
		not        string
	}{
		{"whole", home + claudeID + "/tool-results/t1.txt", map[string]string{claudeID + "/tool-results/t1.txt": "head\nthe end\n"}, []string{"head\nthe end"}, "Preview"},
		{"of a failed command", home + claudeID + "/tool-results/t1.txt", map[string]string{claudeID + "/tool-results/t1.txt": "Exit code 2\nhead\nthe end"}, []string{"head\nthe end"}, "Exit code"},
		{"as content blocks", home + claudeID + "/tool-results/t1.json", map[string]string{claudeID + "/tool-results/t1.json": `[{"type":"text","text":"the end"}]`}, []string{"the end"}, "type"},
		{"of another system", `C:\Users\x\` + claudeID + `\tool-results\t1.txt`, map[string]string{claudeID + "/tool-results/t1.txt": "the end"}, []string{"the end"}, "Preview"},
		{"too large to be read whole", home + claudeID + "/tool-results/t1.txt", map[string]string{claudeID + "/tool-results/t1.txt": long}, []string{"first line", "[…]", "last line"}, "Preview"},
		{"that is gone", home + claudeID + "/tool-results/t1.txt", nil, []string{"Output too large", "Preview (first 2KB):\nhead"}, "the end"},
		{"of another session", home + "other/tool-results/t1.txt", map[string]string{"other/tool-results/t1.txt": "the end"}, []string{"Preview"}, "the end"},
		{"anywhere else", "/etc/t1.txt", map[string]string{claudeID + "/tool-results/t1.txt": "the end"}, []string{"Preview"}, "the end"},
		{"above its directory", home + claudeID + "/tool-results/..", map[string]string{claudeID + "/tool-results/t1.txt": "the end"}, []string{"Preview"}, "the end"},
		{"that is a link out", home + claudeID + "/tool-results/t1.txt", map[string]string{claudeID + "/tool-results/x": "", claudeID + "/tool-results/t1.txt": "->../../../secret"}, []string{"Preview"}, "the end"},
		{"that is a directory", home + claudeID + "/tool-results/t1.txt", map[string]string{claudeID + "/tool-results/t1.txt/x": ""}, []string{"Preview"}, "the end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			dir := filepath.Join(top, "projects")
			writeAt(t, filepath.Join(top, "secret"), "the end")
			for name, content := range tt.files {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if target, ok := strings.CutPrefix(content, "->"); ok {
					if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.Symlink(target, path); err != nil {
						t.Fatal(err)
					}
					continue
				}
				writeAt(t, path, content)
			}
			session := filepath.Join(dir, claudeID+".jsonl")
			failed := ""
			if strings.Contains(tt.name, "failed") {
				failed = `,"is_error":true`
			}
			writeAt(t, session, strings.Join(cc(ccUse("m1", "t1", "Bash", `{"command":"x"}`), ccResult("t1", saved(tt.path), failed)), "\n")+"\n")
			items, _ := read(t, session)
			if len(items) != 1 {
				t.Fatalf("items:\n%s", indent(sketch(items)))
			}
			for _, want := range tt.want {
				if !strings.Contains(items[0].Output, want) {
					t.Errorf("no %q in %.200q", want, items[0].Output)
				}
			}
			if strings.Contains(items[0].Output, tt.not) {
				t.Errorf("%q in %.200q", tt.not, items[0].Output)
			}
			if failed != "" && (items[0].Exit == nil || *items[0].Exit != 2) {
				t.Errorf("exit %v", items[0].Exit)
			}
		})
	}
}
