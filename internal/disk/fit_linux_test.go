package disk

import (
	"path/filepath"
	"slices"
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

func TestAFileHasRoomOnlyForWhatTheDiskHas(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := Room(file, 1); err != nil {
		t.Error(err)
	}
	if err := Room(file, 1<<60); memoir.CodeOf(err) != memoir.CodeStorage || memoir.HintOf(err) != Hint(unix.ENOSPC) {
		t.Errorf("%v", err)
	}
}
