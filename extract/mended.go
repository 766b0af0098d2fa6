package extract

import (
	"path"
	"slices"
	"strings"

	"memoir"
)

// beforeChange marks what was so when the agent said it, and was changed
// afterwards; behind a colon follows what the session made of it.
const beforeChange = " (before this session's change"

// mended reports whether what a text describes as the state of things was
// changed afterwards: the names or files that it speaks of were taken away, it
// says so of the present, or it names a file edited later.
func (r *reading) mended(text string, item int) bool {
	norm := words(text)
	if has(norm, choices) || has(norm, decided) || begins(norm, phrases("do not|don't|never|always|avoid|treat|retry|use|keep")) {
		return false
	}
	if r.ledger.past(text, item) || r.wasListed(text, item) || begins(norm, findable) && r.actedOn(item) {
		return true
	}
	if !outlives(text, norm) && (r.ledger.reworked(text, item) || !r.closing(item) && (has(norm, shapes) || has(norm, lacking)) && r.actedOn(item)) {
		return true
	}
	if r.namesEdited(text, item) {
		return true
	}
	if len(r.editsAfter(item)) == 0 || !has(norm, transient) {
		return false
	}
	for i, span := range strings.Split(text, "`") { // what it says of a file that was left alone still holds
		if i%2 == 1 && looksLikeFile(span) && strings.Contains(path.Base(span), ".") && strings.Contains(span, "/") {
			return false
		}
	}
	return true
}

// maxPath is how many bytes a path that a text names has at most.
const maxPath = 200

// namesEdited reports whether a text puts a file in code marks that was edited
// behind an item: its path, or its name alone.
func (r *reading) namesEdited(text string, item int) bool {
	spans := strings.Split(text, "`")
	for k, span := range spans[1:] {
		if k+2 < len(spans) && r.editedBase[span] > item {
			return true
		}
		for n := 1; n <= min(len(span), maxPath); n++ {
			if r.edited[span[:n]] > item {
				return true
			}
		}
	}
	return false
}

// lastStates tells findings that were overtaken as what was and what became of
// it. What a removed file or name alone was about is dropped.
func (r *reading) lastStates(list []found) []found {
	var fixes []found
	for i := range list {
		f := &list[i]
		if f.Kind != memoir.StatementDecision || strings.HasPrefix(f.Text, "the user: ") {
			continue
		}
		item := f.Items[len(f.Items)-1]
		text := strings.TrimSuffix(f.Text, inPassing)
		if r.reversed(text, item) {
			r.overtake(f)
			continue
		}
		marks, _ := senses(text, words(text))
		if late := r.mendedAlready(text, item); late.text != "" {
			if marks.cause {
				f.Text = text + beforeChange + ": " + shorten(strings.TrimRight(late.text, "."), 160) + ")"
				f.Items = append(slices.Clone(f.Items), late.item)
				f.weight--
			} else {
				r.overtake(f)
			}
			continue
		}
		if fixes == nil {
			fixes = r.fixes()
		}
		fix := r.fixOf(text, item, fixes)
		if !r.mended(text, item) && !(marks.cause && begins(words(fix.Text), repairs)) {
			continue
		}
		switch {
		case fix.Text != "":
			f.Text = text + beforeChange + ": " + shorten(strings.TrimRight(fix.Text, "."), 200) + ")"
			f.Items = append(slices.Clone(f.Items), fix.Items...)
		case !marks.cause || r.ledger.past(text, item) && !marks.constraint && f.Text != text:
			r.overtake(f)
		default:
			f.Text = text + beforeChange + ")" + f.Text[len(text):]
			f.weight--
		}
	}
	return slices.DeleteFunc(list, func(f found) bool { return f.Text == "" })
}

// overtake forgets a finding that no longer holds, and notes what it said.
func (r *reading) overtake(f *found) {
	past := *f
	past.Text = strings.TrimSuffix(f.Text, inPassing)
	r.overtaken = append(r.overtaken, past)
	f.Text = ""
}

