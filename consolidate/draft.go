package consolidate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"memoir"
)

// draftVersion changes with every change of the rules by which statements are
// compared, so that an earlier version's draft is not taken up.
const draftVersion = 1

// A draft is what comparing the statements of sessions has shown so far: which
// claim each of them joined. Sessions are gone through oldest first, and what they
// join depends on older ones alone. So for as many of the oldest sessions as are
// as they were, nothing is compared again, and the result is the same as without
// the draft. It holds no text.
type draft struct {
	Version  int       `json:"version"`
	Sessions []drafted `json:"sessions"` // oldest first

	same     int // how many of the oldest sessions are as they were when the draft was made
	compared int // how many statements were compared with what there was
}

// drafted is one session in a draft.
type drafted struct {
	Hash  string                         `json:"hash"`  // of its statements
	Joins map[memoir.StatementKind][]int `json:"joins"` // the claim that each statement of a kind joined, in their order; none for a procedure that is too short
}

// takeUp reads a draft that an earlier consolidation left and prepares it for the
// sessions of this one. One that cannot be used is the same as none.
func takeUp(data []byte, sessions []*session) *draft {
	d := &draft{}
	if json.Unmarshal(data, d) != nil || d.Version != draftVersion {
		d = &draft{Version: draftVersion}
	}
	for d.same < min(len(d.Sessions), len(sessions)) && d.Sessions[d.same].Hash == sessions[d.same].hash() {
		d.same++
	}
	d.Sessions = d.Sessions[:d.same]
	for _, s := range sessions[d.same:] {
		d.Sessions = append(d.Sessions, drafted{Hash: s.hash(), Joins: map[memoir.StatementKind][]int{}})
	}
	for _, kind := range draftedKinds {
		if !d.sound(sessions, kind) {
			return takeUp(nil, sessions)
		}
	}
	return d
}

// none is what a procedure joins that is too short to recur.
const none = -1

// draftedKinds are the kinds of statements that are compared with each other.
var draftedKinds = []memoir.StatementKind{
	memoir.StatementPreference, memoir.StatementDecision, memoir.StatementFailure, memoir.StatementEnvironment, memoir.StatementProcedure,
}

// sound reports whether what the draft says of a kind can be true of the sessions.
func (d *draft) sound(sessions []*session, kind memoir.StatementKind) bool {
	claims := 0
	for i, s := range sessions[:d.same] {
		n := 0
		for _, st := range s.statements {
			if st.Kind == kind {
				n++
			}
		}
		if len(d.Sessions[i].Joins[kind]) != n {
			return false
		}
		for _, at := range d.Sessions[i].Joins[kind] {
			if at < 0 && kind == memoir.StatementProcedure {
				continue
			}
			if at < 0 || at > claims {
				return false
			}
			if at == claims {
				claims++
			}
		}
	}
	return true
}

// joined lists what the statements of a kind of a session joined.
func (d *draft) joined(session int, kind memoir.StatementKind) []int {
	return d.Sessions[session].Joins[kind]
}

// join records what the next statement of a kind of a session joined.
func (d *draft) join(session int, kind memoir.StatementKind, claim int) {
	joins := d.Sessions[session].Joins
	joins[kind] = append(joins[kind], claim)
}

func (d *draft) bytes() []byte {
	data, err := json.Marshal(d)
	if err != nil { // strings and whole numbers only
		return nil
	}
	return data
}

// hash is the fingerprint of what a session states.
func (s *session) hash() string {
	sum := sha256.Sum256([]byte(memoir.FormatStatements(s.statements)))
	return hex.EncodeToString(sum[:12])
}
