package extract

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
)

const (
	maxTitle = 80
	maxSlug  = 60
)

// did returns the title of a session by what it did: its last pull request, else its last commit, else the plan that
// was approved, else its first request.
func (s *session) did(kept []memoir.Statement) string {
	if p := cmp.Or(s.became(0, math.MaxInt), s.standing(postPlan, "")); p != nil {
		return Title(clean(p.title))
	}
	if all := s.requests(); len(all) > 0 {
		return Title(all[0].text)
	}
	return title(s.Session, kept)
}

// title returns the title of a session: its first task, else its own title, else its first statement.
func title(s memoir.Session, kept []memoir.Statement) string {
	for _, k := range kept {
		if k.Kind == memoir.StatementTask {
			return Title(k.Text)
		}
	}
	return Title(cmp.Or(shorten(clean(s.Title), maxTitle), kept[0].Text))
}

// Title returns a text as the title of a session: one line without Markdown, links and the opening words of a request.
func Title(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("`*[]\"“”", r):
			return -1
		case r == '<':
			return '‹'
		case r == '>':
			return '›'
		}
		return r
	}, shortLinks(text))
	return shorten(withoutOpening(text), maxTitle)
}

// opening matches the opening words of a request, such as "could you please", and the mark of a heading or list.
var opening = lazyregexp.New(`(?i)^(?:(?:#{1,6}|[-+]) |(?:ok(?:ay)?|alright|hey|hi)(?: \w+,|,)? |so, |please ` +
	`|(?:can|could|would) you (?:please )?|i(?: want|'d like)(?: you)? to )+`)

// withoutOpening strips the opening words of a request, if enough text remains.
func withoutOpening(text string) string {
	if rest := opening.ReplaceAllString(text, ""); len(rest) > 8 {
		return strings.TrimLeft(rest, " ,")
	}
	return text
}

var (
	link    = lazyregexp.New(`\[([^\[\]]*)\]\(([^()]*)\)`)
	address = lazyregexp.New(`https://(?:[^/\s)\]>,?#]+/)?([^\s)\]>,?#]+)[^\s)\]>,]*`)
)

// shortLinks replaces links by their labels, and addresses by their paths, else by their hosts.
func shortLinks(text string) string {
	text = address.ReplaceAllString(labels(text), "$1")
	return strings.Join(strings.Fields(text), " ")
}

// labels replaces links by their labels; the label of a link to a file becomes code.
func labels(text string) string {
	return link.ReplaceAllStringFunc(text, func(whole string) string {
		label, target, _ := strings.Cut(whole[1:], "](")
		if strings.HasPrefix(target, "/") && !strings.Contains(label, "`") {
			return code(label)
		}
		return label
	})
}

// slug returns a part of a file name for a title: at most 60 bytes of [a-z0-9-]. For a
// title without Latin letters it uses the end of the thread id.
func slug(title, id string) string {
	name := ""
	for _, w := range memoir.PlainWords(title) {
		if len(name)+1+len(w) > maxSlug {
			break
		}
		name = strings.TrimPrefix(name+"-"+w, "-")
	}
	if len(name) >= 3 && strings.ContainsFunc(name, unicode.IsLetter) {
		return name
	}
	tail := strings.Join(memoir.PlainWords(id), "")
	return "session-" + tail[max(0, len(tail)-12):]
}

// summaryHead returns the title and the fields of a session at the top of its summary.
func summaryHead(session memoir.Session, title string) string {
	var b strings.Builder
	b.WriteString("# " + plainTitle(title) + "\n\n")
	field := func(name, value string) {
		if value = shorten(clean(value), 200); value != "" {
			b.WriteString("- " + name + ": " + value + "\n")
		}
	}
	if !session.UpdatedAt.IsZero() {
		field("date", session.UpdatedAt.UTC().Format("2006-01-02"))
	}
	field("session", string(session.Source)+" "+session.ID)
	field("directory", session.CWD)
	field("branch", session.Branch)
	return b.String()
}

// plainTitle strips leading Markdown marks from a title; it is "Session" if nothing remains.
func plainTitle(s string) string {
	if s = strings.TrimLeft(s, "#-*+> "); s != "" {
		return s
	}
	return "Session"
}

// day returns the day of an item, as Date has it.
func (s *session) day(item int) string {
	at := s.UpdatedAt
	if i := slices.IndexFunc(s.items, func(it memoir.Item) bool { return it.N == item && !it.At.IsZero() }); i >= 0 {
		at = s.items[i].At
	}
	return at.UTC().Format(time.DateOnly)
}

// Date sets the day of each statement: that of the last item that it cites, else the session's last.
func Date(statements []memoir.Statement, items []memoir.Item, ended time.Time) {
	at := memoir.MapOf(items, func(it memoir.Item) (int, time.Time) { return it.N, it.At })
	for i := range statements {
		st, day := &statements[i], ended
		for _, n := range st.Items {
			if !at[n].IsZero() {
				day = at[n]
			}
		}
		st.At = day.UTC().Format(time.DateOnly)
	}
}
