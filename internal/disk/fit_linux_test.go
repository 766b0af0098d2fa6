package disk

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"
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
	if err := Fit(t.TempDir()); err != nil {
		t.Error(err)
	}
}
