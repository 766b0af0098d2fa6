package consolidate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"memoir"
)

// A briefing holds at most so many lines of each sort, and lines of so many bytes.
const (
	briefRules    = 12
	briefCommands = 6
	briefFailures = 3
	briefKnown    = 7
	briefOpen     = 2
	briefAreas    = 6
	briefLine     = 230
)

// summary renders memory_summary.md, a briefing of whole lines within a number of
// tokens: what the user wants, how to build and test, what goes wrong and what to
// know, of each the best only, and a map of MEMORY.md with words to search it for.
// A fifth of the room is kept for the map.
func (k *knowledge) summary(name string, skills []memoir.Skill, tokens int) string {
	limit := tokens * 4
	head := "# " + projectName(name) + ": what earlier sessions taught\n"
	budget := limit - len(head)
	parts := []*section{}
	fill := func(heading string, share int, rows []string) {
		s := &section{heading: heading}
		left := share - len(heading) - 3
		for _, r := range rows {
			if len(r)+1 > left {
				continue // a shorter one may still fit
			}
			s.add(r, 0)
			left -= len(r) + 1
		}
		if len(s.lines) > 0 {
			parts = append(parts, s)
			for _, l := range s.lines {
				budget -= len(l.text) + 1
			}
			budget -= len(heading) + 3
		}
	}
	index := k.table(skills)
	mapped := 0
	for _, r := range index {
		mapped += len(r) + 1
	}
	reserve := min(mapped+len(headMap)+3, budget/5)
	share := func(percent int) int { return max(0, min(budget-reserve, limit*percent/100)) }
	fill(headWants, share(35), brief(k.preferences, briefRules))
	fill(headBuild, share(20), brief(k.commands, briefCommands))
	fill(headAvoid, share(15), brief(lessons(k.failures), briefFailures))
	var known []*claim
	for _, g := range k.known {
		if !strings.HasPrefix(g.name, foreignArea) {
			known = append(known, g.claims...)
		}
	}
	byValue(known)
	fill(headWorth, share(35), brief(spread(known, briefKnown), briefKnown))
	fill(headEnds, share(8), brief(k.open, briefOpen))
	fill(headMap, budget, index)
	var b strings.Builder
	b.WriteString(head)
	for _, s := range parts {
		b.WriteString("\n" + s.heading + "\n\n")
		for _, l := range s.lines {
			b.WriteString(l.text + "\n")
		}
	}
	if text := b.String(); len(text) <= limit {
		return text
	}
	return wholeLines(b.String(), limit)
}

// lessons are the failures that a later session would run into again: those
// mended by something else than the usual round of editing.
func lessons(failures []*claim) []*claim {
	return slices.DeleteFunc(slices.Clone(failures), func(c *claim) bool {
		return strings.Contains(c.text, "passed after editing") || strings.Contains(c.text, "passed when run again")
	})
}

// spread takes claims so that no session gives more than a third of them while
// others have something to say.
func spread(claims []*claim, most int) []*claim {
	count := map[*session]int{}
	var first, rest []*claim
	for _, c := range claims {
		if count[c.newest()]++; count[c.newest()] <= max(2, most/3) {
			first = append(first, c)
		} else {
			rest = append(rest, c)
		}
	}
	return append(first, rest...)
}

// Headings of the briefing.
const (
	headWants = "## What the user wants"
	headBuild = "## Build, test, run"
	headAvoid = "## Failures to avoid"
	headWorth = "## What to know"
	headEnds  = "## Open ends"
	headMap   = "## Where to look"
)

// wholeLines keeps as many lines of a text as fit.
func wholeLines(text string, limit int) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		if b.Len()+len(l) > limit {
			break
		}
		b.WriteString(l)
	}
	return b.String()
}

// brief renders the first claims, each shortened and citing its newest session.
func brief(claims []*claim, most int) []string {
	var out []string
	for _, c := range claims {
		if len(out) == most {
			break
		}
		if elsewhere(c.text) != "" {
			continue
		}
		text, _, _ := strings.Cut(c.text, " — said after the agent")
		out = append(out, "- "+cut(text, briefLine)+" "+citations(c.from, 1))
	}
	return out
}

// table is the map of the memory: its sections and areas with words to search
// for, and the skills.
func (k *knowledge) table(skills []memoir.Skill) []string {
	var out []string
	for _, s := range skills {
		out = append(out, "- skills/"+s.Name+"/SKILL.md: "+cut(describe(s), 150))
	}
	for _, g := range k.known[:min(len(k.known), briefAreas)] {
		out = append(out, fmt.Sprintf("- MEMORY.md › What is known › %s (%s): %s", g.name, plural(len(g.claims), "line"), strings.Join(keywords(g.claims, 8), ", ")))
	}
	for _, part := range []struct {
		name   string
		claims []*claim
	}{{"Failures and fixes", k.failures}, {"Files that matter", k.files[:min(len(k.files), maxFilesOf)]}, {"Build, test and other commands", k.commands[:min(len(k.commands), maxCommands)]}} {
		if len(part.claims) > 0 {
			out = append(out, fmt.Sprintf("- MEMORY.md › %s (%s): %s", part.name, plural(len(part.claims), "line"), strings.Join(keywords(part.claims, 6), ", ")))
		}
	}
	return append(out, fmt.Sprintf("- MEMORY.md › Sessions (%d), each with its summary in rollout_summaries/", len(k.sessions)))
}

// keywords are the words that claims are best found by: names in code spans
// first, then the commonest of the rest.
func keywords(claims []*claim, most int) []string {
	count := map[string]int{}
	for _, c := range claims {
		seen := map[string]bool{}
		for i, part := range strings.Split(c.text, "`") {
			for w := range strings.FieldsFuncSeq(part, func(r rune) bool {
				return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
			}) {
				w = strings.Trim(w, "-_.")
				if len(w) < 4 || seen[w] || common[strings.ToLower(w)] || strings.Trim(w, "0123456789.") == "" || fillers[strings.ToLower(w)] {
					continue
				}
				seen[w] = true
				if i%2 == 1 {
					count[w] += 3
				} else {
					count[w]++
				}
			}
		}
	}
	words := slices.Sorted(maps.Keys(count))
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(count[b], count[a]) })
	return words[:min(most, len(words))]
}

var common = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`because instead which there where after before while every other still only same more most must cannot without about through between
		adds generated runs passes works fixes changed failed passed editing times worked formats session sessions unresolved error uses used using user says said agent needs need them they what
		with that this from have been also into than then when will would could should being both each does done make makes made keeps keep treat`) {
		m[w] = true
	}
	return m
}()
