package consolidate

import (
	"cmp"
	"slices"
	"strings"

	"memoir"
)

// An editor applies edits of MEMORY.md or the summary, one after the other. Most follow the one before them in the
// file, so it looks for their places from there on.
type editor struct {
	done, rest []*unit           // the blocks before and behind the place of the last edit
	at         [2]string         // that place: the section, and the key of the block before it; headings have none
	seen       map[[2]string]int // how often each place is in done
	have, hand map[string]int    // all blocks, and those of edits, by key
	removed    map[string]bool   // lines without their citations; true: the person changed it
	heading    string            // of blocks whose section is gone
	again      bool              // the file may have some edits already
}

// A unit is a block of a file.
type unit struct {
	memoir.Block
	key  string
	hand bool // a person wrote it
}

// blockKey is memoir.BlockKey, whoever's line it is.
func blockKey(text string) string { return memoir.WithoutTeam(memoir.BlockKey(text)) }

func newEditor(text, heading string, again bool) *editor {
	ed := &editor{have: map[string]int{}, hand: map[string]int{}, removed: map[string]bool{},
		heading: heading, again: again}
	for _, one := range memoir.Blocks(text) {
		key := blockKey(one.Text)
		ed.rest = append(ed.rest, &unit{one, key, false})
		ed.have[key]++
	}
	ed.restart()
	return ed
}

// apply applies an edit, by which a line may be changed. Of those that are undone it needs the places only if the file
// has none yet.
func (ed *editor) apply(n memoir.HandEdit, changed bool) {
	n.Section, n.After = sanitise(n.Section), sanitise(n.After) // as they were added
	switch {
	case n.Action == memoir.EditAdded, n.Action == memoir.EditWasAdded && !ed.again:
		ed.add(n)
	case (n.Action == memoir.EditRemoved || n.Action == memoir.EditWasRemoved) && !ed.again:
		ed.remove(n)
	}
	if text := Uncited(n.Text); n.Action == memoir.EditRemoved && n.Others == 0 && text != "" {
		before, again := ed.removed[text]
		ed.removed[text] = changed && (before || !again)
	}
}

func (ed *editor) restart() {
	ed.done, ed.rest, ed.at = nil, append(ed.done, ed.rest...), [2]string{}
	ed.seen = map[[2]string]int{ed.at: 1}
}

// push puts a block before the place.
func (ed *editor) push(u *unit) {
	if ed.at[1] = u.key; isHeading(u.Text) {
		ed.at = [2]string{u.Text, ""}
	}
	ed.done = append(ed.done, u)
	ed.seen[ed.at]++
}

// skip moves the place to the next block for which a condition is true, or to the end.
func (ed *editor) skip(until func(u *unit) bool) (found bool) {
	for len(ed.rest) > 0 && !until(ed.rest[0]) {
		u := ed.rest[0]
		ed.rest = ed.rest[1:]
		ed.push(u)
	}
	return len(ed.rest) > 0
}

// find moves the place behind the nth block of a section with a key, if there are as many, else behind the last one.
// Without a key, the block is the heading.
func (ed *editor) find(section, key string, nth int) bool {
	at := [2]string{section, key}
	name := cmp.Or(key, blockKey(section))
	if name != "" && ed.have[name] == 0 || name == "" && nth == 0 {
		return false
	}
	behind := func(*unit) bool { return ed.at == at && (nth == 0 || ed.seen[at] == nth) }
	if ed.skip(behind) || behind(nil) {
		return true
	}
	all := ed.seen[at]
	ed.restart()
	nth = min(max(nth, 1), all)
	return nth > 0 && (ed.skip(behind) || behind(nil))
}

// remove removes an edit's block, unless as few are there as the person left. All that people wrote since stays.
func (ed *editor) remove(n memoir.HandEdit) {
	key := blockKey(n.Text)
	if ed.have[key] <= n.Others {
		return
	}
	is := func(u *unit) bool { return u.key == key && !u.hand }
	found := ed.find(n.Section, blockKey(n.After), n.Nth) && len(ed.rest) > 0 && ed.rest[0].key == key
	if found && ed.rest[0].hand {
		for _, u := range slices.Concat(ed.done, ed.rest) {
			if is(u) { // an equal one takes its part
				u.hand, ed.rest[0].hand = true, false
				break
			}
		}
	}
	if found && is(ed.rest[0]) || ed.seek(n.Section, is) {
		ed.rest = ed.rest[1:]
		ed.have[key]--
	}
}

