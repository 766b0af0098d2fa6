package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/store"
)

// listing says which sessions are listed, and in which order.
type listing struct {
	filter  store.Filter
	kind    memoir.SessionKind // empty: every kind
	since   time.Time          // zero: from the beginning
	now     time.Time          // what ages are counted from
	sort    string             // one of orders
	reverse bool
	limit   int // 0: none
}

// orders are what sessions can be sorted by; times and sizes begin with the
// latest and the largest.
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

// asked reads the flags of `memoir sessions`, but for the project, which only the
// registry knows.
func (p *program) asked(c *cli.Context) (listing, error) {
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
	if l.now, err = moment(c, "now"); err != nil {
		return l, err
	}
	if l.now.IsZero() {
		l.now = time.Now()
	}
	l.since, err = momentOrSpan(c, "since", l.now)
	return l, err
}

// choose keeps the sessions that are asked for, in order, and says how many there
// were before the limit.
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
