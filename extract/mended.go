package extract

import (
	"path"
	"slices"
	"strings"

	"memoir"
)

// sinceChanged marks what was so when the agent said it, and was changed afterwards;
// behind a colon follows what became of it.
const sinceChanged = " (before this session; since changed"

// defects are words of what is wrong with a thing, which a change puts right. What a
// session says of a thing that is as it should be is not over when the thing is edited.
var defects = newPhrases("fail|fails|failed|failing|error|errors|broken|breaks|crash|crashes|panic|panics|missing|lacks|lack|wrong|wrongly|incorrect|incorrectly|inaccurate|stale|empty|never|not|no|isn't|wasn't|aren't|won't|doesn't|didn't|don't|can't|cannot|leak|leaks|abort|aborts|bubble|bubbles|hang|hangs|unreachable|unused|dead|duplicated|duplicate|ignores|ignored|loses|lost|drops|swallows|overwrites|old|outdated|bug|bugs|only|unconditionally|hardcoded|hard-coded|still|without|fehlt|fehler|falsch|kaputt|nicht|manque|cassé|erreur|falta|roto|errado|quebrado|não|не|ошибка|нет")

// mended reports whether what a text describes as the state of things was changed
// afterwards: the names or files that it speaks of were taken away, it says so of
// the present, it is of a list of what is wrong, or names a file that was edited.
func (r *reading) mended(text string, item int) bool {
	norm := words(text)
	if has(norm, choices) || has(norm, decided) || has(norm, outside) || begins(norm, phrases("do not|don't|never|always|avoid|treat|retry|use|keep")) {
		return false
	}
	if r.ledger.past(text, item) || begins(norm, findable) && r.actedOn(item) {
		return true
	}
	if !outlives(text, norm) && (r.ledger.reworked(text, item) || !r.closing(item) && (has(norm, shapes) || has(norm, lacking)) && r.actedOn(item)) {
		return true
	}
	later := len(r.editsAfter(item)) > 0
	if later && (has(norm, leftToDo) || has(norm, transient) && r.lastLoss() > item && !r.leftAlone(text, item)) {
		return true
	}
	return r.wasListed(text, item) || r.namesEdited(text, item)
}

// outside says of what others publish: no edit here changes it.
var outside = newPhrases("upstream|newest|published|latest release|latest version|registry|crates.io|npmjs|pypi|rubygems|maven central|the vendor|third-party")

// leftToDo says of a thing that it waits for its change.
var leftToDo = newPhrases("still needs|still need|still has to|still have to|still to be|needs fixing|need fixing|needs updating|need updating|needs to be fixed|needs to be updated|not updated|not yet updated|not yet fixed|to be fixed|remains to be|muss noch|müssen noch|reste à|falta|ainda falta|ещё нужно")

// leftAlone reports whether a text names a file by its path: what it says of one
// that was not edited still holds.
func (r *reading) leftAlone(text string, item int) bool {
	for i, span := range strings.Split(text, "`") {
		if i%2 == 1 && looksLikeFile(span) && strings.Contains(path.Base(span), ".") && strings.Contains(span, "/") {
			return !r.namesEdited(text, item)
		}
	}
	return false
}

// maxPath is how many bytes a path that a text names has at most.
const maxPath = 200

// namesEdited reports whether a text puts a file in code marks that lost lines
// behind an item: its path, or its name alone.
func (r *reading) namesEdited(text string, item int) bool {
	lost := r.lostLines()
	spans := strings.Split(text, "`")
	for k, span := range spans[1:] {
		if k+2 < len(spans) && !strings.Contains(span, "/") && lost[span] > item {
			return true
		}
		for n := 1; n <= min(len(span), maxPath); n++ {
			if strings.Contains(span[:n], "/") && lost[span[:n]] > item {
				return true
			}
		}
	}
	return false
}

// lostLines is the item of the last edit that may have taken lines away, by the path
// and by the base name of its file.
func (r *reading) lostLines() map[string]int {
	if r.lost == nil {
		r.lost = map[string]int{}
		for _, e := range r.edits {
			if !r.ledger.grew[e.item] {
				r.lost[e.path], r.lost[path.Base(e.path)] = e.item, e.item
			}
		}
	}
	return r.lost
}

