package integrate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/disk"
)

// Change is what would be done to one file.
type Change struct {
	Agent  string
	Path   string
	What   []string // what is put in or taken out, for people
	Before []byte   // nil: there is no file
	After  []byte   // nil: there is none any more
	Aside  string   // the path to which a file of memoir's own goes that somebody changed; else ""
	Note   string   // what a person should know of it

	record  FileRecord
	program string
	removal bool
}

// SettingsName stands for memoir itself among the agents of a record: its own config.yml.
const SettingsName = "memoir"

// Settings is memoir's own configuration file as something that install changes: memories.enabled is
// switched on.
func Settings(path string) Agent {
	return Agent{Name: SettingsName, dir: func(Env) string { return filepath.Dir(path) }, files: func(site) []file {
		return []file{{path: path, form: formYAML, entries: []Entry{
			{What: "memories.enabled", At: []string{"memories", "enabled"}, Value: []byte("true")}}}}
	}}
}

// Install plans what connects an agent: nothing if all is as wanted. A file that cannot be parsed, or in
// which somebody else's entry has memoir's place, is an error.
func (r *Record) Install(e Env, o Options, a Agent) ([]Change, error) {
	s := site{Options: o, Env: e, agent: a.Name, dir: a.dir(e)}
	if !s.user() && a.Name != SettingsName {
		if a.projectDir == "" {
			return nil, memoir.Errorf(memoir.CodeUsage, "leave --scope out", "%s has no files of a project that memoir knows",
				a.Name)
		}
		s.dir = filepath.Join(o.Project, a.projectDir)
	}
	var changes []Change
	var wanted []string
	for _, f := range a.files(s) {
		wanted = append(wanted, f.path)
		change, err := r.install(s, f)
		if err != nil {
			return nil, memoir.Errorf(memoir.CodeInvalid, hintOr(err, "mend the file, then install again; it was not changed"),
				"%s: %s: %w", a.Name, f.path, err)
		}
		if change != nil {
			change.program = o.Program
			changes = append(changes, *change)
		}
	}
	for _, f := range slices.Backward(r.Files) {
		if f.Agent != a.Name || f.Project != o.Project || slices.Contains(wanted, f.Path) {
			continue
		}
		change, err := r.remove(f)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change)
	}
	return changes, nil
}

func hintOr(err error, hint string) string {
	if h := memoir.HintOf(err); h != "" {
		return h
	}
	return hint
}

// install plans one file; nil if it is as wanted.
func (r *Record) install(s site, f file) (*Change, error) {
	current, err := readIn(s.Project, f.path)
	if err != nil {
		return nil, err
	}
	now := FileRecord{Agent: s.agent, Project: s.Project, Path: f.path, Form: f.form, Made: missing(filepath.Dir(f.path))}
	base := current
	now.Created = current == nil
	i := r.find(s.agent, f.path)
	if i >= 0 {
		now.Made = append(slices.Clone(r.Files[i].Made), now.Made...)
	}
	if i >= 0 && current != nil {
		earlier := r.Files[i]
		now.Created = earlier.Created
		switch before, whole := earlier.undone(current); {
		case whole:
			base = before
		case f.form != formOwn: // something else was changed meanwhile
			now.Entries, now.Before = earlier.Entries, unknown
			return now.edit(f, current, current)
		}
		earlier.Earlier = nil
		now.Earlier = &earlier
	}
	if f.form == formOwn {
		return now.own(f, base, current)
	}
	now.Before = hashOf(base)
	return now.edit(f, base, current)
}

// undone is the content before a recorded change. It is false if the file is neither as memoir left it
// nor as it was.
func (f FileRecord) undone(current []byte) (before []byte, ok bool) {
	switch hash := hashOf(current); {
	case hash == f.Before:
		return current, true
	case hash == f.After && f.Before == "":
		return nil, true
	case hash == f.After && f.Before != unknown:
		return undoSplices(current, f.Splices)
	case f.Earlier != nil:
		return f.Earlier.undone(current)
	}
	return nil, false
}

