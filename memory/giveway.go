package memory

import (
	"fmt"
	"strings"

	"memoir"
)

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
