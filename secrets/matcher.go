package secrets

import (
	"math/bits"
	"sync"
)

// matcher finds all occurrences of many literals in one pass, in any case of ASCII letters. Each literal has a key: the
// rarest four bytes in a row, or the whole literal if it is shorter. At most offsets, one lookup shows that no key
// begins there. The lookups do not depend on one another, unlike the steps of an automaton. A matcher is cheap to make.
type matcher struct {
	literals []string
	filter   [1 << (filterBits - 6)]uint64 // bits by hash of the first three bytes of a key
	keys     [1 << (keyBits - 6)]uint64    // bits by hash of a key
	slots    []keySlot                     // by hash of a key, with linear probing
	shift    int
	entries  []keyEntry
	lengths  [keyLength + 1]bool // lengths of keys in use
}

const (
	gramLength = 3
	keyLength  = 4
	filterBits = 18
	keyBits    = 16
	maxCrowd   = 6 // literals with the same key
)

// keySlot is the list of the entries with a key.
type keySlot struct {
	key   uint32
	first int32 // index of its first entry, -1 if the slot is free
	count int32
}

// keyEntry is a literal to compare at the offsets of its key.
type keyEntry struct {
	literal int32
	length  int32
	offset  int32  // of the key in the literal
	next    int32  // index of the next entry with the same key, or -1
	end     uint32 // the last four bytes of the literal after foldByte, if it has four
}

// newMatcher returns a matcher of literals in lower case. An empty literal is never found. A literal of one byte
// disables the filter.
func newMatcher(literals []string) *matcher {
	m := &matcher{literals: literals, entries: make([]keyEntry, 0, len(literals))}
	size := bits.Len(uint(2*len(literals) + 1))
	m.slots = make([]keySlot, 1<<size)
	m.shift = 32 - size
	for i := range m.slots {
		m.slots[i].first = -1
	}
	for id, literal := range literals {
		length := min(len(literal), keyLength)
		e := keyEntry{literal: int32(id), length: int32(len(literal))}
		switch length {
		case 0:
			continue
		case 1:
			for i := range m.filter {
				m.filter[i] = ^uint64(0)
			}
		case 2:
			head := keyAt(literal, 0, 2)
			for c := range 256 {
				m.pass(head | foldByte(byte(c))<<16)
			}
		case keyLength:
			e.offset = int32(m.rarest(literal))
			e.end = keyAt(literal, len(literal)-keyLength, keyLength)
			fallthrough
		default:
			m.pass(keyAt(literal, int(e.offset), gramLength))
		}
		key := keyAt(literal, int(e.offset), length)
		m.lengths[length] = true
		h := key * hashFactor >> (32 - keyBits)
		m.keys[h>>6] |= 1 << (h & 63)
		slot := m.slot(key)
		e.next = slot.first
		m.entries = append(m.entries, e)
		*slot = keySlot{key, int32(len(m.entries) - 1), slot.count + 1}
	}
	return m
}

// pass adds a gram, the first three bytes of a key, to the filter.
func (m *matcher) pass(gram uint32) {
	h := gram * hashFactor >> (32 - filterBits)
	m.filter[h>>6] |= 1 << (h & 63)
}

// hashFactor spreads the bits of a key over the upper bits of 32.
const hashFactor = 0x9E3779B1

// slot returns the slot of a key, or the free slot for it.
func (m *matcher) slot(key uint32) *keySlot {
	for at := key * hashFactor >> m.shift; ; at++ {
		s := &m.slots[int(at)&(len(m.slots)-1)]
		if s.first < 0 || s.key == key {
			return s
		}
	}
}

// foldByte makes both cases of a letter equal, and also some other bytes, which the comparison with the literal
// distinguishes. It never returns 0, so that keys of different lengths differ.
func foldByte(c byte) uint32 { return uint32(c | 0x20) }

// keyAt returns length bytes at an offset, each changed by foldByte.
func keyAt(s string, at, length int) (key uint32) {
	for n := range length {
		key |= foldByte(s[at+n]) << (8 * n)
	}
	return key
}

// gramRanks returns the ranks of the common grams. The most common gram has rank 1.
var gramRanks = sync.OnceValue(func() map[uint32]int {
	ranks := make(map[uint32]int, len(commonGrams)/gramLength)
	for at := 0; at < len(commonGrams); at += gramLength {
		ranks[keyAt(commonGrams, at, gramLength)] = at/gramLength + 1
	}
	return ranks
})

