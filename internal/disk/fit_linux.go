package disk

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// kinds are file systems by the number that statfs gives (statfs(2), linux/magic.h).
// FUSE is whatever its program makes of it.
var kinds = map[uint32]struct {
	name string
	at   place
}{
	0xef53:     {"ext4", local},
	0x58465342: {"xfs", local},
	0x9123683e: {"btrfs", local},
	0x01021994: {"tmpfs", local},
	0x858458f6: {"ramfs", local},
	0x794c7630: {"overlay", local}, // what others see of its layers, they see as files of their own
	0x2fc12fc1: {"zfs", local},
	0xf2f52010: {"f2fs", local},
	0xca451a4e: {"bcachefs", local},
	0x3153464a: {"jfs", local},
	0x52654973: {"reiserfs", local},
	0xf15f:     {"ecryptfs", local},

	0x6969:     {"nfs", remote},
	0x517b:     {"smb", remote},
	0xff534d42: {"cifs", remote},
	0xfe534d42: {"smb2", remote},
	0x5346414f: {"afs", remote},
	0x6b414653: {"afs", remote},
	0x73757245: {"coda", remote},
	0x564c:     {"ncp", remote},
	0x00c36400: {"ceph", remote},
	0x0bd00bd0: {"lustre", remote},
	0x01161970: {"gfs2", remote},
	0x7461636f: {"ocfs2", remote},
	0x47504653: {"gpfs", remote},
	0x19830326: {"beegfs", remote},
	0xaad7aaea: {"panfs", remote},
	0x20030528: {"orangefs", remote},

	0x01021997: {"9p", unknown},
	0x65735546: {"fuse", unknown},
	0x786f4256: {"vboxsf", unknown},
	0xbacbacbc: {"vmhgfs", unknown},
	0x4d44:     {"vfat", unknown},
	0x2011bab0: {"exfat", unknown},
	0x7366746e: {"ntfs3", unknown},
}

// remotePrograms are the programs of FUSE whose files are on other machines, as
// mountinfo names them behind "fuse.".
var remotePrograms = map[string]bool{
	"sshfs": true, "s3fs": true, "rclone": true, "glusterfs": true, "ceph-fuse": true, "gcsfuse": true, "goofys": true,
	"davfs2": true, "curlftpfs": true, "smbnetfs": true, "juicefs": true, "moosefs": true, "mfs": true,
	"lizardfs": true, "blobfuse2": true,
}

func placeOf(dir string) (place, string) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return unknown, "unknown"
	}
	k, known := kinds[uint32(stat.Type)]
	if !known {
		return unknown, fmt.Sprintf("type %#x", uint32(stat.Type))
	}
	if k.name == "fuse" {
		if program := programOf(dir); program != "" {
			k.name = program
			if remotePrograms[strings.TrimPrefix(program, "fuse.")] {
				k.at = remote
			}
		}
	}
	return k.at, k.name
}

// programOf is the type of the mount that a directory is on, such as "fuse.sshfs";
// empty if that can't be found out.
func programOf(dir string) string {
	var stat unix.Stat_t
	if err := unix.Stat(dir, &stat); err != nil {
		return ""
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	device := fmt.Sprintf("%d:%d", unix.Major(stat.Dev), unix.Minor(stat.Dev))
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		// id parent major:minor root mountpoint options [optional...] - type source options
		before, after, ok := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(before)
		if ok && len(fields) > 2 && fields[2] == device {
			name, _, _ := strings.Cut(after, " ")
			return name
		}
	}
	return ""
}
