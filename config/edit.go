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
	"memoir/internal/yamledit"
)

// File is a person's config.yml while it is changed. Only Save writes it.
type File struct {
	Path   string
	Exists bool
	home   string // the person's, for ~
	before []byte
	text   []byte
}

// ReadFile reads the config.yml in Options.ConfigDir. A missing file has the text of Template. The content need not be
// valid; Settings checks it.
func ReadFile(o Options) (*File, error) {
	f := &File{Path: filepath.Join(o.ConfigDir, FileName), home: homeDir(Lookup(o.Environ))}
	if real, err := filepath.EvalSymlinks(f.Path); err == nil { // a link to a person's dotfiles stays a link
		f.Path = real
	}
	data, err := readUserFile(f.Path)
	if f.before, f.text, f.Exists = data, data, data != nil; data == nil {
		f.text = []byte(Template())
	}
	return f, err
}

// Describe returns the full name of a setting, and its description. A project's directory becomes absolute; home is
// the person's home directory. An unknown name, or that of a section, is an error with memoir.CodeConfig.
func Describe(name, home string) (now, doc string, err error) {
	e := entry{path: pathOf(name)}
	d, ok := find(e.path)
	hint := ""
	switch {
	case !ok && e.isSection():
		if hint = listsAll; name == nameProjects {
			hint = "`memoir config set projects.DIR NAME` sets one"
		}
		return name, "", memoir.Errorf(memoir.CodeConfig, hint, "%q is a section: name one of its settings", name)
	case !ok:
		return name, "", memoir.Errorf(memoir.CodeConfig, e.near(listsAll), "%q is an unknown setting", name)
	case d.name == nameProjects:
		dir, err := expandHome(e.path[1], home)
		return nameProjects + "." + filepath.Clean(dir), d.doc, err
	}
	return name, d.doc, nil
}

// IsList reports whether a setting is a list.
func IsList(name string) bool {
	d, ok := find(pathOf(name))
	return ok && d.list != nil
}

// Set sets a setting to a value, or a list to its elements. A value that is not allowed, alone or with the other
// settings of the file, is an error with memoir.CodeConfig; the file must not be saved then.
func (f *File) Set(name string, values ...string) error {
	now, doc, err := Describe(name, f.home)
	if err != nil {
		return err
	}
	d, _ := find(pathOf(now))
	at := pathOf(now)
	e, there := f.entry(now)
	if there {
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
	_, invalid := f.Settings()
	if err = f.change(strings.Join(at, "."), text, err); err == nil {
		_, err = f.Settings()
	}
	if err != nil && !there { // lines of the present file, not those below a new one
		err = cmp.Or(invalid, err)
	}
	return err
}

// Unset removes a setting from the file, even if its name is unknown or its value is not allowed, or all settings of a
// provider, named providers.NAME. It returns false if the file does not contain it.
func (f *File) Unset(name string) (bool, error) {
	now, _, unknown := Describe(name, f.home)
	e, there := f.entry(now)
	if !there {
		_, invalid := f.Settings()
		if (entry{path: append(pathOf(now), "")}).provider() == now {
			unknown = nil
		}
		return false, cmp.Or(unknown, invalid)
	}
	at, changed := e.path, e.name()
	if e.provider() == now {
		at, changed = pathOf(now), now
	}
	text, err := yamledit.Delete(f.text, at, 0)
	err = f.change(changed, text, err)
	if _, twice := f.entry(now); twice && err == nil {
		return f.Unset(name)
	}
	return true, err
}

// Settings returns the settings of the file alone. If the file is invalid, the error is that of Load.
func (f *File) Settings() (Settings, error) {
	s := Default()
	err := s.applyFile(f.Path, f.text, f.home)
	return s, cmp.Or(err, s.check())
}

// Changed reports whether Save would write.
func (f *File) Changed() bool { return !f.Exists || !bytes.Equal(f.before, f.text) }

// Save writes the file if it has changed or does not exist. If somebody else has written it since ReadFile, the error
// has the code memoir.CodeChanged.
func (f *File) Save() error {
	if !f.Changed() {
		return nil
	}
	if now, err := readUserFile(f.Path); err != nil || (now != nil) != f.Exists || !bytes.Equal(now, f.before) {
		changed := memoir.Errorf(memoir.CodeChanged, "run the command again", "%s has changed meanwhile", f.Path)
		return cmp.Or(err, error(changed))
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(f.Path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := disk.Replace(f.Path, f.text, mode); err != nil {
		return memoir.Errorf(memoir.CodeStorage, disk.HintOr(err, "--config"), "write %s: %w", f.Path, err)
	}
	f.before, f.Exists = f.text, true
	return nil
}

// change replaces the text by one that differs in one setting, or in those of one provider. A text that would make a
// valid file invalid is refused.
func (f *File) change(name string, text []byte, err error) error {
	others := func(text []byte) map[string]string {
		values := map[string]string{}
		entries, _ := parseYAML(f.Path, text)
		for _, e := range entries {
			var value any
			if e.name() != name && e.provider() != name && e.node.Decode(&value) == nil {
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
		return cmp.Or(invalid, error(memoir.Errorf(memoir.CodeConfig, "change it with an editor",
			"change %s in %s: %w", name, f.Path, err)))
	}
	next := File{Path: filepath.Base(f.Path) + " with this change", home: f.home, text: text} // whose lines an error names
	if _, err := next.Settings(); err != nil && invalid == nil {
		return err
	}
	f.text = text
	return nil
}

// entry finds the entry of a name that Describe returned, or the first one of a provider.
func (f *File) entry(now string) (e entry, there bool) {
	entries, _ := parseYAML(f.Path, f.text)
	for _, e := range entries {
		if known, _, _ := Describe(e.name(), f.home); known == now || e.provider() == now {
			return e, true
		}
	}
	return e, false
}

// pathOf returns the keys that lead to a setting. The directory of a project may contain dots.
func pathOf(name string) []string {
	switch head, rest, more := strings.Cut(name, "."); {
	case head == nameProjects && more:
		return []string{head, rest}
	default:
		return strings.SplitN(name, ".", 3)
	}
}

func (d definition) written(values []string, home string) (string, error) {
	if d.list == nil && len(values) > 1 {
		return "", fmt.Errorf("takes one value; unexpected %q", values[1])
	}
	if d.name == nameProjects {
		return quoted(values[0]), nil
	}
	var of any = &Settings{}
	if strings.IndexByte(d.name, '.') < 0 && d.list == nil || d.words {
		of = &Provider{}
	}
	if d.list == nil {
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
	return "[" + strings.Join(memoir.Map(values, quoted), ", ") + "]", err
}

// quoted returns a text as YAML that is valid in any place, also within brackets.
func quoted(text string) string {
	plain, err := yaml.Marshal(text)
	if out := strings.TrimSpace(string(plain)); err == nil && !strings.ContainsAny(out, "\n,[]{}#") {
		return out
	}
	out, _ := json.Marshal(text)
	return string(out)
}

// Template returns a config.yml that sets nothing. Comments list each setting with its description and default.
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
