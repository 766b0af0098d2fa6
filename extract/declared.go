package extract

import (
	"strings"

	"memoir"
)

// maxDeclared bounds, in bytes, what is quoted of one message.
const maxDeclared = 240

// declared quotes the sentences of a message in which a person tells how things are or
// have to be: what they answer, correct or explain. What they ask for beside it goes
// along where it is short, for it names what the rest is about.
func declared(r *reading, i int) []found {
	t := r.turns[i]
	if t.said.document || !inEnglish(t.said) {
		return nil
	}
	text, weight := "", 0.0
	said := make([]float64, len(t.said.own))
	for k, s := range t.said.own {
		if said[k] = declares(s, t.said, i == 0); said[k] > 0 && r.echoes(i, s) {
			said[k] = 0
		}
		weight = max(weight, said[k])
	}
	if weight == 0 {
		return nil
	}
	for k, s := range t.said.own {
		near := k > 0 && said[k-1] > 0 || k+1 < len(said) && said[k+1] > 0
		if said[k] == 0 && (i == 0 || !near || strings.Contains(s, "?") || setsAside(s) || standing(s, t.said) > 0) || len(text)+len(s) > maxDeclared {
			continue
		}
		text = strings.TrimSpace(text + " " + s)
	}
	if len(contentWords(text)) < 3 && anchors(text) == 0 {
		return nil
	}
	text = quote(tidy(text)) + referent(r, i, text) + elsewhere(t.away())
	return []found{{memoir.Statement{Kind: memoir.StatementDecision, Text: "the user: " + text, Items: []int{t.said.item}}, weight}}
}

// declares weighs a sentence of a person that tells how things are; 0 for requests,
// questions, reports of what went wrong, what they do themselves, and what another rule
// keeps. What opens a session is mostly a report: there it must say what binds.
func declares(s string, a ask, opens bool) float64 {
	norm := words(s)
	n := strings.Count(norm, " ")
	switch {
	case a.pasted && pointsFirst(s), len(s) > maxDeclared, n < 4, strings.Contains(s, "?"), setsAside(s), request(s):
		return 0
	case standing(s, a) > 0, statement(s, a) > 0, buried(s) != "":
		return 0
	case has(norm, guesses), has(norm, spent) && !has(norm, causes) && !has(norm, phrases("when|if|unless")), begins(norm, narrations) && !a.denies:
		return 0
	}
	binds := has(norm, constraints) || has(norm, causes) || has(norm, choices)
	if opens && !has(norm, constraints) {
		return 0
	}
	weight := 2.0
	if binds {
		weight += 0.8
	}
	return weight + 0.3*float64(min(anchors(s), 2))
}

// setsAside reports whether a sentence of a person is of the moment, or of themselves.
func setsAside(s string) bool {
	norm := words(s)
	return ofNow(s) || strings.HasSuffix(s, ":") || forNow(norm) || bare(norm) || trivial(norm) || hollowAside(norm) || has(norm, passing) ||
		has(norm, phrases("thanks|thank you")) || begins(norm, asksHow) || begins(norm, scoffs) || begins(norm, ownDoing) || has(norm, ownDeeds)
}

// ofNow reports whether a sentence tells what a person does next themselves, that they
// are content, or of the session and its log.
func ofNow(s string) bool {
	norm := words(s)
	return lineReference.MatchString(s) || begins(norm, ownTrial) || ofTheSession(s, norm) || has(norm, content) && anchors(s) == 0 && strings.Count(norm, " ") < 12
}

// content tells that there is nothing to be said against a thing.
var content = newPhrases("everything works|it all works|all works|works great|works like a charm|works perfectly|you are a|you're a|well done|good job|great job|nice work|nice job|great work|love it|amazing|awesome|brilliant|it's good|is good|looks good|looks fine|looks great|is fine|it's fine|all good|sieht gut aus|ist gut|c'est bon|está bien|está bom")

// asksHow begins a question, with a mark of it or without.
var asksHow = newPhrases("why|what|how|when|where|who|which|now why|and why|so why|but why|and what|so what|now what|and how|so how|is|are|does|do|did|can|could|should|would|will")

var (
	// How sentences begin in which a person tells of themselves or thanks.
	ownDoing = newPhrases("thanks|thank you|i see|i know|i understand|i get|i have to go|i'm back|hi|hello|hey|good morning|sorry|wonderful|great|perfect|nice|cool|you are|you're|you have|you did|you've|we're done")
	ownDeeds = newPhrases("i'll|i will|i'm going|i just|i ran|i tried|i did|i pushed|i merged|i started|i asked|i told|i saw|i noticed|i installed|let me|i've|i am|i'm|i undid|i can see")
)
