package project

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestRemotesOfAConfiguration(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, config string
		want         []remote
	}{
		{"an ordinary one", "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@h:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
			[]remote{{"origin", "git@h:a/b.git"}}},
		{"several in order", "[remote \"up\"]\nurl=u\n[remote \"origin\"]\nurl=o\n", []remote{{"up", "u"}, {"origin", "o"}}},
		{"the first URL counts, pushurl does not", "[remote \"o\"]\npushurl = p\nurl = a\nurl = b\n", []remote{{"o", "a"}}},
		{"case of names", "[REMOTE \"Origin\"]\nURL = x\n", []remote{{"Origin", "x"}}},
		{"the older form", "[remote.origin]\nurl = x\n", []remote{{"origin", "x"}}},
		{"key on the section's line", "[remote \"o\"] url = x\n", []remote{{"o", "x"}}},
		{"quotes in the name", `[remote "a\"b]c"]` + "\nurl = x\n", []remote{{`a"b]c`, "x"}}},
		{"quotes, escapes and comments", "[remote \"o\"]\nurl = \"a # b\" c ; d\n#url = z\n", []remote{{"o", "a # b c"}}},
		{"a value over two lines", "[remote \"o\"]\nurl = a\\\n  b\n", []remote{{"o", "a  b"}}},
		{"an escaped backslash at the end", "[remote \"o\"]\nurl = C:\\\\x\\\\\n", []remote{{"o", `C:\x\`}}},
		{"CRLF and a byte order mark", "\ufeff[remote \"o\"]\r\nurl = x\r\n", []remote{{"o", "x"}}},
		{"an empty URL", "[remote \"o\"]\nurl =\nurl\n", nil},
		{"insteadOf is not applied", "[url \"https://h/\"]\ninsteadOf = h:\n[remote \"o\"]\nurl = h:x\n", []remote{{"o", "h:x"}}},
		{"url outside of a remote", "url = x\n[remote]\nurl = y\n[branch \"m\"]\nurl = z\n", nil},
		{"broken", "[remote \"o\nurl = x\n[", nil},
		{"nothing", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "config")
			if err := os.WriteFile(file, []byte(test.config), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := remotes(file, ""); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestIncludedConfigurationIsReadWhereItStands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"config":    "[include]\npath = more/a\npath = ~/b\npath = missing\npath = config\n[remote \"last\"]\nurl = l\n",
		"more/a":    "[include]\npath = c\n",
		"more/c":    "[remote \"c\"]\nurl = c\n",
		"home/b":    "[remote \"b\"]\nurl = b\n[remote \"c\"]\nurl = other\n",
		"unrelated": "[remote \"x\"]\nurl = x\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := remotes(filepath.Join(dir, "config"), filepath.Join(dir, "home"))
	if want := []remote{{"c", "c"}, {"b", "b"}, {"last", "l"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzGitConfig(f *testing.F) {
	f.Add("[remote \"origin\"]\n\turl = \"a\\\"b\" # c\n")
	f.Add("[a \"\\")
	f.Add("[remote \"o\"] url = \\")
	f.Fuzz(func(t *testing.T, config string) {
		for line := range configLines(config) {
			parseSection(line)
			if key, _, ok := parseKey(line); ok && key == "" {
				t.Error("a key without a name")
			}
		}
	})
}
