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

	"memoir"
)

// Needs says what a line must hold: of each list one string, whatever the letter
// case and the white space.
type Needs [][]string

// Fact is something that a coding agent should know in a later session on the same
// project.
type Fact struct {
	ID       string   `yaml:"id"` // unique in its file
	Kind     string   `yaml:"kind"`
	Weight   int      `yaml:"weight"` // 3: a later agent goes wrong without it; 2: it saves work; 1: nice to know
	Text     string   `yaml:"text"`
	Evidence []string `yaml:"evidence"` // numbers of items or entries; in a project, sessions
	Proof    Needs    `yaml:"proof"`    // what of the transcript must still be there to know the fact
	Needs    Needs    `yaml:"needs"`
}

// Trap is something that stands in a session and must not be remembered as it is.
type Trap struct {
	ID       string   `yaml:"id"` // unique in its file
	Kind     string   `yaml:"kind"`
	Text     string   `yaml:"text"`
	Evidence []string `yaml:"evidence"`
	Needs    Needs    `yaml:"needs"`
	Unless   []string `yaml:"unless"` // a line that holds one of these is not in the trap
}

// Superseded is the kind of a trap that was true once: stated as if it still held, it
// contradicts what came later.
const Superseded = "superseded"

// FactKinds and TrapKinds are the kinds there are.
var (
	FactKinds = []string{"preference", "constraint", "command", "failure", "decision", "finding", "environment", "file",
		"task", "outcome"}
	TrapKinds = []string{"one-off", "refused", Superseded, "boilerplate", "tool-output", "narration", "proposal",
		"other-project"}
)

// longestProof bounds one piece of a proof, in characters.
const longestProof = 80

// Check fails with memoir.CodeInvalid if a mark is not of the form. Evidence is the
// caller's to check; nil known accepts any.
func Check(path string, facts []Fact, traps []Trap, known func(evidence string) bool) error {
	seen := map[string]bool{}
	mark := func(id, kind, text string, kinds, evidence []string, needs Needs) error {
		switch {
		case id == "":
			return Errorf(path, "a mark without an id: %q", text)
		case seen[id]:
			return Errorf(path, "two marks are called %s", id)
		case !slices.Contains(kinds, kind):
			return Errorf(path, "%s: no kind is called %q", id, kind)
		case text == "":
			return Errorf(path, "%s says nothing", id)
		}
		seen[id] = true
		for _, e := range evidence {
			if known != nil && !known(e) {
				return Errorf(path, "%s: there is no evidence %s", id, e)
			}
		}
		return needs.check(path, id, "needs")
	}
	for _, f := range facts {
		if err := mark(f.ID, f.Kind, f.Text, FactKinds, f.Evidence, f.Needs); err != nil {
			return err
		}
		if f.Weight < 1 || f.Weight > 3 {
			return Errorf(path, "%s: weight is 1, 2 or 3, not %d", f.ID, f.Weight)
		}
		if f.Proof == nil {
			continue
		}
		if err := f.Proof.check(path, f.ID, "proof"); err != nil {
			return err
		}
		for _, piece := range slices.Concat(f.Proof...) {
			if n := len([]rune(piece)); n > longestProof {
				return Errorf(path, "%s: a piece of its proof has %d characters, over %d: %q", f.ID, n, longestProof, piece)
			}
		}
	}
	for _, t := range traps {
		if err := mark(t.ID, t.Kind, t.Text, TrapKinds, t.Evidence, t.Needs); err != nil {
			return err
		}
		if slices.ContainsFunc(t.Unless, blank) {
			return Errorf(path, "%s: an empty string in its unless", t.ID)
		}
	}
	return nil
}

func (n Needs) check(path, id, what string) error {
	if len(n) == 0 {
		return Errorf(path, "%s: its %s are empty", id, what)
	}
	for _, list := range n {
		if len(list) == 0 || slices.ContainsFunc(list, blank) {
			return Errorf(path, "%s: an empty list or string in its %s", id, what)
		}
	}
	return nil
}

func blank(s string) bool { return Fold(s) == "" }

// Errorf is an error of the data, with the file.
func Errorf(path, format string, args ...any) error {
	return memoir.Errorf(memoir.CodeInvalid, "", "%s: %s", path, fmt.Sprintf(format, args...))
}
