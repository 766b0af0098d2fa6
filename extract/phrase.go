package extract

import (
	"strings"
	"sync"
)

// A phraseSet is a list of phrases that are looked up in the form of words. It is
// arranged by how they begin, so that one pass over a text finds any of them.
type phraseSet struct {
	source  string
	arrange sync.Once
	list    []string            // each with one space before and behind it
	first   [phraseBits]bool    // hashes of how a phrase begins
	starts  map[uint16][]string // the phrases by their first two bytes
}

const (
	phraseBits = 1 << 10
	fewPhrases = 3 // are looked up one by one
)

// phraseSets are the sets that are written where they are used, by their source.
var phraseSets struct {
	sync.RWMutex
	made map[string]*phraseSet
}

// newPhrases makes a set of phrases, parted by "|", that match whole words in the form of
// words. It is for variables of the package, which then cost nothing at the start.
func newPhrases(list string) *phraseSet { return &phraseSet{source: list} }

// phrases does the same where a set is used, once for each list.
func phrases(list string) *phraseSet {
	phraseSets.RLock()
	p := phraseSets.made[list]
	phraseSets.RUnlock()
	if p != nil {
		return p
	}
	phraseSets.Lock()
	defer phraseSets.Unlock()
	if p = phraseSets.made[list]; p == nil {
		if phraseSets.made == nil {
			phraseSets.made = map[string]*phraseSet{}
		}
		p = &phraseSet{source: list}
		phraseSets.made[list] = p
	}
	return p
}

// all lists the phrases, each with one space before and behind it.
func (p *phraseSet) all() []string {
	p.arrange.Do(func() {
		p.starts = map[uint16][]string{}
		for s := range strings.SplitSeq(p.source, "|") {
			if s = strings.TrimSpace(s); s == "" {
				continue
			}
			s = " " + s + " "
			p.list = append(p.list, s)
			start := phraseStart(s)
			p.first[start%phraseBits] = true
			p.starts[start] = append(p.starts[start], s)
		}
	})
	return p.list
}

// phraseStart is the first two bytes behind the space that a text of three bytes
// or more begins with.
func phraseStart(s string) uint16 { return uint16(s[1])<<5 ^ uint16(s[2]) }

// has reports whether a text in the form of words holds one of the phrases.
func has(norm string, p *phraseSet) bool {
	if list := p.all(); len(list) <= fewPhrases {
		for _, s := range list {
			if strings.Contains(norm, s) {
				return true
			}
		}
		return false
	}
	for i := 0; i+2 < len(norm); i++ {
		if norm[i] == ' ' && p.at(norm[i:]) {
			return true
		}
	}
	return false
}

// begins reports whether a text in the form of words begins with one of the phrases.
func begins(norm string, p *phraseSet) bool {
	p.all()
	return len(norm) > 2 && norm[0] == ' ' && p.at(norm)
}

func (p *phraseSet) at(norm string) bool {
	start := phraseStart(norm)
	if !p.first[start%phraseBits] {
		return false
	}
	for _, s := range p.starts[start] {
		if strings.HasPrefix(norm, s) {
			return true
		}
	}
	return false
}
