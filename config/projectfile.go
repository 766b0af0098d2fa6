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
	"strings"

	"memoir"
	"memoir/internal/disk"

	"go.yaml.in/yaml/v3"
)

// ProjectFileName is the name of a project's own settings, in the top directory of its checkout.
const ProjectFileName = ".memoir.yml"

// ForProject returns the settings of the project whose top directory is dir. A cloned
// repository is not trusted: its .memoir.yml may switch memory off and tighten limits.
// Its other settings are ignored, each with a message "file:line: NAME: VALUE is ignored: …".
//
// An error means that the file is invalid, or has a setting that no project may change.
// The settings then have memory switched off, since the file may have asked for that.
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
		// Trust is given to one project, but these settings affect all projects: they name the
		// servers and programs that get the text of every session.
		d, _ := find(e.path)
		if d.own {
			return nil, e.errorf("this setting is never read from a project's file", "belongs in your own "+FileName)
		}
		proposed := s.clone()
		if err := proposed.applyEntry(e, ""); err != nil {
			return nil, err
		}
		if before := d.text(s); trusted && !d.strict || d.tightens(s, &proposed) {
			*s = proposed
			s.Off = s.Off || d.name == "memories.enabled" && !s.Memories.Enabled
		} else if d.text(&proposed) != before {
			ignored = append(ignored, fmt.Sprintf("%s: %s: %s is ignored: this file is not trusted, so it stays %s", e.origin(),
				d.name, cmp.Or(d.text(&proposed), "unset"), cmp.Or(before, "unset")))
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

// number returns the value of a setting that is a limit; no limit is the largest number.
func (d definition) number(s *Settings) float64 {
	n, err := strconv.ParseFloat(d.text(s), 64)
	if err != nil || d.zeroNone && n == 0 {
		return math.Inf(1)
	}
	return n
}

// trustFile is a file in memoir's home. It maps the path of each trusted file to the SHA-256 of
// the content that was trusted.
const trustFile = "trust.yml"

// TrustStore has the files of projects that a person trusts, each in one version: it maps the
// canonical path to the SHA-256 of the content in hex.
type TrustStore map[string]string

// LoadTrust reads the trust store from memoir's home directory.
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
	if t == nil { // no file, or an empty one
		t = TrustStore{}
	}
	return t, nil
}

// Trusted reports whether the file was trusted with exactly this content.
func (t TrustStore) Trusted(file string, content []byte) bool {
	return t[canonical(file)] == hashOf(content)
}

// Files lists the trusted files, sorted, including those that have changed since.
func (t TrustStore) Files() []string {
	isTeam := func(name string) bool { return strings.HasPrefix(name, teamOf) }
	return slices.DeleteFunc(slices.Sorted(maps.Keys(t)), isTeam)
}

// teamOf begins the name of a repository, by its git directory, whose team memory is trusted. Its value is a branch.
const teamOf = "team of "

// Team reports whether the team memory of a repository is trusted, and the branch that has it; empty: the default one.
func (t TrustStore) Team(repository string) (branch string, trusted bool) {
	branch, trusted = t[teamOf+repository]
	return branch, trusted
}

// Teams lists the repositories whose team memory is trusted, sorted.
func (t TrustStore) Teams() (repositories []string) {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if repository, ok := strings.CutPrefix(name, teamOf); ok {
			repositories = append(repositories, repository)
		}
	}
	return repositories
}

// TrustTeam trusts the team memory of a repository on a branch, or no longer.
func TrustTeam(home, repository, branch string, trusted bool) error {
	return changeTrust(home, func(t TrustStore) {
		if t[teamOf+repository] = branch; !trusted {
			delete(t, teamOf+repository)
		}
	})
}

// Trust trusts a project's file in its present version: its settings may loosen limits. Invalid
// settings are refused with Load's errors.
func Trust(home, file string) error {
	data, err := readFile(file)
	if err != nil {
		return err
	}
	if data == nil {
		return memoir.Errorf(memoir.CodeNotFound,
			"name the directory of a project that has a "+ProjectFileName,
			"cannot trust %s: no such file", file)
	}
	s := Default()
	if _, err := s.applyProjectFile(file, data, true); err != nil {
		return err
	}
	return changeTrust(home, func(t TrustStore) { t[canonical(file)] = hashOf(data) })
}

// Distrust revokes the trust in a file. A file that is not trusted is not an error.
func Distrust(home, file string) error {
	return changeTrust(home, func(t TrustStore) { delete(t, canonical(file)) })
}

// TidyTrust removes the temporary file of a process that was killed while it wrote the trust store.
func TidyTrust(home string) error { return disk.Discard(filepath.Join(home, trustFile) + disk.Beside) }

func changeTrust(home string, change func(TrustStore)) error {
	t, err := LoadTrust(home)
	if err != nil {
		return err
	}
	change(t)
	data, _ := yaml.Marshal(t) // texts can be encoded
	path := filepath.Join(home, trustFile)
	if err := disk.Replace(path, data, 0o600); err != nil {
		return memoir.Errorf(memoir.CodeStorage, "", "cannot record trust in %s: %w", path, err)
	}
	return nil
}

// canonical returns a file's absolute path with the links of its directory followed. The file
// itself may be a link, since its content is compared.
func canonical(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return filepath.Join(FollowLinks(filepath.Dir(file)), filepath.Base(file))
}

func hashOf(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }
