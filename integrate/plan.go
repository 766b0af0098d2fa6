package integrate

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/disk"
)

// Change is a planned change of one file.
type Change struct {
	Agent  string
	Path   string
	What   []string // the entries that are added or removed, for people
	Before []byte   // nil: there is no file
	After  []byte   // nil: it is removed

	record *FileRecord // nil: the recorded change is undone
}

// SettingsName is the agent under which memoir's own config.yml is recorded.
const SettingsName = "memoir"

// Settings returns memoir's own configuration file as if it belonged to an agent: install switches
// memories.enabled on in it.
func Settings(path string) Agent {
	return Agent{Name: SettingsName, dir: func(Env) string { return filepath.Dir(path) }, files: func(site) []file {
		return []file{{path: path, entries: []Entry{entry("memories.enabled", true, "memories", "enabled")}}}
	}}
}

// Install plans the changes that connect an agent; none if it is connected. A file that cannot be parsed,
// or has another program's entry in the place of memoir's, is an error. If the options leave nothing to
// install or remove, the error has the code memoir.CodeNotFound.
func (r *Record) Install(e Env, o Options, a Agent) ([]Change, error) {
	s := site{Options: o, Env: e, agent: a.Name, dir: a.dir(e)}
	if o.Project != "" {
		if a.projectDir == "" {
			return nil, memoir.Errorf(memoir.CodeUsage, "omit --scope", "memoir does not support project files of %s",
				a.Name)
		}
		s.dir = filepath.Join(o.Project, a.projectDir)
	}
	var changes []Change
	var wanted []string
	for _, f := range a.files(s) {
		f.entries = slices.DeleteFunc(f.entries, func(e Entry) bool {
			return e.What == serverWhat && o.NoMCP || e.What != serverWhat && o.NoHooks
		})
		if len(f.entries) == 0 && (f.content == "" || o.NoHooks) {
			continue
		}
		wanted = append(wanted, f.path)
		change, err := r.install(s, f)
		if err != nil {
			return nil, planError(a.Name, f.path, "install", err)
		}
		if change != nil {
			changes = append(changes, *change)
		}
	}
	for _, f := range slices.Backward(r.Files) {
		if f.Agent == a.Name && f.Project == o.Project && !slices.Contains(wanted, f.Path) {
			change, err := f.TakeBack()
			if err != nil {
				return nil, err
			}
			changes = append(changes, change)
		}
	}
	if len(wanted)+len(changes) == 0 {
		return nil, memoir.Errorf(memoir.CodeNotFound, "", "%s: nothing to install with these flags", a.Name)
	}
	return changes, nil
}

func planError(agent, path, verb string, err error) error {
	hint := cmp.Or(memoir.HintOf(err), "correct the file, then "+verb+" again; it was not changed")
	return memoir.Errorf(memoir.CodeInvalid, hint, "%s: %s: %w", agent, path, err)
}

// install plans the change of one file; nil if none is needed.
func (r *Record) install(s site, f file) (*Change, error) {
	current, err := readIn(s.Project, f.path)
	if err != nil {
		return nil, err
	}
	record := FileRecord{Agent: s.agent, Project: s.Project, Path: f.path, Program: s.Program,
		Made: missing(filepath.Dir(f.path))}
	base := current
	if i := r.find(s.agent, f.path); i >= 0 {
		earlier := r.Files[i]
		if !slices.ContainsFunc(earlier.Entries, f.lacks) && len(drifted(f, current)) == 0 {
			return nil, nil
		}
		if base, err = earlier.undone(current); err != nil {
			return nil, err
		}
		record.Made = append(slices.Clone(earlier.Made), record.Made...)
		earlier.Earlier, record.Earlier = nil, &earlier
	}
	change := Change{Agent: s.agent, Path: f.path, What: []string{ownWhat}, Before: current, record: &record}
	if change.After = []byte(f.content); f.content == "" {
		change.After, change.What = base, nil
	} else if base != nil && string(base) != f.content {
		return nil, memoir.Errorf(memoir.CodeInvalid, "move it away, then install again", "another program's file exists")
	}
	value, _ := syntaxOf(f.path).read(current) // undone reports the error
	for _, e := range f.entries {
		there, _ := lookup(value, e.At)
		e.place = e.find(there) + 1
		next, splices, err := syntaxOf(f.path).put(change.After, &e)
		if err != nil {
			return nil, err
		}
		if len(splices) > 0 {
			change.After, record.Splices = next, append(record.Splices, splices...)
			record.Entries, change.What = append(record.Entries, e), append(change.What, e.What)
		}
	}
	record.Before, record.After = hashOf(base), hashOf(change.After)
	if current != nil && bytes.Equal(change.After, current) {
		return nil, nil
	}
	return &change, nil
}

