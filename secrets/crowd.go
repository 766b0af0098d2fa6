package secrets

import (
	"slices"
	"strings"
)

// maxAlikeValues is how many values of one beginning are compared one by one. Thousands of tokens
// may begin alike, and as often a place in a text begins like them.
const maxAlikeValues = 16

// crowd holds values that begin with the same bytes. When they are many it tells them apart
// by the eight bytes that follow.
type crowd struct {
	depth  int           // how many bytes they have in common
	values []knownSecret // longest first
	deeper map[uint64]*crowd
	short  map[string]*rule // once there are deeper ones: those with fewer than eight more bytes, by these
}

// knownSecret is a secret and the rule that found it first.
type knownSecret struct {
	value string
	rule  *rule
}

// add reports whether the value is a new one.
func (c *crowd) add(value string, r *rule) bool {
	for c.deeper != nil {
		if len(value) < c.depth+minRepeated {
			rest := value[c.depth:]
			if c.short[rest] != nil {
				return false
			}
			c.short[rest] = r
			return true
		}
		next := headOf(value, c.depth)
		if c.deeper[next] == nil {
			c.deeper[next] = &crowd{depth: c.depth + minRepeated}
		}
		c = c.deeper[next]
	}
	at, found := slices.BinarySearchFunc(c.values, value, func(s knownSecret, v string) int {
		if len(s.value) != len(v) {
			return len(v) - len(s.value)
		}
		return strings.Compare(s.value, v)
	})
	if found {
		return false
	}
	c.values = slices.Insert(c.values, at, knownSecret{value, r})
	if len(c.values) > maxAlikeValues {
		values := c.values
		c.values, c.deeper, c.short = nil, map[uint64]*crowd{}, map[string]*rule{}
		for _, s := range values {
			c.add(s.value, s.rule)
		}
	}
	return true
}

// longest returns the longest of the values that a text begins with, of which the bytes that
// they have in common are known to be there. It returns a length of 0 if there is none.
func (c *crowd) longest(text string) (length int, r *rule) {
	for c.deeper != nil {
		for n := min(minRepeated-1, len(text)-c.depth); n >= 0; n-- {
			if short := c.short[text[c.depth:c.depth+n]]; short != nil {
				length, r = c.depth+n, short
				break
			}
		}
		if len(text) < c.depth+minRepeated {
			return length, r
		}
		next := c.deeper[headOf(text, c.depth)]
		if next == nil {
			return length, r
		}
		c = next
	}
	for _, s := range c.values {
		if strings.HasPrefix(text, s.value) {
			return len(s.value), s.rule
		}
	}
	return length, r
}
