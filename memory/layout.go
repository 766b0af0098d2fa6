package memory

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"memoir"
)

// Layout returns the files of a root: the texts of a consolidation and the extra files (rollout summaries, raw
// memories, files that people added). Texts of Markdown end with a newline. The error is memoir.CodeInvalid
// if a name is illegal, two files have one path, or a bound is exceeded; so the result can be staged.
func Layout(c memoir.Consolidation, extra Files) (Files, error) {
	for i, skill := range c.Skills {
		if !memoir.LegalSkill(skill.Name) {
			return nil, memoir.Errorf(memoir.CodeInvalid, "",
				"skill name %q is not of the form lower-case-words, at most 64 bytes", skill.Name)
		}
		if slices.ContainsFunc(c.Skills[:i], func(s memoir.Skill) bool { return s.Name == skill.Name }) {
			return nil, memoir.Errorf(memoir.CodeInvalid, "", "the skill %s occurs twice", skill.Name)
		}
	}
	files := Files{}
	for path, text := range c.Files() {
		name, folder, _, _ := memoir.SkillPath(path)
		if page := name == "" || folder == ""; page && text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		files[path] = []byte(text)
	}
	for path, content := range extra {
		if _, taken := files[path]; taken {
			return nil, memoir.Errorf(memoir.CodeInvalid, "", "path %q occurs twice", path)
		}
		files[path] = content
	}
	return files, files.check()
}

// Files are the files of a root: slash-separated paths relative to it, with
// their contents. The manifest is not one of them.
type Files map[string][]byte

// Paths lists the paths in order.
func (f Files) Paths() []string { return slices.Sorted(maps.Keys(f)) }

// Equal reports whether both have the same paths with the same bytes.
func (f Files) Equal(g Files) bool { return maps.EqualFunc(f, g, bytes.Equal) }

// Bounds of a root's files. They keep a root readable by people, and prevent that an unpacked archive fills
// memory or disk.
const (
	maxFile  = 16 << 20 // bytes of a file
	maxTotal = 64 << 20 // bytes of all files
	maxFiles = 8192
)

// check enforces memoir.CheckPaths and the bounds.
func (f Files) check() error {
	if len(f) > maxFiles {
		return memoir.Errorf(memoir.CodeInvalid, "", "a memory of %d files is more than %d", len(f), maxFiles)
	}
	total := 0
	for path, content := range f {
		if len(content) > maxFile {
			return memoir.Errorf(memoir.CodeInvalid, "", "%s has more than %d bytes", path, maxFile)
		}
		total += len(content)
	}
	if total > maxTotal {
		return memoir.Errorf(memoir.CodeInvalid, "", "a memory of %d bytes is more than %d", total, maxTotal)
	}
	return memoir.CheckPaths(f.Paths())
}

// Consolidation converts the files to Phase 2's result; Layout is its inverse. A skill needs a SKILL.md; other
// files are in Extra.
func (f Files) Consolidation() memoir.Consolidation {
	texts := make(map[string]string, len(f))
	for path, content := range f {
		texts[path] = string(content)
	}
	return memoir.ConsolidationOf(texts)
}

// Extra returns the files that do not fit into a Consolidation: rollout summaries, raw memories, and files
// that people added.
func (f Files) Extra() Files {
	out, made := Files{}, f.Consolidation().Files()
	for path, content := range f {
		if _, ok := made[path]; !ok {
			out[path] = content
		}
	}
	return out
}
