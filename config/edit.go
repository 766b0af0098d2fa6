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
	"slices"
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

// ReadFile reads config.yml of Options.ConfigDir. One that does not exist is as Template. A file that cannot be
// understood is Load's error.
func ReadFile(o Options) (*File, error) {
	f := &File{Path: filepath.Join(o.ConfigDir, FileName), home: homeDir(lookup(o.Environ))}
	if real, err := filepath.EvalSymlinks(f.Path); err == nil { // of a directory that a person shares between machines
		f.Path = real
	}
	data, err := readUserFile(f.Path)
	if f.before, f.text, f.Exists = data, data, data != nil; data == nil {
		f.text = []byte(Template())
	}
	if err == nil {
		_, _, err = f.parsed(f.text)
	}
	return f, err
}

// Describe returns the name by which a setting is known now, and what it does. A name that is unknown is an error
// with memoir.CodeConfig.
func Describe(name string) (now, doc string, err error) {
	d, ok := find(pathOf(name))
	if !ok {
		e := entry{path: pathOf(name)}
		return "", "", memoir.Errorf(memoir.CodeConfig, memoir.HintOf(e.unknown()), "%q is an unknown setting", name)
	}
	if d.was == name {
		name = d.name
	}
	return name, d.doc, nil
}

// Set gives a setting a value, or a list its elements. Errors of a value that is not allowed, alone or with the
// others in the file, have memoir.CodeConfig, and leave the file as it was.
func (f *File) Set(name string, values ...string) error {
	name, doc, err := Describe(name)
	if err != nil {
		return err
	}
	at := pathOf(name)
	d, _ := find(at)
	written, err := d.written(values, f.home)
	if err == nil && at[0] == nameProjects {
		err = new(Settings).applyProject(at[1], values[0], f.home, "")
	}
	if err != nil {
		return memoir.Errorf(memoir.CodeConfig, doc, "%s %w", name, err)
	}
	text := f.text
	if _, ok := f.has(d.was); ok {
		if text, err = yamledit.Delete(text, pathOf(d.was)); err != nil {
			return f.refused(name, err)
		}
	}
	text, err = yamledit.Set(text, at, written)
	return f.change(name, text, err)
}

// Unset takes a setting out of the file. It is false if the file does not set it.
func (f *File) Unset(name string) (bool, error) {
	now, _, err := Describe(name)
	if err != nil {
		return false, err
	}
	d, _ := find(pathOf(now))
	for _, name := range []string{now, d.was} {
		if e, ok := f.has(name); ok {
			text, err := yamledit.Delete(f.text, pathOf(name))
			return true, f.change(e.name(), text, err)
		}
	}
	return false, nil
}

// Settings are those of the file alone.
func (f *File) Settings() Settings {
	_, s, _ := f.parsed(f.text)
	return s
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

// change takes a text that differs from the present one in one setting and is valid.
func (f *File) change(name string, text []byte, err error) error {
	if err != nil {
		return f.refused(name, err)
	}
	before, _, _ := f.parsed(f.text)
	after, _, err := f.parsed(text)
	if err != nil {
		return err
	}
	delete(before, name)
	delete(after, name)
	if !maps.EqualFunc(before, after, slices.Equal) {
		return f.refused(name, errors.New("other settings would change"))
	}
	f.text = text
	return nil
}

func (f *File) refused(name string, err error) error {
	return memoir.Errorf(memoir.CodeConfig, "`memoir config edit` opens it in an editor", "change %s in %s: %w",
		name, f.Path, err)
}

// parsed are the settings of a text: by name as they are written, and as they hold.
func (f *File) parsed(text []byte) (written map[string][]string, s Settings, err error) {
	entries, err := parseYAML(f.Path, text)
	written, s = map[string][]string{}, Default()
	for _, e := range entries {
		if err == nil {
			err = s.applyEntry(e, f.home)
		}
		d, _ := find(e.path)
		written[e.name()], _ = e.values(d)
	}
	return written, s, cmp.Or(err, s.check())
}

// has finds an entry by the name that it has in the file.
func (f *File) has(name string) (entry, bool) {
	entries, _ := parseYAML(f.Path, f.text)
	i := slices.IndexFunc(entries, func(e entry) bool { return name != "" && cmp.Or(e.was, e.name()) == name })
	if i < 0 {
		return entry{}, false
	}
	return entries[i], true
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
