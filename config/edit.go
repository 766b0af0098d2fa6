package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
	"memoir/internal/yamledit"
)

// File is a person's config.yml in the course of being changed. Nothing is written before Save.
type File struct {
	Path   string
	Exists bool
	home   string // the person's, for ~
	before []byte
	text   []byte
}

// ReadFile reads config.yml of Options.ConfigDir. One that does not exist is as Template. Its content need not be
// valid: Settings reports that.
func ReadFile(o Options) (*File, error) {
	f := &File{Path: filepath.Join(o.ConfigDir, FileName), home: homeDir(lookup(o.Environ))}
	if real, err := filepath.EvalSymlinks(f.Path); err == nil { // of a directory that a person shares between machines
		f.Path = real
	}
	data, err := readUserFile(f.Path)
	if f.before, f.text, f.Exists = data, data, data != nil; data == nil {
		f.text = []byte(Template())
	}
	return f, err
}

// Describe returns the name by which a setting is known now, and what it does. A project's directory becomes
// absolute; home is the person's. A name that is unknown, or that of a section, is an error with memoir.CodeConfig.
func Describe(name, home string) (now, doc string, err error) {
	e := entry{path: pathOf(name)}
	d, ok := find(e.path)
	switch {
	case !ok && e.isSection():
		return name, "", memoir.Errorf(memoir.CodeConfig, listsAll, "%q is a section: name one of its settings", name)
	case !ok:
		return name, "", memoir.Errorf(memoir.CodeConfig, e.near(listsAll), "%q is an unknown setting", name)
	case d.name == nameProjects:
		dir, err := expandHome(e.path[1], home)
		return nameProjects + "." + filepath.Clean(dir), d.doc, err
	case d.was == name:
		name = d.name
	}
	return name, d.doc, nil
}

// Set gives a setting a value, or a list its elements. Errors of a value that is not allowed, alone or with the
// others in the file, have memoir.CodeConfig, and leave the file as it was.
func (f *File) Set(name string, values ...string) error {
	now, doc, err := Describe(name, f.home)
	if err != nil {
		return err
	}
	d, _ := find(pathOf(now))
	at := pathOf(now)
	e, there := f.entry(now)
	if there && e.was == "" {
		at = e.path
	} else if d.name == nameProjects {
		at = pathOf(name) // with ~, if the person wrote that
	}
	written, err := d.written(values, f.home)
	if err == nil && at[0] == nameProjects {
		err = new(Settings).applyProject(at[1], values[0], f.home, "")
	}
	if err != nil {
		return memoir.Errorf(memoir.CodeConfig, doc, "%s %w", now, err)
	}
	text, err := yamledit.Set(f.text, at, written)
	if e.was != "" && err == nil {
		text, err = yamledit.Delete(text, pathOf(e.was), 0)
	}
	if err = f.change(strings.Join(at, "."), text, err); err == nil {
		_, err = f.Settings()
	}
	return err
}

// Unset takes a setting out of the file, even if its name is unknown or its value is not allowed. It is false if the
// file does not set it.
func (f *File) Unset(name string) (bool, error) {
	now, _, unknown := Describe(name, f.home)
	e, there := f.entry(now)
	if !there {
		_, invalid := f.Settings()
		return false, cmp.Or(unknown, invalid)
	}
	at := e.path
	if e.was != "" {
		at = pathOf(e.was)
	}
	text, err := yamledit.Delete(f.text, at, 0)
	err = f.change(e.name(), text, err)
	if _, twice := f.entry(now); twice && err == nil {
		return f.Unset(name)
	}
	return true, err
}

// Settings are those of the file alone. What is not valid is Load's error.
func (f *File) Settings() (Settings, error) {
	s := Default()
	err := s.applyFile(f.Path, f.text, f.home)
	return s, cmp.Or(err, s.check())
}

// Text is the file as it would be saved.
func (f *File) Text() []byte { return f.text }

// Changed reports whether Save writes.
func (f *File) Changed() bool { return !f.Exists || !bytes.Equal(f.before, f.text) }

