package extract

import (
	"slices"
	"testing"

	"memoir"
)

func TestCommandLinesAreSplitIntoCommands(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"cd web && npm test":                              {"web: npm test"},
		"(cd web && make) && go test ./...":               {"web: make", ": go test ./..."},
		"bash -lc 'cd web && npm test'":                   {"web: npm test"},
		"sudo -E timeout 60 make test":                    {": make test"},
		"FOO=1 go test ./... 2>&1 | tail -3":              {": FOO=1 go test ./...", ": tail -3"},
		"for f in *; do rm $f; done":                      nil,
		"git commit -m \"$(cat <<'EOF'\nfix: x\nEOF\n)\"": {": git commit -m \"$(cat <<'EOF'\nfix: x\nEOF\n)\""},
		"diff <(sort a) <(sort b) && tee >(wc) x":         {": diff <(sort a) <(sort b)", ": tee >(wc) x"},
		"echo 'unterminated":                              nil,
	} {
		runs, _ := newShellParser().parse(line, "")
		var got []string
		for _, r := range runs {
			got = append(got, r.dir+": "+r.text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", line, got)
		}
	}
	for line, want := range map[string]string{ // the last word; what is behind "?" is not known
		"git commit -m \"$(cat <<'EOF'\nfix: `x`\nEOF\n)\"": "fix: `x`",
		"cat <(ls)": "?<(ls)", "cat $HOMEBREW_PREFIX/x": "?$HOMEBREW_PREFIX/x", "cat $(ls)": "?$(ls)",
		"cat $HOME/x": "~/x", "cat ~/x": "~/x", "cat ~ann/x": "~ann/x",
	} {
		runs, _ := newShellParser().parse(line, "")
		got := runs[0].args[len(runs[0].args)-1]
		if runs[0].dynamic {
			got = "?" + got
		}
		if len(runs) != 1 || got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

func TestPurposesAreToldByOneTable(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"go test ./...": forTest, "cargo clippy": forLint, "npm run typecheck": forCheck, "make": forBuild, "make gen": forGenerate,
		"npx eslint .": forLint, "uv run pytest -q": forTest, "uv run app export": forRun, "mise run test:e2e": forTest, "./scripts/release.sh 1.2": forRelease,
		"python -m unittest": forTest, "npm ci": forSetup, "pnpm ci": forSetup, "npm run ci": forRun, "make ci-check": forCheck, "./ci-lint.sh": forLint, "npm publish": forRelease, "ls": "", "git status": "", "python -c 'print(1)'": "",
		"go test --help": "", "cargo --version": "", "/usr/local/bin/thing": "", "pnpm add left": "",
		"cargo fmt": forFormat, "cargo fmt --check": forCheck, "gofmt -l .": forCheck, "gofmt -l -w .": forFormat, "npx prettier --check=true src": forCheck,
		"black -l 100 .": forFormat, "go build -l x": forBuild,
	} {
		runs, _ := newShellParser().parse(line, "")
		if got, _ := runs[0].purpose(); got != want {
			t.Errorf("%s is for %q, want %q", line, got, want)
		}
	}
}

func TestOutputsTellFailures(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]bool{
		"ok  app 0.1s": false, "3 passed, 0 failed": false, "0 errors, 2 warnings": false, "exit=0": false,
		"3 passed, 1 failed": true, "src/a.ts(1,2): error TS2345: x": true, "exit=1": true, "--- FAIL: TestA": true, "botocore.NoRegionError: x": true, "sh: 1: x: not found\nexit status 1": true,
	} {
		if got := failureLine(output) != ""; got != want {
			t.Errorf("%q tells a failure: %v", output, got)
		}
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("Never do x.", "git commit -m 'a' && gh pr create --title b", "https://x/pull/1")
	f.Add("must do y", "diff <(sort a) <(sort b)", "1c1")
	f.Add("no, not so", "cat <<'EOF' > a.md\nx\nEOF\npytest", "pytest: command not found")
	f.Fuzz(func(t *testing.T, text, line, output string) {
		in := talk("> "+text, "< "+text, "! "+line, "=> "+output, "$ "+line, "=> "+output, "x "+text, "< "+text)
		a, err := NewBuiltin().Extract(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(a, in.Items); err != nil {
			t.Error(err)
		}
		if memoir.Tokens(a.RawMemory()) > 2*maxRawTokens {
			t.Errorf("%d tokens", memoir.Tokens(a.RawMemory()))
		}
	})
}
