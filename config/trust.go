package config

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path/filepath"
	"slices"

	"memoir"
	"memoir/internal/failpoint"

	"go.yaml.in/yaml/v3"
)

// trustFile lies in memoir's home: a mapping from the path of a project file to
// the SHA-256 of the content that was trusted.
const trustFile = "trust.yml"

// TrustStore knows which project files a person has trusted, each in one exact
// version. The zero value trusts none.
type TrustStore struct {
	hashes map[string]string // by canonical path, hex
}

// LoadTrust reads what has been trusted from memoir's home directory.
func LoadTrust(home string) (TrustStore, error) {
	path := filepath.Join(home, trustFile)
	data, err := readFile(path)
	if err != nil || data == nil {
		return TrustStore{}, err
	}
	t := TrustStore{hashes: make(map[string]string)}
	if err := yaml.Unmarshal(data, &t.hashes); err != nil {
		return TrustStore{}, memoir.Errorf(memoir.CodeConfig, "remove it and trust the files again",
			"%s is damaged: %w", path, err)
	}
	return t, nil
}

// Trusted reports whether the file was trusted with exactly this content.
func (t TrustStore) Trusted(file string, content []byte) bool {
	hash, ok := t.hashes[canonical(file)]
	return ok && hash == hashOf(content)
}

// Files lists the trusted files, sorted. Those that have changed since are
// listed too.
func (t TrustStore) Files() []string { return slices.Sorted(maps.Keys(t.hashes)) }

// Trust records that a project file in its present version may loosen limits. A file that
// could not be applied is refused, with Load's errors.
func Trust(home, file string) error {
	data, err := readFile(file)
	if err != nil {
		return err
	}
	if data == nil {
		return memoir.Errorf(memoir.CodeNotFound, "name the directory of a project that has a "+ProjectFileName,
			"cannot trust %s: there is no such file", file)
	}
	s := Default()
	if _, err := s.applyProjectFile(file, data, true); err != nil {
		return err
	}
	return TrustRules(home, file)
}

// TrustRules records that a project's secret rules in their present version may do
// whatever a person's own may. It does not read them.
func TrustRules(home, file string) error {
	data, err := readFile(file)
	if err != nil {
		return err
	}
	return changeTrust(home, func(hashes map[string]string) { hashes[canonical(file)] = hashOf(data) })
}

// Distrust takes a file's trust back. It is no error if it had none.
func Distrust(home, file string) error {
	return changeTrust(home, func(hashes map[string]string) { delete(hashes, canonical(file)) })
}

func changeTrust(home string, change func(hashes map[string]string)) error {
	t, err := LoadTrust(home)
	if err != nil {
		return err
	}
	hashes := maps.Clone(t.hashes)
	if hashes == nil {
		hashes = make(map[string]string)
	}
	change(hashes)
	data, err := yaml.Marshal(hashes)
	if err != nil {
		return memoir.Errorf(memoir.CodeInternal, "", "cannot write what is trusted: %w", err)
	}
	if err := failpoint.MkdirAll(home, 0o700); err != nil {
		return memoir.Errorf(memoir.CodeStorage, "", "cannot record trust: %w", err)
	}
	path := filepath.Join(home, trustFile)
	if err = failpoint.Before("replace file"); err == nil {
		err = replaceFile(path, data, 0o600)
	}
	if err != nil {
		return memoir.Errorf(memoir.CodeStorage, "", "cannot record trust in %s: %w", path, err)
	}
	return nil
}

// canonical is a file's absolute path with the links of its directory followed.
// The file itself may be a link: what counts is its content.
func canonical(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
		file = filepath.Join(dir, filepath.Base(file))
	}
	return filepath.Clean(file)
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
