package operation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoir"
	"memoir/operation"
	"memoir/store"
)

func TestWhatSessionsAndProjectsSayOfThemselvesIsRedacted(t *testing.T) {
	t.Parallel()
	const planted = "planted"
	redact := func(text string) string { return strings.ReplaceAll(text, planted, "[REDACTED]") }
	session := memoir.Session{ID: planted, ParentID: planted, Title: planted, CWD: "/" + planted, Branch: planted,
		Remote: "https://u:" + planted + "@host/x", Error: planted}
	given := memoir.Project{ID: "x-0123456789ab", Name: planted, Directories: []string{"/src/" + planted}, Remote: planted,
		Aliases: []string{planted}}
	project := operation.ProjectOf(t.TempDir(), store.ProjectRow{Project: given}, redact)
	if said := fmt.Sprint(operation.SessionOf(session, redact), project); strings.Contains(said, planted) {
		t.Errorf("said: %s", said)
	}
	if project.ID != given.ID || given.Directories[0] != "/src/"+planted {
		t.Errorf("got %v of %v", project, given)
	}
}

func TestTheCheckoutComesBeforeItsWorktrees(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, made := range []string{"tree", "main/.git", "copy"} {
		if err := os.MkdirAll(in(made), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(in("tree/.git"), []byte("gitdir: ../main/.git/worktrees/tree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := operation.CheckoutsFirst([]string{in("gone.worktrees/7/x"), in("gone"), in("tree"), in("copy"), in("main")})
	if want := []string{in("main"), in("copy"), in("gone"), in("tree"), in("gone.worktrees/7/x")}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
