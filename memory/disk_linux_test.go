package memory_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"memoir/memory"
)

func TestTheEarlierMemoryOutlivesAFullAndAReadOnlyDisk(t *testing.T) {
	home := t.TempDir()
	if err := syscall.Mount("tmpfs", home, "tmpfs", 0, "size=256k,mode=700"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	defer syscall.Unmount(home, 0)
	r := memory.At(home, project)
	publish(t, r, 1, generation(1))
	publish(t, r, 2, generation(2))
	filler, err := os.Create(filepath.Join(home, "filler"))
	must(t, err)
	for block := make([]byte, 4096); err == nil; {
		_, err = filler.Write(block)
	}
	filler.Close()
	before := names(t, r)
	if err := child(t, "full disk", home); err != nil {
		t.Error(err)
	}
	unharmed(t, r, before)
	must(t, syscall.Mount("tmpfs", home, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	if err := refused(home, "read-only"); err != nil {
		t.Error(err)
	}
	unharmed(t, r, before)
}
