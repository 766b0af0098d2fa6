//go:build unix

package memory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"memoir"
	"memoir/memory"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// workTree writes files below a new directory; a name that ends with a slash is a directory.
func workTree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(at), 0o700))
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(at, 0o700))
			continue
		}
		must(t, os.WriteFile(at, []byte(text), 0o600))
	}
	return dir
}

func opened(t testing.TB, dir string) *memory.Tree {
	t.Helper()
	tree, err := memory.OpenTree(dir)
	must(t, err)
	t.Cleanup(tree.Close)
	return tree
}

// stateOf returns the state of a line with some anchors.
func stateOf(tree *memory.Tree, anchors ...memoir.Anchor) memory.Checked {
	return tree.Check([]string{"- x"}, map[string][]memoir.Anchor{memoir.LineKey("- x"): anchors})[0]
}

func TestWhatALineSaysIsLookedUpInTheWorkingTree(t *testing.T) {
	t.Parallel()
	dir := workTree(t, map[string]string{
		"Makefile":           "check: vet\n\tgo vet ./...\n",
		"config/app.yml":     "port: 9090\nmode: strict\nold: 8080\n",
		"config/test.yml":    "port: 8080\n",
		"lib/read.go":        "func readAll() {}\nfunc helper() {}\n",
		"lib/write.go":       "func flushAll() {}\n",
		"internal/b/walk.go": "func walkTree() {}\nfunc walkOne() {}\n",
		"bin/tool":           "a\x00b 1.2.3",
		"pkg/":               "",
	})
	a := func(path, text, key string) memoir.Anchor { return memoir.Anchor{Path: path, Text: text, Key: key} }
	for _, test := range []struct {
		what    string
		anchors []memoir.Anchor
		want    memory.State
		at      string
	}{
		{"a target that is there", []memoir.Anchor{a("Makefile", "check:", "")}, memory.Fresh, ""},
		{"one that is not", []memoir.Anchor{a("Makefile", "lint:", "")}, memory.Stale, ""},
		{"a value", []memoir.Anchor{a("config/app.yml", "strict", "mode")}, memory.Fresh, ""},
		{"one that was replaced, though it stands in the file and beside it", []memoir.Anchor{a("config/app.yml", "8080", "port")}, memory.Stale, ""},
		{"a version without a key, which nothing but its file tells", []memoir.Anchor{a("config/app.yml", "1.2.3", "")}, memory.Stale, ""},
		{"a name that went to another file of the directory", []memoir.Anchor{a("lib/read.go", "flushAll", "")}, memory.Moved, "lib/write.go"},
		{"one that went nowhere", []memoir.Anchor{a("lib/read.go", "closeAll", "")}, memory.Stale, ""},
		{"a file that went elsewhere", []memoir.Anchor{a("b/walk.go", "walkTree", "")}, memory.Moved, "internal/b/walk.go"},
		{"the path of one", []memoir.Anchor{a("b/walk.go", "", "")}, memory.Moved, "internal/b/walk.go"},
		{"a file that got another name", []memoir.Anchor{a("lib/old.go", "", ""), a("lib/old.go", "readAll", ""), a("lib/old.go", "helper", "")}, memory.Moved, "lib/read.go"},
		{"a file that is gone", []memoir.Anchor{a("lib/none.go", "", "")}, memory.Gone, ""},
		{"what stood in it", []memoir.Anchor{a("lib/none.go", "nowhere", "")}, memory.Gone, ""},
		{"a directory", []memoir.Anchor{a("pkg", "", "")}, memory.Fresh, ""},
		{"a text in a directory", []memoir.Anchor{a("pkg", "x1", "")}, memory.Unverifiable, ""},
		{"a binary", []memoir.Anchor{a("bin/tool", "1.2.3", "")}, memory.Unverifiable, ""},
		{"nothing", nil, memory.Unverifiable, ""},
		{"all of two", []memoir.Anchor{a("pkg", "", ""), a("Makefile", "check:", "")}, memory.Fresh, ""},
		{"one that is verified, one not", []memoir.Anchor{a("bin/tool", "x1", ""), a("pkg", "", "")}, memory.Fresh, ""},
		{"one of two", []memoir.Anchor{a("pkg", "", ""), a("Makefile", "lint:", ""), a("lib/none.go", "", "")}, memory.Stale, ""},
		{"one gone, one moved", []memoir.Anchor{a("lib/none.go", "", ""), a("lib/read.go", "flushAll", "")}, memory.Gone, ""},
	} {
		got := stateOf(opened(t, dir), test.anchors...)
		if got.State != test.want || got.At != test.at {
			t.Errorf("%s: %s %s, want %s %s", test.what, got.State, got.At, test.want, test.at)
		}
		if outdated := test.want == memory.Stale || test.want == memory.Gone; got.Outdated() != outdated {
			t.Errorf("%s: outdated %v", test.what, got.Outdated())
		}
	}
}

