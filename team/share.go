package team

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/config"
	"memoir/secrets"
	"memoir/store"
	"memoir/team/wire"
)

// Waits says that the settings keep a project's statements here; empty if they do not.
func (o Options) Waits(project memoir.Project) string {
	if settings, err := o.Settings(project); err == nil && !settings.Team.Share {
		return "; nothing does while team.share is false"
	}
	return ""
}

// KeyOf returns the key of a project at the hub: its remote, or the name that a person gave it. The error says why it
// may not be shared.
func KeyOf(p memoir.Project, as string, settings config.Settings) (string, error) {
	key, hint, why := cmp.Or(as, p.Remote), "", ""
	switch {
	case p.IsUser():
		why = "the user's own memory is never shared"
	case slices.ContainsFunc(p.Directories, settings.Excluded):
		why, hint = p.ID+" is excluded: it is not shared", "the setting exclude keeps it out of memory"
	case key == "" || as == "" && (path.IsAbs(key) || strings.Contains(strings.ToLower(key), "[redacted:")):
		why = p.ID + " has no remote by which other machines know it"
		hint = "name it with --as NAME, the same on each machine"
	default:
		return key, wire.CheckProject(key)
	}
	return "", memoir.Errorf(memoir.CodeUsage, hint, "%s", why)
}

// Statement is a statement as it leaves.
type Statement = wire.Statement

// WouldLeave returns all statements that would leave of a project if it was shared, and those that would stay.
func WouldLeave(ctx context.Context, o Options, p memoir.Project, key string) ([]Statement, []Held, error) {
	out, held := []Statement{}, []Held{}
	h, _ := Load(o.Home) // a home that has joined none may look, too
	all, _, err := o.Store.Selected(ctx, p.ID, math.MaxInt32)
	l := o.leaving(p, key, h.Machine)
	for _, e := range all {
		if !memoir.IsReceived(e.SessionKey) {
			leaves, stay := l.of(e, nil)
			out, held = append(out, leaves...), append(held, stay...)
		}
	}
	return out, held, err
}

// leaving is what may leave of the extractions of one project.
type leaving struct {
	key, machine string
	scanner      *secrets.Scanner
	places       []place
}

func (o Options) leaving(p memoir.Project, key, machine string) leaving {
	return leaving{key, machine, o.Scanner, placesOf(p.Directories, o.UserHome)}
}

// body is the JSON form of a statement that leaves. Again makes another hash of a statement that was withdrawn and may
// leave again: at the hub, a tombstone is for ever.
type body struct {
	memoir.Statement
	Again int `json:"again,omitempty"`
}

// of returns the statements that leave of an extraction, each once, and those that stay here. sent is what was sent of
// it. Claims, and what a person may have meant, never leave.
func (l leaving) of(e memoir.Extraction, sent []store.Sent) (out []wire.Statement, held []Held) {
	taken := map[string]bool{}
	for _, s := range sent {
		taken[s.Hash] = s.Key == l.key && s.Withdrawn
	}
	one := wire.Statement{Session: wire.SessionHash(e.SessionKey, l.machine), Day: e.EndedAt.UTC().Format(time.DateOnly)}
	known := map[string]bool{}
	for _, st := range e.Statements {
		if st.Kind == memoir.StatementClaim || st.Signal == memoir.SignalMaybe {
			continue
		}
		one.Own = wire.Said(st)
		b := body{Statement: wire.Bare(st, func(text string) string { return relative(text, l.places) })}
		why := cmp.Or(l.found(b.Statement), outside(b.Statement))
		for one.Hash = ""; one.Hash == "" || taken[one.Hash]; b.Again++ {
			one.Body, _ = json.Marshal(b) // of plain fields
			one.Hash = wire.Of(one.Session, one.Own, one.Day, one.Body)
		}
		if len(one.Body) > wire.MaxStatement {
			why = "it is too long"
		}
		if why != "" {
			held = append(held, Held{e.SessionKey, l.key, why})
		} else if !known[one.Hash] {
			known[one.Hash], out = true, append(out, one)
		}
	}
	return out, held
}

// found names the rule of a secret in a statement, by the rules of now; it is empty if there is none.
func (l leaving) found(st memoir.Statement) string {
	r := l.scanner.Session()
	memoir.Changed([]memoir.Statement{st}, r.Text)
	rules := strings.Join(slices.Sorted(maps.Keys(r.Counts())), ", ")
	if rules == "" {
		return ""
	}
	return "it has a secret (" + rules + ")"
}

// elsewhere matches a path below a person's directory. Hidden directories of programs are alike everywhere.
var elsewhere = regexp.MustCompile(`(?:^|[^\w./-])(?:~/[^.\s]|/(?:home|Users|Volumes|mnt)/)`)

// outside says that a statement names a directory outside of the project; it is empty if it names none.
func outside(st memoir.Statement) string {
	for _, text := range st.Texts() {
		if elsewhere.MatchString(*text) {
			return "it names a directory outside of the project"
		}
	}
	return ""
}

// A place is a directory of this machine, and what stands for it elsewhere.
type place struct {
	dir, as       string
	below, itself *regexp.Regexp
}

// placesOf lists the directories of a project and the person's home directory, the longest first.
func placesOf(dirs []string, home string) (out []place) {
	const before = `(^|[^\w./~]|://|(?:^|\s)-\w)` // not in a longer path; but -I/dir and file:///dir are of this one
	add := func(dir, as string) {
		for _, dir := range slices.Compact([]string{dir, config.FollowLinks(dir)}) {
			out = append(out, place{dir, as,
				regexp.MustCompile(before + regexp.QuoteMeta(dir) + "/([^\\s\"'`)\\]},;])"),
				regexp.MustCompile(before + regexp.QuoteMeta(dir) + `(/?(?:[^\w./-]|\.?$|\.\W))`)})
		}
	}
	if len(home) > 1 {
		add(home, "~")
	}
	for _, dir := range dirs {
		if len(dir) > 1 && !strings.HasPrefix(home+"/", dir+"/") {
			add(dir, ".")
		}
	}
	slices.SortStableFunc(out, func(a, b place) int { return len(b.dir) - len(a.dir) })
	return out
}

// relative makes the paths of a text relative to its places.
func relative(text string, places []place) string {
	for _, p := range places {
		for range 2 { // what stands between two may belong to the first
			if strings.Contains(text, p.dir) {
				text = p.below.ReplaceAllString(text, "${1}"+strings.TrimPrefix(p.as+"/", "./")+"${2}")
				text = p.itself.ReplaceAllString(text, "${1}"+p.as+"${2}")
			}
		}
	}
	return text
}

// arrived returns what is stored of a change, and whether anything is. me is this person's name. Whatever a hub sends
// is data: what is not understood is left out, and what remains is redacted.
func arrived(c wire.Change, me string, scanner *secrets.Scanner) (out store.Received, ok bool) {
	out = store.Received{Member: wire.MemberName(c.Member), Hash: c.Hash, Gone: c.Gone, Session: c.Session, Day: c.Day}
	if c.Member == me {
		out.Member = ""
	}
	if c.Gone {
		return out, wire.IsHex(c.Hash, wire.HashDigits)
	}
	st, ok := c.Received(out.Member == "")
	if ok {
		e, _ := scanner.Extraction(memoir.Extraction{Statements: []memoir.Statement{st}})
		out.Statement = e.Statements[0]
	}
	return out, ok
}
