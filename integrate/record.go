package integrate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
)

// RecordName is the file in memoir's home that records what was installed.
const RecordName = "integrations.json"

// Record records changes, so that exactly they can be undone. It contains no whole file, only the added parts and those
// that they replaced. A change is recorded before it is made; the file's hash shows whether it was made.
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
	content, _ := json.MarshalIndent(r, "", " ") // texts, numbers, lists and objects cannot fail
	if err := disk.Replace(path, append(content, '\n'), 0o600); err != nil {
		return memoir.Errorf(memoir.CodeOf(err), disk.HintOr(err, "--home"), "write %s: %w", path, err)
	}
	return nil
}

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

// Apply makes a change. It is recorded before it is made; the record of one that is undone is removed
// afterwards. A file that has changed since the plan is an error with memoir.CodeChanged, one that cannot be written
// one with memoir.CodeStorage; it stays recorded.
func (r *Record) Apply(c Change) error {
	current, err := read(c.Path)
	if err != nil {
		return err
	}
	if hashOf(current) != hashOf(c.Before) {
		return memoir.Errorf(memoir.CodeChanged, "run the command again", "another program changed %s meanwhile", c.Path)
	}
	i := r.find(c.Agent, c.Path)
	if c.record == nil {
		if err := c.write(); err != nil {
			return err
		}
		removeDirs(r.Files[i].Made)
		r.Files = slices.Delete(r.Files, i, i+1)
		return r.save()
	}
	if i >= 0 {
		r.Files[i] = *c.record
	} else {
		r.Files = append(r.Files, *c.record)
	}
	if err := r.save(); err != nil {
		return err
	}
	return c.write()
}

// RemoveStale removes temporary files of earlier calls that were killed.
func (r *Record) RemoveStale() (err error) {
	for _, f := range r.Files {
		err = errors.Join(err, disk.Discard(followed(f.Path)+disk.Beside))
	}
	return err
}

// followed returns the path that links lead to, or path if they lead nowhere.
func followed(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// write writes the new content, or removes the file.
func (c Change) write() (err error) {
	path := followed(c.Path)
	switch {
	case c.After == nil:
		err = disk.Discard(path)
	case c.Before == nil || !bytes.Equal(c.Before, c.After):
		mode := fs.FileMode(0o600)
		if info, statErr := os.Stat(path); statErr == nil {
			mode = info.Mode().Perm()
		}
		err = disk.Replace(path, c.After, mode)
	}
	if err != nil {
		return memoir.Errorf(memoir.CodeStorage, disk.Hint(err), "change %s: %w", c.Path, err)
	}
	return nil
}

func removeDirs(dirs []string) {
	for _, dir := range slices.Backward(dirs) {
		if failpoint.Remove(dir) != nil {
			return
		}
	}
}
