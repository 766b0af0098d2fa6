package extract

import (
	"strings"

	"memoir"
)

// maxCorrection bounds, in bytes, what is quoted of a correction: whole sentences.
const maxCorrection = 280

// corrections is the signal of what a person set right after the agent had acted, of
// what they chose when they were asked, and of why they refused a call. What was set
// right is marked, because most of it holds for the work at hand only.
func corrections(s *session) []candidate {
	var out []candidate
	for i, t := range s.turns {
		switch t.ask.origin {
		case memoir.OriginAnswer:
			if text := choice(t.ask.text); text != "" {
				out = append(out, state(memoir.StatementPreference, text, t.ask.item))
			}
		case memoir.OriginRejection:
			if text := wholeSentences(t.ask.own, maxCorrection); len(strings.Fields(text)) >= 3 {
				if t.refused != "" {
					out = append(out, state(memoir.StatementPreference,
						quote(text)+" (after: "+code(t.refused)+", refused)", t.ask.item))
				} else {
					out = append(out, state(memoir.StatementPreference, quote(text), t.ask.item))
				}
			}
		case memoir.OriginTyped, memoir.OriginQueued:
			if i == 0 || !s.turns[i-1].acted() || t.ask.pasted {
				continue
			}
			text := wholeSentences(t.ask.own, maxCorrection)
			if text == "" || !corrects(t.ask.own) {
				continue
			}
			c := state(memoir.StatementPreference, memoir.CorrectionMark+quote(text), t.ask.item)
			if before := related(s.turns[i-1].final.text, text); before != "" {
				c.Text += " (after: " + strings.TrimRight(before, ". ") + ")"
			}
			c.said = text
			out = append(out, c)
		}
	}
	return out
}

var (
	// objections begin a message that sets something right.
	objections = []string{
		"no", "nope", "not", "wrong", "actually", "i meant", "i mean", "that's wrong", "that's not",
		"that is not", "this is not", "it should", "should", "don't", "do not",
		"you should", "we should", "it's not", "instead", "rather", "sorry my point",
	}
	// contrasts occur in a message that sets something right.
	contrasts = []string{"not correct", "incorrect", "instead of", "rather than", "i meant", "not what i",
		"is wrong", "should be"}
	// assents begin a message that says no though it sets nothing right.
	assents = []string{
		"no worries", "no problem", "not sure", "not bad", "no need", "no idea", "not yet", "don't worry",
		"no rush", "do not worry", "actually never mind", "no thanks",
		"not now", "no longer", "no more", "should we", "should i", "should be good", "should be fine",
	}
)

// corrects reports whether a message sets right what the agent did. Questions alone do not.
func corrects(own []string) bool {
	questions := 0
	for _, text := range own {
		if strings.HasSuffix(text, "?") {
			questions++
		}
	}
	first := lowerWords(own[0])
	all := lowerWords(strings.Join(own, " "))
	if questions == len(own) || strings.Count(all, " ") < minRule+2 || startsAny(first, assents...) {
		return false
	}
	if hasAny(all, "right now", "currently", "at the moment", "let me try", "should be good",
		"should be fine", "should be ready") {
		return false
	}
	return startsAny(first, objections...) && !strings.HasSuffix(own[0], "?") || hasAny(all, contrasts...)
}

// wholeSentences joins the first sentences that fit within limit bytes.
func wholeSentences(own []string, limit int) string {
	text := ""
	for _, s := range own {
		if len(text)+len(s)+1 > limit {
			break
		}
		text = strings.TrimSpace(text + " " + s)
	}
	return text
}

// related is the one sentence of an answer that shares the most words with what a
// person said to it, two at least.
func related(answer, text string) string {
	words, best, most := contentWords(text), "", 1
	for _, p := range paragraphs(answer) {
		for _, s := range sentences(p.text) {
			if n := held(contentWords(s), words); n > most && len(s) <= maxSubject && len(s) >= minClaim {
				best, most = s, n
			}
		}
	}
	return best
}

// choice states what a person answered to a question of the agent. The text pairs
// questions and answers as agents record them: "question"="answer".
func choice(text string) string {
	var out []string
	rest := text
	for len(out) < 4 {
		q, after, ok := strings.Cut(rest, `"="`)
		if !ok {
			break
		}
		q = q[strings.LastIndexByte(q, '"')+1:]
		a, next, _ := strings.Cut(after, `"`)
		rest = next
		if q != "" && a != "" && len(q) <= maxCorrection && len(a) <= maxCorrection {
			out = append(out, "chose "+quote(a)+" for "+quote(q))
		}
	}
	if len(out) > 0 {
		return strings.Join(out, "; ")
	}
	own, _ := ownSentences(text)
	if whole := wholeSentences(own, maxCorrection); len(strings.Fields(whole)) >= 4 {
		return quote(whole)
	}
	return ""
}