// Anchors come from transcripts: no path is followed out of the tree, and no read blocks.
func TestAHostileTreeOrAnchorIsNotVerified(t *testing.T) {
	t.Parallel()
	dir := workTree(t, map[string]string{"tree/a.txt": "token-1", "secret.txt": "token-1", "tree/huge.txt": strings.Repeat("token-1\n", 1<<18), "tree/.git/config": "token-1"})
	tree := filepath.Join(dir, "tree")
	must(t, os.Symlink(filepath.Join(dir, "secret.txt"), filepath.Join(tree, "out.txt")))
	must(t, os.Symlink("..", filepath.Join(tree, "up")))
	must(t, os.Mkdir(filepath.Join(tree, "sub"), 0o700))
	must(t, os.Symlink("../a.txt", filepath.Join(tree, "sub", "in.txt")))
	must(t, os.Symlink("../../secret.txt", filepath.Join(tree, "sub", "out.txt")))
	must(t, os.Symlink("loop", filepath.Join(tree, "loop")))
	must(t, os.Symlink("/dev/zero", filepath.Join(tree, "zero")))
	must(t, syscall.Mkfifo(filepath.Join(tree, "fifo.txt"), 0o600))
	for _, path := range []string{"../secret.txt", "/etc/passwd", "..", ".", "", "a.txt/../../secret.txt", "a\x00.txt", ".git/config", "out.txt", "sub/out.txt",
		"up/secret.txt", "loop", "zero", "fifo.txt", "huge.txt"} {
		if got := stateOf(opened(t, tree), memoir.Anchor{Path: path, Text: "token-1"}); got.State != memory.Unverifiable {
			t.Errorf("%q is %s", path, got.State)
		}
	}
	if got := stateOf(opened(t, tree), memoir.Anchor{Path: "sub/in.txt", Text: "token-1"}); got.State != memory.Fresh {
		t.Errorf("a link inside of the tree is %s", got.State)
	}
	if text, exists := opened(t, tree).Look("up/secret.txt"); text != "" || !exists {
		t.Errorf("a file outside is read: %q", text)
	}
	if got := stateOf(opened(t, tree), memoir.Anchor{Path: "b.txt", Text: "token-1"}); got.State != memory.Moved || got.At != "a.txt" {
		t.Errorf("what is looked for elsewhere is found in %q", got.At)
	}
}

const anchoredSummary = "# app: what earlier sessions taught\n\n## Build, test, run\n\n- lint: `make lint`\n- check: `make check`\n\n" +
	"## What to know\n\n- `port` is `8080`\n\n## Where to look\n\n- raw_memories.md has all\n"

func anchoredRoot(t testing.TB) memory.Root {
	t.Helper()
	root := memory.At(t.TempDir(), "app-1")
	files := memory.Files{memoir.MemoryFile: []byte("# app\n\n- lint: `make lint` [019f6782 2026-07-16]\n"), memoir.SummaryFile: []byte(anchoredSummary)}
	m := memory.Manifest{Anchors: map[string][]memoir.Anchor{
		memoir.LineKey("lint: `make lint`"):   {{Path: "Makefile", Text: "lint:"}},
		memoir.LineKey("check: `make check`"): {{Path: "Makefile", Text: "check:"}},
		memoir.LineKey("`port` is `8080`"):    {{Path: "app.yml", Text: "8080", Key: "port"}},
	}}
	must(t, root.Stage(t.Context(), 1, files, m))
	must(t, root.Swap(1))
	return root
}