// seek moves the place to a block, if possible of a section.
func (ed *editor) seek(section string, is func(u *unit) bool) bool {
	ed.restart()
	if ed.skip(func(u *unit) bool { return is(u) && ed.at[0] == section }) {
		return true
	}
	ed.restart()
	return ed.skip(is)
}

// add inserts an edit's block at its place, else at the end of its section, else under a heading for such blocks. If
// more equal ones are there than the person saw, or again is set and one is no edit's yet, that one is the edit's.
func (ed *editor) add(n memoir.HandEdit) {
	text := strings.TrimRight(sanitise(n.Text), " \t\r\n")
	apart := strings.HasPrefix(text, "\n")
	text = strings.TrimLeft(text, "\n")
	key := blockKey(text)
	if key == "" {
		return
	}
	byHand := n.Action == memoir.EditAdded
	found := ed.find(n.Section, blockKey(n.After), n.Nth)
	if ed.have[key] > n.Others || ed.again && ed.have[key] > ed.hand[key] {
		is := func(u *unit) bool { return u.key == key && !u.hand }
		if found && len(ed.rest) > 0 && is(ed.rest[0]) || ed.seek(n.Section, is) {
			ed.rest[0].hand = byHand
			ed.push(ed.rest[0])
			ed.rest = ed.rest[1:]
			ed.hand[key]++
		}
		return
	}
	ed.hand[key]++
	if !found {
		ed.toEnd(n.Section)
		apart = apart || !isEntry(text)
	} else if isHeading(text) && apart {
		ed.skip(func(u *unit) bool { return isHeading(u.Text) })
	}
	ed.push(&unit{memoir.Block{Text: text, Apart: apart}, key, byHand})
	ed.have[key]++
}

// toEnd moves the place to the end of a section, else of the section with the heading for blocks whose section is gone.
func (ed *editor) toEnd(section string) {
	if !ed.find(section, "", 1) && !ed.find(ed.heading, "", 1) {
		ed.restart() // in the summary they come first
		ed.skip(func(u *unit) bool { return ed.heading == headByHand && level(u.Text) == 2 && isHeading(u.Text) })
		ed.push(&unit{Block: memoir.Block{Text: ed.heading}, key: ed.heading})
		ed.have[ed.heading]++
		return
	}
	ed.skip(func(u *unit) bool { return isHeading(u.Text) && (section != "" || len(ed.done) > 0) }) // the title is first
}

// sweep removes the blocks that no person wrote and for which gone is true, and headings without any left.
func (ed *editor) sweep(gone func(line string) bool) {
	ed.restart()
	var kept []*unit
	swept := map[*unit]bool{} // headings
	var head *unit
	for _, u := range ed.rest {
		switch {
		case isHeading(u.Text):
			head = u
		case !u.hand && gone(Uncited(u.Text)):
			swept[head] = true
			continue
		}
		kept = append(kept, u)
	}
	for i, u := range slices.Backward(kept) {
		if swept[u] && !u.hand && (i+1 == len(kept) ||
			isHeading(kept[i+1].Text) && level(kept[i+1].Text) <= level(u.Text)) {
			kept = slices.Delete(kept, i, i+1)
		}
	}
	ed.rest = kept
}

func (ed *editor) String() string {
	ed.restart()
	return memoir.JoinBlocks(memoir.Map(ed.rest, func(u *unit) memoir.Block { return u.Block }))
}

// leastCompared is the least number of words of lines that are compared by similarity.
const leastCompared = 5

// A saying is a list entry without its mark, with its words.
type saying struct {
	text    string
	words   memoir.Words
	changed bool // a person did: what is alike stays
}

func sayingOf(entry string, changed bool) saying {
	text := memoir.WithoutTeam(memoir.LineText(entry)) // it stays removed, whoever says it and whatever it cites
	told, _, _ := strings.Cut(text, "” (after: ")      // the built-in model writes the context of a preference behind it
	return saying{text, memoir.WordsOf(told), changed}
}

// sayTheSame reports whether a list entry is equivalent to a removed one: it has the same words, whatever their
// order and endings, or nearly the same, or is a cut form of it.
func sayTheSame(removed []saying, line string) bool {
	if !isEntry(line) {
		return false
	}
	b := sayingOf(line, false)
	head, cut := strings.CutSuffix(b.text, "…")
	return slices.ContainsFunc(removed, func(a saying) bool {
		return cut && len(head) > leastTelling && strings.HasPrefix(a.text, head) ||
			len(a.words) > 0 && slices.Equal(a.words, b.words) ||
			!a.changed && len(a.words) >= leastCompared && a.words.Alike(b.words) >= 0.8
	})
}
