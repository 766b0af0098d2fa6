package secrets

import (
	"math/bits"
	"sync"
)

// matcher finds all occurrences of many literals in one pass, without regard to the
// case of ASCII letters. Each literal has a gram, the three bytes of it that are
// rarest. At most places of a text one look-up tells that no literal's gram stands
// there; the look-ups do not wait for one another, as those of an automaton would. It
// costs little to make.
type matcher struct {
	literals []string
	filter   [1 << (filterBits - 6)]uint64 // bits by hash of a gram
	slots    []gramSlot                    // by hash of a gram, the next free one where taken
	shift    int
	entries  []gramEntry
	short    []shortLiteral
}

const (
	gramLength = 3
	filterBits = 17
)

// gramSlot names the entries of a gram.
type gramSlot struct {
	gram  uint32
	first int32 // the place of its first entry, -1 if the slot is free
}

// gramEntry is a literal that is looked for where a gram stands.
type gramEntry struct {
	literal int32
	length  int32
	offset  int32  // of the gram in it
	next    int32  // the next entry of the same gram, -1 if there is none
	wordAt  int32  // of four bytes that have the gram in them, where there are four
	word    uint32 // these bytes, as foldByte gives them
}

// shortLiteral is a literal that is shorter than a gram, and the part of a gram that it is.
type shortLiteral struct {
	literal    int32
	gram, mask uint32
}

// newMatcher makes a matcher of literals in lower case. An empty one is nowhere, and one
// of a single byte makes every place worth a look.
func newMatcher(literals []string) *matcher {
	m := &matcher{literals: literals, entries: make([]gramEntry, 0, len(literals))}
	size := bits.Len(uint(2*len(literals) + 1))
	m.slots = make([]gramSlot, 1<<size)
	m.shift = 32 - size
	for i := range m.slots {
		m.slots[i].first = -1
	}
	for id, literal := range literals {
		switch len(literal) {
		case 0:
			continue
		case 1:
			m.short = append(m.short, shortLiteral{int32(id), foldByte(literal[0]), 0xff})
			for i := range m.filter {
				m.filter[i] = ^uint64(0)
			}
			continue
		case 2:
			head := foldByte(literal[0]) | foldByte(literal[1])<<8
			m.short = append(m.short, shortLiteral{int32(id), head, 0xffff})
			for c := range 256 {
				m.pass(head | foldByte(byte(c))<<16)
			}
			continue
		}
		offset := rarest(literal)
		gram := gramAt(literal, offset)
		m.pass(gram)
		slot := m.slot(gram)
		at := max(0, min(offset, len(literal)-4))
		word := gramAt(literal, at)
		if at+4 <= len(literal) {
			word |= foldByte(literal[at+3]) << 24
		}
		m.entries = append(m.entries, gramEntry{int32(id), int32(len(literal)), int32(offset), slot.first, int32(at), word})
		*slot = gramSlot{gram, int32(len(m.entries) - 1)}
	}
	return m
}

// pass lets a gram through the filter.
func (m *matcher) pass(gram uint32) {
	h := gram * gramFactor >> (32 - filterBits)
	m.filter[h>>6] |= 1 << (h & 63)
}

// gramFactor spreads the 24 bits of a gram over the upper ones of 32.
const gramFactor = 0x9E3779B1

// slot returns the slot of a gram, or the free one where it belongs.
func (m *matcher) slot(gram uint32) *gramSlot {
	for at := gram * gramFactor >> m.shift; ; at++ {
		s := &m.slots[int(at)&(len(m.slots)-1)]
		if s.first < 0 || s.gram == gram {
			return s
		}
	}
}

// foldByte makes one of the two cases of a letter, and of some other bytes that a
// look at the literal then tells apart.
func foldByte(c byte) uint32 { return uint32(c | 0x20) }

func gramAt(s string, at int) uint32 {
	return foldByte(s[at]) | foldByte(s[at+1])<<8 | foldByte(s[at+2])<<16
}

// gramRanks tells for the common grams how common they are: the most common has 1.
var gramRanks = sync.OnceValue(func() map[uint32]int {
	ranks := make(map[uint32]int, len(commonGrams)/gramLength)
	for at := 0; at < len(commonGrams); at += gramLength {
		ranks[gramAt(commonGrams, at)] = at/gramLength + 1
	}
	return ranks
})

// rarest returns the offset of the gram of a literal that texts hold least.
func rarest(literal string) (offset int) {
	ranks, best := gramRanks(), 0
	for at := 0; at+gramLength <= len(literal); at++ {
		rank, common := ranks[gramAt(literal, at)]
		if !common {
			return at
		}
		if rank > best {
			best, offset = rank, at
		}
	}
	return offset
}

// scan calls hit for every literal in text, with the offset of its end.
func (m *matcher) scan(text string, hit func(literal int32, end int)) {
	i := 0
	for ; i+4 <= len(text); i++ {
		s := text[i : i+4]
		gram := (uint32(s[0])|uint32(s[1])<<8|uint32(s[2])<<16|uint32(s[3])<<24)&0xffffff | 0x202020
		h := gram * gramFactor >> (32 - filterBits)
		if m.filter[h>>6]>>(h&63)&1 != 0 {
			m.look(text, i, gram, hit)
		}
	}
	for ; i < len(text); i++ {
		gram := uint32(0)
		for n := min(gramLength, len(text)-i) - 1; n >= 0; n-- {
			gram = gram<<8 | foldByte(text[i+n])
		}
		m.look(text, i, gram, hit)
	}
}

// look calls hit for the literals whose gram stands at an offset.
func (m *matcher) look(text string, at int, gram uint32, hit func(literal int32, end int)) {
	for n := m.slot(gram).first; n >= 0; n = m.entries[n].next {
		e := &m.entries[n]
		start := at - int(e.offset)
		if start < 0 || len(text)-start < int(e.length) {
			continue
		}
		if e.length > gramLength {
			s := text[start+int(e.wordAt):][:4]
			if (uint32(s[0])|uint32(s[1])<<8|uint32(s[2])<<16|uint32(s[3])<<24)|0x20202020 != e.word {
				continue
			}
		}
		m.compare(text, start, e.literal, hit)
	}
	for _, s := range m.short {
		if gram&s.mask == s.gram {
			m.compare(text, at, s.literal, hit)
		}
	}
}

// compare calls hit for a literal if it begins at an offset.
func (m *matcher) compare(text string, start int, literal int32, hit func(literal int32, end int)) {
	want := m.literals[literal]
	if start < 0 || len(text)-start < len(want) {
		return
	}
	for i := range len(want) {
		if lowerASCII(text[start+i]) != want[i] {
			return
		}
	}
	hit(literal, start+len(want))
}

// has reports whether one of the literals is in text.
func (m *matcher) has(text string) bool {
	found := false
	m.scan(text, func(int32, int) { found = true })
	return found
}
