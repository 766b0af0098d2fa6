package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/rollout"
	"memoir/store"
)

func sessionsCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "sessions", Category: groupSession,
		Usage: "list sessions with their state and its reason",
		Description: help("Lists every registered session, the latest first, with its age and its reason:\n"+
			"eligible, or why it is skipped. Reasons are those of the last run. A session that is\n"+
			"disabled is never extracted from, and its content is removed from its project's memory.",
			"memoir sessions --project . --reason eligible", "memoir sessions --since 7d --sort size --limit 10",
			"memoir sessions --json",
			"memoir sessions disable 019f1fd6", "memoir sessions enable 019f1fd6"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "project", Usage: "only of the project `REF`: an id, a name or a path"},
			&cli.StringFlag{Name: "source", Usage: "only of `AGENT`: " + strings.Join(sources(), ", ")},
			&cli.StringFlag{Name: "reason", Usage: "only those that are `REASON`: eligible, up_to_date, too_old, …"},
			&cli.StringFlag{Name: "kind", Usage: "only those of `KIND`: " + strings.Join(kindNames(), ", ")},
			&cli.StringFlag{Name: "since", Usage: "only those active since `TIME`: 7d, 12h, 2026-07-01 or 2026-07-01T12:00:00Z"},
			&cli.StringFlag{Name: "sort", Value: "updated", Usage: "sort by `ORDER`: " +
				strings.Join(orderNames(), ", ") + "; -size begins with the smallest"},
			&cli.BoolFlag{Name: "reverse", Usage: "reverse the order"},
			&cli.IntFlag{Name: "limit", DefaultText: "all", Usage: "list at most `N` sessions"},
			nowFlag(),
			jsonFlag(),
		},
		Action: p.sessions,
		Subcommands: []*cli.Command{
			markCommand(p, "disable", "keep a session out of memory", true),
			markCommand(p, "enable", "enable a disabled session", false),
		},
	}
}

func (p *program) sessions(c *cli.Context) error {
	l, err := p.listing(c)
	if err != nil {
		return err
	}
	st, err := p.openForListing(c)
	if err != nil {
		return err
	}
	var sessions []memoir.Session
	if st != nil {
		defer st.Close()
		ref, err := projectFlag(c)
		if err != nil {
			return err
		}
		if ref != "" {
			project, err := p.projectNamed(c, st, ref)
			if err != nil {
				return err
			}
			l.filter.Project = project.ID
		}
		if sessions, err = st.Sessions(c.Context, l.filter); err != nil {
			return err
		}
	}
	sessions, all := l.choose(sessions)
	out := struct {
		Sessions []sessionJSON `json:"sessions"`
	}{[]sessionJSON{}}
	t := newSessionTable()
	for _, s := range sessions {
		p.cleanSession(&s)
		out.Sessions = append(out.Sessions, asSessionJSON(s))
		t.row(s.Key(), age(l.now, s.UpdatedAt), size(s.Bytes), s.Reason, orDash(s.ProjectID), cmp.Or(s.Error, s.Title))
	}
	return p.result(c, out, func() {
		p.ui.table(t)
		if len(sessions) < all {
			p.ui.say("%d of %s", len(sessions), count(all, "session"))
		} else if st != nil {
			p.ui.say("%s", count(all, "session"))
		}
	})
}

// newSessionTable is an empty table of sessions.
func newSessionTable() *table {
	t := newTable("session", "age", "size", "reason", "project", "title")
	t.narrower = []step{{"title", 18}, {"session", 16}, {"size", 0}, {"project", 12}, {"project", 0}, {"age", 0},
		{"title", 8}}
	return t
}

// sources are the names of the agents.
func sources() []string {
	var names []string
	for _, agent := range rollout.Agents {
		names = append(names, string(agent.Source()))
	}
	slices.Sort(names)
	return append(names, string(memoir.SourceUnknown))
}

func markCommand(p *program, name, usage string, disabled bool) *cli.Command {
	return &cli.Command{
		Name: name, ArgsUsage: "SESSION", Usage: usage,
		Description: help("Names a session by its id, the beginning of its id, or source:id. The next run brings the\n"+
			"project's memory up to date.", "memoir sessions "+name+" 019f1fd6"),
		Action: func(c *cli.Context) error {
			ref, err := argument(c, "session")
			if err != nil {
				return err
			}
			st, err := p.openForWriting(c)
			if err != nil {
				return err
			}
			defer st.Close()
			session, err := p.findSession(c.Context, st, ref)
			if err != nil {
				return err
			}
			if err := st.SetDisabled(c.Context, session.Key(), disabled); err != nil {
				return err
			}
			p.ui.say("%s %sd: %s", session.Key(), name, orUntitled(session.Title))
			p.ui.sayHint("the next run brings its project's memory up to date")
			return nil
		},
	}
}

// listing says which sessions are listed, and in which order.
type listing struct {
	filter  store.Filter
	kind    memoir.SessionKind // empty: every kind
	since   time.Time          // zero: from the beginning
	now     time.Time          // ages are relative to it
	sort    string             // one of orders
	reverse bool
	limit   int // 0: none
}

// orders are the values of --sort; times and sizes are in descending order.
var orders = map[string]func(a, b memoir.Session) int{
	"updated": func(a, b memoir.Session) int { return b.UpdatedAt.Compare(a.UpdatedAt) },
	"created": func(a, b memoir.Session) int { return b.CreatedAt.Compare(a.CreatedAt) },
	"size":    func(a, b memoir.Session) int { return cmp.Compare(b.Bytes, a.Bytes) },
	"title": func(a, b memoir.Session) int {
		return strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title))
	},
	"project": func(a, b memoir.Session) int { return strings.Compare(a.ProjectID, b.ProjectID) },
}

