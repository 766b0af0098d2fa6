package extract

import (
	"slices"
	"strings"

	"memoir"
)

// stated finds facts that a person gave the agent: corrections of what it said,
// demands that name their reason, limits that the work is under, and what they
// meant all along.
func stated(r *reading, i int) []found {
	t := r.turns[i]
	if t.said.document || remarks(t.said) {
		return nil
	}
	var out []found
	for k, s := range t.said.own {
		weight := statement(s, t.said)
		if weight == 0 || standing(s, t.said) > 0 || r.echoes(i, s) || ofNow(s) || t.said.pasted && pointsFirst(s) {
			continue
		}
		text := quote(shorten(tidy(s), 260))
		if begins(words(s), dangling) && k > 0 && len(t.said.own[k-1])+len(s) < 300 {
			text = quote(t.said.own[k-1] + " " + s)
		} else {
			text += referent(r, i, s)
		}
		out = append(out, found{memoir.Statement{Kind: memoir.StatementDecision, Text: "the user: " + text + elsewhere(t.away()), Items: []int{t.said.item}}, weight + 1})
	}
	if text := correction(t.said); text != "" && r.undoes(i) {
		out = append(out, found{memoir.Statement{Kind: memoir.StatementDecision, Text: "the user: " + quote(tidy(text)), Items: []int{t.said.item}}, 3})
	}
	for _, f := range declared(r, i) {
		out = slices.DeleteFunc(out, func(o found) bool { return within(o.Text, f.Text) })
		out = append(out, f)
	}
	return out
}

// remarks reports whether a person hands on what a reviewer found in a change. It
// tells how the code is until it is met, and is not the person's own word.
func remarks(a ask) bool {
	if len(a.own) > 0 && strings.HasPrefix(a.own[0], "[@") { // how a forge shows who is spoken to
		return true
	}
	for _, s := range a.own {
		norm := words(s)
		if begins(norm, advises) || has(norm, underReview) {
			return true
		}
	}
	return false
}

// pointsFirst reports whether a sentence begins by pointing at what was pasted.
func pointsFirst(s string) bool {
	fields := strings.Fields(words(s))
	return slices.ContainsFunc(fields[:min(len(fields), 3)], func(w string) bool { return w == "this" || w == "that" || w == "these" || w == "those" })
}

var (
	advises     = newPhrases("consider|please consider|suggestion|suggest|recommend|nit|nitpick|minor|optional|potential issue|high severity|medium severity|low severity")
	underReview = newPhrases("the new code|this pr|the pr|this diff|the diff|this change|this patch|in this file|newly added|newly introduced|this new|the updated code|the added code")
)

// within reports whether the first quotation of a text stands in another text.
func within(text, other string) bool {
	_, rest, ok := strings.Cut(text, "“")
	said, _, _ := strings.Cut(rest, "”")
	return ok && said != "" && strings.Contains(other, said)
}

// statement weighs how much a sentence of a person tells of the matter rather than
// of what to do now; 0 means not at all.
func statement(s string, a ask) float64 {
	norm := words(s)
	n := strings.Count(norm, " ")
	if len(s) > 500 || n < 6 || has(norm, guesses) && !begins(norm, phrases("i think|i guess")) {
		return 0
	}
	question := strings.Contains(s, "?")
	switch {
	case question && !has(norm, wishes):
		return 0
	case strings.HasSuffix(s, ":"), forNow(norm), has(norm, passing) && !has(norm, grounds):
		return 0
	case has(norm, givens) && n >= 7:
		return 2.8
	case has(norm, limits) && n >= 7 && !commands(norm) && len(contentWords(s)) >= 4 && !has(norm, spent):
		return 2.5
	case n >= 9 && has(norm, demands) && has(norm, grounds) && !begins(norm, phrases("why|what|how|when")):
		return 3
	case has(norm, intents) && n >= 8 && !has(norm, phrases("want you to|want to see|want to know|want to understand|want to check|want to try|want to test|want to look|want to make sure|want to start|want to compare")):
		return 2.5
	case begins(norm, wishes) && n >= 6:
		return 2.4
	case (a.denies || a.rejection) && n >= 9 && !question && !commands(norm) && !begins(norm, asides):
		weight := 2.0
		if has(norm, causes) || has(norm, constraints) || has(norm, choices) || n >= 17 {
			weight++
		}
		if anchors(s) > 0 {
			weight += 0.5
		}
		if weight >= 3 {
			return weight
		}
	}
	return 0
}

var (
	demands = newPhrases("needs to|need to|must|must not|should|shouldn't|has to|have to|may not|cannot|can't|invariant")
	grounds = newPhrases("or else|otherwise|because|so that|so the|so we|so users|so people|since the|since we|since our|as we|invariant that|given that|due to|for compliance")
	asides  = newPhrases("i|iiuc|maybe|hm|hmm|wtf|dude|why|what|how|again|i think|ok|sorry|yeah|yes|yep|sure|well|good|great|thanks")

	// Reasons that a person gives, and what they found out.
	givens = newPhrases("reason being|the reason is|the reason being|the reason was|turns out|it turned out|the root cause|my point is|the point is|the problem is that|the issue is that|the goal is|the idea is|the whole point|what matters is|the thing is")
	// What the work has to put up with.
	limits = newPhrases(`can't use|cannot use|can't rely on|cannot rely on|can't depend on|only allows|only supports|only accepts|only works with|only works on|doesn't allow|does not allow|don't allow|doesn't support|does not support|
		is limited to|are limited to|limit of|rate limited|rate limit|is not allowed|isn't allowed|are not allowed|aren't allowed|not permitted|is forbidden|forbids|prohibits|has to support|have to support|must support|need to support|
		needs to support|has to work|have to work|must work|needs to work|has to run|must run|needs to run|has to stay|have to stay|must stay|needs to stay|must remain|must be|must not|must never|must always|has to be|have to be|
		our customers|our users|our clients|some customers|customers rely|customers depend|users rely|users depend|for compliance|for legal reasons|legal requires|by contract|security policy|air-gapped|behind a proxy|we ship|we deploy|we target|
		we support|we still support|is read-only|are read-only|is generated|are generated|is auto-generated|auto-generated|is vendored|is owned by|are owned by|owned by|is maintained by|is deprecated|is frozen|source of truth|we moved|we migrated|we switched|
		we've moved|we've switched|we've migrated|we have moved|we dropped|we've dropped|we stopped using|we're moving|we're migrating|no longer use|no longer support|no longer have|we no longer|we don't have access|there is no way to`)
	// A limit that was met in passing.
	spent   = newPhrases("i think i|i was|i ran|i tried|i got|i get|i see|last time|yesterday|just now|failing|failed|fails|crashed|crashes")
	intents = newPhrases("i just want|i only want|i just need|what i want|what i need|all i want|i want the|i want it to|i want this to|we want the|we want it|i want to be able|we need the|we need it|i meant|what i meant|the intention|the intent")
	wishes  = newPhrases("i think it should|i think we should|i think this should|i think that should|i would think|i would expect|i would assume|i'd expect|i'd think|it should|we should|this should|that should|they should|ideally")
)
