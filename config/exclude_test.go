package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestExcluded(t *testing.T) {
	t.Parallel()
	s, err := loadYAML(t, `exclude: [/opt/secret, ~/private/, '**/node_modules', '/srv/{x,y}*/z']`, "HOME=/home/a[n]n")
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{
		"/opt/secret":           true,
		"/opt/secret/":          true,
		"/opt/secret/deep/er":   true,
		"/opt/secretly":         false,
		"/opt":                  false,
		"/opt/x/../secret":      true,
		"/home/a[n]n/private/x": true,
		"/home/ann/private/x":   false,
		"/a/b/node_modules/c":   true,
		"/node_modules":         true,
		"/srv/x1/z/q":           true,
		"/srv/w/z":              false,
		"":                      false,
		"/":                     false,
		"relative":              false,
	} {
		if got := s.Excluded(dir); got != want {
			t.Errorf("%q: excluded %v", dir, got)
		}
	}
}

func TestALinkIsNoWayIntoAnExcludedDirectory(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "real", "sub", "file"), "")
	if err := os.Symlink(filepath.Join(dir, "real"), filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	for _, glob := range []string{"real", "link"} {
		s := Settings{Exclude: []string{filepath.Join(dir, glob)}}
		for _, below := range []string{"real/sub", "link/sub", "link", "link/gone/since"} {
			if !s.Excluded(filepath.Join(dir, below)) {
				t.Errorf("exclude %s lets %s in", glob, below)
			}
		}
		if s.Excluded(dir) {
			t.Errorf("exclude %s keeps its parent out", glob)
		}
	}
}

func TestProjectFor(t *testing.T) {
	t.Parallel()
	s, err := loadYAML(t, "projects: {/opt: all, /opt/one: one}\n")
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"/opt": "all", "/opt/two/x": "all", "/opt/one": "one", "/opt/one/x": "one", "/opt/one-more": "all",
		"/elsewhere": "", "": "", "work": "",
	} {
		if got := s.ProjectFor(dir); got != want {
			t.Errorf("%q: got %q, want %q", dir, got, want)
		}
	}
}
