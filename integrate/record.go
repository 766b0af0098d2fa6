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

// RecordName is the file in memoir's home that records what was installed.
const RecordName = "integrations.json"

// Record records changes, so that exactly they can be undone. It contains no whole file, only the added
// parts and those that they replaced. A change is recorded before it is made; the file's hash shows
// whether it was made.
type Record struct {
	Files  []FileRecord `json:"files"`
	Skills []SkillDir   `json:"skills,omitempty"`

	home string
}

// FileRecord is one file that was changed.
type FileRecord struct {
	Agent   string   `json:"agent"`
	Project string   `json:"project,omitempty"` // the directory of the project that owns it; "": the user's
	Path    string   `json:"path"`
	Program string   `json:"program,omitempty"` // the path that the agent calls
	Before  string   `json:"before"`            // hash; "": there was no file
	After   string   `json:"after"`
	Made    []string `json:"made,omitempty"`    // directories that were created for it, outer ones first
	Splices []splice `json:"splices,omitempty"` // that turn the content of Before into that of After
	Entries []Entry  `json:"entries,omitempty"` // none: the whole file belongs to memoir
	// Earlier is the change that this one replaces, as long as the file may still have its content.
	Earlier *FileRecord `json:"earlier,omitempty"`
}

// maxRecord and maxFile limit the size of files that are read, in bytes.
const (
	maxRecord = 16 << 20
	maxFile   = 64 << 20
)

// Load reads the record of a home; an empty one if it does not exist.
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
			"move it away, then `memoir install` again; entries of the old record stay in the agents' files",
			"the record of what was installed cannot be read: %w", err)
	}
	return r, nil
}

// save writes the record, or removes it if it is empty.
func (r *Record) save() error {
	path := filepath.Join(r.home, RecordName)
	if len(r.Files) == 0 && len(r.Skills) == 0 {
		return disk.Discard(path)
	}
	content, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	err = failpoint.MkdirAll(r.home, 0o700)
	if err == nil {
		err = disk.Replace(path, append(content, '\n'), 0o600)
	}
	if err != nil {
		return memoir.Errorf(memoir.CodeOf(err), disk.HintOr(err, "--home"), "write %s: %w", path, err)
	}
	return nil
}

// find returns the index of a file's record; -1 if there is none.
func (r *Record) find(agent, path string) int {
	return slices.IndexFunc(r.Files, func(f FileRecord) bool { return f.Agent == agent && f.Path == path })
}

// Agents lists the agents with recorded files, in the order of the table; SettingsName comes last.
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
