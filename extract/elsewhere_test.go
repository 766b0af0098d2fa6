package extract_test

import (
	"strings"
	"testing"

	"memoir"
)

// in sets the directory in which the last item ran.
func (t *talk) in(dir string) *talk {
	t.items[len(t.items)-1].CWD = dir
	return t
}

func TestWorkInAnotherRepositoryIsMarkedAsSuch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		talk *talk
		want string
	}{
		{"its own directory", work().runs("make build", 0, ""), "`make build` works"},
		{"a directory below", work().runs("make build", 0, "").in("/src/app/web"), "`cd web && make build` works"},
		{"a worktree", work().runs("make build", 0, "").in("/home/ann/.codex/worktrees/98e4/app"), "`make build` works"},
		{"below a worktree", work().runs("make build", 0, "").in("/home/ann/.codex/worktrees/98e4/app/web"), "`cd web && make build` works"},
		{"another repository", work().runs("make build", 0, "").in("/src/other"), "`make build` works (in another repository: other)"},
		{"behind cd", work().runs("cd /src/other && make build", 0, ""), "`make build` works (in another repository: other)"},
		{"a temporary directory", work().runs("make build", 0, "").in("/tmp/x"), ""},
		{"a script's own directory", work().add(memoir.Item{Kind: memoir.ItemTool, Tool: "exec", Input: `await tools.exec_command({cmd:"make build","workdir":"/src/other"})`, Output: "ok"}),
			"`make build` works (in another repository: other)"},
	} {
		got := of(test.talk.extract(t), memoir.StatementCommand)
		switch {
		case test.want == "" && holds(got, "make build"):
			t.Errorf("%s: %q", test.name, got)
		case test.want != "" && !strings.Contains(strings.Join(got, "\n")+"\n", test.want+"\n"):
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestWhatATurnInAnotherRepositoryTeachesIsMarked(t *testing.T) {
	t.Parallel()
	s := new(talk).says("Publish the library. Never push tags by hand.")
	for range 4 {
		s.runs("cargo test", 0, "ok").in("/src/lib")
	}
	e := s.answers("The `sparse` map must be read first, because old headers have no `realsize`.").extract(t)
	mark := "(in another repository: lib)"
	for _, kind := range []memoir.StatementKind{memoir.StatementDecision, memoir.StatementPreference, memoir.StatementCommand} {
		if got := of(e, kind); len(got) != 1 || !strings.HasSuffix(got[0], mark) {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

func TestFilesOfAnotherRepositoryAreLeftOut(t *testing.T) {
	t.Parallel()
	patch := memoir.Item{Kind: memoir.ItemTool, Tool: "apply_patch", Input: "*** Begin Patch\n*** Update File: src/lib.rs\n*** End Patch"}
	got := of(work().add(patch).in("/src/other").extract(t), memoir.StatementFile)
	if holds(got, "lib.rs") {
		t.Errorf("got %q", got)
	}
	if got := of(work().add(patch).extract(t), memoir.StatementFile); !holds(got, "`src/lib.rs`") {
		t.Errorf("its own file is lost: %q", got)
	}
	if got := of(work().add(patch).in("/src/app/web").extract(t), memoir.StatementFile); !holds(got, "`web/src/lib.rs`") {
		t.Errorf("a path is relative to where the tool ran: %q", got)
	}
}
