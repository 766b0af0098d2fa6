package yamledit

import (
	"strings"
	"testing"
)

func TestOneValueChangesAndAllElseStays(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before, at, value, after string // no value: it is removed; no after: it is refused
	}{
		{"a: 1 # x\nb: 2\n", "a", "3", "a: 3 # x\nb: 2\n"},
		{"a: 'it''s' # x\n", "a", "3", "a: 3 # x\n"},
		{"a: \"x # \\\" y\" # z\n", "a", "3", "a: 3 # z\n"},
		{"a: don't # z\n", "a", "3", "a: 3 # z\n"},
		{"a: # none\n", "a", "3", "a: 3 # none\n"},
		{"a: [1, \"]\"] # x\n", "a", "3", "a: 3 # x\n"},
		{"s: {é: x, b: [1, {c: 2}], d: 1}\n", "s b", "3", "s: {é: x, b: 3, d: 1}\n"},
		{"a: # list\n  - 1\n  - 2\nb: 1\n", "a", "[3]", "a: [3] # list\nb: 1\n"},
		{"'a': 1\r\nb: 2\r\n", "a", "3", "'a': 3\r\nb: 2\r\n"},
		{"s:\r\n  a: 1\r\n", "s b", "3", "s:\r\n  b: 3\r\n  a: 1\r\n"},
		{"s.a: 1\n", "s a", "3", "s.a: 3\n"},
		{"", "s a", "3", "s:\n  a: 3\n"},
		{"# c", "s t a", "3", "# c\ns:\n  t:\n    a: 3\n"},
		{"s:\n    b: 1\n\n# c\nt: 1\n", "s a", "3", "s:\n    a: 3\n    b: 1\n\n# c\nt: 1\n"},
		{"s:\n  # doc\n  # a: 0\n\n  # more\n  # b: 0\nt:\n  # c: 0\n", "s b", "3", "s:\n  # doc\n  # a: 0\n\n  # more\n  # b: 0\n  b: 3\nt:\n  # c: 0\n"},
		{"s:\n  # a: 0\nt:\n  # c: 0\n", "s c", "3", "s:\n  c: 3\n  # a: 0\nt:\n  # c: 0\n"},
		{"# a: 0\ns:\n", "a", "3", "# a: 0\na: 3\ns:\n"},
		{"s: {}\n", "s t a", "3", "s: {t: {a: 3}}\n"},
		{"s: {b: 1}\n", "s a", "3", "s: {a: 3, b: 1}\n"},
		{"s: 1\n", "s a", "3", ""},
		{"a: |\n  x\n", "a", "3", ""},
		{"a: [\n", "a", "3", ""},

		{"a: 1\nb: 2 # x\nc: 3\n", "b", "", "a: 1\nc: 3\n"},
		{"a:\n  - 1\n  - 2\nb: 2\n", "a", "", "b: 2\n"},
		{"z: 1\ns:\n  t:\n    a: 1\n", "s t a", "", "z: 1\n"},
		{"z: 1\ns: {t: {a: 1}}\n", "s t a", "", "z: 1\n"},
		{"s:\n  b: 1\n  t.a: 1\n", "s t a", "", "s:\n  b: 1\n"},
		{"s:\n  # why\n  a: 1\n", "s a", "", "s:\n  # why\n"},
		{"z: 1\ns:\n  t:\n    a: # x\n      - 1 # y\n", "s t a", "", "z: 1\n"},
		{"s: # why\n  a: 1 # x\n", "s a", "", "s: # why\n"},
		{"s:\n  a: 1\n  # b: 0\nt: 1\n", "s a", "", "s:\n  # b: 0\nt: 1\n"},
		{"s: {a: 1, b: 'x, y'} # z\n", "s a", "", "s: {b: 'x, y'} # z\n"},
		{"s: {a: 1, b: 'x, y'} # z\n", "s b", "", "s: {a: 1} # z\n"},
		{"s: {a: } # x\n", "s a", "", "s: { } # x\n"},
		{"s: {}\n", "s a", "", ""},
	} {
		at := strings.Fields(test.at)
		after, err := Delete([]byte(test.before), at, 0)
		if test.value != "" {
			after, err = Set([]byte(test.before), at, test.value)
		}
		if string(after) != test.after || (err != nil) != (test.after == "") {
			t.Errorf("%q, %s %s: got %q, %v; want %q", test.before, test.at, test.value, after, err, test.after)
		}
	}
}