// repairs begin a sentence that says that something wrong was mended.
var repairs = phrases("fixed|resolved|corrected|repaired|eliminated|behoben|corrigé|corregido|corrigido|исправлено|исправил")

// actedOn reports whether a file was edited behind an item, before a person spoke again.
func (r *reading) actedOn(item int) bool {
	later := r.editsAfter(item)
	if len(later) == 0 {
		return false
	}
	next, _ := slices.BinarySearchFunc(r.turns, item+1, func(t *turn, item int) int {
		if t.ask == nil {
			return -1
		}
		return t.ask.N - item
	})
	return next == len(r.turns) || later[0].item < r.turns[next].ask.N
}

// fixes are the sentences of closing answers that say what was done or is so now.
func (r *reading) fixes() []found {
	out := []found{}
	for _, t := range r.turns {
		if t.denied && t.edits == 0 {
			continue
		}
		for _, s := range t.says {
			if !s.final {
				continue
			}
			for _, b := range blocks(s.text, false) {
				for _, sentence := range sentences(local(tidy(b.text), r.root)) {
					if len(sentence) < 400 && !(r.void[s.item] && remade(words(sentence))) && (accomplishment(sentence) > 0 || strings.Contains(words(sentence), " now ")) {
						out = withoutLightest(append(out, found{memoir.Statement{Text: impersonal(sentence), Items: []int{s.item}}, 0}))
					}
				}
			}
		}
	}
	return out
}

// fixOf finds the sentence that tells best what became of a state: it was said
// after an edit that came after, and shares a name and a word with it.
func (r *reading) fixOf(text string, item int, fixes []found) (best found) {
	later := r.editsAfter(item)
	if len(later) == 0 {
		return found{}
	}
	want, most := r.lexicon.of(text), 1
	for _, f := range fixes {
		if f.Items[0] <= later[0].item || !shareName(want, r.lexicon.of(f.Text)) {
			continue
		}
		if n := common(r.lexicon.of(f.Text).content, want.content); n > most {
			best, most = f, n
		}
	}
	return best
}

// shareName reports whether two texts put one name in code marks.
func shareName(a, b *wording) bool {
	return shares(a.marked(), b.marked())
}

// lists reports whether a block is an entry of a list of what is wrong.
func lists(b block) bool {
	return has(words(b.under+" . "+b.lead), phrases("issues|issue|problems|problem|bugs|bug|comments|review|feedback|missing|gaps|inconsistencies|violations|probleme|problèmes|problemas|проблемы|fehler|errors"))
}

// wasListed reports whether a text is of a list of what is wrong, and something
// was edited afterwards.
func (r *reading) wasListed(text string, item int) bool {
	if n := len(r.edits); n == 0 || r.edits[n-1].item <= item {
		return false
	}
	return slices.ContainsFunc(r.listed, func(s said) bool { return s.item == item && strings.Contains(s.text, text[:min(len(text), 60)]) })
}

var resolvedSince = phrases("already fixed|already handled|already there|already implemented|already done|is fixed now|now fixed|was fixed|were fixed|is resolved|no longer applies|not an issue|bereits behoben|schon behoben|déjà corrigé|ya corregido|já corrigido|уже исправлено")

// mendedAlready is where the agent found later that what a text says was mended already.
func (r *reading) mendedAlready(text string, item int) said {
	for _, s := range r.resolved() {
		if s.item > item && shareName(r.lexicon.of(text), r.lexicon.of(s.text)) && common(r.lexicon.of(text).content, r.lexicon.of(s.text).content) >= 2 {
			return s
		}
	}
	return said{}
}

// resolved are the sentences that say that something was mended already.
func (r *reading) resolved() []said {
	if r.closed == nil {
		r.closed = []said{}
		for _, t := range r.turns {
			for _, s := range t.says {
				if !has(words(s.text), resolvedSince) {
					continue
				}
				for _, b := range blocks(s.text, false) {
					if has(words(b.text), resolvedSince) {
						r.closed = append(r.closed[max(0, len(r.closed)-maxGathered):], said{item: s.item, text: b.text})
					}
				}
			}
		}
	}
	return r.closed
}
