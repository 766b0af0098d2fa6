package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsForbiddenInAHomeIsNamed(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to act as nobody and to give files to others")
	}
	p := newAfflicted(t)
	nobody := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	root := t.TempDir() // all users must be able to enter its parents
	must(t, os.Chmod(filepath.Dir(root), 0o755))
	must(t, os.Chmod(root, 0o755))
	p.publicly(t, root)
	for _, test := range []struct {
		path string
		mode fs.FileMode
		hint string
		code int
		read bool // the memory can still be read
	}{
		{".", 0, "permission there", exitFailed, false},
		{".", 0o500, "file writable", exitFailed, false},
		{"memoir.db", 0, "permission there", exitFailed, false},
		{"memoir.db", 0o400, "permission there", exitFailed, true},
		{"projects", 0, "permission there", exitFailed, false},
		{"projects/*", 0o500, "permission there", exitPartly, true},
		{"projects/*/live", 0, "permission there", exitPartly, false},
		{"projects/*/live", 0o500, "permission there", exitPartly, true},
		{"projects/*/live/1/manifest.json", 0, "permission there", exitPartly, true},
		{"projects/*/generations", 0o500, "permission there", exitPartly, true},
	} {
		what := fmt.Sprintf("%s %s", test.path, test.mode)
		home := filepath.Join(root, strings.NewReplacer("/", "_", "*", "x", " ", "_").Replace(what), "home")
		must(t, os.MkdirAll(filepath.Dir(home), 0o755))
		copyHome(t, p.before, home)
		must(t, filepath.WalkDir(home, func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, 65534, 65534)
		}))
		paths, err := filepath.Glob(filepath.Join(home, test.path))
		if must(t, err); len(paths) == 0 {
			t.Fatalf("no %s", test.path)
		}
		was := map[string]fs.FileMode{}
		for _, path := range paths {
			info, err := os.Stat(path)
			must(t, err)
			was[path] = info.Mode().Perm()
			must(t, os.Chmod(path, test.mode))
		}
		before := earlier(t, home)
		p.tell(t, home, "$RUN -q", nobody).refuses(t, what, test.hint, test.code)
		if test.read {
			p.readable(t, home, what, nobody)
		}
		p.silent(t, home, what, nobody)
		if diff := cmp.Diff(before, earlier(t, home)); diff != "" {
			t.Errorf("%s: the earlier memory changed:\n%s", what, diff)
		}
		for path, mode := range was {
			must(t, os.Chmod(path, mode))
		}
		p.recovers(t, home, what)
	}
}

// publicly makes the program and the sessions readable by all users.
func (p *afflicted) publicly(t *testing.T, root string) {
	t.Helper()
	binary, err := os.ReadFile(p.binary)
	must(t, err)
	path := filepath.Join(root, "bin", "memoir")
	must(t, os.Mkdir(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, binary, 0o755))
	p.binary = path
	// The registry has the paths of the sessions, so the sessions are not moved.
	for dir := p.sessions; dir != filepath.Dir(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if dir != os.TempDir() {
			must(t, os.Chmod(dir, 0o755))
		}
	}
	must(t, filepath.WalkDir(p.sessions, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, 0o755)
	}))
}
