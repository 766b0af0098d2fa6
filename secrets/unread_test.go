package secrets

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zricethezav/gitleaks/v8/config"

	"memoir"
)

func TestKeysThatNothingReadsAreNamed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"none", "[[rules]]\nid = \"a\"\nregex = 'b'\nkeywords = [\"c\"]\n", nil},
		{"of all", "titel = \"x\"\n", []string{"titel"}},
		{"of a rule", "[[rules]]\nid = \"a\"\nregex = 'b'\n[[rules]]\nid = \"c\"\nregex = 'd'\nkeyword = [\"e\"]\nentropie = 3\n", []string{`rule "c": entropie, keyword`}},
		{"of lists", "[allowlist]\nregexs = ['a']\n[[rules]]\nid = \"a\"\nregex = 'b'\n[[rules.allowlists]]\nregexx = ['c']\n",
			[]string{"allowlist: regexs", `rule "a": allowlist: regexx`}},
		{"gitleaks' own", config.DefaultConfig, nil},
		{"of a wrong type, too", "titel = 1\n[[rules]]\nid = \"a\"\nregex = 'b'\nsecretGroup = \"two\"\n", []string{"titel"}},
	}
	for _, tt := range tests {
		path := filepath.Join(t.TempDir(), ".gitleaks.toml")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Unread(path)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", tt.name, err, diff)
		}
	}
	path := filepath.Join(t.TempDir(), "x")
	if _, err := Unread(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("rules = ["), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Unread(path); memoir.CodeOf(err) != memoir.CodeConfig {
		t.Error(err)
	}
}

func TestMistakesInRulesAreToldWithoutTheSecretsOfTheFile(t *testing.T) {
	t.Parallel()
	value, id := "YoUQlQUx2oh"+"us8ErNSzsY", "efcb96a2-24cc-9ea8-"+"2f96-ac9ce9a78163"
	for content, secret := range map[string]string{
		"[[rules]]\nid = \"x\"\nregex = \"(password[].EQUALS('" + value + "'\"":      value,
		"[[rules]]\nid = \"token=" + id + "\"\nregex = \"x(\"":                       id,
		"[[rules]]\nid = \"x\"\nregex = \"x\"\nentropy = \"password=" + value + "\"": value,
		"[[rules]]\nid = \"x\"\nregex = \"x\"\n\"password=" + value + "\" = 1":       value,
		"[[rules]]\nid = \"password=" + value + "\"\nregex = \"x\"\nkeyword = 1":     value,
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
		keys, err := Unread(path)
		said = append(said, keys...)
		if err != nil {
			said = append(said, err.Error())
		}
		if all := strings.Join(said, "\n"); all == "" || strings.Contains(all, secret[:8]) || strings.Contains(all, secret[len(secret)-8:]) {
			t.Errorf("of %s it is said: %s", content, all)
		}
	}
}
