package secrets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMistakesInRulesAreToldWithoutTheSecretsOfTheFile(t *testing.T) {
	t.Parallel()
	value, id := "YoUQlQUx2oh"+"us8ErNSzsY", "efcb96a2-24cc-9ea8-"+"2f96-ac9ce9a78163"
	for content, secret := range map[string]string{
		"[[rules]]\nid = \"x\"\nregex = \"(password[].EQUALS('" + value + "'\"":      value,
		"[[rules]]\nid = \"token=" + id + "\"\nregex = \"x(\"":                       id,
		"[[rules]]\nid = \"x\"\nregex = \"x\"\nentropy = \"password=" + value + "\"": value,
		"[extend]\npassword = '" + value:                                             value,
	} {
		path := filepath.Join(t.TempDir(), ".gitleaks.toml")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, options := range []Options{{ConfigPath: path}, {ProjectPath: path}, {ProjectPath: path, ProjectTrusted: true}} {
			if _, err := New(options); err != nil {
				said = append(said, err.Error())
			}
		}
		if all := strings.Join(said, "\n"); all == "" || strings.Contains(all, secret[:8]) || strings.Contains(all, secret[len(secret)-8:]) {
			t.Errorf("of %s it is said: %s", content, all)
		}
	}
}
