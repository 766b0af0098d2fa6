package marks_test

import (
	"slices"
	"strings"
	"testing"

	"memoir"
	"memoir/bench/memory/marks"
)

func TestLinesOfMarkdown(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, markdown string
		want           []string
	}{
		{"bullets", "- one\n- two\n* three\n1. four\n", []string{"one", "two", "three", "four"}},
		{"a bullet goes on", "- one\n  and more\nand this\n- two\n", []string{"one and more and this", "two"}},
		{"a bullet goes on after a gap if it is indented", "- one\n\n  and more\n\nother\n",
			[]string{"one and more", "other"}},
		{"a nested bullet", "- one\n  - two\n", []string{"one", "two"}},
		{"headings", "# A\ntext\n## B\n- c\n", []string{"A", "text", "B", "c"}},
		{"paragraphs", "one\ntwo\n\nthree\n", []string{"one two", "three"}},
		{"a fence belongs to what it follows", "Run:\n\n```sh\nmake x\n# no heading\n\nmake y\n```\n\nthen\n",
			[]string{"Run: make x # no heading make y", "then"}},
		{"a table", "| a | b |\n| c | d |\ntext\n", []string{"| a | b |", "| c | d |", "text"}},
		{"nothing", "\n \n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, line := range marks.Lines(tt.markdown) {
				got = append(got, line.Text)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestALineStatesAFact(t *testing.T) {
	t.Parallel()
	needs := marks.Needs{{"make gen"}, {"never", "not edit"}}
	tests := []struct {
		name, text string
		unless     []string
		states     bool
		met        int
		line       string
	}{
		{"all lists are met in one line", "- x\n- Never edit: run `MAKE   gen`", nil, true, 2, "Never edit: run `MAKE gen`"},
		{"no line meets all", "- never\n- run make gen", nil, false, 1, "never"},
		{"nothing is met", "- other", nil, false, 0, ""},
		{"the continuation counts", "- never\n  without make\n  gen", nil, true, 2, "never without make gen"},
		{"citations state nothing", "- never [12, 40] [019e1154 2026-05-10, make gen 2026-05-11]", nil, false, 1,
			"never [12, 40] [019e1154 2026-05-10, make gen 2026-05-11]"},
		{"unless", "- never make gen, refused", []string{"Refused"}, false, 2, "never make gen, refused"},
		{"unless in another line", "- refused\n- never make gen", []string{"refused"}, true, 2, "never make gen"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := marks.Mark{Needs: needs, Unless: tt.unless}.Find(marks.Lines(tt.text))
			if want := (marks.Match{Line: tt.line, Met: tt.met, States: tt.states}); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}

func TestAProofSurvivesVerbatim(t *testing.T) {
	t.Parallel()
	proof := marks.Needs{{"make gen"}, {"Do not touch", "never edit"}}
	for text, want := range map[string]bool{
		"run make gen\nnever edit it": true,
		"run make gen":                false,
		"run Make gen, never edit":    false,
	} {
		if got := proof.Survives(marks.FoldSpace(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestMarksOfAnotherFormAreRefused(t *testing.T) {
	t.Parallel()
	needs := marks.Needs{{"x"}}
	fact := marks.Mark{ID: "a", Kind: "command", Weight: 2, Text: "t", Evidence: []string{"1"}, Needs: needs}
	trap := marks.Mark{ID: "b", Kind: "refused", Text: "t", Needs: needs}
	known := func(e string) bool { return e == "1" }
	one := func(fact, trap marks.Mark) marks.Marks {
		return marks.Marks{Facts: []marks.Mark{fact}, Traps: []marks.Mark{trap}}
	}
	if err := one(fact, trap).Check("x.yml", known); err != nil {
		t.Fatal(err)
	}
	tests := map[string]func(f *marks.Mark, tr *marks.Mark){
		"no id":                   func(f *marks.Mark, _ *marks.Mark) { f.ID = "" },
		"the same id":             func(_ *marks.Mark, tr *marks.Mark) { tr.ID = "a" },
		"an unknown kind":         func(f *marks.Mark, _ *marks.Mark) { f.Kind = "refused" },
		"an unknown trap":         func(_ *marks.Mark, tr *marks.Mark) { tr.Kind = "command" },
		"no weight":               func(f *marks.Mark, _ *marks.Mark) { f.Weight = 0 },
		"too much weight":         func(f *marks.Mark, _ *marks.Mark) { f.Weight = 4 },
		"a trap's weight":         func(_ *marks.Mark, tr *marks.Mark) { tr.Weight = 1 },
		"no text":                 func(f *marks.Mark, _ *marks.Mark) { f.Text = "" },
		"evidence there is not":   func(f *marks.Mark, _ *marks.Mark) { f.Evidence = []string{"2"} },
		"no needs":                func(f *marks.Mark, _ *marks.Mark) { f.Needs = nil },
		"an empty list":           func(_ *marks.Mark, tr *marks.Mark) { tr.Needs = marks.Needs{{}} },
		"an empty string":         func(f *marks.Mark, _ *marks.Mark) { f.Needs = marks.Needs{{" "}} },
		"an empty string, unless": func(_ *marks.Mark, tr *marks.Mark) { tr.Unless = []string{""} },
		"a long proof":            func(f *marks.Mark, _ *marks.Mark) { f.Proof = marks.Needs{{strings.Repeat("x", 81)}} },
		"an empty proof":          func(f *marks.Mark, _ *marks.Mark) { f.Proof = marks.Needs{{}} },
	}
	for name, change := range tests {
		f, tr := fact, trap
		change(&f, &tr)
		if err := one(f, tr).Check("x.yml", known); memoir.CodeOf(err) != memoir.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
