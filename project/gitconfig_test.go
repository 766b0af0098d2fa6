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
		{"quotes, escapes and comments", "[remote \"o\"]\nurl = \"a\" ; d\n#url = z\n", []remote{{"o", "a"}}},
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
			if got := remotes(file); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
