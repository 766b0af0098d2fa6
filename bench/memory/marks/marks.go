// Package marks knows what a session says that is worth remembering, as a person
// wrote it down: facts that a memory must state and traps that it must not. It knows
// the form of a marks file and when a line of a memory states a mark; it knows no
// session and no memory.
//
// Read marks.go first (the words), then match.go (what a line is, and when it states one).
package marks

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"memoir"
)

// Needs says what a line must hold: of each list one string, whatever the letter
// case and the white space.
type Needs [][]string

// Mark is a fact, which a coding agent should know in a later session on the same project,
// or a trap, which stands in a session and must not be remembered as it is and has no weight.
type Mark struct {
	ID       string   `yaml:"id"` // unique in its file
	Kind     string   `yaml:"kind"`
	Weight   int      `yaml:"weight"` // 3: a later agent goes wrong without it; 2: it saves work; 1: nice to know
	Text     string   `yaml:"text"`
	Evidence []string `yaml:"evidence"` // numbers of items or entries; in a project, sessions
	Proof    Needs    `yaml:"proof"`    // of a fact: what of the transcript must still be there to know it
	Needs    Needs    `yaml:"needs"`
	Unless   []string `yaml:"unless"` // of a trap: a line that holds one of these is not in it
}

// Marks are those of one file.
type Marks struct {
	Facts []Mark `yaml:"facts"`
	Traps []Mark `yaml:"traps"`
}

// Superseded is the kind of a trap that was true once: stated as if it still held, it
// contradicts what came later.
const Superseded = "superseded"

var (
	factKinds = []string{"preference", "constraint", "command", "failure", "decision", "finding", "environment", "file",
		"task", "outcome"}
	trapKinds = []string{"one-off", "refused", Superseded, "boilerplate", "tool-output", "narration", "proposal",
		"other-project"}
)

// longestProof bounds one piece of a proof, in characters.
const longestProof = 80

// Check fails with memoir.CodeInvalid if a mark is not of the form. Evidence is the
// caller's to check; nil known accepts any.
func (m Marks) Check(path string, known func(evidence string) bool) error {
	seen := map[string]bool{}
	for i, mark := range slices.Concat(m.Facts, m.Traps) {
		kinds, least, most := factKinds, 1, 3
		if i >= len(m.Facts) {
			kinds, least, most = trapKinds, 0, 0
		}
		wrong := ""
		switch {
		case mark.ID == "" || seen[mark.ID]:
			wrong = "a mark has no id, or that of another"
		case !slices.Contains(kinds, mark.Kind):
			wrong = "no kind is called " + mark.Kind
		case mark.Text == "":
			wrong = "it says nothing"
		case mark.Weight < least || mark.Weight > most:
			wrong = "the weight of a fact is 1, 2 or 3; a trap has none"
		case mark.Needs == nil || mark.Needs.empty() || mark.Proof.empty() || slices.ContainsFunc(mark.Unless, blank):
			wrong = "a list or string of its needs, proof or unless is empty"
		}
		for _, piece := range slices.Concat(mark.Proof...) {
			if utf8.RuneCountInString(piece) > longestProof {
				wrong = fmt.Sprintf("a piece of its proof has over %d characters: %q", longestProof, piece)
			}
		}
		for _, e := range mark.Evidence {
			if known != nil && !known(e) {
				wrong = "there is no evidence " + e
			}
		}
		if wrong != "" {
			return Errorf(path, "%s: %s", mark.ID, wrong)
		}
		seen[mark.ID] = true
	}
	return nil
}

// empty reports whether some list holds nothing.
func (n Needs) empty() bool {
	return slices.ContainsFunc(n, func(list []string) bool { return len(list) == 0 || slices.ContainsFunc(list, blank) })
}

func blank(s string) bool { return Fold(s) == "" }

// Errorf is an error of the data, with the file.
func Errorf(path, format string, args ...any) error {
	return memoir.Errorf(memoir.CodeInvalid, "", "%s: %s", path, fmt.Sprintf(format, args...))
}
