package wire

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode"

	"memoir"
)

// Said reports whether a statement is a person's own word, which only their own machines get.
func Said(st memoir.Statement) bool {
	return st.By == memoir.ByPerson || st.Kind == memoir.StatementPreference || st.Quote != "" ||
		st.Signal == memoir.SignalRule
}

// Bare returns the fields of a statement that leave a machine. relative makes the paths of a text relative; those that
// it leaves absolute are dropped.
func Bare(st memoir.Statement, relative func(string) string) memoir.Statement {
	st.ID, st.Quote, st.Items, st.Stands = "", "", nil, ""
	if strings.HasPrefix(st.Replaces, "#") { // a note's number means another note elsewhere
		st.Replaces = ""
	}
	clean := func(text string) string { return relative(memoir.Visible(text)) }
	st = memoir.Changed([]memoir.Statement{st}, clean)[0]
	st.Paths = slices.DeleteFunc(st.Paths, path.IsAbs)
	return st
}

// maxTimes bounds how often another machine says that something passed.
const maxTimes = 100

// Received returns the statement of a change as it may be used, without redaction, and whether it may. mine says that
// this person sent it. What is not understood is left out.
func (c Change) Received(mine bool) (st memoir.Statement, ok bool) {
	if c.Gone || c.Check() != nil || c.Own && !mine || json.Unmarshal(c.Body, &st) != nil || st.Text == "" ||
		st.Unproved() || !slices.Contains(memoir.StatementKinds, st.Kind) ||
		st.Signal == memoir.SignalMaybe {
		return memoir.Statement{}, false
	}
	if !mine {
		st = theirs(st)
	}
	st = Bare(st, func(text string) string { return text })
	st.Times = max(0, min(st.Times, maxTimes))
	st.Text, st.Purpose = strings.Join(strings.Fields(st.Text), " "), memoir.Cut(memoir.Visible(st.Purpose), 20)
	odd := func(p string) bool { return !memoir.Anchor{Path: p}.Valid() }
	if st.Paths = slices.DeleteFunc(st.Paths, odd); st.Dir != "" && odd(st.Dir) {
		st.Dir = ""
	}
	st.Anchors = slices.DeleteFunc(st.Anchors, func(a memoir.Anchor) bool { return !a.Valid() })
	st.Anchors = st.Anchors[:min(len(st.Anchors), memoir.MaxAnchors)]
	return st, true
}

// theirs returns what another member says as what it is here: never this person's word, or a wish.
func theirs(st memoir.Statement) memoir.Statement {
	if Said(st) || st.Signal == memoir.SignalNote {
		st.Signal = memoir.SignalModel
	}
	if st.By != memoir.ByTool {
		st.By = memoir.ByAgent
	}
	if st.Kind == memoir.StatementPreference {
		st.Kind = memoir.StatementDecision
	}
	st.Replaces = ""
	return st
}

// MemberName returns the name of a member as it may stand in keys and lines; it is never empty, which is this person.
func MemberName(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r) {
			return '_'
		}
		return r
	}, name)
	return cmp.Or(memoir.CutBytes(name, MaxMemberName, ""), "_")
}
