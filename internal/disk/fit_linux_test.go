package disk

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"memoir"
)

func TestFileSystemsAreKnownByTheirNumber(t *testing.T) {
	t.Parallel()
	for name, number := range map[string]uint32{
		"nfs": unix.NFS_SUPER_MAGIC, "smb": unix.SMB_SUPER_MAGIC, "cifs": unix.CIFS_SUPER_MAGIC, "smb2": unix.SMB2_SUPER_MAGIC,
		"afs": unix.AFS_SUPER_MAGIC, "coda": unix.CODA_SUPER_MAGIC, "ceph": 0x00c36400, "lustre": 0x0bd00bd0, "gpfs": 0x47504653,
	} {
		if k := kinds[number]; k.name != name || k.at != remote {
			t.Errorf("%#x is %v, not %s", number, k, name)
		}
	}
	if k := kinds[0x6b414653]; k.name != "afs" || k.at != remote {
		t.Errorf("the kernel's AFS is %v", k)
	}
	for name, number := range map[string]uint32{
		"ext4": unix.EXT4_SUPER_MAGIC, "xfs": unix.XFS_SUPER_MAGIC, "btrfs": unix.BTRFS_SUPER_MAGIC, "tmpfs": unix.TMPFS_MAGIC,
		"ramfs": unix.RAMFS_MAGIC, "overlay": unix.OVERLAYFS_SUPER_MAGIC, "f2fs": unix.F2FS_SUPER_MAGIC,
	} {
		if k := kinds[number]; k.name != name || k.at != local {
			t.Errorf("%#x is %v, not %s", number, k, name)
		}
	}
	for name, number := range map[string]uint32{"9p": unix.V9FS_MAGIC, "fuse": unix.FUSE_SUPER_MAGIC, "vfat": unix.MSDOS_SUPER_MAGIC, "exfat": unix.EXFAT_SUPER_MAGIC} {
		if k := kinds[number]; k.name != name || k.at != unknown {
			t.Errorf("%#x is %v, not %s", number, k, name)
		}
	}
}

func TestAFileSystemThatLacksSomethingIsRefusedByName(t *testing.T) {
	t.Parallel()
	none := func(string) (string, error) { return "", nil }
	never := func(string) (string, error) { t.Error("it was tried"); return "", nil }
	tests := []struct {
		name string
		at   place
		try  func(string) (string, error)
		want string // of the message; empty: it is fit
	}{
		{"a local one is not tried", local, never, ""},
		{"a remote one is not tried either", remote, never, "is on a network file system (x)"},
		{"one that can do it all", unknown, none, ""},
		{
			"one without locks",
			unknown,
			func(string) (string, error) { return "locks that keep processes apart", nil },
			"has no locks",
		},
		{"one that can't be written to", unknown, func(string) (string, error) { return "", unix.EROFS }, ""},
	}
	for _, tt := range tests {
		err := fit("/home/me", tt.at, "x", tt.try)
		if tt.want == "" && err != nil ||
			tt.want != "" && (memoir.CodeOf(err) != memoir.CodeStorage || !strings.Contains(err.Error(), tt.want) ||
				!strings.Contains(memoir.HintOf(err), "--home")) {
			t.Errorf("%s: %v (%s), hint %q", tt.name, err, memoir.CodeOf(err), memoir.HintOf(err))
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
	if where, name := placeOf(at); where != unknown || !strings.HasPrefix(name, "fuse") {
		t.Errorf("%s is %v", name, where)
	}
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

// The server of SFTP speaks with sshfs through a pipe: no network is needed.
func TestFilesOfAnotherMachineAreRefused(t *testing.T) {
	server := "/usr/lib/openssh/sftp-server"
	if _, err := os.Stat(server); err != nil {
		t.Skip("no " + server + " here")
	}
	at := mounted(t, "sshfs", func(from, at string) *exec.Cmd {
		script := filepath.Join(t.TempDir(), "ssh")
		if err := os.WriteFile(script, []byte("#!/bin/sh\nexec "+server+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return exec.Command("sshfs", "-o", "ssh_command="+script, "anybody@anywhere:"+from, at)
	})
	err := Fit(at)
	if memoir.CodeOf(err) != memoir.CodeStorage || !strings.Contains(err.Error(), "network file system (fuse.sshfs)") ||
		!strings.Contains(memoir.HintOf(err), "local disk") {
		t.Errorf("%v, hint %q", err, memoir.HintOf(err))
	}
	if !Remote(filepath.Join(at, "home")) {
		t.Error("it does not count as remote")
	}
	if left, err := os.ReadDir(at); err != nil || len(left) > 0 {
		t.Errorf("written to: %v, %v", left, err)
	}
}
