package memory_test

import "syscall"

func mountTiny(dir string) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k,mode=700")
}

func unmount(dir string) error { return syscall.Unmount(dir, 0) }

func makeReadOnly(dir string) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
}
