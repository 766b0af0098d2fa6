package project_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/project"
)

func TestAProjectIsNamedByItsChangedIdentity(t *testing.T) {
	t.Parallel()
	hide := func(text string) string { return strings.ReplaceAll(text, "hidden", "[x]") }
	r := project.NewResolver(project.Options{})
	p, _ := r.Identify("/srv/hidden", "https://host.example/hidden/app.git")
	plain, _ := r.Identify("/srv/app", "https://host.example/open/app.git")
	if got := project.Changed(plain, hide); !cmp.Equal(plain, got) {
		t.Errorf("changed: %s", cmp.Diff(plain, got))
	}
	got := project.Changed(p, hide)
	if got.ID == p.ID || got.Name != "app" || got.Identity != "host.example/[x]/app" || got.Remote != got.Identity {
		t.Errorf("%+v", got)
	}
	for _, text := range append(append([]string{got.ID}, got.Directories...), got.Aliases...) {
		if strings.Contains(text, "hidden") {
			t.Errorf("%q is left in %+v", text, got)
		}
	}
	if again := project.Changed(got, hide); !cmp.Equal(got, again) {
		t.Errorf("changed twice: %s", cmp.Diff(got, again))
	}
	if none := project.Changed(memoir.Project{}, hide); !cmp.Equal(memoir.Project{}, none) {
		t.Errorf("none became %+v", none)
	}
}
