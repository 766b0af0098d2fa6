package wire

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Leaving says how the statements of a session leave a machine.
type Leaving struct {
	Session  string                        // SessionHash
	Relative func(text string) string      // makes the paths of a text relative
	Secret   func(memoir.Statement) string // says that a statement has a secret; empty if it has none
}

// A body is the JSON form of a statement that leaves. Again makes another hash of a statement that was withdrawn and
// may leave again: at the hub, a tombstone is for ever.
type body struct {
	memoir.Statement
	Again int `json:"again,omitempty"`
}

// Of returns the statements that leave of an extraction, each once, and why others stay. taken has the hashes of what
// was sent of it; true: they cannot be sent again. Unproved claims, and what a person may have meant, never leave.
func (l Leaving) Of(e memoir.Extraction, taken map[string]bool) (out []Statement, stay []string) {
	one := Statement{Session: l.Session, Day: e.EndedAt.UTC().Format(time.DateOnly)}
	known := map[string]bool{}
	for _, st := range e.Statements {
		if st.Unproved() || st.Signal == memoir.SignalMaybe {
			continue
		}
		one.Own = Said(st)
		b := body{Statement: Bare(st, l.Relative)}
		why := cmp.Or(l.Secret(b.Statement), personal(b.Statement, one.Own))
		for one.Hash = ""; one.Hash == "" || taken[one.Hash]; b.Again++ {
			one.Body, _ = json.Marshal(b) // of plain fields
			one.Hash = Of(one.Session, one.Own, one.Day, one.Body)
		}
		if len(one.Body) > MaxStatement {
			why = "it is too long"
		}
		if why != "" {
			stay = append(stay, why)
		} else if !known[one.Hash] {
			known[one.Hash], out = true, append(out, one)
		}
	}
	return out, stay
}

// elsewhere matches a path below a person's directory. Hidden directories of programs are alike everywhere.
var elsewhere = lazyregexp.New(`(?:^|[^\w./-])(?:~/[^.\s]|/(?:home|Users|Volumes|mnt)/)`)

// sets matches a variable that a command sets to more than a number of four digits.
var sets = lazyregexp.New(`(?:^|[\s;|("']|&&)[A-Za-z_]\w*=["']?(?:\d*[^\s\d=;&|)"']|\d{5})`)

var codeSpan = lazyregexp.New("`[^`]+`")

// personal says that a statement names a directory outside of the project, or has an address of mail or a variable of
// one person's environment, unless the person gave it; it is empty if none is so. Which variables are a person's, no
// form tells.
func personal(st memoir.Statement, own bool) string {
	commands := []string{st.Command, st.Fix}
	if st.Kind != memoir.StatementOutcome { // whose text is of the work, not of what to run
		commands = append(commands, codeSpan.FindAllString(st.Text, -1)...)
	}
	for _, command := range commands {
		if !own && sets.MatchString(strings.Trim(command, "`")) {
			return "it sets a variable, whose value may be yours alone"
		}
	}
	for _, text := range st.Texts() {
		switch {
		case elsewhere.MatchString(*text):
			return "it names a directory outside of the project"
		case !own && memoir.HasMail(*text):
			return "it has what looks like an address of mail"
		}
	}
	return ""
}
