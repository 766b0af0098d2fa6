package consolidate

import (
	"slices"
	"strings"

	"memoir"
)

// LeftOut tells what a new memory no longer says of an earlier one: how many lines of
// MEMORY.md that cite a session, and which skills, by name. Lines in other words count as
// said, as far as words tell; the lists of recent work and of sessions, which move with
// time, do not count. It is for the one time at which a whole memory is written anew: when
// the built-in model takes over from a language model.
func LeftOut(before, after memoir.Consolidation) (lines int, skills []string) {
	said := func(c memoir.Consolidation) []*saying {
		var out []*saying
		p := readPage(c.MemoryMD)
		p.drop(headSessions)
		p.drop(headRecent)
		for _, s := range p.sections {
			for _, l := range s.lines {
				if text := uncited(l.text, looksOwn); isEntry(strings.TrimSpace(l.text)) && text != l.text {
					out = append(out, newSaying(listMark.ReplaceAllString(text, "")))
				}
			}
		}
		return out
	}
	have := said(after)
	for _, want := range said(before) {
		if !slices.ContainsFunc(have, func(h *saying) bool { return likeLine(want, h) }) {
			lines++
		}
	}
	for _, s := range before.Skills {
		if !slices.ContainsFunc(after.Skills, func(have memoir.Skill) bool { return have.Name == s.Name }) {
			skills = append(skills, s.Name)
		}
	}
	return lines, skills
}
