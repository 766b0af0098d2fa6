package extract

import (
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// newName matches a person's sentence that gives a thing another name or says that it is gone.
var newName = lazyregexp.New("(?i)^(?:the |note that |fyi,? )?([`\\w./@-]+)(?: (?:command|file|package|module|branch|repo))? " +
	"(?:(?:has been|have been|was|got|is) (?:now )?renamed (?:to|into)|is now (?:called|named)|==) [`\\w./@-]+|" +
	"^we (?:don't|do not|no longer) (?:have|use) [`\\w./@ -]+? (?:any ?more)\\b|^we no longer (?:have|use) [`\\w./@-]+")

// renamed is the signal of a person's sentences about names that changed.
func renamed(s *session) []candidate {
	var out []candidate
	for _, t := range s.turns {
		if !t.ask.typed() && t.ask.origin != memoir.OriginRejection {
			continue
		}
		for _, text := range t.ask.own {
			plain := strings.ReplaceAll(text, "’", "'")
			if m := newName.FindStringSubmatch(plain); m != nil && len(text) <= maxRule && !strings.Contains(text, "?") &&
				!hasAny(lowerWords(m[1]), "it", "this", "that", "which", "what", "there", "everything") {
				c := state(signalRenamed, memoir.StatementFinding, quote(text), t.ask.item)
				c.Quote, c.words = text, text
				out = append(out, c)
			}
		}
	}
	return out
}