// Save writes the file, unless it is as it was.
func (f *File) Save() error {
	if !f.Changed() {
		return nil
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(f.Path); err == nil {
		mode = info.Mode().Perm()
	}
	err := failpoint.MkdirAll(filepath.Dir(f.Path), 0o700)
	if err == nil {
		err = disk.Replace(f.Path, f.text, mode)
	}
	if err != nil {
		return memoir.Errorf(memoir.CodeStorage, disk.Hint(err), "write %s: %w", f.Path, err)
	}
	f.before, f.Exists = f.text, true
	return nil
}

// change takes a text in which one setting differs from the present text. A valid file stays valid.
func (f *File) change(name string, text []byte, err error) error {
	others := func(text []byte) map[string]string {
		values := map[string]string{}
		entries, _ := parseYAML(f.Path, text)
		for _, e := range entries {
			var value any
			if e.name() != name && e.node.Decode(&value) == nil {
				values[e.name()] = fmt.Sprint(value)
			}
		}
		return values
	}
	_, invalid := f.Settings()
	if err == nil && !maps.Equal(others(f.text), others(text)) {
		err = errors.New("other settings would change")
	}
	if err != nil {
		return cmp.Or(invalid, error(memoir.Errorf(memoir.CodeConfig, "`memoir config edit` opens it in an editor",
			"change %s in %s: %w", name, f.Path, err)))
	}
	next := File{Path: f.Path, home: f.home, text: text}
	if _, err := next.Settings(); err != nil && invalid == nil {
		return err
	}
	f.text = text
	return nil
}

// entry finds what the file says of a name that Describe returned.
func (f *File) entry(now string) (e entry, there bool) {
	entries, _ := parseYAML(f.Path, f.text)
	for _, e := range entries {
		if known, _, _ := Describe(cmp.Or(e.was, e.name()), f.home); known == now {
			return e, true
		}
	}
	return e, false
}

// pathOf are the keys that lead to a setting. The directory of a project may hold dots.
func pathOf(name string) []string {
	switch head, rest, more := strings.Cut(name, "."); {
	case head == nameProjects && more:
		return []string{head, rest}
	default:
		return strings.SplitN(name, ".", 3)
	}
}

// written checks values and returns them as they stand in a file.
func (d definition) written(values []string, home string) (string, error) {
	if d.name == nameProjects {
		return quoted(values[0]), nil
	}
	var of any = &Settings{}
	if strings.IndexByte(d.name, '.') < 0 && d.list == nil || d.words {
		of = &Provider{}
	}
	if d.list == nil {
		if len(values) > 1 {
			return "", fmt.Errorf("takes one value, not %d", len(values))
		}
		err := d.set(of, values, home)
		if _, text := d.field(of).(*string); text {
			return quoted(d.text(of)), err
		}
		return d.text(of), err
	}
	if d.words && len(values) == 1 {
		values = strings.Fields(values[0])
	}
	err := d.set(of, values, home)
	var elements []string
	for _, v := range values {
		elements = append(elements, quoted(v))
	}
	return "[" + strings.Join(elements, ", ") + "]", err
}

// quoted is a text in YAML, in any place.
func quoted(text string) string {
	plain, err := yaml.Marshal(text)
	if out := strings.TrimSpace(string(plain)); err == nil && !strings.ContainsAny(out, "\n,[]{}#") {
		return out
	}
	out, _ := json.Marshal(text)
	return string(out)
}

// Template is a config.yml that sets nothing: each setting with its description and default, as comments.
func Template() string {
	var b strings.Builder
	b.WriteString("# Settings of memoir. A commented line shows a default.\n" +
		"# `memoir config` prints each value and its origin; `memoir config set NAME VALUE` changes this file.\n")
	section := ""
	for _, d := range definitions {
		name, indent := d.name, ""
		if head, rest, nested := strings.Cut(d.name, "."); nested {
			if name, indent = rest, "  "; head != section {
				fmt.Fprintf(&b, "\n%s:\n", head)
			}
			section = head
		} else {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s# %s\n%s# %s:%s\n", indent, d.doc, indent, name, strings.TrimRight(" "+d.usual, " "))
	}
	b.WriteString("\n# Directories that belong to a project, and providers of language models:\n" +
		"# projects: {~/src/app: app}\n# providers: {openai: {keyEnv: OPENAI_API_KEY}}\n")
	return b.String()
}
