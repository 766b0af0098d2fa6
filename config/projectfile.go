package config

import (
	"fmt"
	"path/filepath"
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
// An error means that the file could not be understood, or sets what no project's file may.
// The settings then returned have memory switched off, as that may be what it meant to say.
func (s Settings) ForProject(dir string, trusted TrustStore) (Settings, []Ignored, error) {
	path := filepath.Join(dir, ProjectFileName)
	data, err := readFile(path)
	if err == nil && data == nil {
		return s, nil, nil
	}
	var ignored []Ignored
	out := s.clone()
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

func (s *Settings) applyProjectFile(path string, data []byte, trusted bool) ([]Ignored, error) {
	entries, err := parseYAML(path, data)
	if err != nil {
		return nil, err
	}
	var ignored []Ignored
	for _, e := range entries {
		// Trust is given to a project, and these reach all of them: they say which server and
		// which program are handed the text of every session.
		d, known := definition(e.name)
		if !known || d.Own {
			return nil, e.errorf("a project's file switches memory off and tightens limits", "belongs into your own "+FileName)
		}
		proposed := s.clone()
		if err := proposed.applyEntry(e, ""); err != nil {
			return nil, err
		}
		switch before := d.text(*s); {
		case trusted || d.tightens(*s, proposed):
			*s = proposed
		case d.text(proposed) != before && d.Tighten == TightenNever:
			ignored = append(ignored, Ignored{e.name, e.origin(), "it needs trust"})
		case d.text(proposed) != before:
			ignored = append(ignored, Ignored{e.name, e.origin(), fmt.Sprintf("it would loosen %s, which needs trust", before)})
		}
		if e.name == "memories.enabled" {
			s.Off = s.Origin(e.name) == e.origin() && !s.Memories.Enabled
		}
	}
	return ignored, s.check()
}

// tightens reports whether the proposed value is at most as loose as the present one.
func (d Definition) tightens(present, proposed Settings) bool {
	switch d.Tighten {
	case TightenNever:
		return false
	case TightenOff:
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
	case *float64:
		return *p
	}
	panic("config: setting " + d.Name + " is no number")
}
