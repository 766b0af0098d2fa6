package store

import (
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
	p = memoir.Project{ID: "a-1", Name: "b", Identity: "host/a", Remote: "host/a", Directories: []string{"/srv/a"}}
	must(t, s.UpsertProject(t.Context(), p))
	p.Remote = "" // not known this time
	must(t, s.UpsertProject(t.Context(), p, p))
	want := memoir.Project{ID: "a-1", Name: "b", Identity: "host/a", Remote: "host/a",
		Directories: []string{"/src/a", "/srv/a"}, Aliases: []string{"/src/a", "a", "old"}}
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
	}
	for _, tt := range tests {
		row, err := s.FindProject(t.Context(), tt.ref)
		if err != nil || row.ID != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.ref, row.ID, err, tt.want)
		}
	}
	rows, err := s.Projects(t.Context())
	if must(t, err); len(rows) != 3 || rows[0].ID != "app-111" || rows[2].ID != "tool-333" {
		t.Errorf("not listed by id: %+v", rows)
	}
	for ref, code := range map[string]memoir.Code{
		"": memoir.CodeUsage, "app": memoir.CodeUsage, "before": memoir.CodeUsage, "app-1": memoir.CodeNotFound, "TOOL": memoir.CodeNotFound,
		"/src": memoir.CodeNotFound, "/": memoir.CodeNotFound, "none": memoir.CodeNotFound, "src/app": memoir.CodeNotFound,
	} {
		_, err := s.FindProject(t.Context(), ref)
		wantCode(t, err, code)
		if strings.HasPrefix(err.Error(), "finding") {
			t.Errorf("%q: the error is %q", ref, err)
		}
		if strings.HasPrefix(ref, "app") && !strings.Contains(strings.ReplaceAll(memoir.HintOf(err), " (/src/app)", ""), "app-111 or app-122") {
			t.Errorf("hint %q does not list the choice", memoir.HintOf(err))
		}
	}
}

// placed is a project that is known by a directory.
func placed(id, dir string) memoir.Project {
	return memoir.Project{ID: id, Name: "app", Identity: dir, Directories: []string{dir}}
}

// remoted is a project that is known by a remote, in directories that were known by themselves.
func remoted(id, remote string, dirs ...string) memoir.Project {
	return memoir.Project{ID: id, Name: "app", Identity: remote, Remote: remote, Directories: dirs, Aliases: dirs}
}

func TestWhichRegisteredProjectOneThatWasFoundIs(t *testing.T) {
	t.Parallel()
	const a, b = "host/team/a", "host/team/b"
	for _, tt := range []struct {
		name  string
		found []memoir.Project // one after the other
		want  string           // ids that they are
	}{
		{"the same twice", []memoir.Project{placed("1", "/a"), placed("1", "/a")}, "1 1"},
		{"two directories", []memoir.Project{placed("1", "/a"), placed("2", "/b")}, "1 2"},
		{"a directory that gained a remote", []memoir.Project{placed("1", "/a"), remoted("2", a, "/a")}, "1 1"},
		{"and lost it again", []memoir.Project{placed("1", "/a"), remoted("2", a, "/a"), placed("1", "/a")}, "1 1 1"},
		{"and was cloned elsewhere", []memoir.Project{placed("1", "/a"), remoted("2", a, "/a"), remoted("2", a, "/b")}, "1 1 1"},
		{"a directory that was another remote's later", []memoir.Project{remoted("1", a, "/a"), remoted("2", b, "/a")}, "1 2"},
		{"and is no remote's now, so that of the last", []memoir.Project{remoted("1", a, "/a"), remoted("2", b, "/a"), placed("3", "/a")}, "1 2 2"},
		{"a directory that gained a remote, and then another", []memoir.Project{placed("1", "/a"), remoted("2", a, "/a"), remoted("3", b, "/a")}, "1 1 3"},
		{"a remote that lost its directory to no remote", []memoir.Project{remoted("1", a, "/a"), placed("2", "/a")}, "1 1"},
		{"a remote that was known before the directory had it", []memoir.Project{placed("1", "/a"), remoted("2", a, "/b"), remoted("2", a, "/a")}, "1 2 2"},
		{"two remotes never become one", []memoir.Project{remoted("1", a, "/a"), remoted("2", b, "/b"), remoted("2", b, "/a")}, "1 2 2"},
		{"a person's own name is nobody else's", []memoir.Project{
			{ID: "1", Name: "x", Identity: "project:x", Directories: []string{"/a"}, Aliases: []string{"/a"}}, remoted("2", a, "/a"),
		}, "1 2"},
		{"another spelling", []memoir.Project{placed("1", "/A"), {ID: "2", Name: "app", Identity: "/a", Directories: []string{"/A"}, Aliases: []string{"/A"}}}, "1 1"},
		{"the id of an identity that it no longer has", []memoir.Project{
			placed("1", "/a"), remoted("2", a, "/a"), remoted("3", b, "/a"), {ID: "1", Name: "app", Identity: "/a"},
		}, "1 1 3 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, _ := newStore(t)
			var got []string
			for _, p := range tt.found {
				ids, err := s.Register(t.Context(), p)
				must(t, err)
				got = append(got, ids[p.ID])
				// What is known already writes nothing, and is found.
				again, err := openAt(t, s.Path(), Options{ReadOnly: true}).Register(t.Context(), p)
				must(t, err)
				if row, err := s.Resolve(t.Context(), p); err != nil || row.ID != ids[p.ID] || again[p.ID] != row.ID {
					t.Errorf("registered as %s, resolved to %s, again %s, %v", ids[p.ID], row.ID, again[p.ID], err)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("they are %v, want %s", got, tt.want)
			}
			together, _ := newStore(t)
			_, err := together.Register(t.Context(), tt.found...)
			must(t, err)
			one, err := s.Projects(t.Context())
			must(t, err)
			all, err := together.Projects(t.Context())
			if diff := cmp.Diff(one, all); err != nil || diff != "" {
				t.Errorf("registered together, %v (-one by one +together):\n%s", err, diff)
			}
		})
	}
}
