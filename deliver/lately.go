package deliver

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
)

// lately is the file below a home with a hash of each error that sessions repaired lately. Opening the database takes
// longer than a hook may: it does so for these errors alone.
const lately = "lately"

// maxLately bounds the file; what is older was consolidated.
const maxLately = 64 << 10

func hashed(signature string) []byte {
	return fmt.Appendf(nil, "%08x\n", crc32.ChecksumIEEE([]byte(signature)))
}

// Repaired records the errors of statements that will be in the database, for IsLately.
func Repaired(home string, statements []memoir.Statement) error {
	path := filepath.Join(home, lately)
	known, _ := disk.ReadFile(path, 2*maxLately) // without it all are new
	var more []byte
	for _, st := range statements {
		if one := hashed(st.Signature); st.Signature != "" && st.Fix != "" && !bytes.Contains(append(known, more...), one) {
			more = append(more, one...)
		}
	}
	if len(more) == 0 {
		return nil
	} else if len(known) > maxLately {
		return disk.Replace(path, append(known[len(known)/18*9:], more...), 0o600)
	} else if err := failpoint.Before("record repairs"); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(more)
	_ = f.Close()
	return err
}

// IsLately reports whether sessions may have repaired one of some errors lately.
func IsLately(home string, signatures map[string]bool) bool {
	known, _ := disk.ReadFile(filepath.Join(home, lately), 2*maxLately)
	for signature := range signatures {
		if bytes.Contains(known, hashed(signature)) {
			return true
		}
	}
	return false
}
