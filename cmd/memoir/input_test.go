package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestADatabaseThatIsReadAsTextIsNamed(t *testing.T) {
	t.Parallel()
	s := newScene(t, t.TempDir(), "api: exec, command: [false]")
	for name, test := range map[string]struct {
		content string
		warned  bool
	}{
		"a database": {"SQLite format 3\x00\x10\x00more", true},
		"its head":   {"SQLite format 3\x00", true},
		"a text":     {"SQLite format 3 is a format\n", false},
		"nothing":    {"", false},
	} {
		file := filepath.Join(t.TempDir(), "x.db")
		must(t, os.WriteFile(file, []byte(test.content), 0o600))
		for _, args := range [][]string{{"redact", file}, {"scan", file}, {"redact", "-"}} {
			s.input = ""
			if args[1] == "-" {
				s.input = test.content + " "
			}
			_, out, said := s.memoir(args...)
			if warned := strings.Contains(said, "secrets in it may be missed"); warned != test.warned {
				t.Errorf("%s: %v said %q", name, args, said)
			}
			if args[0] == "redact" && strings.TrimSuffix(out, " ") != test.content {
				t.Errorf("%s: %v printed %q", name, args, out)
			}
		}
	}
}
