package team

import (
	"cmp"
	"context"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/config"
	"memoir/consolidate"
	"memoir/secrets"
	"memoir/store"
	"memoir/team/wire"
)

// Waits says what the settings keep here of a project; empty if that is nothing.
func (o Options) Waits(project memoir.Project) (says string) {
	settings, err := o.Settings(project)
	for _, dir := range project.Directories {
		if settings.Excluded(dir) {
			says += "; nothing of " + dir + ", which is excluded"
		}
	}
	if err == nil && !settings.Team.Share {
		says += "; nothing does while team.share is false"
	}
	return says
}

// KeyOf returns the key of a project at the hub: its remote, or the name that a person gave it. The error says why it
// may not be shared.
func KeyOf(p memoir.Project, as string, settings config.Settings) (string, error) {
	key, hint, why := cmp.Or(as, p.Remote), "", ""
	leaves := func(dir string) bool { return !settings.Excluded(dir) }
	local := func(key string) bool {
		return path.IsAbs(key) || strings.Contains(strings.ToLower(key), "[redacted:")
	}
	switch {
	case p.IsUser():
		why = "the user's own memory is never shared"
	case len(p.Directories) > 0 && !slices.ContainsFunc(p.Directories, leaves):
		why, hint = p.ID+" is excluded: it is not shared", "the setting exclude keeps it out of memory"
	case key == "" || as == "" && local(key):
		why = p.ID + " has no remote by which other machines know it"
		name := "NAME"
		for _, alias := range p.Aliases { // a remote that it had, or that its sessions name
			if strings.Contains(alias, "/") && !local(alias) {
				name = alias
			}
		}
		hint = "name it with --as " + name + ", the same on each machine"
	default:
		return key, wire.CheckProject(key)
	}
	return "", memoir.Errorf(memoir.CodeUsage, hint, "%s", why)
}

// Statement is a statement as it leaves.
type Statement = wire.Statement

// Edit is a hand edit as it leaves.
type Edit = wire.Edit

// WouldLeave returns all statements and hand edits that would leave of a project if it was shared, and why others stay.
func WouldLeave(ctx context.Context, o Options, p memoir.Project, key string) ([]Statement, []Edit, []Held, error) {
	out, held := []Statement{}, []Held{}
	h, _ := Load(o.Home) // a home that has joined none may look, too
	all, _, err := o.Store.Selected(ctx, p.ID, math.MaxInt32)
	replaced, errReplaced := o.Store.ReplacedNotes(ctx)
	settings, errSettings := o.Settings(p)
	edits, errEdits := o.Store.HandEdits(ctx, p.ID)
	l := o.leaving(p, key, h.Machine, edits)
	for _, e := range all {
		_, gone := replaced[e.SessionKey]
		if !gone && !memoir.IsReceived(e.SessionKey) && !settings.Excluded(e.CWD) {
			leaves, stay := l.of(e, nil)
			out, held = append(out, leaves...), append(held, stay...)
		}
	}
	leaves, stay := l.edits(nil)
	return out, leaves, append(held, stay...), cmp.Or(err, errReplaced, errSettings, errEdits)
}

// leaving is what may leave of the extractions of one project.
type leaving struct {
	key, machine string
	scanner      *secrets.Scanner
	places       []place
	removed      map[string]bool // keys of lines that a person took out of the memory; false: by changing them
	edited       []wire.Edit     // lines of the hub that a person removed or changed; of these, the statements stay
}

func (o Options) leaving(p memoir.Project, key, machine string, edits []memoir.HandEdit) leaving {
	l := leaving{key, machine, o.Scanner, placesOf(p.Directories, o.UserHome), map[string]bool{}, []wire.Edit{}}
	changed := consolidate.Changed(edits)
	for _, edit := range edits {
		if edit.File != memoir.MemoryFile || edit.Action != memoir.EditRemoved || edit.Others > 0 ||
			edit.Hub == memoir.EditHere {
			continue // or it was moved
		}
		line := memoir.WithoutTeam(memoir.LineText(edit.Text))
		if edit.Hub > 0 {
			l.edited = append(l.edited, wire.Edit{Machine: machine, Generation: edit.Hub, Before: line, After: changed[line],
				Day: edit.At.UTC().Format(time.DateOnly)})
		}
		if key := memoir.LineKey(line); edit.Hub == 0 || changed[line] == "" {
			l.removed[key] = l.removed[key] || changed[line] == ""
		}
	}
	return l
}

func (l leaving) wire(session string) wire.Leaving {
	return wire.Leaving{Session: session, Secret: l.found,
		Relative: func(text string) string { return relative(text, l.places) }}
}

// taken returns by hash what was sent, and whether it was withdrawn from the project.
func (l leaving) taken(sent []store.Sent) map[string]bool {
	return memoir.MapOf(sent, func(s store.Sent) (string, bool) { return s.Hash, s.Key == l.key && s.Withdrawn })
}

// of returns the statements that leave of an extraction, each once, and those that stay here. sent is what was sent of
// it. Of a line that a person changed, what the hub has stays there, since the change goes to it, too; no more leaves.
func (l leaving) of(e memoir.Extraction, sent []store.Sent) (out []wire.Statement, held []Held) {
	taken := l.taken(sent)
	w := l.wire(wire.SessionHash(e.SessionKey, l.machine))
	e.Statements = slices.DeleteFunc(slices.Clone(e.Statements), func(st memoir.Statement) bool {
		gone, changed := l.removed[memoir.LineKey(st.Text)]
		if changed && !gone {
			one, _ := w.Of(memoir.Extraction{EndedAt: e.EndedAt, Statements: []memoir.Statement{st}}, taken)
			gone = !slices.ContainsFunc(one, func(st wire.Statement) bool { _, has := taken[st.Hash]; return has })
		}
		return gone
	})
	out, stay := w.Of(e, taken)
	for _, why := range stay {
		held = append(held, Held{e.SessionKey, l.key, why})
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

// Relative returns what makes the paths of a text relative to a project's directories, and to the home directory.
func Relative(dirs []string, home string) func(text string) string {
	places := placesOf(dirs, home)
	return func(text string) string { return relative(text, places) }
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
