package config

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"

	"go.yaml.in/yaml/v3"
)

// ProjectFileName is the name of a project's own settings, in the top directory
// of its checkout.
const ProjectFileName = ".memoir.yml"

// ForProject returns the settings that hold in the project whose top directory
// is dir. A cloned repository is a stranger: without trust its .memoir.yml may
// switch memory off and tighten limits; anything further is ignored, and told as
// "file:line: NAME has no effect: …".
//
// An error means that the file could not be understood, or sets what no project's file may.
// The settings then returned have memory switched off, as that may be what it meant to say.
func (s Settings) ForProject(dir string, trusted TrustStore) (out Settings, ignored []string, err error) {
	path := filepath.Join(dir, ProjectFileName)
	data, err := readFile(path)
	if err == nil && data == nil {
		return s, nil, nil
	}
	out = s.clone()
	if err == nil {
		ignored, err = out.applyProjectFile(path, data, trusted.Trusted(path, data))
	}
	if err != nil {
		out, ignored = s.clone(), nil
		out.Off, out.Memories.Enabled = true, false
		out.setOrigin("memories.enabled", path)
	}
	return out, ignored, err
}

func (s *Settings) applyProjectFile(path string, data []byte, trusted bool) (ignored []string, err error) {
	entries, err := parseYAML(path, data)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		// Trust is given to a project, and these reach all of them: they say which server and
		// which program are handed the text of every session.
		d, _ := find(e.path)
		if d.own {
			return nil, e.errorf("a project's file may only switch memory off or tighten limits",
				"belongs in your own "+FileName)
		}
		proposed := s.clone()
		if err := proposed.applyEntry(e, ""); err != nil {
			return nil, err
		}
		if before := d.text(s); trusted || d.tightens(s, &proposed) {
			*s = proposed
			s.Off = s.Off || d.name == "memories.enabled" && !s.Memories.Enabled
		} else if d.text(&proposed) != before {
			ignored = append(ignored, fmt.Sprintf("%s: %s has no effect: only `memoir trust` may change %s", e.origin(), d.name,
				cmp.Or(before, "it")))
		}
	}
	return ignored, s.check()
}

// tightens reports whether the proposed value is at most as loose as the present one.
func (d definition) tightens(present, proposed *Settings) bool {
	switch d.tighten {
	case tightenNever:
		return false
	case tightenOff:
		return d.text(proposed) == "false"
	case tightenHigher:
		return d.number(proposed) >= d.number(present)
	}
	return d.number(proposed) <= d.number(present)
}

// number is the value of a setting with a limit; none is the largest.
func (d definition) number(s *Settings) float64 {
	n, err := strconv.ParseFloat(d.text(s), 64)
	if err != nil || d.zeroNone && n == 0 {
		return math.Inf(1)
	}
	return n
}

// trustFile lies in memoir's home: a mapping from the path of a project file to
// the SHA-256 of the content that was trusted.
const trustFile = "trust.yml"

// TrustStore knows which project files a person has trusted, each in one exact
// version: by canonical path, the SHA-256 of the content in hex.
type TrustStore map[string]string

// LoadTrust reads what has been trusted from memoir's home directory.
func LoadTrust(home string) (TrustStore, error) {
	var t TrustStore
	path := filepath.Join(home, trustFile)
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal(data, &t); err != nil {
		return nil, memoir.Errorf(memoir.CodeConfig, "remove it and trust the files again",
			"%s is damaged: %w", path, err)
	}
	if t == nil { // no file, or one that says null
		t = TrustStore{}
	}
	return t, nil
}

// Trusted reports whether the file was trusted with exactly this content.
func (t TrustStore) Trusted(file string, content []byte) bool {
	return t[canonical(file)] == hashOf(content)
}

// Files lists the trusted files, sorted. Those that have changed since are
// listed too.
func (t TrustStore) Files() []string { return slices.Sorted(maps.Keys(t)) }

// Trust records that a project's file in its present version may loosen limits, or that its
// secret rules may do whatever a person's own may. Settings that could not be applied are
// refused, with Load's errors; rules are not read.
func Trust(home, file string) error {
	data, err := readFile(file)
	if err != nil {
		return err
	}
	if data == nil {
		return memoir.Errorf(memoir.CodeNotFound, "name the directory of a project that has a "+ProjectFileName,
			"cannot trust %s: no such file", file)
	}
	if s := Default(); filepath.Base(file) == ProjectFileName {
		if _, err := s.applyProjectFile(file, data, true); err != nil {
			return err
		}
	}
	return changeTrust(home, func(t TrustStore) { t[canonical(file)] = hashOf(data) })
}

// Distrust takes a file's trust back. It is no error if it had none.
func Distrust(home, file string) error {
	return changeTrust(home, func(t TrustStore) { delete(t, canonical(file)) })
}

// TidyTrust removes what a process that was killed while it recorded trust has left.
func TidyTrust(home string) error { return disk.Discard(filepath.Join(home, trustFile) + disk.Beside) }

func changeTrust(home string, change func(TrustStore)) error {
	t, err := LoadTrust(home)
	if err != nil {
		return err
	}
	change(t)
	data, err := yaml.Marshal(t)
	if err != nil {
		return memoir.Errorf(memoir.CodeInternal, "", "cannot encode the list of trusted files: %w", err)
	}
	path := filepath.Join(home, trustFile)
	if err = failpoint.MkdirAll(home, 0o700); err == nil {
		err = disk.Replace(path, data, 0o600)
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
	return filepath.Join(FollowLinks(filepath.Dir(file)), filepath.Base(file))
}

func hashOf(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }
