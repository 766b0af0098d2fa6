package memoir_test

import (
	"cmp"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// TestEveryNameInTheTreeIsPortable fails for a file that a module zip or a Windows checkout refuses. It also covers
// files that are not committed yet, so that a test's leftovers are found before they are added.
func TestEveryNameInTheTreeIsPortable(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("not a git checkout:", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if err := module.CheckFilePath(name); err != nil {
			t.Error(err)
		}
	}
}

// TestARoomImportsOnlyRoomsAbove compares imports with the order of the rooms in docs/architecture.md.
func TestARoomImportsOnlyRoomsAbove(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	mod, errMod := os.ReadFile("go.mod")
	if err = cmp.Or(err, errMod); err != nil {
		t.Fatal(err)
	}
	root := modfile.ModulePath(mod)
	_, table, _ := strings.Cut(string(text), "\n## The rooms\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var rooms []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z/.-]+)` \\|").FindAllStringSubmatch(table, -1) {
		rooms = append(rooms, path.Join(root, row[1]))
	}
	for at, room := range rooms {
		files, _ := filepath.Glob(filepath.Join(".", strings.TrimPrefix(room, root), "*.go"))
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, of := range file.Imports {
				imported := strings.Trim(of.Path.Value, `"`)
				below := slices.Index(rooms, imported) > at
				doors := room == root+"/serve" && imported == root+"/ask"
				server := imported == root+"/serve" && name != "cmd/memoir/serve.go"
				if !strings.HasSuffix(name, "_test.go") && (below || doors || server) {
					t.Errorf("%s imports %s", name, imported)
				}
			}
		}
	}
}