// lastLoss is the item of the last edit that may have taken lines away.
func (r *reading) lastLoss() int {
	for _, e := range slices.Backward(r.edits) {
		if !r.ledger.grew[e.item] {
			return e.item
		}
	}
	return 0
}

// lastStates tells findings that were overtaken as what was and what became of
// it. What a removed file or name alone was about is dropped, and so is what was
// wrong where nothing tells how it was put right.
func (r *reading) lastStates(list []found) []found {
	var fixes []found
	for i := range list {
		f := &list[i]
		if f.Kind != memoir.StatementDecision || strings.HasPrefix(f.Text, "the user: ") {
			continue
		}
		item := f.Items[len(f.Items)-1]
		text := strings.TrimSuffix(f.Text, inPassing)
		norm := words(text)
		marks, _ := senses(text, norm)
		if r.reversed(text, item) || r.passedSince(text, norm, item) {
			r.overtake(f)
			continue
		}
		if late := r.mendedAlready(text, item); late.text != "" {
			if !marks.cause {
				r.overtake(f)
				continue
			}
			f.Text = text + sinceChanged + ": " + shorten(strings.TrimRight(late.text, "."), 160) + ")"
			f.Items = append(slices.Clone(f.Items), late.item)
			f.weight--
			continue
		}
		if fixes == nil {
			fixes = r.fixes()
		}
		fix := r.fixOf(text, item, fixes)
		if !r.mended(text, item) && !(marks.cause && begins(words(fix.Text), repairs)) {
			continue
		}
		if r.ledger.born(text, item) { // of the session's own work on the way, not of what was before it
			r.overtake(f)
			continue
		}
		switch wrong := marks.cause || has(norm, defects); {
		case has(norm, leftToDo):
			r.overtake(f)
		case fix.Text != "" && wrong:
			f.Text = text + sinceChanged + ": " + shorten(strings.TrimRight(fix.Text, ".:"), 200) + ")"
			f.Items = append(slices.Clone(f.Items), fix.Items...)
		default:
			r.overtake(f)
		}
	}
	return slices.DeleteFunc(list, func(f found) bool { return f.Text == "" })
}

// failsNow says of a command that it does not pass.
var failsNow = newPhrases("is failing|are failing|is red|still fails|currently fails|fails at|failing at|failing with|fails with|is broken")

// passedSince reports whether a text says that a command fails which passed later.
func (r *reading) passedSince(text, norm string, item int) bool {
	if !has(norm, failsNow) {
		return false
	}
	for i, span := range strings.Split(text, "`") {
		if i%2 == 0 || !strings.Contains(span, " ") {
			continue
		}
		for _, run := range r.runs {
			if run.item > item && slices.ContainsFunc(run.cmds, func(c command) bool {
				return run.succeeded(c) && (c.text == span || strings.HasPrefix(c.text, span+" ") || strings.HasSuffix(c.text, " "+span) || strings.Contains(c.text, " "+span+" "))
			}) {
				return true
			}
		}
	}
	return false
}

// overtake forgets a finding that no longer holds, and notes what it said.
func (r *reading) overtake(f *found) {
	past := *f
	past.Text = strings.TrimSuffix(f.Text, inPassing)
	r.overtaken = append(r.overtaken, past)
	f.Text = ""
}

// repairs begin a sentence that says that something wrong was mended.
var repairs = newPhrases("fixed|resolved|corrected|repaired|eliminated|behoben|corrigé|corregido|corrigido|исправлено|исправил")

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

// checked begins a report of what was looked at, not changed.
var checked = newPhrases("validated|verified|tested|ran|checked|confirmed|all|tests|lint|ci|geprüft|getestet|vérifié|testé|probado|verificado|проверено")

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
					norm := words(sentence)
					if len(sentence) < 400 && !begins(norm, checked) && !(r.void[s.item] && remade(norm)) && (accomplishment(sentence) > 0 || strings.Contains(norm, " now ")) {
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

var resolvedSince = newPhrases("already fixed|already handled|already there|already implemented|already done|is fixed now|now fixed|was fixed|were fixed|is resolved|no longer applies|not an issue|bereits behoben|schon behoben|déjà corrigé|ya corregido|já corrigido|уже исправлено")

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
