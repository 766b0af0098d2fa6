package consolidate

import (
	"maps"
	"slices"
	"strings"

	"memoir"
)

const (
	memoryFile  = "MEMORY.md"
	summaryFile = "memory_summary.md"
	skillsDir   = "skills/"
	skillFile   = "SKILL.md"
)

// artifacts are a consolidation's files by name.
type artifacts struct{ text map[string]string }

func open(c memoir.Consolidation) *artifacts {
	a := &artifacts{text: map[string]string{memoryFile: c.MemoryMD, summaryFile: c.MemorySummary}}
	for _, s := range c.Skills {
		dir := skillsDir + s.Name + "/"
		a.text[dir+skillFile] = s.Content
		for _, set := range []struct {
			dir   string
			files []memoir.SkillFile
		}{{"scripts/", s.Scripts}, {"templates/", s.Templates}, {"examples/", s.Examples}} {
			for _, f := range set.files {
				a.text[dir+set.dir+strings.TrimPrefix(f.Path, set.dir)] = f.Content
			}
		}
	}
	return a
}

func (a *artifacts) has(name string) bool { _, ok := a.text[name]; return ok }

func (a *artifacts) get(name string) string { return a.text[name] }

// put writes a file if the consolidation can hold it: the two Markdown files and
// what belongs to a skill.
func (a *artifacts) put(name, text string) {
	if name == memoryFile || name == summaryFile {
		a.text[name] = text
		return
	}
	if skill, file, ok := skillPath(name); ok && skillName.MatchString(skill) &&
		(file == skillFile || skillFolder(file) != "") {
		a.clear(name)
		a.text[name] = text
	}
}

// clear makes room for a file: one that differs from it in capitals alone goes, and so does
// one that lies where it has a directory, or the other way round; directories get its spelling.
func (a *artifacts) clear(name string) {
	for _, other := range sortedKeys(a.text) {
		if other == name {
			continue
		}
		text, moved := a.text[other], other
		for i := range len(name) {
			if name[i] == '/' && len(moved) > i && moved[i] == '/' && strings.EqualFold(moved[:i], name[:i]) {
				moved = name[:i] + moved[i:]
			}
		}
		if moved == other && !blocks(other, name) {
			continue
		}
		delete(a.text, other)
		if _, taken := a.text[moved]; !taken && !blocks(moved, name) {
			a.text[moved] = text
		}
	}
}

// blocks reports whether two files cannot be beside each other on every system.
func blocks(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// remove deletes a file; without its SKILL.md a skill is gone.
func (a *artifacts) remove(name string) {
	switch skill, file, ok := skillPath(name); {
	case name == memoryFile || name == summaryFile:
		a.text[name] = ""
	case ok && file == skillFile:
		maps.DeleteFunc(a.text, func(n, _ string) bool { return strings.HasPrefix(n, skillsDir+skill+"/") })
	default:
		delete(a.text, name)
	}
}

// close puts the files together again; a skill without a SKILL.md is dropped.
func (a *artifacts) close() memoir.Consolidation {
	c := memoir.Consolidation{MemoryMD: a.text[memoryFile], MemorySummary: a.text[summaryFile]}
	for _, name := range sortedKeys(a.text) {
		skill, file, ok := skillPath(name)
		if !ok || file != skillFile {
			continue
		}
		s := memoir.Skill{Name: skill, Content: a.text[name]}
		for _, other := range sortedKeys(a.text) {
			if owner, rest, ok := skillPath(other); ok && owner == skill && rest != skillFile {
				folder := skillFolder(rest)
				f := memoir.SkillFile{Path: strings.TrimPrefix(rest, folder+"/"), Content: a.text[other]}
				switch folder {
				case "scripts":
					s.Scripts = append(s.Scripts, f)
				case "templates":
					s.Templates = append(s.Templates, f)
				case "examples":
					s.Examples = append(s.Examples, f)
				}
			}
		}
		c.Skills = append(c.Skills, s)
	}
	return c
}

// skillPath splits skills/<name>/<file>.
func skillPath(name string) (skill, file string, ok bool) {
	rest, ok := strings.CutPrefix(name, skillsDir)
	if !ok {
		return "", "", false
	}
	skill, file, ok = strings.Cut(rest, "/")
	return skill, file, ok && skill != "" && file != ""
}

// skillFolder is the folder of a skill that a file lies in, if it is one of the three.
func skillFolder(file string) string {
	dir, rest, ok := strings.Cut(file, "/")
	if !ok || rest == "" {
		return ""
	}
	switch dir {
	case "scripts", "templates", "examples":
		return dir
	}
	return ""
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