// rarest returns the offset of the rarest key of a literal. Among rare keys, it prefers a key of few other literals.
func (m *matcher) rarest(literal string) (offset int) {
	ranks := gramRanks()
	rare, best := false, 0
	for at := 0; at+keyLength <= len(literal); at++ {
		rank, common := ranks[keyAt(literal, at, gramLength)]
		switch {
		case !common && m.slot(keyAt(literal, at, keyLength)).count < maxCrowd:
			return at
		case !common && !rare:
			rare, offset = true, at
		case !rare && rank > best:
			best, offset = rank, at
		}
	}
	return offset
}

const (
	foldWord = 0x20202020
	foldAll  = foldWord<<32 | foldWord
	gramMask = 1<<(8*gramLength) - 1
	inWord   = 8 - gramLength + 1 // grams that begin in a word of eight bytes and fit into it
)

// scan calls hit for every literal in text, with the offset of its end. Literals that do not overlap come in the
// order of the text.
func (m *matcher) scan(text string, hit func(literal int32, end int)) {
	i := 0
	for ; i+8 <= len(text); i += inWord {
		s := text[i : i+8]
		word := (uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56) | foldAll
		if m.passes(word) {
			m.look(text, i, hit)
		}
		if m.passes(word >> 8) {
			m.look(text, i+1, hit)
		}
		if m.passes(word >> 16) {
			m.look(text, i+2, hit)
		}
		if m.passes(word >> 24) {
			m.look(text, i+3, hit)
		}
		if m.passes(word >> 32) {
			m.look(text, i+4, hit)
		}
		if m.passes(word >> 40) {
			m.look(text, i+5, hit)
		}
	}
	for ; i < len(text); i++ {
		m.look(text, i, hit)
	}
}

// passes reports whether a key may begin with the first three bytes of a word.
func (m *matcher) passes(word uint64) bool {
	h := uint32(word) & gramMask * hashFactor >> (32 - filterBits)
	return m.filter[h>>6]>>(h&63)&1 != 0
}

// look calls hit for the literals whose key is at an offset.
func (m *matcher) look(text string, at int, hit func(literal int32, end int)) {
	var key uint32
	left := len(text) - at
	if left >= keyLength {
		s := text[at : at+keyLength]
		key = uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24 | foldWord
		if m.hasKey(key) {
			m.compareAll(text, at, key, hit)
		}
	} else {
		key = keyAt(text, at, left)
	}
	if key &= 1<<24 - 1; m.lengths[3] && left >= 3 && m.hasKey(key) {
		m.compareAll(text, at, key, hit)
	}
	if key &= 1<<16 - 1; m.lengths[2] && left >= 2 && m.hasKey(key) {
		m.compareAll(text, at, key, hit)
	}
	if key &= 1<<8 - 1; m.lengths[1] && m.hasKey(key) {
		m.compareAll(text, at, key, hit)
	}
}

func (m *matcher) hasKey(key uint32) bool {
	h := key * hashFactor >> (32 - keyBits)
	return m.keys[h>>6]>>(h&63)&1 != 0
}

// compareAll calls hit for the literals in text that have a key at an offset.
func (m *matcher) compareAll(text string, at int, key uint32, hit func(literal int32, end int)) {
	for n := m.slot(key).first; n >= 0; n = m.entries[n].next {
		e := &m.entries[n]
		start := at - int(e.offset)
		end := start + int(e.length)
		if start < 0 || end > len(text) {
			continue
		}
		if e.length >= keyLength {
			s := text[end-keyLength : end]
			if uint32(s[0])|uint32(s[1])<<8|uint32(s[2])<<16|uint32(s[3])<<24|foldWord != e.end {
				continue
			}
		}
		if equalFolded(text[start:end], m.literals[e.literal]) {
			hit(e.literal, end)
		}
	}
}

// equalFolded reports whether text equals a literal of the same length, in any case of ASCII letters.
func equalFolded(text, literal string) bool {
	for i := range len(literal) {
		if c := text[i]; c != literal[i] && lowerASCII(c) != literal[i] {
			return false
		}
	}
	return true
}

func (m *matcher) has(text string) bool {
	found := false
	m.scan(text, func(int32, int) { found = true })
	return found
}
