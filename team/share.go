package team

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"memoir"
	"memoir/config"
	"memoir/secrets"
	"memoir/store"
	"memoir/team/wire"
)

// Leaving is what may leave of the extractions of one project.
type Leaving struct {
	Key     string // of the project at the hub
	Machine string
	Scanner *secrets.Scanner
	places  []place
}

// Leaving returns what may leave of a project that is shared under a key.
func (o Options) Leaving(project memoir.Project, key, machine string) Leaving {
	return Leaving{Key: key, Machine: machine, Scanner: o.Scanner, places: placesOf(project.Directories, o.UserHome)}
}

// KeyOf returns the key of a project at the hub: its remote, or the name that a person gave it. The error says why it
// may not be shared.
func KeyOf(p memoir.Project, as string, settings config.Settings) (string, error) {
	key := cmp.Or(as, p.Remote)
	refuse := func(hint, format string, args ...any) (string, error) {
		return "", memoir.Errorf(memoir.CodeUsage, hint, format, args...)
	}
	switch {
	case p.IsUser():
		return refuse("", "the user's own memory is never shared")
	case slices.ContainsFunc(p.Directories, settings.Excluded):
		return refuse("the setting exclude keeps it out of memory", "%s is excluded: it is not shared", p.ID)
	case key == "" || as == "" && strings.Contains(strings.ToLower(key), "[redacted:"):
		return refuse("give it a name with --as NAME, the same on each machine",
			"%s has no remote by which other machines know it", p.ID)
	}
	return key, wire.CheckProject(key)
}

// A Leaf is a statement that leaves, with its own words for people.
type Leaf struct {
	wire.Statement
	Kind memoir.StatementKind
	Text string
}

// body is the JSON form of a statement that leaves. Again makes another hash of a statement that was withdrawn and may
// leave again: at the hub, a tombstone is for ever.
type body struct {
	memoir.Statement
	Again int `json:"again,omitempty"`
}

// Of returns the statements that leave of an extraction, each once, and those that stay here. sent is what was sent of
// it. Claims, and what a person may have meant, never leave.
func (l Leaving) Of(e memoir.Extraction, sent []store.Sent) (out []Leaf, held []Held) {
	withdrawn, known := map[string]bool{}, map[string]bool{}
	for _, s := range sent {
		withdrawn[s.Hash] = s.Key == l.Key && s.Withdrawn
	}
	session, day := wire.SessionHash(e.SessionKey, l.Machine), e.EndedAt.UTC().Format(time.DateOnly)
	places := l.places
	if e.CWD != "" && relative(e.CWD, places) == e.CWD { // it is no directory of the project any more
		places = append([]place{{e.CWD, ""}}, places...)
	}
	for _, st := range e.Statements {
		if st.Kind == memoir.StatementClaim || st.Signal == memoir.SignalMaybe {
			continue
		}
		own := said(st)
		st = bare(st, places)
		why, leaf := l.found(st), Leaf{Kind: st.Kind, Text: st.Text}
		for again := 0; why == "" && (again == 0 || withdrawn[leaf.Hash]); again++ {
			text, err := json.Marshal(body{st, again})
			if err != nil || len(text) > wire.MaxStatement {
				why = "it is too long"
			}
			leaf.Statement = wire.Statement{Hash: wire.Of(session, own, day, text), Session: session, Own: own, Day: day,
				Body: text}
		}
		switch {
		case why != "":
			held = append(held, Held{e.SessionKey, l.Key, why})
		case !known[leaf.Hash]:
			known[leaf.Hash] = true
			out = append(out, leaf)
		}
	}
	return out, held
}

// said reports whether a statement is a person's own word, which only their own machines get.
func said(st memoir.Statement) bool {
	return st.By == memoir.ByPerson || st.Kind == memoir.StatementPreference || st.Quote != "" ||
		st.Signal == memoir.SignalRule
}

// bare returns the fields of a statement that leave, without paths of this machine.
func bare(st memoir.Statement, places []place) memoir.Statement {
	st.ID, st.Quote, st.Items, st.Stands = "", "", nil, ""
	if strings.HasPrefix(st.Replaces, "#") { // a note's number means another note elsewhere
		st.Replaces = ""
	}
	clean := func(text string) string { return relative(memoir.Visible(text), places) }
	st = memoir.Changed([]memoir.Statement{st}, clean)[0]
	st.Paths = slices.DeleteFunc(st.Paths, func(p string) bool { return path.IsAbs(p) })
	return st
}

// found returns the rule of a secret in a statement, by the rules of now; empty if there is none.
func (l Leaving) found(st memoir.Statement) string {
	r := l.Scanner.Session()
	memoir.Changed(memoir.Changed([]memoir.Statement{st}, r.Text), r.AgainText)
	for _, rule := range slices.Sorted(maps.Keys(r.Counts())) {
		return "it has a secret (" + rule + ")"
	}
	return ""
}

