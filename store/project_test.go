package store

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
)

func TestAProjectKeepsItsEarlierNamesAndPlaces(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	p := memoir.Project{ID: "a-1", Name: "a", Identity: "/src/a", Directories: []string{"/src/a"}, Aliases: []string{"old"}}
	must(t, s.UpsertProject(t.Context(), p))
	p = memoir.Project{ID: "a-1", Name: "b", Identity: "host/a", Remote: "host/a", Directories: []string{"/work/a"}}
	must(t, s.UpsertProject(t.Context(), p))
	p.Remote = "" // not known this time
	must(t, s.UpsertProject(t.Context(), p, p))
	want := memoir.Project{ID: "a-1", Name: "b", Identity: "host/a", Remote: "host/a",
		Directories: []string{"/src/a", "/work/a"}, Aliases: []string{"/src/a", "a", "old"}}
	got, err := s.Projects(t.Context())
	must(t, err)
	if diff := cmp.Diff([]ProjectRow{{Project: want}}, got); diff != "" {
		t.Errorf("projects (-want +got):\n%s", diff)
	}
}

func TestAProjectIsFoundByIDPathNameOrAlias(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	must(t, s.UpsertProject(t.Context(),
		memoir.Project{ID: "app-111", Name: "app", Identity: "host/x/app", Directories: []string{"/src/app"}, Aliases: []string{"before"}},
		memoir.Project{ID: "app-122", Name: "app", Identity: "host/y/app", Directories: []string{"/src/app/vendor/app"}, Aliases: []string{"before"}},
		memoir.Project{ID: "tool-333", Name: "tool", Identity: "/src/app2", Directories: []string{"/src/app2"}, Aliases: []string{"gadget"}},
	))
	tests := []struct{ ref, want string }{
		{"app-111", "app-111"},
		{"/src/app", "app-111"},
		{"/src/app/", "app-111"},
		{"/src/app/cmd/x", "app-111"},
		{"/src/app/vendor/app/pkg", "app-122"},
		{"/src/app2/x", "tool-333"}, // not /src/app, though it begins so
		{"tool", "tool-333"},
		{"host/y/app", "app-122"},
		{"gadget", "tool-333"},
		{"too", "tool-333"},
		{"app-12", "app-122"},
	}
	for _, tt := range tests {
		row, err := s.FindProject(t.Context(), tt.ref)
		if err != nil || row.ID != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.ref, row.ID, err, tt.want)
		}
	}
	for ref, code := range map[string]memoir.Code{
		"": memoir.CodeUsage, "app": memoir.CodeUsage, "before": memoir.CodeUsage, "app-1": memoir.CodeUsage,
		"/src": memoir.CodeNotFound, "/": memoir.CodeNotFound, "none": memoir.CodeNotFound, "src/app": memoir.CodeNotFound,
	} {
		_, err := s.FindProject(t.Context(), ref)
		wantCode(t, err, code)
		if strings.HasPrefix(err.Error(), "finding") {
			t.Errorf("%q: the error is %q", ref, err)
		}
		if ref == "app" && !strings.Contains(memoir.HintOf(err), "app-111 or app-122") {
			t.Errorf("hint %q does not list the choice", memoir.HintOf(err))
		}
	}
}

func TestProjectsAreListedByIDWithTheirCounts(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	register(t, s, "another-0123456789ab")
	rows, err := s.Projects(t.Context())
	must(t, err)
	var got []string
	for _, r := range rows {
		got = append(got, r.ID)
	}
	if !slices.Equal(got, []string{"another-0123456789ab", project}) || rows[0].Due || !rows[1].Due || rows[1].Sessions != 3 || rows[1].Extractions != 1 {
		t.Fatalf("projects %+v", rows)
	}
}