// lacks reports whether a file has no entry in the place of another one.
func (f file) lacks(other Entry) bool {
	return !slices.ContainsFunc(f.entries, func(e Entry) bool {
		return strings.Join(e.At, ".") == strings.Join(other.At, ".")
	})
}

// ownWhat names a file in messages that belongs to memoir as a whole.
const ownWhat = "a file of memoir"

// drifted names the entries of a file that differ from the wanted ones.
func drifted(f file, current []byte) (what []string) {
	if f.content != "" && f.content != string(current) {
		return []string{ownWhat}
	}
	for _, e := range f.entries {
		if _, splices, err := syntaxOf(f.path).put(current, &e); err != nil || len(splices) > 0 {
			what = append(what, e.What)
		}
	}
	return what
}

// TakeBack plans how a change is undone: byte for byte if nobody else has changed the file, else by removing
// memoir's entries.
func (f FileRecord) TakeBack() (Change, error) {
	change := Change{Agent: f.Agent, Path: f.Path, What: memoir.Map(f.Entries, func(e Entry) string { return e.What })}
	var err error
	if change.Before, err = readIn(f.Project, f.Path); err == nil {
		change.After, err = f.undone(change.Before)
	}
	if err != nil {
		return change, planError(f.Agent, f.Path, "uninstall", err)
	}
	return change, nil
}

// undone returns the content of a file without memoir's changes; nil if there was no file and nobody added anything.
func (f FileRecord) undone(current []byte) ([]byte, error) {
	for earlier := &f; earlier != nil; earlier = earlier.Earlier {
		switch hash := hashOf(current); {
		case hash == earlier.Before:
			return current, nil
		case hash == earlier.After && earlier.Before == "":
			return nil, nil
		case hash == earlier.After:
			if before, ok := undoSplices(current, earlier.Splices); ok {
				return before, nil
			}
		}
	}
	switch {
	case current == nil:
		return nil, nil
	case len(f.Entries) == 0:
		return nil, memoir.Errorf(memoir.CodeInvalid, "move or remove it, then run the command again",
			"somebody changed this file of memoir")
	}
	syntax := syntaxOf(f.Path)
	for _, e := range slices.Backward(f.Entries) {
		var err error
		if current, err = syntax.take(current, e); err != nil {
			return nil, err
		}
	}
	if f.Before == "" && len(bytes.Trim(current, bom+"{} \t\r\n")) == 0 { // not even a comment
		return nil, nil
	}
	return current, nil
}

// readIn reads a file of a project, from which no link may lead out; "" stands for the user's own files.
func readIn(project, path string) ([]byte, error) {
	if project == "" {
		return read(path)
	}
	name, err := filepath.Rel(project, path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(project)
	if errors.Is(err, fs.ErrNotExist) { // the project is gone, and the file with it
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if _, err := root.Stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, memoir.Errorf(memoir.CodeInvalid, "remove the symbolic link that leads out of the project",
			"%s cannot be read below the project: %w", name, errors.Unwrap(err))
	}
	return read(path)
}

func read(path string) ([]byte, error) {
	content, err := disk.ReadFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return nil, memoir.Errorf(memoir.CodeInvalid, "correct or remove the link", "%s is a link to a missing file",
				path)
		}
		return nil, nil
	}
	if err == nil && content == nil {
		content = []byte{}
	}
	return content, err
}

// missing lists the directories of a path that do not exist, outer ones first.
func missing(dir string) (dirs []string) {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			slices.Reverse(dirs)
			return dirs
		}
		dirs = append(dirs, dir)
	}
}
