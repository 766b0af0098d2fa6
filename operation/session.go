package operation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/extract"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/store"
)

// Session is the form of a session.
type Session struct {
	ID        string     `json:"id"`
	Source    string     `json:"source"`
	Project   string     `json:"project"`
	Title     string     `json:"title"`
	CWD       string     `json:"cwd"`
	Files     []string   `json:"files"`
	Bytes     int64      `json:"bytes"`
	CreatedAt *time.Time `json:"created_at"`
	UpdatedAt *time.Time `json:"updated_at"`
	Kind      string     `json:"kind"`
	Reason    string     `json:"reason"`
	Error     string     `json:"error"`
	Parent    string     `json:"parent"`
	Branch    string     `json:"branch"`
	Remote    string     `json:"remote"`
}

// SessionOf returns the form of a session with a plain title and clean texts, except the paths of its files: a person
// needs them to find the files.
func SessionOf(s memoir.Session, clean func(string) string) Session {
	return Session{
		ID: clean(s.ID), Source: string(s.Source), Project: s.ProjectID, CWD: clean(s.CWD),
		Title: extract.Title(clean(s.Title)),
		Files: memoir.Map(s.Files, func(f memoir.File) string { return f.Path }), Bytes: s.Bytes,
		CreatedAt: Time(s.CreatedAt), UpdatedAt: Time(s.UpdatedAt),
		Kind: string(s.Kind), Reason: string(s.Reason), Error: clean(s.Error), Parent: clean(s.ParentID),
		Branch: clean(s.Branch), Remote: clean(s.Remote),
	}
}

// Key returns the session's key.
func (s Session) Key() string { return memoir.SessionKey(memoir.Source(s.Source), s.ID) }

// Sessions is a list of sessions.
type Sessions struct {
	Sessions []Session `json:"sessions"`
	All      int       `json:"-"` // with those that were left out
}

// ListSessions lists at most most sessions, with 0 as many as the filter says, with clean texts, titled by what they
// did if that is known. They are entries, or received, only if the filter names their source.
func ListSessions(ctx context.Context, st *store.Store, filter store.Filter, most int, clean func(string) string) (
	Sessions, error) {
	filter.Listed, filter.Most = true, cmp.Or(most, filter.Most)
	found, err := st.Sessions(ctx, filter)
	out := Sessions{[]Session{}, len(found)}
	if most > 0 && err == nil {
		out.All, err = st.CountSessions(ctx, filter)
	}
	errTitles := st.Entitle(ctx, found)
	for _, s := range found {
		out.Sessions = append(out.Sessions, SessionOf(s, clean))
	}
	return out, cmp.Or(err, errTitles)
}

// FindSession returns the session that ref names among those that a door shows.
func FindSession(ctx context.Context, st *store.Store, ref string, shown func(memoir.Session) bool) (
	memoir.Session, error) {
	found, err := st.FindSessions(ctx, ref)
	if err != nil {
		return memoir.Session{}, err
	}
	found = slices.DeleteFunc(found, func(s memoir.Session) bool { return !shown(s) })
	switch len(found) {
	case 0:
		return memoir.Session{}, memoir.Errorf(memoir.CodeNotFound, "", "no session matches %q", ref)
	case 1:
		return found[0], st.Entitle(ctx, found)
	}
	keys := strings.Join(memoir.Map(found, memoir.Session.Key), ", ")
	return memoir.Session{}, memoir.Errorf(memoir.CodeUsage, "use one of "+memoir.Cut(keys, 200),
		"%q matches %d sessions", ref, len(found))
}

// Item is the form of a session's item.
type Item struct {
	N      int        `json:"n"`
	Kind   string     `json:"kind"`
	Role   string     `json:"role"`
	Text   string     `json:"text"`
	Tool   string     `json:"tool"`
	Input  string     `json:"input"`
	Output string     `json:"output"`
	Exit   *int       `json:"exit"` // exit code; null if the transcript has none
	At     *time.Time `json:"at"`
	CWD    string     `json:"cwd"`
	Branch string     `json:"branch"`
	Origin string     `json:"origin"`
	Failed bool       `json:"failed"`
	Final  bool       `json:"final"`
	Shown  string     `json:"-"` // text for a page
}

