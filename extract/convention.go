package extract

import (
	"slices"
	"strings"
	"sync"

	"memoir"
)

// What an agent says of the project's own rules while it follows them.
var conventional = newPattern(`(?i)\b(?:` +
	`(?:(?:the |an? )?(?:repo|repository|project|team|codebase|workspace)(?:[’']s)?[- ]|the )(?:required|mandatory|prescribed) (?:[\w./-]+ ){0,3}[\w-]+` +
	`|(?:required|demanded|mandated|requested|prescribed) by (?:the |this )?(?:repo|repository|project|team|codebase|guide|guidelines|contributing)[\w-]*(?: (?:guide|guidelines|rules|docs|policy|conventions?|instructions|checklist))?` +
	`|(?:per|following|according to|as required by) (?:the |this )?(?:repo|repository|project|team|codebase)(?:[’']s)? (?:[\w-]+ ){0,2}(?:rules|guide|guidelines|policy|conventions?|instructions|checklist|style)` +
	`|(?:the |this )?(?:repo|repository|project|codebase|team)[’']s (?:[\w-]+ ){0,3}(?:conventions?|style|format|rules|policy|checklist|guidelines)` +
	`|per the (?:[\w-]+ )?(?:checklist|guidelines|conventions|contributing guide)` +
	`)`)

// conventionWords are words of which whatever conventional matches holds one.
var conventionWords = []string{"required", "mandatory", "prescribed", "demanded", "mandated", "requested", "rules", "guide", "policy", "convention", "instructions", "checklist", "style", "format"}

// conventionOf returns the clause of a sentence that names a rule of the project,
// without the agent as its subject.
func conventionOf(sentence string) string {
	if !holdsAny(strings.ToLower(sentence), conventionWords) {
		return ""
	}
	at := conventional.FindStringIndex(sentence)
	if at == nil || len(sentence) > 500 || strings.HasSuffix(sentence, "?") || has(words(sentence), needed) {
		return ""
	}
	from := 0
	for _, sep := range []string{"; ", ", then ", ", and then ", ". ", ", so ", " and then ", " before I ", " but "} {
		if i := strings.LastIndex(sentence[:at[0]], sep); i >= 0 && i+len(sep) > from {
			from = i + len(sep)
		}
	}
	clause := sentence[from:]
	if first, _, _ := strings.Cut(clause, " "); first == "Since" || first == "Because" || first == "As" || first == "Before" || first == "While" {
		if i := strings.Index(clause, ", "); i > 0 && from+i+2 <= at[0] {
			clause, from = clause[i+2:], from+i+2
		}
	}
	for _, sep := range []string{"; ", ", then ", ", so ", " before ", ", and I", " and push", " and then ", ". "} {
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
	clause = bidden(strings.ReplaceAll(withoutTickets(clause), " now, ", ", "))
	if n := len(strings.Fields(clause)); n < 4 || n > 40 {
		return ""
	}
	return capital(clause)
}

// ticket is the number of an issue, a discussion or a pull request: the one at hand.
var ticket = newPattern("(?: (?:to|on|in|for|from|of|at))?(?: the)?(?: (?:issue|discussion|ticket|pr|PR|pull request|MR))? ?`?#\\d+`?")

// withoutTickets leaves out which issue a piece of work was for.
func withoutTickets(clause string) string {
	if !strings.Contains(clause, "#") {
		return clause
	}
	return ticket.ReplaceAllString(clause, "")
}

// conventions lists the rules of the project that the agent named, each once and
// with what told it first.
func conventions(r *reading) []found {
	var out []found
	var told []map[string]bool
	commits := len(subjects(r)) > 0 // it says so with examples
	for _, t := range r.turns {
		for _, s := range t.says {
			if !holdsAny(strings.ToLower(s.text), conventionWords) {
				continue
			}
			for _, b := range blocks(s.text, false) {
				for _, sentence := range sentences(b.text) {
					sentence = local(tidy(sentence), r.root)
					clause := conventionOf(sentence)
					if clause == "" || commits && strings.Contains(strings.ToLower(clause), "conventional") {
						continue
					}
					topic := topicOf(sentence)
					if i := slices.IndexFunc(told, func(o map[string]bool) bool { return common(o, topic) > 0 }); i >= 0 {
						out[i].Items = append(out[i].Items, s.item)
						out[i].weight = min(out[i].weight+0.4, 4)
						continue
					}
					told = append(told, topic)
					out = append(out, found{memoir.Statement{Kind: memoir.StatementDecision, Text: "convention: " + shorten(clause, 200), Items: []int{s.item}}, 2.6})
				}
			}
		}
	}
	for i := range out {
		out[i].Items = firstAndLast(out[i].Items, 3)
	}
	return out[:min(len(out), 5)]
}

// topicOf is what a rule is about: the words that name it and the three before.
func topicOf(sentence string) map[string]bool {
	at := conventional.FindStringIndex(sentence)
	before := strings.Fields(sentence[:at[0]])
	topic := contentWords(strings.Join(before[max(len(before)-3, 0):], " ") + " " + sentence[at[0]:at[1]])
	for w := range topic {
		if generic()[w] || generic()[strings.TrimSuffix(w, "'s")] {
			delete(topic, w)
		}
	}
	return topic
}

var generic = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("required mandatory prescribed repo repository project team codebase workspace guide guidelines rules policy convention conventions style format checklist with that this using include including following according will repository-required repo-required") {
		m[w] = true
	}
	return m
})

// needed are things that a single piece of work requires, not the project.
var needed = newPhrases("required change|required changes|required fix|required fixes|required check|required checks|required review|required edit|required edits|required work|required step|required steps|required field|required fields|required argument|required arguments|required parameter|required parameters|required value|required version|required dependency|required dependencies|required file|required files|required imports|required approval|required approvals")
