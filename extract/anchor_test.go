package extract

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"memoir"
	"memoir/memoirtest"
)

// looked is the call of a tool that read a file, or searched, with what it returned.
func looked(tool, path, output string) memoir.Item {
	return memoir.Item{Kind: memoir.ItemTool, Tool: tool, Input: fmt.Sprintf(`{"file_path":%q}`, path), Output: output}
}

func ran(line, output string) memoir.Item {
	return memoir.Item{Kind: memoir.ItemTool, Tool: "bash", Input: line, Output: output}
}

// ofStatement are the anchors of one statement about items, as "path text key".
func ofStatement(kind memoir.StatementKind, text string, cited int, tree fakeTree, items ...memoir.Item) string {
	for i := range items {
		items[i].N, items[i].CWD = i+1, "/srv/app/sub"
	}
	statements := memoirtest.Statements(fmt.Sprintf("## %s\n- %s [%d]\n", kind, text, cited))
	Anchors(memoir.Extraction{Statements: statements, CWD: "/srv/app/sub"}, "/srv/app", items, tree.Look)
	var out []string
	for _, a := range statements[0].Anchors {
		out = append(out, strings.TrimSpace(a.Path+" "+a.Text+" "+a.Key))
	}
	return strings.Join(out, "; ")
}

// A fakeTree holds texts by path.
type fakeTree map[string]string

func (t fakeTree) Look(path string) (string, bool) { text, ok := t[path]; return text, ok }