// ItemOf returns the form of an item.
func ItemOf(it memoir.Item) Item {
	return Item{
		N: it.N, Kind: it.Kind, Role: it.Role, Text: it.Text, Tool: it.Tool, Input: it.Input, Output: it.Output,
		Exit: it.Exit, At: Time(it.At), CWD: it.CWD, Branch: it.Branch, Origin: string(it.Origin),
		Failed: it.Failed, Final: it.Final, Shown: ItemText(it),
	}
}

// ItemText returns the text of an item for display and for token counts.
func ItemText(it memoir.Item) string {
	if it.Kind != memoir.ItemTool {
		who := it.Role
		if string(it.Origin) != it.Role && it.Origin != memoir.OriginAgent {
			who += " (" + strings.ReplaceAll(string(it.Origin), "_", " ") + ")"
		}
		return fmt.Sprintf("[%d] %s\n%s", it.N, who, strings.TrimRight(it.Text, "\n"))
	}
	text := fmt.Sprintf("[%d] %s", it.N, it.Tool)
	if it.Exit != nil {
		text += fmt.Sprintf(" exit %d", *it.Exit)
	} else if it.Failed {
		text += " failed"
	}
	if it.Shell() {
		text += "\n$ " + it.Input
	} else if it.Input != "" {
		text += "\n" + it.Input
	}
	if it.Output != "" {
		text += "\n" + strings.TrimRight(it.Output, "\n")
	}
	return text
}

// A Reading is a session with its items as Phase 1 reads them.
type Reading struct {
	Session Session `json:"session"`
	Items   []Item  `json:"items"`
	Omitted int     `json:"omitted"`
	Tokens  int     `json:"tokens"`
}

// ReadingOf returns the form of a session with redacted items.
func ReadingOf(s Session, items []memoir.Item, omitted int) Reading {
	out := Reading{Session: s, Items: []Item{}, Omitted: omitted}
	for _, it := range items {
		one := ItemOf(it)
		out.Tokens += memoir.Tokens(one.Shown)
		out.Items = append(out.Items, one)
	}
	return out
}

// read reads a session. It does not find forgotten sessions and entries.
func (a Access) read(ctx context.Context, st *store.Store, ref string) (memoir.Session, pipeline.Loaded, error) {
	session, err := FindSession(ctx, st, ref, func(s memoir.Session) bool {
		return s.Reason != memoir.ReasonForgotten && s.Kind != memoir.KindEntry
	})
	if err != nil {
		return session, pipeline.Loaded{}, err
	}
	loaded, err := pipeline.LoadSession(ctx, a.Home, session, a.Scanner)
	return session, loaded, err
}

// Show returns a session with its items from number at on, all neutralised. It does not find forgotten sessions and
// entries. Of a session whose transcript is gone it returns what was stored for searching, and says so as its error.
func (a Access) Show(ctx context.Context, st *store.Store, ref string, at int) (Reading, error) {
	session, loaded, err := a.read(ctx, st, ref)
	if err != nil {
		loaded, err = pipeline.LoadStored(ctx, st, session, a.Scanner, err)
	}
	if err != nil {
		return Reading{}, err
	}
	form := SessionOf(session, a.Clean)
	form.Error = cmp.Or(loaded.Gone, form.Error)
	form.Title = loaded.Again(form.Title)
	items := slices.DeleteFunc(loaded.Items, func(it memoir.Item) bool { return it.N < at })
	for i := range items {
		it := &items[i]
		for _, text := range []*string{&it.Text, &it.Input, &it.Output, &it.CWD, &it.Branch} {
			*text = memory.Neutralise(*text)
		}
	}
	return ReadingOf(form, items, loaded.Omitted), nil
}
