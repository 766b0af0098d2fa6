package extract

import (
	"regexp"
	"slices"
	"strings"

	"memoir"
)

// What an agent says of the project's own rules while it follows them.
var conventional = regexp.MustCompile(`(?i)\b(?:` +
	`(?:the |an? )?(?:(?:repo|repository|project|team|codebase|workspace)(?:[’']s)?[- ])?(?:required|mandatory|prescribed) (?:[\w./-]+ ){0,3}[\w-]+` +
	`|(?:required|demanded|mandated|requested|prescribed) by (?:the |this )?(?:repo|repository|project|team|codebase|guide|guidelines|contributing)[\w-]*(?: (?:guide|guidelines|rules|docs|policy|conventions?|instructions|checklist))?` +
	`|(?:per|following|according to|as required by) (?:the |this )?(?:repo|repository|project|team|codebase)(?:[’']s)? (?:[\w-]+ ){0,2}(?:rules|guide|guidelines|policy|conventions?|instructions|checklist|style)` +
	`|(?:the |this )?(?:repo|repository|project|codebase|team)[’']s (?:[\w-]+ ){0,3}(?:conventions?|style|format|rules|policy|checklist|guidelines)` +
	`|per the (?:[\w-]+ )?(?:checklist|guidelines|conventions|contributing guide)` +
	`)`)

// conventionOf returns the clause of a sentence that names a rule of the project,
// without the agent as its subject.
func conventionOf(sentence string) string {
	at := conventional.FindStringIndex(sentence)
	if at == nil || len(sentence) > 500 || strings.HasSuffix(sentence, "?") {
		return ""
	}
	from := 0
	for _, sep := range []string{"; ", ", then ", ", and then ", ". ", ", so ", " and then ", " before I ", " but "} {
		if i := strings.LastIndex(sentence[:at[0]], sep); i >= 0 && i+len(sep) > from {
			from = i + len(sep)
		}
	}
	clause := sentence[from:]
	for _, sep := range []string{"; ", ", then ", ", so ", " before I", ", and I", ". "} {
		if i := strings.Index(clause[max(at[1]-from, 0):], sep); i >= 0 {
			clause = clause[:max(at[1]-from, 0)+i]
		}
	}
	clause = strings.Trim(clause, " .,;")
	for _, subject := range []string{"Now ", "Next ", "next ", "then "} {
		clause = strings.TrimPrefix(clause, subject)
	}
	for _, subject := range []string{"I’m going to ", "I'm going to ", "I’m ", "I'm ", "I’ll ", "I'll ", "I will ", "Let me also ", "Let me ", "now let me ", "let me ", "I need to ", "I’ve ", "I've ", "I "} {
		if rest, ok := strings.CutPrefix(clause, subject); ok {
			clause = rest
			break
		}
	}
	if n := len(strings.Fields(clause)); n < 4 || n > 40 {
		return ""
	}
	return capital(clause)
}


// conventions lists the rules of the project that the agent named, each once and
// with what told it first.
func conventions(r *reading) []found {
	var out []found
	seen := map[string]int{}
	for _, t := range r.turns {
		for _, s := range t.says {
			for _, b := range blocks(s.text, false) {
				for _, sentence := range sentences(b.text) {
					clause := conventionOf(local(tidy(sentence), r.root))
					if clause == "" {
						continue
					}
					rule := strings.ToLower(conventional.FindString(sentence))
					rule = rule[strings.LastIndex(rule[:max(len(rule)-12, 0)], " ")+1:]
					if i, ok := seen[rule]; ok {
						out[i].Items = append(out[i].Items, s.item)
						out[i].weight = min(out[i].weight+0.4, 4)
						continue
					}
					f := found{memoir.Statement{Kind: memoir.StatementDecision, Text: "convention: " + shorten(clause, 200), Items: []int{s.item}}, 2.6}
					if slices.ContainsFunc(out, func(o found) bool { return overlap(contentWords(o.Text), contentWords(f.Text)) >= 0.7 }) {
						continue
					}
					seen[rule] = len(out)
					out = append(out, f)
				}
			}
		}
	}
	for i := range out {
		out[i].Items = firstAndLast(out[i].Items, 3)
	}
	return out[:min(len(out), 5)]
}
