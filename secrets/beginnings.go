package secrets

import "unicode/utf8"

// beginnings tells of one beginning of a text after another whether an automaton accepts it.
// A longer one is read on from where the last one ended: of a text whose last line has many
// carriage returns, gitleaks takes what is before each for a line.
type beginnings struct {
	text     string
	d        *dfa
	table    *table
	entry    uint32
	at       int  // what was read
	decided  bool // whatever follows
	accepted bool
	read     int // characters, in all
}

// accept reports whether the automaton accepts text[:to].
func (b *beginnings) accept(to int) bool {
	if b.table == nil || to < b.at {
		b.at, b.decided = 0, false
		b.table, b.entry = b.d.start(b.d.table.Load(), atEdge)
	}
	for b.at < to && !b.decided {
		class, width := 0, 1
		if c := b.text[b.at]; c < utf8.RuneSelf {
			class = int(b.d.classes.ascii[c])
		} else {
			var r rune
			r, width = utf8.DecodeRuneInString(b.text[b.at:])
			if b.at+width > to { // it is cut in two
				return b.d.accepts(b.text[:to])
			}
			class = b.d.classes.of(r)
		}
		b.table, b.entry = b.d.step(b.table, b.entry, class)
		b.at += width
		b.read++
		b.decided, b.accepted = b.entry&(entryAccepted|entryDead) != 0, b.entry&entryAccepted != 0
	}
	if b.decided {
		return b.accepted
	}
	_, entry := b.d.step(b.table, b.entry, b.d.classes.edge())
	return entry&entryAccepted != 0
}
