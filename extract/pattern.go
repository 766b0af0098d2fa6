package extract

import "memoir/internal/lazyregexp"

// A pattern is a regular expression that is compiled when it is first used.
type pattern = lazyregexp.Regexp

func newPattern(expression string) *pattern { return lazyregexp.New(expression) }
