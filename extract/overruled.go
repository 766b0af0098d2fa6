package extract

import (
	"slices"
	"strings"
)

// overrule notes the answers that a later turn made void: a person objected or
// refused, and the agent wrote anew what the turn of the answer had written.
func (r *reading) overrule() {
	r.void = map[int]bool{}
	for i, t := range r.turns {
		from, to := t.span()
		total, again := 0, 0
		for _, e := range r.editsAfter(from - 1) {
			if e.item > to {
				break
			}
			total++
			if later := r.ledger.redone[e.item]; later > to && r.objected(i+1, later) {
				again++
			}
		}
		if again == 0 || again*2 < total {
			continue
		}
		for _, s := range t.says {
			r.void[s.item] = true
		}
	}
}

// objected reports whether a person objected, refused or reported a failure
// between a turn and an item.
func (r *reading) objected(from, item int) bool {
	if r.objecting == nil {
		r.objecting = make([]int, len(r.turns)+1)
		next := 0
		for i, t := range slices.Backward(r.turns) {
			if t.objects() {
				next = t.said.item
			}
			r.objecting[i] = next
		}
	}
	first := r.objecting[from]
	return first > 0 && first <= item
}

// objects reports whether a turn begins with an objection, a refusal or the
// report of a failure.
func (t *turn) objects() bool {
	if t.ask == nil {
		return false
	}
	if t.said.denies || has(words(strings.Join(t.said.own, " ")), failing) {
		return true
	}
	_, met, _ := t.concession()
	return met != nil
}

var failing = newPhrases("failing|fails|failed|broken|still|doesn't work|does not work|not working|crashes|error|errors|wrong|schlägt fehl|geht nicht|kaputt|échoue|ne marche pas|falla|no funciona|falha|não funciona|не работает|падает|ошибка")

// span is the first and the last item of a turn, as far as they are known.
func (t *turn) span() (from, to int) {
	from = firstItem(t)
	to = from
	if n := len(t.says); n > 0 {
		to = max(to, t.says[n-1].item)
	}
	if n := len(t.runs); n > 0 {
		to = max(to, t.runs[n-1].item)
	}
	return from, to
}

// stateClaim reports whether a sentence says what the code is or does after a change.
func stateClaim(norm string) bool {
	return has(norm, phrases("now|will|future|instead of|should no longer|should be gone|jetzt|maintenant|ahora|agora|теперь"))
}

// remade reports whether a sentence claims a change or the state behind it, as an
// answer does that was made void; that something was cleaned up or run still holds.
func remade(norm string) bool {
	return stateClaim(norm) || has(norm, phrases("updated|changed|added|implemented|fixed|made|set|rewrote|refactored|replaced|handles|handle"))
}
