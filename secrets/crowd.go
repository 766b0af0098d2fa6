package secrets

import (
	"slices"
	"strings"
)

// alike are values that begin with the same bytes: nearly always it is one.
type alike struct {
	first knownSecret
	more  *crowd // all of them, where there are several
}

// knownSecret is a secret and the rule that found it first.
type knownSecret struct {
	value string
	rule  *rule
}

// add reports whether the value is a new one. All values have so many bytes in common.
func (a *alike) add(depth int, value string, r *rule) bool {
	switch {
	case a.more != nil:
	case a.first.value == "":
		a.first = knownSecret{value, r}
		return true
	case a.first.value == value:
		return false
	default:
		a.more = &crowd{depth: depth}
		a.more.add(a.first.value, a.first.rule)
	}
	return a.more.add(value, r)
}

// longest returns the longest of the values that a text begins with, of which the bytes that
// they have in common are known to be there. Its value is empty if there is none.
func (a *alike) longest(text string) knownSecret {
	if a.more != nil {
		return a.more.longest(text)
	}
	if strings.HasPrefix(text, a.first.value) {
		return a.first
	}
	return knownSecret{}
}

// maxAlike is how many values of one beginning are compared one by one. Thousands of tokens
// may begin alike, and as often a place in a text begins like them.
const maxAlike = 16

// crowd holds values that begin with the same bytes. When they are many it tells them apart
// by the eight bytes that follow.
type crowd struct {
	depth  int           // how many bytes they have in common
	values []knownSecret // longest first
	deeper map[uint64]alike
	short  map[string]*rule // once there are deeper ones: those with fewer than eight more bytes, by these
}

func (c *crowd) add(value string, r *rule) bool {
	if c.deeper != nil {
		if len(value) < c.depth+minRepeated {
			rest := value[c.depth:]
			known := c.short[rest] != nil
			if !known {
				c.short[rest] = r
			}
			return !known
		}
		next := headOf(value, c.depth)
		group := c.deeper[next]
		added := group.add(c.depth+minRepeated, value, r)
		c.deeper[next] = group
		return added
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
	if len(c.values) > maxAlike {
		values := c.values
		c.values, c.deeper, c.short = nil, map[uint64]alike{}, map[string]*rule{}
		for _, s := range values {
			c.add(s.value, s.rule)
		}
	}
	return true
}

func (c *crowd) longest(text string) knownSecret {
	if c.deeper == nil {
		for _, s := range c.values {
			if strings.HasPrefix(text, s.value) {
				return s
			}
		}
		return knownSecret{}
	}
	if len(text) >= c.depth+minRepeated {
		if group, ok := c.deeper[headOf(text, c.depth)]; ok {
			if s := group.longest(text); s.value != "" {
				return s
			}
		}
	}
	for n := min(minRepeated-1, len(text)-c.depth); n >= 0; n-- {
		if r := c.short[text[c.depth:c.depth+n]]; r != nil {
			return knownSecret{text[:c.depth+n], r}
		}
	}
	return knownSecret{}
}
