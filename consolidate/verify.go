package consolidate

import (
	"strings"

	"memoir"
)

// Verify holds a consolidation to the rules that every model must keep: neither
// file is empty, citations name sessions of the input, what was withdrawn is
// named nowhere, the files keep their limits, skills have legal names and paths,
// and nothing looks like one of memoir's own frames. Its errors have the code
// CodeInvalid and name the line.
func Verify(c memoir.Consolidation, in Input) error {
	if strings.TrimSpace(c.MemoryMD) == "" {
		return invalid("%s is empty", memoir.MemoryFile)
	}
	if strings.TrimSpace(c.MemorySummary) == "" {
		return invalid("%s is empty", memoir.SummaryFile)
	}
	kept := noteBytes(in.Notes, "")
	bytes, tokens := in.limits()
	if limit := bytes + kept; len(c.MemoryMD) > limit {
		return invalid("%s has %d bytes, more than %d", memoir.MemoryFile, len(c.MemoryMD), limit)
	}
	if memoir.Tokens(c.MemorySummary) > tokens+kept/4 {
		return invalid("%s has %d tokens, more than %d", memoir.SummaryFile, memoir.Tokens(c.MemorySummary), tokens)
	}
	if err := verifySkills(c.Skills); err != nil {
		return err
	}
	files := open(c)
	if err := memoir.CheckPaths(sortedKeys(files)); err != nil {
		return invalid("%w", err)
	}
	sessions, byHand := in.register(), handLines(in)
	for _, name := range sortedKeys(files) {
		n := 0
		for line := range strings.Lines(files[name]) {
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

// verifySkills checks that each skill has a legal name of its own and a text.
func verifySkills(skills []memoir.Skill) error {
	seen := map[string]bool{}
	for _, s := range skills {
		switch {
		case !memoir.LegalSkill(s.Name):
			return invalid("%q is not a name of a skill", s.Name)
		case seen[s.Name]:
			return invalid("the skill %s is there twice", s.Name)
		case strings.TrimSpace(s.Content) == "":
			return invalid("the skill %s is empty", s.Name)
		}
		seen[s.Name] = true
	}
	return nil
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
