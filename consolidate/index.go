package consolidate

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Bounds of the map of MEMORY.md.
const (
	mapSections = 10
	mapWords    = 6
	mapSkill    = 220
)

// table is the map of a MEMORY.md: the skills beside it, and its sections, as they
// stand there, with words to search for.
func table(skills []memoir.Skill, memory string) []string {
	var out []string
	for _, s := range skills {
		out = append(out, "- skills/"+s.Name+"/SKILL.md: "+cut(describe(s), mapSkill))
	}
	above, listed := "", 0
	for _, s := range sectionsOf(memory) {
		if level(s.heading) == 2 {
			above = s.heading
		}
		name := strings.TrimLeft(s.heading, "# ")
		if level(s.heading) > 2 {
			name = strings.TrimLeft(above, "# ") + " › " + name
		}
		switch {
		case len(s.lines) == 0 || listed == mapSections:
		case s.heading == headSessions:
			out = append(out, fmt.Sprintf("- MEMORY.md › %s (%d), each with its summary in rollout_summaries/", name, len(s.lines)))
		case s.heading != headRecent && s.heading != headOpen && s.heading != headPreferences:
			words := keywords(s.lines, mapWords)
			if len(words) == 0 {
				continue
			}
			listed++
			out = append(out, fmt.Sprintf("- MEMORY.md › %s (%s): %s", name, plural(len(s.lines), "line"), strings.Join(words, ", ")))
		}
	}
	return out
}

// sectionsOf lists the sections of a Markdown file with their entries, without citations.
func sectionsOf(markdown string) []*section {
	var out []*section
	for l := range strings.Lines(markdown) {
		l = strings.TrimRight(l, "\r\n")
		switch {
		case isHeading(l) && level(l) > 1:
			out = append(out, &section{heading: l})
		case strings.HasPrefix(l, "- ") && len(out) > 0:
			out[len(out)-1].add(lastBracket.ReplaceAllString(l[2:], ""), 0)
		}
	}
	return out
}

// keywords are the words that lines are best found by: names of code, files and tools
// first, by the number of lines that have them, then topics that more than one line is
// about, or that are written like names.
func keywords(lines []*line, most int) []string {
	names, topics := map[string]int{}, map[string]int{}
	for _, l := range lines {
		seen := map[string]bool{}
		for part, code := range pieces(l.text) {
			for w := range strings.FieldsFuncSeq(part, func(r rune) bool {
				return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./'’", r)
			}) {
				if w = nameable(w, code); w == "" || seen[w] {
					continue
				}
				seen[w] = true
				if code {
					names[w]++
				} else {
					topics[w]++
				}
			}
		}
	}
	maps.DeleteFunc(topics, func(w string, n int) bool { return n < 2 && !proper(w) || names[w] > 0 })
	ranked := func(count map[string]int) []string {
		words := slices.Sorted(maps.Keys(count))
		slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(count[b], count[a]) })
		return words
	}
	words := append(ranked(names), ranked(topics)...)
	return words[:min(most, len(words))]
}

// proper reports whether a word is written like a name: with capitals inside.
func proper(w string) bool {
	return strings.IndexFunc(w[1:], unicode.IsUpper) >= 0
}

// numbered is a word that is no name: a hash, the number of a session, a version.
var numbered = lazyregexp.New(`^(?:[0-9a-f]{7,}|[0-9a-f]{4,}(?:-[0-9a-f]{3,})+|v?[\d.,_-]+\w?)$`)

// nameable is a word as it is searched for; empty if nobody would.
func nameable(w string, code bool) string {
	if code {
		w = path.Base(strings.TrimRight(w, "/."))
	}
	w = strings.Trim(w, "-_./'’")
	low := strings.ToLower(w)
	if len([]rune(w)) < 3 || len(w) < 4 && !code || strings.ContainsAny(w, "'’") || numbered.MatchString(low) || common()[low] || fillers()[low] || !code && strings.Contains(w, "/") {
		return ""
	}
	return w
}

var common = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`because instead which there where after before while every other still only same more most must cannot without about through between
		adds generated runs passes works fixes changed failed passed editing times worked formats session sessions unresolved error uses used using user says said agent needs need them they what
		run runs all here body origin name main doesn don isn wasn won couldn shouldn during within under over against until again never always already first last next when whether
		even another others both much many some such like just want wants given takes take case cases same thing things time right left really
		with that this from have been also into than then when will would could should being both each does done make makes made keeps keep treat`) {
		m[w] = true
	}
	return m
})
