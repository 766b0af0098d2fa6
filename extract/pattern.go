package extract

import (
	"regexp"
	"sync"
)

// A pattern is a regular expression that is compiled when it is first used: most
// commands extract nothing, and must not pay for it when they start.
type pattern struct{ compiled func() *regexp.Regexp }

// patterns are all of the package, for a test to compile.
var patterns []*pattern

// newPattern makes a pattern that panics when it is first used if the expression is
// not valid.
func newPattern(expression string) *pattern {
	p := &pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })}
	patterns = append(patterns, p)
	return p
}

func (p *pattern) MatchString(s string) bool              { return p.compiled().MatchString(s) }
func (p *pattern) FindString(s string) string             { return p.compiled().FindString(s) }
func (p *pattern) FindStringIndex(s string) []int         { return p.compiled().FindStringIndex(s) }
func (p *pattern) FindStringSubmatch(s string) []string   { return p.compiled().FindStringSubmatch(s) }
func (p *pattern) FindAllString(s string, n int) []string { return p.compiled().FindAllString(s, n) }
func (p *pattern) ReplaceAllString(s, with string) string {
	return p.compiled().ReplaceAllString(s, with)
}
func (p *pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringIndex(s, n)
}

func (p *pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}
