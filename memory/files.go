package memory

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"memoir"
)

// Files are the files of a root: slash-separated paths relative to it, with
// their contents. The manifest is not one of them.
type Files map[string][]byte

// Paths lists the paths in order.
func (f Files) Paths() []string { return slices.Sorted(maps.Keys(f)) }

// Equal reports whether both hold the same paths with the same bytes.
func (f Files) Equal(g Files) bool { return maps.EqualFunc(f, g, bytes.Equal) }

// check holds the rules for the files of a root as a whole: each path is legal,
// no two differ only by case, none is both file and directory, all bounds hold.
func (f Files) check() error {
	if len(f) > maxFiles {
		return memoir.Errorf(memoir.CodeInvalid, "", "a memory of %d files is more than %d", len(f), maxFiles)
	}
	total := 0
	spelling := map[string]string{} // of each file and directory, by its lower-case form
	isFile := map[string]bool{}
	for _, path := range f.Paths() {
		if err := CheckPath(path); err != nil {
			return err
		}
		if len(f[path]) > maxFile {
			return invalid(path, "holds more than %d bytes", maxFile)
		}
		total += len(f[path])
		for end := range len(path) + 1 {
			if end < len(path) && path[end] != '/' {
				continue
			}
			name, whole := path[:end], end == len(path)
			fold := strings.ToLower(name)
			seen, known := spelling[fold]
			if known && (seen != name || whole || isFile[fold]) {
				return invalid(path, "collides with %q", seen)
			}
			spelling[fold], isFile[fold] = name, whole
		}
	}
	if total > maxTotal {
		return memoir.Errorf(memoir.CodeInvalid, "", "a memory of %d bytes is more than %d", total, maxTotal)
	}
	return nil
}

// Consolidation reads the files back as Phase 2's result; Layout is its inverse.
// A skill counts from its SKILL.md on; what does not fit is in Extra.
func (f Files) Consolidation() memoir.Consolidation {
	c := memoir.Consolidation{
		MemoryMD:      string(f[MemoryFile]),
		MemorySummary: string(f[SummaryFile]),
	}
	skills := map[string]*memoir.Skill{}
	for _, path := range f.Paths() {
		name, folder, rest, ok := f.skillPath(path)
		if !ok {
			continue
		}
		skill := skills[name]
		if skill == nil {
			skill = &memoir.Skill{Name: name}
			skills[name] = skill
		}
		file := memoir.SkillFile{Path: rest, Content: string(f[path])}
		switch folder {
		case "scripts":
			skill.Scripts = append(skill.Scripts, file)
		case "templates":
			skill.Templates = append(skill.Templates, file)
		case "examples":
			skill.Examples = append(skill.Examples, file)
		default:
			skill.Content = file.Content
		}
	}
	for _, name := range slices.Sorted(maps.Keys(skills)) {
		c.Skills = append(c.Skills, *skills[name])
	}
	return c
}

// Extra returns the files that a Consolidation has no place for: rollout
// summaries, raw memories, and whatever else people put there.
func (f Files) Extra() Files {
	out := Files{}
	for path, content := range f {
		if _, _, _, ok := f.skillPath(path); !ok && path != MemoryFile && path != SummaryFile {
			out[path] = content
		}
	}
	return out
}

// skillPath splits skills/<name>/SKILL.md and skills/<name>/<folder>/<rest>; ok
// says that the path is a part of a skill as memoir.Skill has them.
func (f Files) skillPath(path string) (name, folder, rest string, ok bool) {
	tail, ok := strings.CutPrefix(path, SkillsDir+"/")
	if !ok {
		return "", "", "", false
	}
	name, tail, ok = strings.Cut(tail, "/")
	if !ok || !legalSkill(name) {
		return "", "", "", false
	}
	if _, whole := f[SkillsDir+"/"+name+"/"+SkillFile]; !whole {
		return "", "", "", false
	}
	if tail == SkillFile {
		return name, "", "", true
	}
	folder, rest, ok = strings.Cut(tail, "/")
	return name, folder, rest, ok && slices.Contains(skillFolders, folder)
}

var skillFolders = []string{"scripts", "templates", "examples"}

// maxSkillName is in bytes.
const maxSkillName = 64

func legalSkill(name string) bool {
	return len(name) <= maxSkillName && skillName.MatchString(name) && !windowsDevice(name)
}
