package consolidate

import (
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

var skillName = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

const maxSkillName = 64

// Verify holds a consolidation to the rules that every model must keep: neither
// file is empty, citations name sessions of the input, what was withdrawn is
// named nowhere, the files keep their limits, skills have legal names and paths,
// and nothing looks like one of memoir's own frames. Its errors have the code
// CodeInvalid and name the line.
func Verify(c memoir.Consolidation, in Input) error {
	if strings.TrimSpace(c.MemoryMD) == "" {
		return invalid("%s is empty", memoryFile)
	}
	if strings.TrimSpace(c.MemorySummary) == "" {
		return invalid("%s is empty", summaryFile)
	}
	kept := notesBytes(in.Notes)
	bytes, tokens := in.limits()
	if limit := bytes + kept; len(c.MemoryMD) > limit {
		return invalid("%s has %d bytes, more than %d", memoryFile, len(c.MemoryMD), limit)
	}
	if memoir.Tokens(c.MemorySummary) > tokens+kept/4 {
		return invalid("%s has %d tokens, more than %d", summaryFile, memoir.Tokens(c.MemorySummary), tokens)
	}
	if err := verifySkills(c.Skills); err != nil {
		return err
	}
	files := open(c)
	if a, b := twins(files); a != "" {
		return invalid("%s and %s cannot be beside each other where capitals do not count", a, b)
	}
	sessions, byHand := in.register(), handLines(in)
	for _, name := range sortedKeys(files.text) {
		n := 0
		for line := range strings.Lines(files.text[name]) {
			n++
			for _, id := range idsIn(line) {
				byOther := looksOwn(id) && !byHand[strings.TrimSpace(line)]
				if !sessions.cited(id) && (sessions.withdrawn(id) || byOther) {
					return invalid("%s:%d cites session %s, which is not among the input", name, n, id)
				}
			}
			if id := sessions.names(line); id != "" {
				return invalid("%s:%d names session %s, which was withdrawn", name, n, id)
			}
			if unframe(line) != line {
				return invalid("%s:%d holds a tag of memoir's own frames", name, n)
			}
		}
	}
	return nil
}

// invalid is the error of a rule that a consolidation breaks.
func invalid(format string, args ...any) error {
	return memoir.Errorf(memoir.CodeInvalid, "", "the consolidation breaks a rule: "+format, args...)
}

// verifySkills checks that each skill has a legal name of its own, a text, and files with legal paths.
func verifySkills(skills []memoir.Skill) error {
	seen := map[string]bool{}
	for _, s := range skills {
		switch {
		case !legalSkill(s.Name):
			return invalid("%q is not a name of a skill", s.Name)
		case seen[s.Name]:
			return invalid("the skill %s is there twice", s.Name)
		case strings.TrimSpace(s.Content) == "":
			return invalid("the skill %s is empty", s.Name)
		}
		seen[s.Name] = true
		for _, f := range slices.Concat(s.Scripts, s.Templates, s.Examples) {
			if !legalPath(f.Path) {
				return invalid("the skill %s has a file with the path %q", s.Name, f.Path)
			}
		}
	}
	return nil
}

// twins are two files that a system where capitals do not count takes for one, or for a file
// and its directory; empty if there are none.
func twins(files *artifacts) (a, b string) {
	seen := map[string]string{} // files, and directories with a slash, by their lower-case form
	for _, name := range sortedKeys(files.text) {
		for i := range len(name) + 1 {
			if i < len(name) && name[i] != '/' {
				continue
			}
			at, fold := name[:i], strings.ToLower(name[:i])
			if i < len(name) {
				at += "/"
			}
			if other, known := seen[fold]; known && (other != at || i == len(name)) {
				return other, name
			}
			seen[fold] = at
		}
	}
	return "", ""
}

// handLines are the lines that people wrote: what stands in brackets there is theirs.
func handLines(in Input) map[string]bool {
	out := map[string]bool{}
	for _, n := range LiveNotes(in.Notes, in) {
		if n.Action == memoir.NoteAdded || n.Action == memoir.NoteFile {
			for line := range strings.Lines(tame(n.Text)) {
				out[strings.TrimSpace(line)] = true
			}
		}
	}
	return out
}

// Bounds of a path in a folder of a skill, below those of a root's paths by what stands
// before it.
const (
	maxSkillPath  = 150
	maxSkillPart  = 128
	maxSkillDepth = 5
)

// legalPath reports whether a file of a skill stays in its folder on every system.
func legalPath(p string) bool {
	if p == "" || len(p) > maxSkillPath || strings.Count(p, "/") >= maxSkillDepth || path.Clean(p) != p ||
		strings.HasPrefix(p, "/") || strings.ContainsAny(p, "\\:\x00") {
		return false
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." || part == ".." || len(part) > maxSkillPart || device(part) ||
			strings.ContainsRune(".-", rune(part[0])) || strings.HasSuffix(part, ".") ||
			strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" {
			return false
		}
	}
	return true
}

// device reports whether Windows takes a name for a device, whatever its extension: no
// memory holds one, so that it can be unpacked everywhere.
func device(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) &&
		'0' <= stem[3] && stem[3] <= '9'
}

// legalSkill reports whether a skill may have a name.
func legalSkill(name string) bool {
	return len(name) <= maxSkillName && skillName.MatchString(name) && !device(name)
}