// A place is a directory of this machine, and what stands for it elsewhere.
type place struct{ dir, as string }

// placesOf lists the directories of a project and the person's home directory, the longest first.
func placesOf(dirs []string, home string) (out []place) {
	for _, dir := range dirs {
		if len(dir) > 1 && dir != home && !strings.HasPrefix(home, dir+"/") {
			out = append(out, place{dir, ""}, place{config.FollowLinks(dir), ""})
		}
	}
	if len(home) > 1 {
		out = append(out, place{home, "~"}, place{config.FollowLinks(home), "~"})
	}
	slices.SortStableFunc(out, func(a, b place) int { return len(b.dir) - len(a.dir) })
	return slices.Compact(out)
}

// relative makes the paths of a text relative to its places.
func relative(text string, places []place) string {
	for _, p := range places {
		var b strings.Builder
		rest := text
		for at := strings.Index(rest, p.dir); at >= 0; at = strings.Index(rest, p.dir) {
			before, after := rest[:at], rest[at+len(p.dir):]
			b.WriteString(before)
			switch {
			case partOf(before, after): // another directory, whose name begins or ends so
				b.WriteString(p.dir)
			case p.as == "" && len(after) > 1 && after[0] == '/' && !blank(after[1]):
				after = after[1:]
			case p.as == "":
				b.WriteString(".")
			default:
				b.WriteString(p.as)
			}
			rest = after
		}
		text = b.String() + rest
	}
	return text
}

func blank(c byte) bool { return strings.IndexByte(" \t\n\"'`)]};,", c) >= 0 }

// partOf reports whether a path between two texts is only a part of one.
func partOf(before, after string) bool {
	name := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' }
	for i, r := range after {
		if name(r) {
			return true
		}
		if r != '.' || i > 0 { // a full stop may end a sentence
			break
		}
	}
	in := func(r rune) bool { return name(r) || strings.ContainsRune("/.~", r) }
	word := before[len(strings.TrimRightFunc(before, in)):]
	return word != "" && (word[0] == '.' || word[0] == '~' || word[0] == '/' && strings.Trim(word, "/") != "")
}

// arrived returns what is stored of a change, and whether anything is. me is this person's name. Whatever a hub sends
// is data: what is not understood is left out, and what remains is redacted.
func arrived(c wire.Change, me string, scanner *secrets.Scanner) (out store.Received, ok bool) {
	out = store.Received{Member: memberName(c.Member), Hash: c.Hash, Gone: c.Gone}
	if c.Member == me {
		out.Member = ""
	}
	var st memoir.Statement
	_, badDay := time.Parse(time.DateOnly, c.Day)
	switch {
	case !hexadecimal(c.Hash, 64):
		return out, false
	case c.Gone:
		return out, true
	case badDay != nil || !hexadecimal(c.Session, 24) || len(c.Body) > wire.MaxStatement || c.Own && out.Member != "",
		json.Unmarshal(c.Body, &st) != nil, st.Text == "", st.Kind == memoir.StatementClaim,
		!slices.Contains(memoir.StatementKinds, st.Kind), st.Signal == memoir.SignalMaybe:
		return out, false
	}
	if out.Member != "" {
		st = theirs(st)
	}
	st = bare(st, nil)
	st.Text, st.Purpose = strings.Join(strings.Fields(st.Text), " "), memoir.Cut(memoir.Visible(st.Purpose), 20)
	odd := func(p string) bool { return !memoir.Anchor{Path: p}.Valid() }
	if st.Paths = slices.DeleteFunc(st.Paths, odd); st.Dir != "" && odd(st.Dir) {
		st.Dir = ""
	}
	st.Anchors = slices.DeleteFunc(st.Anchors, func(a memoir.Anchor) bool { return !a.Valid() })
	st.Anchors = st.Anchors[:min(len(st.Anchors), memoir.MaxAnchors)]
	e, _ := scanner.Extraction(memoir.Extraction{Statements: []memoir.Statement{st}})
	out.Session, out.Day, out.Statement = c.Session, c.Day, e.Statements[0]
	return out, true
}

// theirs returns what another member says as what it is here: never this person's word, or a wish.
func theirs(st memoir.Statement) memoir.Statement {
	if said(st) || st.Signal == memoir.SignalNote {
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

func hexadecimal(text string, digits int) bool {
	return len(text) == digits && strings.Trim(text, "0123456789abcdef") == ""
}

// memberName returns the name of a member as it may stand in keys and lines; it is never empty, which is this person.
func memberName(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r) {
			return '_'
		}
		return r
	}, name)
	return cmp.Or(memoir.CutBytes(name, wire.MaxMemberName, ""), "_")
}