// edit plans the entries of a file.
func (f FileRecord) edit(wanted file, base, current []byte) (*Change, error) {
	content := slices.Clone(base)
	change := Change{Agent: f.Agent, Path: f.Path, Before: current}
	for _, e := range wanted.entries {
		value, err := decode(wanted.form, bytes.TrimPrefix(content, []byte(bom)))
		if err != nil {
			return nil, fmt.Errorf("it cannot be read as %s: %w", wanted.form, err)
		}
		splices, err := put(wanted.form, content, e)
		if err != nil {
			return nil, err
		}
		if len(splices) == 0 {
			continue
		}
		keep := depth(value, e.At)
		if i := slices.IndexFunc(f.Entries, func(r recordedEntry) bool { return slices.Equal(r.At, e.At) }); i >= 0 {
			keep = min(keep, f.Entries[i].Keep)
			f.Entries = slices.Delete(slices.Clone(f.Entries), i, i+1)
		}
		f.Entries = append(f.Entries, recordedEntry{e, keep})
		f.Splices = append(f.Splices, splices...)
		content = applySplices(content, splices)
		change.What = append(change.What, e.What)
	}
	if current != nil && bytes.Equal(content, current) {
		return nil, nil
	}
	f.After, change.After = hashOf(content), content
	if !bytes.Equal(base, current) { // it was installed before
		change.What = append(change.What, "as it is called now")
	}
	change.record = f
	return &change, nil
}

// own plans a file that is memoir's as a whole.
func (f FileRecord) own(wanted file, base, current []byte) (*Change, error) {
	content := []byte(wanted.content)
	switch {
	case bytes.Equal(content, current):
		return nil, nil
	case current != nil && !ownFile(current):
		return nil, memoir.Errorf(memoir.CodeInvalid, "move it away, then install again",
			"it is there and is not memoir's")
	}
	f.Before, f.After = hashOf(base), hashOf(content)
	if base != nil {
		f.Splices = []splice{{0, string(base), wanted.content}}
	}
	return &Change{Agent: f.Agent, Path: f.Path, What: []string{wanted.what},
		Before: current, After: content, record: f}, nil
}

// ownFile reports whether a file is one that install writes as a whole.
func ownFile(content []byte) bool {
	if bytes.HasPrefix(content, []byte("// Written by `memoir install`")) {
		return true
	}
	value, err := decode(formJSON, content)
	return err == nil && ours.MatchString(strings.Join(texts(value), " "))
}

// Uninstall plans how all that was installed for an agent is taken back, in a project or, if that is "",
// in the user's files.
func (r *Record) Uninstall(agent, project string) (changes []Change, err error) {
	for _, f := range slices.Backward(r.Files) {
		if f.Agent != agent || f.Project != project {
			continue
		}
		change, err := r.remove(f)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change)
	}
	return changes, nil
}

// remove plans how one file is taken back: as it was, byte for byte, if nobody else changed it, else
// without memoir's entries.
func (r *Record) remove(f FileRecord) (Change, error) {
	current, err := readIn(f.Project, f.Path)
	change := Change{Agent: f.Agent, Path: f.Path, Before: current, record: f, removal: true}
	if err != nil {
		return change, err
	}
	for _, e := range f.Entries {
		change.What = append(change.What, e.What)
	}
	before, whole := f.undone(current)
	switch {
	case current == nil:
		return change, nil
	case whole:
		change.After = before
		return change, nil
	case f.Form == formOwn:
		change.Aside = f.Path + ".removed"
		for missing(change.Aside) == nil { // one that was kept before stays
			change.Aside += ".removed"
		}
		change.Note = "somebody changed it, so it is kept as " + change.Aside
		return change, nil
	}
	content := slices.Clone(current)
	for _, e := range slices.Backward(f.Entries) {
		splices, err := take(f.Form, content, e.Entry, e.Keep)
		if err != nil {
			hint := hintOr(err, "mend the file, then uninstall again; it was not changed")
			return change, memoir.Errorf(memoir.CodeInvalid, hint, "%s: %s: %w", f.Agent, f.Path, err)
		}
		content = applySplices(content, splices)
	}
	change.After = content
	if value, err := decode(f.Form, content); f.Created && err == nil && pruned(value, nil) == nil {
		change.After = nil
	}
	return change, nil
}

// readIn is read for a file of a project, from which no link may lead out; "": the user's own.
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
		return nil, memoir.Errorf(memoir.CodeInvalid, "remove the link that leads out of the project", "%w", err)
	}
	return read(path)
}

// read reads a configuration file; nil if there is none.
func read(path string) ([]byte, error) {
	content, err := disk.ReadFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return nil, memoir.Errorf(memoir.CodeInvalid, "mend or remove the link", "%s is a link to a file that is not there",
				path)
		}
		return nil, nil
	}
	if err == nil && content == nil {
		content = []byte{}
	}
	return content, err
}

// missing are the directories of a path that are not there, outer ones first.
func missing(dir string) (dirs []string) {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			slices.Reverse(dirs)
			return dirs
		}
		dirs = append(dirs, dir)
	}
}
