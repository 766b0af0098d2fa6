package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// ProjectFileName is the name of a project's own settings, in the top directory
// of its checkout.
const ProjectFileName = ".memoir.yml"

// Ignored is a setting of a project file that has no effect because the file is
// not trusted.
type Ignored struct {
	Name   string
	Origin string // file:line
	Why    string
}

// ForProject returns the settings that hold in the project whose top directory
// is dir. A cloned repository is a stranger: without trust its .memoir.yml may
// switch memory off and tighten limits; anything further is listed as ignored.
//
// An error means that the file could not be understood. The settings then
// returned have memory switched off, as that may be what it meant to say.
func (s Settings) ForProject(dir string, trusted TrustStore) (Settings, []Ignored, error) {
	path := filepath.Join(dir, ProjectFileName)
	off := func(err error) (Settings, []Ignored, error) {
		out := s.clone()
		out.Off, out.Memories.Enabled = true, false
		out.setOrigin("memories.enabled", path)
		return out, nil, err
	}
	data, err := readFile(path)
	if err != nil {
		return off(err)
	}
	if data == nil {
		return s, nil, nil
	}
	entries, err := parseYAML(path, data)
	if err != nil {
		return off(err)
	}
	trust := trusted.Trusted(path, data)
	out := s.clone()
	var ignored []Ignored
	for _, e := range entries {
		if trust {
			err = out.applyTrusted(e, dir)
		} else {
			var why string
			if why, err = out.tighten(e, dir); why != "" {
				ignored = append(ignored, Ignored{Name: e.name, Origin: e.origin(), Why: why})
			}
		}
		if err != nil {
			return off(err)
		}
	}
	if err := out.check(); err != nil {
		return off(err)
	}
	return out, ignored, nil
}

// ownAlone is what is said of a setting that stands in a project's file and may not.
const ownAlone = "belongs into the user's " + FileName

// own reports whether no project's file may hold this setting, not even one that
// is trusted: trust is given to a project, and these reach all of them. They say
// which server and which program are handed the text of every session.
func (e entry) own() bool {
	d, _ := definition(e.name)
	return d.Own || e.name == nameProviders || e.name == nameModels
}

// applyTrusted applies a setting of a project file that is trusted.
func (s *Settings) applyTrusted(e entry, dir string) error {
	switch {
	case e.name == nameProjects:
		return e.errorf("write project: name", ownAlone)
	case e.own():
		return e.errorf("", ownAlone)
	case e.name == "exclude":
		return s.excludeMore(e, dir)
	case e.name == "memories.enabled":
		if err := s.applyEntry(e, ""); err != nil {
			return err
		}
		s.Off = !s.Memories.Enabled
		return nil
	}
	return s.applyEntry(e, "")
}

// tighten applies a setting of a project file that is not trusted, if it
// tightens; otherwise it says why not.
func (s *Settings) tighten(e entry, dir string) (why string, err error) {
	const needsTrust = "it needs trust"
	if e.own() {
		return "it " + ownAlone, nil
	}
	d, ok := definition(e.name)
	if !ok || d.Tighten == TightenNever {
		return needsTrust, nil
	}
	if d.Tighten == TightenMore {
		return "", s.excludeMore(e, dir)
	}
	proposed := s.clone()
	if err := proposed.applyEntry(e, ""); err != nil {
		return "", err
	}
	if !d.tightens(*s, proposed) {
		if d.text(proposed) == d.text(*s) {
			return "", nil
		}
		return fmt.Sprintf("it would loosen %s, which needs trust", d.text(*s)), nil
	}
	*s = proposed
	if d.Name == "memories.enabled" {
		s.Off = true
	}
	return "", nil
}

// tightens reports whether the proposed value is at most as loose as the present one.
func (d Definition) tightens(present, proposed Settings) bool {
	if d.Tighten == TightenOff {
		return !*d.field(&proposed).(*bool)
	}
	before, after := d.number(present), d.number(proposed)
	if d.Tighten == TightenHigher {
		return after >= before
	}
	if d.ZeroNone && after == 0 {
		return before == 0
	}
	return after <= before || d.ZeroNone && before == 0
}

func (d Definition) number(s Settings) float64 {
	switch p := d.field(&s).(type) {
	case *int:
		return float64(*p)
	case *int64:
		return float64(*p)
	case *float64:
		return *p
	}
	panic("config: setting " + d.Name + " is no number")
}

// excludeMore adds a project file's globs, which are relative to its directory
// and cannot leave it.
func (s *Settings) excludeMore(e entry, dir string) error {
	globs, err := e.list()
	if err != nil {
		return err
	}
	for _, glob := range globs {
		glob := slashed(strings.TrimSpace(glob))
		if absolute(glob) || strings.HasPrefix(glob, "~") || slices.Contains(strings.Split(glob, "/"), "..") {
			return e.errorf(
				"write it relative to the project",
				"has the glob %s, which leaves the project",
				printable(glob),
			)
		}
		expanded, err := expandGlob(escapeGlob(slashed(dir))+"/"+glob, "")
		if err != nil {
			return e.errorf("", "%w", err)
		}
		s.Exclude = append(s.Exclude, expanded)
	}
	s.setOrigin(e.name, e.origin())
	return nil
}
