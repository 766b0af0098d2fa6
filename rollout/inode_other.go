//go:build !unix

package rollout

import "io/fs"

// inode is 0 where the file system's answer has none.
func inode(fs.FileInfo) uint64 { return 0 }