func TestLinesThatTheTreeDoesNotBearOutAreHeldBack(t *testing.T) {
	t.Parallel()
	root := anchoredRoot(t)
	both := map[string]string{"Makefile": "lint:\ncheck:\n", "app.yml": "port: 8080\n"}
	for _, test := range []struct {
		what  string
		files map[string]string // nil: no tree
		want  string
		held  int
	}{
		{"all holds", both, anchoredSummary, 0},
		{"a target is gone", map[string]string{"Makefile": "check:\n", "app.yml": "port: 8080\n"}, strings.Replace(anchoredSummary, "- lint: `make lint`\n", "", 1), 1},
		{"a value is another", map[string]string{"Makefile": "lint:\ncheck:\n", "app.yml": "port: 9090\n"},
			strings.Replace(anchoredSummary, "## What to know\n\n- `port` is `8080`\n\n", "", 1), 1},
		{"no tree", nil, anchoredSummary, 0},
		{"a tree of another project", map[string]string{"README": "x"}, anchoredSummary, 0},
	} {
		dir := filepath.Join(t.TempDir(), "none")
		if test.files != nil {
			dir = workTree(t, test.files)
		}
		got, held := root.BorneOut(dir, dir, anchoredSummary)
		if got != test.want || len(held) != test.held {
			t.Errorf("%s: %d held back, left:\n%s", test.what, len(held), got)
		}
	}
	checked, err := root.Check(workTree(t, map[string]string{"Makefile": "check:\n"}), []string{"- lint: `make lint` [019f6782 2026-07-16]", "- by hand: `make lint`"})
	must(t, err)
	if checked[0].State != memory.Stale || checked[1].State != memory.Unverifiable {
		t.Errorf("a line of another file: %s, an edited one: %s", checked[0].State, checked[1].State)
	}
}

// 200 anchors in 200 files, of which some are gone.
func BenchmarkCheck200Anchors(b *testing.B) {
	files, of, lines := map[string]string{}, map[string][]memoir.Anchor{}, []string{}
	for i := range 200 {
		name := fmt.Sprintf("pkg%d/file%d.go", i%20, i)
		if i%20 != 0 {
			files[name] = strings.Repeat("// a line of text\n", 100) + fmt.Sprintf("const limit%d = %d\n", i, 1000+i)
		}
		lines = append(lines, fmt.Sprint("- line ", i))
		of[memoir.LineKey(lines[i])] = []memoir.Anchor{{Path: name, Text: fmt.Sprint(1000 + i), Key: fmt.Sprint("limit", i)}}
	}
	dir := workTree(b, files)
	for b.Loop() {
		tree, err := memory.OpenTree(dir)
		must(b, err)
		tree.Check(lines, of)
		tree.Close()
	}
}