func orderNames() []string { return []string{"updated", "created", "size", "title", "project"} }

func kindNames() []string {
	return names([]memoir.SessionKind{memoir.KindMain, memoir.KindSubagent, memoir.KindAutomation, memoir.KindOwnRun})
}

func reasonNames() []string { return names(memoir.Reasons) }

func names[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// listing reads the flags of `memoir sessions`, except the project, which only the registry knows.
func (p *program) listing(c *cli.Context) (listing, error) {
	l := listing{limit: c.Int("limit"), reverse: c.Bool("reverse"), sort: "updated"}
	for _, flag := range []struct {
		name, what string
		names      []string
		into       *string
	}{
		{"reason", "reason", reasonNames(), (*string)(&l.filter.Reason)},
		{"source", "agent", sources(), (*string)(&l.filter.Source)},
		{"kind", "kind", kindNames(), (*string)(&l.kind)},
		{"sort", "order", orderNames(), &l.sort},
	} {
		if !c.IsSet(flag.name) {
			continue
		}
		value := c.String(flag.name)
		if rest, ok := strings.CutPrefix(value, "-"); ok && flag.name == "sort" {
			value, l.reverse = rest, !l.reverse
		}
		if !slices.Contains(flag.names, value) {
			return l, usagef(didYouMean(value, flag.names), "--%s: unknown %s %q", flag.name, flag.what, value)
		}
		*flag.into = value
	}
	if c.IsSet("limit") && l.limit < 1 {
		return l, usagef("", "--limit: %d is not a number of sessions; 1 or more", l.limit)
	}
	var err error
	if l.now, err = timeFlag(c, "now"); err != nil {
		return l, err
	}
	if l.now.IsZero() {
		l.now = time.Now()
	}
	l.since, err = sinceFlag(c, "since", l.now)
	return l, err
}

// choose returns the sessions of the listing, in order, and their number before the limit.
func (l listing) choose(sessions []memoir.Session) (chosen []memoir.Session, all int) {
	sessions = slices.DeleteFunc(sessions, func(s memoir.Session) bool {
		return s.UpdatedAt.Before(l.since) || l.kind != "" && s.Kind != l.kind
	})
	order := orders[l.sort]
	slices.SortStableFunc(sessions, func(a, b memoir.Session) int {
		by := order(a, b)
		if l.reverse {
			by = -by
		}
		return cmp.Or(by, orders["updated"](a, b), strings.Compare(a.Key(), b.Key()))
	})
	all = len(sessions)
	if l.limit > 0 && l.limit < all {
		sessions = sessions[:l.limit]
	}
	return sessions, all
}

// sessionJSON is a session as `sessions --json` and `show --json` give it.
type sessionJSON struct {
	ID        string     `json:"id"`
	Source    string     `json:"source"`
	Project   string     `json:"project"`
	Title     string     `json:"title"`
	CWD       string     `json:"cwd"`
	Files     []string   `json:"files"`
	Bytes     int64      `json:"bytes"`
	CreatedAt *time.Time `json:"created_at"` // null if unknown
	UpdatedAt *time.Time `json:"updated_at"`
	Kind      string     `json:"kind"`
	Reason    string     `json:"reason"`
	Error     string     `json:"error"`
	Parent    string     `json:"parent"`
	Branch    string     `json:"branch"`
	Remote    string     `json:"remote"`
}

func asSessionJSON(s memoir.Session) sessionJSON {
	out := sessionJSON{
		ID: s.ID, Source: string(s.Source), Project: s.ProjectID, Title: s.Title, CWD: s.CWD, Files: []string{},
		Bytes: s.Bytes, CreatedAt: timeJSON(s.CreatedAt), UpdatedAt: timeJSON(s.UpdatedAt), Kind: string(s.Kind),
		Reason: string(s.Reason), Error: s.Error, Parent: s.ParentID, Branch: s.Branch, Remote: s.Remote,
	}
	for _, f := range s.Files {
		out.Files = append(out.Files, f.Path)
	}
	return out
}

// itemJSON is an item as `show --json` gives it.
type itemJSON struct {
	N      int        `json:"n"`
	Kind   string     `json:"kind"`
	Role   string     `json:"role"`
	Text   string     `json:"text"`
	Tool   string     `json:"tool"`
	Input  string     `json:"input"`
	Output string     `json:"output"`
	Exit   *int       `json:"exit"` // null if the format has none
	At     *time.Time `json:"at"`
	CWD    string     `json:"cwd"`
	Branch string     `json:"branch"`
	Origin string     `json:"origin"`
	Failed bool       `json:"failed"`
	Final  bool       `json:"final"`
}

func asItemJSON(it memoir.Item) itemJSON {
	return itemJSON{
		N: it.N, Kind: it.Kind, Role: it.Role, Text: it.Text, Tool: it.Tool, Input: it.Input, Output: it.Output,
		Exit: it.Exit, At: timeJSON(it.At), CWD: it.CWD, Branch: it.Branch, Origin: string(it.Origin),
		Failed: it.Failed, Final: it.Final,
	}
}

// timeJSON is a time for JSON: UTC, null if it is zero.
func timeJSON(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
