package consolidate

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"memoir/internal/lazyregexp"
)

// asRequired begins the line on what a project asks of everyone.
const asRequired = "required in this project: "

// namedRule finds what is required in a sentence in which an agent says that it is
// keeping to it: the words behind "required", "per the" and their kin.
var namedRule = lazyregexp.New(`(?i)(?:\b(?:\w+-)?(?:required|mandatory|prescribed)|\bper (?:the|our)(?: (?:project|repo|repository)['’]s| project| repo| repository)?|\baccording to (?:the|our)|\bfollowing (?:the|our)) +((?:[\w./-]|` + "`[^`]*`" + `)+(?: +(?:[\w./-]|` + "`[^`]*`" + `)+){0,5})`)

// rules puts together what the project asks of everyone, of which agents said again
// and again, each in the words of its next step, that they keep to it.
func rules(claims []*claim) []*claim {
	var out, asked []*claim
	titles := slices.ContainsFunc(claims, func(c *claim) bool { return strings.HasPrefix(c.text, "commits and titles ") })
	var form *claim // of commits and titles, whichever examples a session has for it
	for _, c := range claims {
		if strings.HasPrefix(c.text, "commits and titles ") {
			if form != nil {
				merge(form, c)
				continue
			}
			form = c
		}
		said, ok := strings.CutPrefix(c.text, "convention: ")
		if !ok {
			out = append(out, c)
			continue
		}
		name := ruleOf(said)
		if name == "" || titles && strings.Contains(strings.ToLower(said), "conventional") {
			continue
		}
		if i := slices.IndexFunc(asked, func(o *claim) bool { return sameRule(o.text, name) }); i >= 0 {
			if c.newest().rank > asked[i].newest().rank || len(name) < len(asked[i].text) {
				asked[i].text = name
			}
			mergeFrom(asked[i], c)
			continue
		}
		c.text, c.tokens = name, nil
		asked = append(asked, c)
	}
	for _, c := range asked {
		c.text, c.tokens = asRequired+c.text, nil
		if n := len(c.from); n > 1 {
			c.text += fmt.Sprintf(" (kept to in %d sessions)", n)
		}
	}
	return append(out, asked...)
}

// ruleOf is the name of the rule in a sentence; empty if it has none.
func ruleOf(said string) string {
	if strings.Contains(strings.ToLower(said), "conventional commit") {
		return "conventional commits"
	}
	at := namedRule.FindStringSubmatchIndex(said)
	if at == nil {
		return ""
	}
	var words []string
	for w := range strings.FieldsSeq(said[at[2]:at[3]]) {
		if leavesRule()[strings.ToLower(w)] {
			break
		}
		words = append(words, strings.TrimRight(w, "."))
		if strings.HasSuffix(w, ".") {
			break
		}
	}
	if len(words) == 0 || len(words) == 1 && len(words[0]) < 5 {
		return ""
	}
	name := strings.Join(words, " ")
	if how := strings.TrimSuffix(strings.TrimRight(said[:at[0]], " ,"), " now"); len(strings.Fields(how)) > 1 && !strings.Contains(strings.ToLower(said[at[0]:at[2]]), "required") {
		name += ": " + how // a list of rules, of which this is the one kept to
	}
	return name
}

// leavesRule are the words behind the name of a rule.
var leavesRule = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("before after and or with to for from in on at by as so then now that which while because when if of this is are here") {
		m[w] = true
	}
	return m
})

// sameRule reports whether two names are of one rule: "AI disclosure" and "AI-generated note".
func sameRule(a, b string) bool {
	x, y := ruleWords(a), ruleWords(b)
	return x[0] == y[0] || jaccard(sorted(x), sorted(y)) >= 0.5
}

func ruleWords(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func sorted(words []string) []string {
	words = slices.Clone(words)
	slices.Sort(words)
	return slices.Compact(words)
}