func TestPiecesOfAStatementAreFoundWhereTheSessionSawThem(t *testing.T) {
	t.Parallel()
	finding, command, file := memoir.StatementFinding, memoir.StatementCommand, memoir.StatementFile
	config := looked("Read", "/srv/app/config.yml", "1→port: 8080\n2→mode: strict\n3→retries: 3\n")
	patch := memoir.Item{Kind: memoir.ItemTool, Tool: "apply_patch", Input: "*** Begin Patch\n*** Update File: x.go\n@@\n-const maxOld = 10\n+const maxTitle = 80\n*** End Patch"}
	for _, test := range []struct {
		what  string
		kind  memoir.StatementKind
		text  string
		cited int
		items []memoir.Item
		want  string
	}{
		{"a value with its key", finding, "The port is 8080", 1, []memoir.Item{config}, "config.yml 8080 port"},
		{"a value that stands twice behind its key", finding, "The port is 8080", 1, []memoir.Item{looked("Read", "/srv/app/config.yml", "port: 8080\nother:\n  port: 8080\n")}, ""},
		{"a word that its key is given", finding, "`mode` is `strict`", 1, []memoir.Item{config}, "config.yml strict mode"},
		{"a plain word", finding, "It is `strict` there", 1, []memoir.Item{config}, ""},
		{"a number that counts something else", finding, "It ran 3 times", 1, []memoir.Item{config}, ""},
		{"a version", finding, "Go 1.26.1 is required", 1, []memoir.Item{looked("read_file", "/srv/app/go.mod", "module x\n\ngo 1.26.1\n")}, "go.mod 1.26.1 go"},
		{"a longer version", finding, "Go 1.26 is required", 1, []memoir.Item{looked("read_file", "/srv/app/go.mod", "go 1.26.1\n")}, ""},
		{"a name that was written", finding, "`maxTitle` bounds titles", 1, []memoir.Item{patch}, "sub/x.go maxTitle"},
		{"one that was taken out", finding, "`maxOld` bounds titles", 1, []memoir.Item{patch}, ""},
		{"one that was taken out later", finding, "`maxOld` bounds titles", 1, []memoir.Item{looked("Read", "/srv/app/sub/x.go", "const maxOld = 10"), patch}, ""},
		{"one in prose", finding, "Titles are cut by cutTitleAt", 1, []memoir.Item{looked("Read", "/srv/app/a.go", "func cutTitleAt() {}")}, "a.go cutTitleAt"},
		{"a brand in prose", finding, "This uses GitHub", 1, []memoir.Item{looked("Read", "/srv/app/a.go", "// GitHub")}, ""},
		{"the closest of two files", finding, "`parseAll` fails", 3, []memoir.Item{looked("Read", "/srv/app/a.go", "parseAll()"), ran("true", ""), looked("Read", "/srv/app/b.go", "parseAll()")}, "b.go parseAll"},
		{"two that are as close", finding, "`parseAll` fails", 2, []memoir.Item{looked("Read", "/srv/app/a.go", "parseAll()"), ran("true", ""), looked("Read", "/srv/app/b.go", "parseAll()")}, ""},
		{"the one that the statement names", finding, "`parseAll` in a.go fails", 3, []memoir.Item{looked("Read", "/srv/app/a.go", "parseAll()"), looked("Read", "/srv/app/b.go", "parseAll()")}, "a.go parseAll"},
		{"a search", finding, "`parseAll` fails", 1, []memoir.Item{ran("rg -n parseAll", "lib/a.go:12:func parseAll() {\n")}, "sub/lib/a.go parseAll"},
		{"the Grep tool", finding, "`parseAll` fails", 1, []memoir.Item{{Kind: memoir.ItemTool, Tool: "Grep", Input: `{"pattern":"parseAll"}`, Output: "lib/a.go:12:func parseAll() {"}}, "sub/lib/a.go parseAll"},
		{"what a shell prints", finding, "`parseAll` fails", 1, []memoir.Item{ran("cd .. && nl -ba lib/a.go | sed -n 1,20p", "1 func parseAll()")}, "lib/a.go parseAll"},
		{"of two commands nobody knows which", finding, "`parseAll` fails", 1, []memoir.Item{ran("cat a.go; cat b.go", "func parseAll()")}, ""},
		{"a file that it wrote", finding, "`parseAll` fails", 1, []memoir.Item{ran("cat > a.go <<'EOF'\nfunc parseAll()\nEOF", "")}, "sub/a.go parseAll"},
		{"a file that it removed", finding, "`parseAll` in a.go", 1, []memoir.Item{looked("Read", "/srv/app/sub/a.go", "parseAll()"), ran("rm a.go", "")}, ""},
		{"a file that it moved", file, "`a.go` (1 edit)", 1, []memoir.Item{looked("Read", "/srv/app/sub/a.go", "x"), ran("git mv a.go b/a.go", "")}, "sub/b/a.go"},
		{"a path", file, "`lib/a.go` (2 edits)", 1, []memoir.Item{looked("Read", "/srv/app/lib/a.go", "x")}, "lib/a.go"},
		{"a directory, whatever files end like it", finding, "It is in `lib/`", 1, []memoir.Item{looked("Read", "/srv/app/a/lib", "x"), looked("Read", "/srv/app/b/lib", "x"), looked("Read", "/srv/app/lib/c.go", "x")}, "lib"},
		{"a name that several files have", finding, "It is in `c.go`", 1, []memoir.Item{looked("Read", "/srv/app/a/c.go", "x"), looked("Read", "/srv/app/b/c.go", "x")}, ""},
		{"outside of the project", finding, "`parseAll` in `/etc/a.go`", 1, []memoir.Item{looked("Read", "/etc/a.go", "parseAll()"), looked("Read", "../../other/a.go", "parseAll()")}, ""},
		{"what git keeps", finding, "`parseAll`", 1, []memoir.Item{looked("Read", "/srv/app/.git/config", "parseAll")}, ""},
		{"what was redacted", finding, "The token is `[REDACTED:x]`", 1, []memoir.Item{looked("Read", "/srv/app/.env", "TOKEN=[REDACTED:x]")}, ""},
		{"a target", command, "lint: `make lint`", 1, []memoir.Item{looked("Read", "/srv/app/sub/Makefile", "lint:\n\tgo vet\n")}, "sub/Makefile lint:"},
		{"one of another directory", command, "lint: `make -C ../tools lint`", 1, []memoir.Item{looked("Read", "/srv/app/tools/Makefile", "lint:\n")}, "tools/Makefile lint:"},
		{"a target that nobody saw", command, "lint: `make lint`", 1, []memoir.Item{looked("Read", "/srv/app/sub/Makefile", "golint:\n")}, ""},
		{"a script of a package", command, "build: `npm run build` in `web`", 1, []memoir.Item{looked("Read", "/srv/app/sub/web/package.json", `{"scripts": {"build": "x"}}`)}, `sub/web/package.json "build":`},
		{"a directory", command, "test: `go test ./lib/...`", 1, []memoir.Item{looked("Read", "/srv/app/sub/lib/a.go", "x")}, "sub/lib"},
		{"a script", finding, "Run `bash scripts/x.sh --all` first", 1, []memoir.Item{looked("Read", "/srv/app/sub/scripts/x.sh", "x")}, "sub/scripts/x.sh"},
		{"an option of a program", command, "test: `go test -count=1`", 1, []memoir.Item{looked("Read", "/srv/app/sub/a.md", "-count=1")}, ""},
	} {
		if got := ofStatement(test.kind, test.text, test.cited, nil, test.items...); got != test.want {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
	tree := fakeTree{"sub/Makefile": "lint:\n", "sub/scripts/x.sh": "", "sub/Rakefile": "namespace :db do\n  task :seed\nend\n", "sub/pyproject.toml": "[tool.poe.tasks]\ntypes = 'x'\n[tool.hatch.envs.default.scripts]\ndocs = 'x'\n",
		"sub/.pre-commit-config.yaml": "- id: shfmt\n", "lib/BUILD": "cc_test(name = 'wire')\n", "sub/pom.xml": "<module>core</module>", "sub/CMakeLists.txt": "add_executable(viewer a.c)\n", "sub/Cargo.toml": "[[test]]\n",
		"sub/mise.toml": "[tasks]\n\"db:drop\" = 'x'\n", "sub/compose.yaml": "services:\n  cache:\n", "sub/deno.json": `{"tasks": {"site": "x"}}`}
	for text, want := range map[string]string{"lint: `make lint`": "sub/Makefile lint:", "run: `./scripts/x.sh`": "sub/scripts/x.sh", "lint: `make other`": "", "set up: `rake db:seed`": "sub/Rakefile seed", "check: `poe types`": "sub/pyproject.toml types", "generate: `hatch run docs`": "sub/pyproject.toml docs", "lint: `pre-commit run shfmt`": "sub/.pre-commit-config.yaml shfmt",
		"test: `bazel test //lib:wire`": "lib/BUILD wire", "test: `mvn -pl core test`": "sub/pom.xml core", "build: `cmake --build out --target viewer`": "sub/CMakeLists.txt viewer", "test: `cargo test`": "", "set up: `mise run db:drop`": "sub/mise.toml drop", "set up: `docker compose up -d --wait cache`": "sub/compose.yaml cache", "build: `deno task site`": "sub/deno.json site", "check: `nox -s types`": "", "run: `../../x.sh`": ""} {
		if got := ofStatement(command, text, 1, tree, ran("true", "")); got != want {
			t.Errorf("the tree shows %q of %q, want %q", got, text, want)
		}
	}
}

func TestAnchorsOfALongStatementAreBoundedAndTheSameEachTime(t *testing.T) {
	t.Parallel()
	text, content := "", ""
	for i := range 20 {
		text += fmt.Sprintf("`name_%d` ", i)
		content += fmt.Sprintf("name_%d\n", i)
	}
	got := ofStatement(memoir.StatementFinding, text, 1, nil, looked("Read", "/srv/app/a.py", content))
	if n := strings.Count(got, "a.py"); n != memoir.MaxAnchors {
		t.Errorf("%d anchors: %s", n, got)
	}
	for range 20 {
		if again := ofStatement(memoir.StatementFinding, text, 1, nil, looked("Read", "/srv/app/a.py", content)); !reflect.DeepEqual(again, got) {
			t.Fatalf("another time it is %s", again)
		}
	}
}
