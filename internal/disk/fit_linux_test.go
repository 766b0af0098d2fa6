package disk

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"memoir"
)

func TestNetworkFileSystemsAreKnownByTheirNumber(t *testing.T) {
	t.Parallel()
	for _, number := range []uint32{unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.AFS_SUPER_MAGIC} {
		if !slices.Contains(networks, number) {
			t.Errorf("%#x is missing", number)
		}
	}
}

func TestThisFileSystemIsFit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := Fit(dir); err != nil {
		t.Error(err)
	}
	if lacks, err := try(dir); lacks != "" || err != nil {
		t.Errorf("lacks %q, %v", lacks, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if Remote(filepath.Join(dir, "not", "there")) {
		t.Error("a directory of this machine counts as another's")
	}
}

// mounted runs a program that mounts the directory from at another place.
func mounted(t *testing.T, program string, command func(from, at string) *exec.Cmd) string {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("no %s here", program)
	}
	from, at := t.TempDir(), t.TempDir()
	cmd := command(from, at)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("%s can't mount here: %v: %s", program, err, out)
	}
	t.Cleanup(func() { _ = exec.Command("fusermount3", "-u", at).Run() })
	return at
}

func TestAProgramsFileSystemIsTried(t *testing.T) {
	at := mounted(t, "bindfs", func(from, at string) *exec.Cmd { return exec.Command("bindfs", from, at) })
	if err := Fit(at); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(at); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAProgramsFileSystemWithoutSharedMemoryIsRefused(t *testing.T) {
	at := mounted(
		t,
		"bindfs",
		func(from, at string) *exec.Cmd { return exec.Command("bindfs", "-o", "direct_io", from, at) },
	)
	lacks, err := try(at)
	if err != nil {
		t.Fatal(err)
	}
	if lacks == "" {
		t.Skip("needs a kernel that shares no memory of files under direct_io")
	}
	if err := Fit(at); memoir.CodeOf(err) != memoir.CodeStorage || !strings.Contains(err.Error(), lacks) {
		t.Errorf("%v", err)
	}
}
