//go:build unix

package store

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"memoir"
)

func TestADatabaseThatMayNotBeWrittenCanBeRead(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	must(t, s.Close())
	must(t, os.Remove(s.reservePath()))
	home := filepath.Dir(s.Path())
	must(t, os.Chmod(s.Path(), 0o444))
	must(t, os.Chmod(home, 0o555))
	t.Cleanup(func() { os.Chmod(home, 0o700) })
	binary := os.Args[0]
	var as *syscall.SysProcAttr
	if os.Geteuid() == 0 { // may write anything: let nobody try
		binary = filepath.Join(newHome(t), "nobody.test")
		must(t, exec.Command("cp", os.Args[0], binary).Run())
		must(t, os.Chmod(filepath.Dir(binary), 0o755))
		as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	p := prepare(t, binary, "permission", s.Path())
	p.SysProcAttr = as
	must(t, p.Start())
	want := []string{"1", string(memoir.CodeStorage), "true", string(memoir.CodeStorage), "true"}
	if got := p.rest(t); !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	if left, _ := filepath.Glob(home + "/*"); len(left) != 1 {
		t.Fatalf("left %v", left)
	}
}
