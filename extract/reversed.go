package extract

import "strings"

// reversing are a person's words that ask for the former state of a thing.
var reversing = phrases("back to|back in|back on|back off|set back|put back|go back|goes back|change back|switch back|switched back|turn back|bring back|bring it back|put it back|roll back|rolled back|revert|reverted|undo|restore|reinstate|re-enable|vuelve|vuelva|volver a|revierte|deshaz|restaura|zurück|rückgängig|wiederherstellen|remets|remettre|revenir à|annule|rétablis|volta para|voltar|desfaz|reverte|rimetti|ripristina|terug|верни|вернуть|откати|обратно|przywróć|cofnij")

// reversed reports whether a person asked, behind an item, for the former state of
// a thing that a text puts in code marks.
func (r *reading) reversed(text string, item int) bool {
	var parts map[string]bool
	for _, t := range r.turns {
		if t.ask == nil || t.said.item <= item {
			continue
		}
		for _, s := range t.said.own {
			if strings.HasSuffix(s, "?") || !has(words(s), reversing) {
				continue
			}
			if parts == nil {
				parts = namedParts(text)
			}
			for w := range contentWords(s) {
				if parts[w] {
					return true
				}
			}
		}
	}
	return false
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
