package extract

import (
	"slices"
	"strings"
)

// reversing are a person's words that ask for the former state of a thing.
var reversing = newPhrases("back to|back in|back on|back off|set back|put back|go back|goes back|change back|switch back|switched back|turn back|bring back|bring it back|put it back|roll back|rolled back|revert|reverted|undo|restore|reinstate|re-enable|vuelve|vuelva|volver a|revierte|deshaz|restaura|zurück|rückgängig|wiederherstellen|remets|remettre|revenir à|annule|rétablis|volta para|voltar|desfaz|reverte|rimetti|ripristina|terug|верни|вернуть|откати|обратно|przywróć|cofnij")

// reversed reports whether a person asked, behind an item, for the former state of
// a thing that a text puts in code marks.
func (r *reading) reversed(text string, item int) bool {
	var parts map[string]bool
	for _, s := range r.askedBack() {
		if s.item <= item {
			continue
		}
		if parts == nil {
			parts = namedParts(text)
		}
		for w := range contentWords(s.text) {
			if parts[w] {
				return true
			}
		}
	}
	return false
}

// askedBack are the sentences with which a person asks for a former state.
func (r *reading) askedBack() []said {
	if r.returns == nil {
		r.returns = []said{}
		for _, t := range r.turns {
			for _, s := range t.said.own {
				if t.ask != nil && !strings.HasSuffix(s, "?") && has(words(s), reversing) {
					r.returns = append(r.returns, said{item: t.said.item, text: s})
				}
			}
		}
	}
	return r.returns
}

// obsolete reports whether what an earlier answer said no longer holds: a person
// asked it back, or an edit made it untrue.
func (r *reading) obsolete(text string, item int) bool {
	if r.reversed(text, item) {
		return true
	}
	mine := contentWords(text)
	return slices.ContainsFunc(r.overtaken, func(f found) bool {
		return item <= f.Items[len(f.Items)-1] && overlap(contentWords(f.Text), mine) > 0.8
	})
}

// namedParts are the names that a text puts in code marks, and the words that they
// are made of, in lower case.
func namedParts(text string) map[string]bool {
	out := map[string]bool{}
	for i, span := range strings.Split(text, "`") {
		if i%2 == 0 {
			continue
		}
		names(span, func(name string) {
			out[strings.ToLower(name)] = true
			for part := range camelParts(name) {
				out[part] = true
			}
		})
	}
	return out
}
