package serve

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
	"memoir/internal/lazyregexp"
)

// TokenFile is the file in a home that holds the token.
const TokenFile = "token"

// tokenForm matches a token: base32 of at least 128 bits.
var tokenForm = lazyregexp.New(`^[A-Z2-7]{26,100}$`)

// TokenOf returns the token of a home. It creates a new one if the file is missing, damaged or accessible to other
// users. The caller's alone calls a function while no other process creates a token.
func TokenOf(home string, alone func(func() error) error) (string, error) {
	path := filepath.Join(home, TokenFile)
	token := readToken(path)
	if token != "" {
		return token, nil
	}
	err := alone(func() error {
		if token = readToken(path); token != "" {
			return nil
		}
		token = rand.Text()
		err := failpoint.Remove(path)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = failpoint.WriteFile(path, []byte(token+"\n"), 0o600) // readToken refuses a partial write
		}
		if err != nil {
			return memoir.Errorf(memoir.CodeStorage, disk.HintOr(err, "--home"), "store the server's token in %s: %w", path, err)
		}
		return nil
	})
	return token, err
}

func readToken(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return ""
	}
	content, err := disk.ReadFile(path, 1<<10)
	token := strings.TrimSpace(string(content))
	if err != nil || !tokenForm.MatchString(token) {
		return ""
	}
	return token
}
