package extract

import (
	"slices"
	"strings"

	"memoir"
)

// What a person says again or takes back: the request in other words before anything came
// of it, and "undo that" after something did.

var (
	// How a request is said again that was understood otherwise than it was meant.
	restating = newPhrases("my point is|my point was|i meant|what i meant|i mean|what i mean|let me rephrase|to rephrase|what i'm asking|what i was asking|what i'm saying|ich meine|ich meinte|was ich meine|was ich meinte|je voulais dire|ce que je veux dire|quiero decir|quise decir|me refiero a|quero dizer|quis dizer|intendo|intendevo|volevo dire|ik bedoel|ik bedoelde|я имею в виду|я имел в виду|chodzi mi o|chodziło mi o")
	regrets   = newPhrases("sorry ,|sorry :|sorry|no ,|no|nein ,|non ,|non|nein|ok ,|hm ,|hmm ,|wait ,|well ,|désolé ,|perdón ,|desculpa ,")
	// How the work done last is taken back.
	takesBack = newPhrases("revert that ?|undo that ?|i reverted|i undid|scratch that|back that out|back out of that|undo your|undo all|revert your|revert all|rückgängig machen|reviens en arrière|desfaça isso|отмени это|undo that|undo this|undo it|undo these|undo those|undo the last|undo your last|revert that|revert this|revert it|revert these|revert those|revert the last|revert your last|roll that back|roll this back|roll it back|put it back|put that back|take that back|take it back|like it was|as it was|like that again|like this again|like before|as before|what we had|what it was before|mach das rückgängig|mach es rückgängig|nimm das zurück|wie vorher|wie es war|annule ça|annule cela|comme avant|deshaz eso|deshazlo|revierte eso|como antes|como estaba|desfaz isso|desfaça isso|como era antes|annullalo|com'era prima|come prima|maak dat ongedaan|zoals het was|откати это|верни как было|как было|cofnij to|tak jak było")
	// How the cause is named that it was instead.
	actually = newPhrases("it was actually|it's actually|it is actually|actually it was|actually , it was|actually it's|actually , it's")
)

// minRestated is how many words a request has at least that stands for the one before it.
const minRestated = 10

// restates reports whether a turn says the request before it again in other words,
// when nothing had been changed for that one.
func (r *reading) restates(i int) bool {
	t := r.turns[i]
	if i == 0 || t.said.pasted || len(t.said.own) == 0 || r.turns[i-1].acted() {
		return false
	}
	norm := words(t.said.own[0])
	for _, p := range regrets.all() {
		norm = strings.TrimPrefix(norm, p[:len(p)-1])
	}
	return (begins(norm, restating) || begins(norm, actually)) && strings.Count(words(strings.Join(t.said.own, " ")), " ") >= minRestated
}

// maxTakenBack is how many turns before an "undo that" are looked at for what it means.
const maxTakenBack = 4

// retaken holds the items of requests that the person took back: they said so, and
// the agent took away again most of what it had written for them.
func (r *reading) retaken() map[int]bool {
	if r.back != nil {
		return r.back
	}
	r.back = map[int]bool{}
	for j, t := range r.turns {
		if t.ask != nil && r.restates(j) {
			k := j - 1
			for k > 0 && r.turns[k].edits == 0 && (r.turns[k].ask == nil || r.turns[k].said.trivial || onlyAsks(r.turns[k].said)) {
				k-- // questions that were answered on the way
			}
			if r.turns[k].edits == 0 {
				r.drop(k)
			}
		}
		if !r.undoes(j) {
			continue
		}
		for i := j - 1; i >= max(0, j-maxTakenBack); i-- {
			if r.turns[i].edits == 0 {
				continue
			}
			if r.tookAway(i, j) || r.turns[j].restores() {
				r.drop(i)
			}
			break
		}
	}
	return r.back
}

// undoes reports whether a person takes back at a turn what was done last.
func (r *reading) undoes(i int) bool {
	t := r.turns[i]
	return t.ask != nil && (t.edits > 0 || t.restores()) && slices.ContainsFunc(t.said.own, func(s string) bool { return has(words(s), takesBack) })
}

// restores reports whether the agent had version control put files back.
func (t *turn) restores() bool {
	return slices.ContainsFunc(t.runs, func(run *run) bool {
		return !run.failed && slices.ContainsFunc(run.whole, func(s simple) bool {
			if unquote(s.words[0]) != "git" {
				return false
			}
			sub, rest := next(gitArguments(s.words[1:]))
			switch sub {
			case "restore", "revert":
				return true
			case "checkout":
				return slices.Contains(rest, "--") || slices.Contains(rest, ".")
			case "reset":
				return slices.Contains(rest, "--hard")
			}
			return false
		})
	})
}

// drop enters the request that the turn at i worked on: the words that it only went on
// with stand behind it.
func (r *reading) drop(i int) {
	for i > 0 && (r.turns[i].ask == nil || r.turns[i].said.trivial) {
		i--
	}
	if r.turns[i].ask != nil {
		r.back[r.turns[i].said.item] = true
	}
}

// withoutRetaken drops what was asked for and settled in requests that the person took back.
func (r *reading) withoutRetaken(all []found) []found {
	back := r.retaken()
	if len(back) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(f found) bool {
		return back[f.Items[0]] && (f.Kind == memoir.StatementTask || f.Kind == memoir.StatementDecision && quotation(f) != "")
	})
}

// tookAway reports whether the turn at j took away lines of most edits of the turn at i.
func (r *reading) tookAway(i, j int) bool {
	from, to := r.turns[i].span()
	until := len(r.turns)
	start := firstItem(r.turns[j])
	end := int(^uint(0) >> 1)
	if j+1 < until {
		end = firstItem(r.turns[j+1])
	}
	total, back := 0, 0
	for _, e := range r.editsAfter(from - 1) {
		if e.item > to && e.item >= start {
			break
		}
		total++
		if later := r.ledger.redone[e.item]; later >= start && later < end {
			back++
		}
	}
	return back > 0 && back*2 >= total
}

// correction is what a person found to be the case instead, in the message in which they
// took a request back; empty if they do not say.
func correction(a ask) string {
	for _, s := range a.own {
		for _, clause := range append(clauses(s), s) {
			if norm := words(clause); begins(norm, actually) && strings.Count(norm, " ") > 5 && !strings.Contains(clause, "?") {
				return clause
			}
		}
	}
	return ""
}
