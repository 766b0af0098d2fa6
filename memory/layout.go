package memory

import (
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
