package operation_test

import (
	"fmt"
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
