package extract

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"memoir"
)

// conventions finds what a project asks of those who work on it, as it shows in the
// session: what the agent says that the project requires of its texts, and one form
// that all titles of commits and pull requests have.
func conventions(r *reading) []found {
	return append(required(r), subjects(r)...)
}

// A requirement is named by what stands behind "required" or before "required by".
var (
	requiredThing = regexp.MustCompile(`(?i)\b(?:(?:the|a|its|their|this) (?:repo(?:sitory)?|project|team|house)?(?:['’]s)? ?(?:-)?required|(?:repo(?:sitory)?|project|policy)-required|(?:repo(?:sitory)?|project)['’]s required) ((?:[\w/\x60.+-]+ ){0,4}?(?:note|notice|disclosure|disclaimer|attribution|trailer|footer|sign-off|signoff|label|prefix|suffix|format|style|template|checklist|changelog|header|naming|signature|convention|entry)(?: (?:note|notice|line|entry|text|format|label|header))?)\b`)
	requiredBy    = regexp.MustCompile(`(?i)\b(?:the|a|an) ((?:[\w/\x60.+-]+ ){1,5}?)(?:that is |which is )?required by (?:the |this |our |its )?((?:repo(?:sitory)?|project|contribut\w+|team|style|agents?|house)(?:['’]s)?(?: (?:guide|guides|guidelines|guidance|rules|policy|instructions|conventions|docs))?)\b`)
	ownStyle      = regexp.MustCompile(`(?i)\bthe (?:repo(?:sitory)?|project|codebase|team)(?:['’]s) ((?:[\w-]+ ){1,4}(?:style|format|convention|conventions|naming|workflow))\b`)
)

// required reads what the agent says that the project requires of what it writes,
// with the clause it says so in, each thing once.
func required(r *reading) []found {
	var out []found
	for _, t := range r.turns {
		if t.away() != "" {
			continue
		}
		for _, s := range t.says {
			text := plainApostrophes(s.text)
			if !strings.Contains(text, "equired") && !strings.Contains(text, "'s ") {
				continue
			}
			for _, b := range blocks(text, false) {
				for _, sentence := range sentences(tidy(b.text)) {
					thing := ""
					if m := requiredThing.FindStringSubmatch(sentence); m != nil {
						thing = m[1]
					} else if m := requiredBy.FindStringSubmatch(sentence); m != nil {
						thing = strings.TrimSpace(m[1])
					} else if m := ownStyle.FindStringSubmatch(sentence); m != nil {
						thing = m[1]
					}
					if thing == "" || strings.HasSuffix(sentence, "?") {
						continue
					}
					out = appendRequirement(out, thing, clauseWith(sentence, thing), s.item)
				}
			}
		}
	}
	return out
}

// appendRequirement joins a requirement to the one it repeats, told by its last word.
func appendRequirement(list []found, thing, clause string, item int) []found {
	thing = strings.TrimSpace(thing)
	last := thing[strings.LastIndexByte(thing, ' ')+1:]
	for i := range list {
		head, _, _ := strings.Cut(strings.TrimPrefix(list[i].Text, requires), " (")
		if strings.HasSuffix(head, last) {
			list[i].Items = mergeItems(list[i].Items, []int{item})
			list[i].weight = min(list[i].weight+0.4, 5)
			return list
		}
	}
	return append(list, found{memoir.Statement{Kind: memoir.StatementDecision, Text: requires + thing + " (" + quote(shorten(clause, 150)) + ")", Items: []int{item}}, 3.6})
}

const requires = "required in this project: "

// clauseWith is the clause of a sentence in which some words stand.
func clauseWith(sentence, part string) string {
	at := strings.Index(sentence, part)
	from := 0
	for _, sep := range []string{", then ", ", and ", "; ", ", so ", ": ", " — "} {
		if i := strings.LastIndex(sentence[:at], sep); i >= 0 {
			from = max(from, i+len(sep))
		}
	}
	return strings.TrimSpace(sentence[from:])
}

func plainApostrophes(s string) string { return strings.ReplaceAll(s, "’", "'") }

// conventional is the form "type(scope): subject" that many projects give to titles.
var conventional = regexp.MustCompile(`^(?:feat|fix|chore|docs|test|tests|refactor|perf|build|ci|style|revert)(?:\([\w./,-]+\))?!?: \S`)

// title finds the titles that a command line gives to commits and pull requests.
var titled = regexp.MustCompile(`(?:git (?:-C \S+ )?commit\b[^\n]*? (?:-\w*m|--message)[ =]|gh pr (?:create|edit)\b[^\n]*? (?:-t|--title)[ =]|glab mr create\b[^\n]*? (?:-t|--title)[ =])(?:"([^"\n]+)|'([^'\n]+))`)

// subjects finds that all titles of a session have the conventional form, which
// takes two at least.
func subjects(r *reading) []found {
	var items []int
	var seen []string
	for _, run := range r.runs {
		if run.failed || !strings.Contains(run.line, "commit") && !strings.Contains(run.line, " pr ") && !strings.Contains(run.line, " mr ") {
			continue
		}
		for _, m := range titled.FindAllStringSubmatch(run.line, -1) {
			title := m[1] + m[2]
			if strings.ContainsAny(title, "$<") {
				continue
			}
			if !conventional.MatchString(title) {
				return nil
			}
			head, _, _ := strings.Cut(title, ": ")
			if !slices.Contains(seen, head) {
				seen = append(seen, head)
			}
			items = append(items, run.item)
		}
	}
	if len(items) < 2 {
		return nil
	}
	slices.Sort(items)
	text := fmt.Sprintf("commits and titles of pull requests follow the conventional commit format, such as `%s: …`", strings.Join(seen[:min(len(seen), 3)], ": …`, `"))
	return []found{{memoir.Statement{Kind: memoir.StatementDecision, Text: text, Items: slices.Compact(items)}, 3.5}}
}
