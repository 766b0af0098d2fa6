package memory

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"memoir"
)

// Layout gives each text of a consolidation its place in the root, and adds the
// extra files (rollout summaries, raw memories, files that people put there). It
// fails with memoir.CodeInvalid where a path is illegal or two collide, so what
// it returns can be staged. Texts end with a newline.
func Layout(c memoir.Consolidation, extra Files) (Files, error) {
	files := Files{
		MemoryFile:  text(c.MemoryMD),
		SummaryFile: text(c.MemorySummary),
	}
	add := func(path string, content []byte) error {
		if _, taken := files[path]; taken {
			return invalid(path, "occurs twice")
		}
		files[path] = content
		return nil
	}
	for _, skill := range c.Skills {
		if !legalSkill(skill.Name) {
			return nil, memoir.Errorf(memoir.CodeInvalid, "",
				"skill name %q is not of the form lower-case-words, at most 64 bytes", skill.Name)
		}
		dir := SkillsDir + "/" + skill.Name + "/"
		if err := add(dir+SkillFile, text(skill.Content)); err != nil {
			return nil, err
		}
		for i, list := range [][]memoir.SkillFile{skill.Scripts, skill.Templates, skill.Examples} {
			for _, file := range list {
				// A path that begins with a slash must not pass for a relative one.
				if strings.HasPrefix(file.Path, "/") {
					return nil, invalid(file.Path, "of skill %s is absolute", skill.Name)
				}
				if err := add(dir+skillFolders[i]+"/"+file.Path, []byte(file.Content)); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, path := range extra.Paths() {
		if err := add(path, extra[path]); err != nil {
			return nil, err
		}
	}
	if err := files.check(); err != nil {
		return nil, err
	}
	return files, nil
}

func text(s string) []byte {
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return []byte(s)
}

// GiveWay makes room in a consolidation for the files that people put beside it: a file
// of a skill that has the path of one of theirs, in whatever capitals, is left out, and a
// skill that has is called name-2. What they wrote is neither written over nor moved.
func GiveWay(c memoir.Consolidation, theirs Files) memoir.Consolidation {
	places := placesOf(theirs)
	c.Skills = append([]memoir.Skill(nil), c.Skills...)
	names := map[string]bool{}
	for _, s := range c.Skills {
		names[s.Name] = true
	}
	for i, s := range c.Skills {
		name := s.Name
		for n := 2; n <= maxFiles && (places.takes(SkillsDir+"/"+name+"/"+SkillFile) || name != s.Name && names[name]); n++ {
			suffix := fmt.Sprintf("-%d", n)
			name = strings.TrimRight(s.Name[:min(len(s.Name), maxSkillName-len(suffix))], "-") + suffix
		}
		names[name] = true
		s.Name = name
		dir := SkillsDir + "/" + name + "/"
		for i, list := range []*[]memoir.SkillFile{&s.Scripts, &s.Templates, &s.Examples} {
			var kept []memoir.SkillFile
			for _, f := range *list {
				if !places.takes(dir + skillFolders[i] + "/" + f.Path) {
					kept = append(kept, f)
				}
			}
			*list = kept
		}
		c.Skills[i] = s
	}
	return c
}

// places are the files and directories of a memory, by their lower-case form.
type places struct {
	files map[string]bool
	dirs  map[string]string // with their spelling
}

func placesOf(files Files) places {
	p := places{map[string]bool{}, map[string]string{}}
	for path := range files {
		p.files[strings.ToLower(path)] = true
		for i := range len(path) {
			if path[i] == '/' {
				p.dirs[strings.ToLower(path[:i])] = path[:i]
			}
		}
	}
	return p
}

// takes reports whether a file cannot be put at a path beside them.
func (p places) takes(path string) bool {
	if fold := strings.ToLower(path); p.files[fold] || p.dirs[fold] != "" {
		return true
	}
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		fold := strings.ToLower(path[:i])
		if spelling := p.dirs[fold]; p.files[fold] || spelling != "" && spelling != path[:i] {
			return true
		}
	}
	return false
}

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
