package scenario

import (
	"regexp"
	"slices"
	"strings"

	"memoir/bench/memory/marks"
	"memoir/testdata"
)

var placeholder = regexp.MustCompile(`@@SECRET:([a-z0-9-]+)@@`)

// fill puts fakes in the place of the placeholders: a session that holds what looks
// like a secret is never stored.
func (s *Session) fill(path string) error {
	var err error
	text := func(t string) string {
		return placeholder.ReplaceAllStringFunc(t, func(found string) string {
			rule := placeholder.FindStringSubmatch(found)[1]
			fake, planted, ok := testdata.Fake(rule)
			if !ok {
				err = marks.Errorf(path, "there is no fake for the rule %q; there are %s", rule,
					strings.Join(testdata.FakeRules(), ", "))
				return found
			}
			for _, part := range planted {
				if !slices.Contains(s.Planted, part) {
					s.Planted = append(s.Planted, part)
				}
			}
			return fake
		})
	}
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case string:
			return text(v)
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case map[string]any:
			for key := range v {
				v[key] = walk(v[key])
			}
		}
		return v
	}
	var entry func(e *Entry)
	entry = func(e *Entry) {
		for _, field := range []*string{&e.Text, &e.Output, &e.Old, &e.New, &e.Content, &e.Fails} {
			*field = text(*field)
		}
		walk(e.Input)
		if e.Call != nil {
			entry(e.Call)
		}
	}
	for i := range s.Said {
		entry(&s.Said[i])
	}
	return err
}
