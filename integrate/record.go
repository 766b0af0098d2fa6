package integrate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
)

// RecordName is the file of memoir's home that tells what was installed.
const RecordName = "integrations.json"

// Record tells what was changed, so that exactly that can be taken back. It holds no file as a whole, only
// what was put in and what that took the place of. A change is recorded before it is made: the hash of the
// file then tells whether it was.
type Record struct {
	Program string       `json:"program,omitempty"` // that agents were last told to call
	Files   []FileRecord `json:"files"`
	Skills  []SkillDir   `json:"skills,omitempty"`

	home string
}

// FileRecord is one file that was changed.
type FileRecord struct {
	Agent   string   `json:"agent"`
	Project string   `json:"project,omitempty"` // whose own file it is; "": the user's
	Path    string   `json:"path"`
	Before  string   `json:"before"` // hash; "": there was no file
	After   string   `json:"after"`
	Made    []string `json:"made,omitempty"`    // directories that were made for it, outer ones first
	Splices []splice `json:"splices,omitempty"` // that made one of the other
	Entries []Entry  `json:"entries,omitempty"` // none: the file is memoir's as a whole
	// Earlier is the change that this one replaces, for as long as the file may be as that left it.
	Earlier *FileRecord `json:"earlier,omitempty"`
}

// maxRecord and maxFile bound what is read, in bytes.
const (
	maxRecord = 16 << 20
	maxFile   = 64 << 20
)

// Load reads the record of a home. One that is not there is empty.
func Load(home string) (*Record, error) {
	r := &Record{home: home}
	path := filepath.Join(home, RecordName)
	content, err := disk.ReadFile(path, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(content, r)
	}
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeStorage,
			"move it away and install again; then remove the entries that it lists by hand",
			"the record of what was installed cannot be read: %w", err)
	}
	return r, nil
}

// save writes the record. One that tells nothing is removed.
func (r *Record) save() error {
	path := filepath.Join(r.home, RecordName)
	if len(r.Files) == 0 && len(r.Skills) == 0 {
		return disk.Discard(path)
	}
	content, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := failpoint.MkdirAll(r.home, 0o700); err != nil {
		return err
	}
	return disk.Replace(path, append(content, '\n'), 0o600)
}

// find is the index of a file's record, -1 if there is none.
func (r *Record) find(agent, path string) int {
	return slices.IndexFunc(r.Files, func(f FileRecord) bool { return f.Agent == agent && f.Path == path })
}

// Agents lists whose files are recorded, in the order of the table; what is memoir's own comes last.
func (r *Record) Agents() (names []string) {
	for _, a := range append(slices.Clone(Agents), Agent{Name: SettingsName}) {
		if slices.ContainsFunc(r.Files, func(f FileRecord) bool { return f.Agent == a.Name }) ||
			slices.ContainsFunc(r.Skills, func(d SkillDir) bool { return slices.Contains(d.Agents, a.Name) }) {
			names = append(names, a.Name)
		}
	}
	return names
}

func hashOf(content []byte) string {
	if content == nil {
		return ""
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