// A command whose target is gone cannot be run, whether a session saw its target or not.
func TestACommandWhoseTargetIsGoneIsHeldBack(t *testing.T) {
	t.Parallel()
	root := anchoredRoot(t)
	dir := workTree(t, map[string]string{
		"Makefile":         "fmt vet: deps\n\tgo vet\n%.pb.go: %.proto\n\tgen x\n",
		"tools/Makefile":   "include common.mk\n",
		"plain/Makefile":   "lint:\n\tgo test ./old/...\n",
		"web/package.json": `{"scripts": {"build": "x"}}`, "scripts/x.sh": "", "lib/a.go": "", "justfile": "ship env:\n  x\n",
		"mise.toml": "[tasks.lint]\nrun = 'x'\n[tasks]\n\"db:seed\" = 'x'\n", "mise-tasks/db/sync.sh": "", "Taskfile.yml": "tasks:\n  docs:\n    cmds: []\n",
		"Cargo.toml": "[package]\nname = \"app\"\n", "crates/wire/Cargo.toml": "name='wire'\n", "crates/wire/src/bin/tap.rs": "", "examples/tour/main.rs": "", "tests/flow.rs": "",
		"packages/ui/package.json": `{"name": "@acme/ui", "scripts": {"docs": "x"}}`, "packages/cli/package.json": `{"name": "cli", "scripts": {"gen": "x"}}`,
		"ops/compose.yaml": "services:\n  db:\n    image: x\n", ".gitignore": "/bin\nout/\n", "tools/walk.py": "", "web/src/a.js": "",
	})
	for line, holds := range map[string]bool{
		"- lint: `make vet`": true, "- lint: `make -C plain lint` [00001001 2026-07-01]": true, "- check: `make fmt`": true, "- test: `make -C tools test`": true,
		"- generate: `make a.pb.go`": true, "- build: `npm run build` in `web`": true, "- run: `./scripts/x.sh --all`": true, "- release: `just ship`": true,
		"- test: `go test ./lib/...`": true, "- test: `go test ./...`": true, "- set up: `npm ci` in `web`": true, "- run: `bash scripts/x.sh`": true, "- test: `make -f other.mk test`": false, "- lint: `make -f plain/Makefile lint`": true, "- test: `make -f plain/Makefile test`": false,
		"- `make tset` failed: no rule; fixed by `make vet` (from the team: anna) [00001001 2026-07-01]": true, "- see `old/path.go`": true, "- set up: `docker compose up -d db`": true, "- test: `python -m pytest tests/unit`": true,

		"- test: `make -C plain test`": false, "- lint: `make lint` in `plain/gone`": false, "- test: `cd plain && make test`": false,
		"- build: `npm run gone` in `web`": false, "- build: `npm run build` in `gone`": false, "- run: `./scripts/y.sh`": false, "- release: `just deploy`": false, "- test: `npm test` in `web`": false,
		"- `make tset` failed: no rule; fixed by `make -C plain ship` (from the team: anna) [00001001 2026-07-01]": false, "- `make vet` failed: no token; fixed by `./scripts/y.sh`": false,
		"- lint: `mise run lint`": true, "- set up: `mise run db:seed`": true, "- set up: `mise r db:sync`": true, "- generate: `task docs`": true, "- release: `cd lib && just ship prod`": true,
		"- run: `cargo run --bin app`": true, "- run: `cargo run -p wire --bin tap -- --bin x`": true, "- run: `cargo run --example tour`": true, "- test: `cargo test --test flow`": true,
		"- generate: `npm run docs --workspace=@acme/ui`": true, "- generate: `npm run gen -w packages/cli`": true, "- generate: `pnpm -r run gen`": true, "- build: `npm run build` in `web/src`": true,
		"- run: `pnpm --filter './packages/*' run gone`": true, "- set up: `pnpm install`": true, "- test: `bun test`": true, "- run: `docker compose -f ops/compose.yaml up -d db`": true,
		"- set up: `docker compose up -d --wait db` in `ops`": true, "- build: `docker build -t app .`": true, "- run: `./bin/serve`": true, "- run: `node out/main.js`": true,
		"- build: `go build -o ./bin/app ./lib`": true, "- check: `python -m tools.walk`": true, "- run: `python -m http.server`": true, "- lint: `ruff check scripts/x.sh`": true, "- test: `jest src/a`": true,
		"- generate: `task --dir lib docs`": true, "- generate: `task -t Taskfile.yml docs`": true, "- generate: `task -t other.yml site`": false,

		"- before a commit: `make vet` && `pre-commit run --all-files`": false, "- lint: `pre-commit run ruff`": false,
		"- generate: `task site`": false, "- test: `make lint tset` in `plain`": false, "- release: `just pack` in `lib`": false,
		"- run: `cargo run --bin top`": false, "- test: `cargo test -p wires`": false, "- run: `cargo run --example flow`": false, "- test: `cargo test --test tour`": false,
		"- generate: `npm run gen --workspace=@acme/ui`": false, "- generate: `npm run docs -w packages/cli`": false, "- test: `pnpm --filter cli test`": false, "- generate: `pnpm -r run codegen`": false,
		"- run: `node lib/main.js`": false, "- build: `go build ./lib ./libs`": false,
		"- check: `python -m tools.talk`": false, "- run: `uv run python tools/talk.py`": false, "- run: `go run lib/gen.go`": false, "- test: `pytest -q tests/unit`": false,
		"- test: `go test ./gone/...`, also with other arguments [00001001 2026-07-01, +3]": false, "- run: `python3 scripts/y.py --all`": false, "- run: `scripts/y.sh now`": false,
	} {
		checked, err := root.Check(dir, []string{line})
		if err != nil || checked[0].Outdated() == holds {
			t.Errorf("%s: %+v, %v", line, checked, err)
		}
	}
	if checked, err := root.Check(t.TempDir(), []string{"- lint: `make lint`"}); err != nil || checked[0].Outdated() {
		t.Errorf("in an empty directory: %+v, %v", checked, err)
	}
}

// A line that a file of the project says is held back until the file says it no more. Those of people, of notes and
// failures, and those that are new since the publication, are not.
func TestLinesThatTheProjectsOwnFilesSayAreHeldBack(t *testing.T) {
	t.Parallel()
	summary := "# app: what earlier sessions taught\n\n## Build, test, run\n\n- run: `deckhand sail`\n- run: `deckhand moor`\n\n" +
		"## Failures to avoid\n\n- The mast bends in a storm.\n\n## What to know\n\n- The hull is not painted twice.\n" +
		"- Sails are folded by two.\n- Ropes are dried first.\n"
	root := memory.At(t.TempDir(), "app-1")
	must(t, root.Stage(t.Context(), 1, memory.Files{memoir.MemoryFile: []byte("# app\n"), memoir.SummaryFile: []byte(summary)},
		memory.Manifest{Lines: map[string]memoir.LineOrigin{
			memoir.LineKey("run: `deckhand sail`"):            {Statements: []string{"0123456789"}},
			memoir.LineKey("run: `deckhand moor`"):            {},
			memoir.LineKey("The mast bends in a storm."):      {Kept: true},
			memoir.LineKey("The hull is not painted twice."):  {Statements: []string{"0123456780"}, Kept: true},
			memoir.LineKey("Sails are folded by two."):        {Hand: true},
			memoir.LineKey("Nothing of this is in the file."): {},
		}}))
	must(t, root.Swap(1))
	guide := "- `deckhand sail` and `deckhand moor`\n- The mast bends in a storm.\n- The hull is not painted twice.\n" +
		"- Sails are folded by two.\n- Ropes are dried first.\n"
	without := func(lines ...string) string {
		text := summary
		for _, l := range lines {
			text = strings.Replace(text, "- run: `deckhand "+l+"`\n", "", 1)
		}
		return text
	}
	for what, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"all is said":          {map[string]string{"AGENTS.md": guide}, strings.Replace(without("sail", "moor"), "## Build, test, run\n\n\n", "", 1)},
		"in the session's":     {map[string]string{"web/CLAUDE.md": "`deckhand sail`\n", "go.mod": ""}, without("sail")},
		"one was deleted":      {map[string]string{"AGENTS.md": strings.Replace(guide, "`deckhand moor`", "that", 1)}, without("sail")},
		"in another directory": {map[string]string{"app/CLAUDE.md": guide, "go.mod": ""}, summary},
		"by no such file":      {map[string]string{"notes.md": guide}, summary},
	} {
		dir := workTree(t, test.files)
		if got, _ := root.BorneOut(dir, filepath.Join(dir, "web"), summary); got != test.want {
			t.Errorf("%s: left is\n%s", what, got)
		}
	}
	dir, out := workTree(t, map[string]string{"go.mod": ""}), workTree(t, map[string]string{"AGENTS.md": guide})
	must(t, os.Symlink(filepath.Join(out, "AGENTS.md"), filepath.Join(dir, "AGENTS.md")))
	if got, held := root.BorneOut(dir, dir, summary); got != summary {
		t.Errorf("a link out of the tree was followed: %v", held)
	}
}
