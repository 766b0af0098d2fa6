package operation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/entry"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/store"
)

// Review is what waits for a person's answer about a memory: lines and agents' notes, the oldest first, then what a
// person said once, rules before what only may be one, each the newest first.
type Review struct {
	Lines []ReviewLine `json:"lines"`
	Left  int          `json:"-"` // of what was said once
}

// ReviewLine is a line of MEMORY.md, an agent's note, or what a person said once.
type ReviewLine struct {
	ID       string     `json:"id"`   // the key of the line, the number of the note, or the id of the statement
	Kind     string     `json:"kind"` // of the statement; Line if none has the line's words, Note
	Text     string     `json:"text"`
	State    string     `json:"state"` // new, changed since an answer, once, or unconfirmed
	Sessions []Evidence `json:"sessions"`

	line       string // of MEMORY.md, or as it would have it
	held       bool   // MEMORY.md has it
	statements []string
	note       memoir.Entry // the agent's, or the person's if it is confirmed
}

// Takes lists the answers that a line takes.
func (l ReviewLine) Takes() []string {
	if l.State == "new" || l.State == "changed" {
		return []string{"keep", "drop", "edit"}
	}
	return []string{"confirm", "drop", "edit"}
}

// MaxOnce is how much of what was said once a person is asked about at once.
const MaxOnce = 20

// Review returns what waits for an answer, at most some lines that were said once. Evidence adds items to its sessions.
func (a Access) Review(ctx context.Context, st *store.Store, projectID string, most int) (Review, error) {
	out := Review{Lines: []ReviewLine{}}
	m, err := a.readMemory(projectID)
	all, errAll := m.statements(ctx, st)
	answered, errAnswered := st.Answered(ctx, projectID)
	notes, errNotes := entry.Injected(ctx, st, projectID)
	edits, errEdits := st.HandEdits(ctx, projectID)
	if err := cmp.Or(err, errAll, errAnswered, errNotes, errEdits); err != nil {
		return out, err
	}
	for _, n := range notes.Waiting {
		out.Lines = append(out.Lines, ReviewLine{ID: fmt.Sprintf("#%d", n.ID), Kind: "Note", Text: a.Clean(n.Text),
			State: "unconfirmed", note: n, Sessions: []Evidence{{ID: n.Key(), Items: []EvidenceItem{},
				At: n.CreatedAt.UTC().Format(time.DateOnly)}}})
	}
	no, once := map[string]bool{}, map[string]bool{} // keys of lines, of the first also ids of statements
	for _, l := range m.lines {
		if memoir.OnceMark(l.Text) != "" {
			once[l.Key] = true
			continue
		}
		for _, id := range append(l.origin.Statements, l.Key) {
			no[id] = true
		}
		if waits(l.Text, l.Key, l.origin.Hand, answered) {
			out.Lines = append(out.Lines, a.reviewLine(l, m, all, answered))
		}
	}
	day := func(l ReviewLine) string { return append(l.Sessions, Evidence{})[0].At }
	slices.SortStableFunc(out.Lines, func(a, b ReviewLine) int { return strings.Compare(day(a), day(b)) })
	for _, n := range edits {
		no[memoir.LineKey(n.Text)] = no[memoir.LineKey(n.Text)] || n.Action == memoir.EditRemoved
	}
	for _, s := range all {
		no[s.statement.Replaces] = true
	}
	for _, signal := range []string{memoir.SignalRule, memoir.SignalMaybe} {
		for _, s := range all {
			key, id := memoir.LineKey(s.statement.Text), s.statement.ID
			if s.statement.Signal != signal || no[key] || no[id] || answered[key] > 0 {
				continue
			}
			if no[key], most = true, most-1; most < 0 {
				out.Left++
				continue
			}
			one, words := a.evidence([]string{id}, all)[0], a.Clean(s.statement.Quote)
			out.Lines = append(out.Lines, ReviewLine{ID: id, Kind: one.Kind, Text: words, State: "once",
				Sessions: one.Sessions, line: "- " + one.Text, held: once[key], statements: []string{id},
				note: memoir.Entry{ProjectID: projectID, Kind: memoir.EntryNote, Category: "preference", Text: words}})
		}
	}
	return out, nil
}

// reviewLine returns an entry of MEMORY.md as a review has it.
func (a Access) reviewLine(l Line, m projectMemory, all []withExtraction, answered map[string]int64) ReviewLine {
	text, unsure := strings.CutSuffix(l.Text, memoir.Unconfirmed)
	one := ReviewLine{ID: l.Key, Kind: "Line", Text: memoir.LineText(text), State: "new", line: l.Text, held: true,
		Sessions: []Evidence{}, statements: l.origin.Statements}
	for _, s := range a.source(l, m, all) {
		one.Kind, one.Sessions = s.Kind, append(one.Sessions, s.Sessions...)
	}
	if slices.ContainsFunc(one.statements, func(id string) bool { return answered[id] > 0 }) {
		one.State = "changed"
	}
	if unsure {
		one.State = "unconfirmed"
	}
	return one
}

// waits reports whether a line of MEMORY.md waits for an answer. A person's does not.
func waits(line, key string, byHand bool, answered map[string]int64) bool {
	return consolidate.IsEntry(line) && answered[key] == 0 && memoir.OnceMark(line) == "" &&
		(strings.HasSuffix(line, memoir.Unconfirmed) || !byHand && !strings.Contains(line, "["+string(memoir.EntryNote)+"-"))
}

// Evidence adds to the sessions of lines the items that show them.
func (a Access) Evidence(ctx context.Context, st *store.Store, lines ...ReviewLine) error {
	var of []Statement
	for _, l := range lines {
		of = append(of, Statement{Sessions: l.Sessions})
	}
	return a.fill(ctx, st, of)
}

// An Answer is what a person decided about a line of a review. An edit has a text.
type Answer struct {
	Line         ReviewLine
	Answer, Text string
}

// Answer carries out answers. Lines are changed by hand, in one generation. What was said once and is confirmed becomes
// a note of the person; dropped, it does not come back.
func (a Access) Answer(ctx context.Context, st *store.Store, opts pipeline.Options, project memoir.Project,
	answers ...Answer) error {
	changes := map[string]string{}
	var keys, never []string
	for _, one := range answers {
		l, text := one.Line, strings.Join(strings.Fields(one.Text), " ")
		if !slices.Contains(l.Takes(), one.Answer) {
			return memoir.Errorf(memoir.CodeUsage, "use "+strings.Join(l.Takes(), ", "), "%q is no answer about what is %s",
				memoir.Cut(one.Answer, 50), l.State)
		}
		if err := entry.Worded(text); one.Answer == "edit" && err != nil {
			return err
		}
		if l.note.Kind != "" {
			if err := a.answerNote(ctx, st, opts, l.note, one.Answer, text); err != nil {
				return err
			}
		}
		instead := strings.TrimSuffix(l.line, memoir.Unconfirmed)
		if _, citation, _ := strings.Cut(instead, memoir.LineText(instead)); l.State == "once" || one.Answer == "drop" {
			instead = ""
		} else if one.Answer == "edit" {
			instead = "- " + text + citation
		}
		switch {
		case l.line == "": // only a note
		case one.Answer == "keep", l.State == "once" && one.Answer == "confirm":
			keys = append(keys, memoir.LineKey(l.line))
		case l.held:
			changes[l.line] = instead
			keys = append(keys, memoir.LineKey(instead))
		default:
			never = append(never, l.line)
		}
		keys = append(keys, l.statements...)
	}
	if len(changes) > 0 {
		if _, err := pipeline.ChangeLines(ctx, st, opts, project, changes); err != nil {
			return err
		}
	}
	return st.Answer(ctx, project.ID, keys, never)
}

// answerNote confirms, forgets or replaces a note. The new one is the person's.
func (a Access) answerNote(ctx context.Context, st *store.Store, opts pipeline.Options, n memoir.Entry, answer,
	text string) error {
	by := n
	by.Author, by.Text = memoir.AuthorUser, cmp.Or(text, n.Text)
	switch {
	case answer != "drop" && (answer == "confirm" || n.ID == 0):
		_, _, err := a.Remember(ctx, st, opts, by)
		return err
	case answer == "edit":
		by.ID = 0
		return Replace(ctx, st, opts, n.Key(), &by)
	case n.ID != 0:
		return Replace(ctx, st, opts, n.Key(), nil)
	}
	return nil
}

// News is what the start of a session says of a project's memory.
type News struct {
	Project string     `json:"project"`
	Lines   int        `json:"lines"`
	New     int        `json:"new"`   // or changed, that wait for an answer
	Notes   int        `json:"notes"` // of agents, also for all projects, that nobody confirmed
	Since   *time.Time `json:"since"` // the last answer
}

// ReadNews counts what waits for an answer, without what was said once. It reads little, since sessions wait for it.
func ReadNews(ctx context.Context, st *store.Store, home, projectID string) (News, error) {
	root := memory.At(home, projectID)
	text, err := root.Open(memoir.MemoryFile)
	origins, errOrigins := root.Origins()
	answered, errAnswered := st.Answered(ctx, projectID)
	notes, errNotes := entry.Injected(ctx, st, projectID)
	n := News{Project: projectID, Notes: len(notes.Waiting)}
	if at := slices.Collect(maps.Values(answered)); len(at) > 0 {
		n.Since = Time(time.UnixMilli(slices.Max(at)))
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		key := memoir.LineKey(line)
		if origin, known := origins[key]; waits(line, key, origin.Hand || !known, answered) {
			n.New++
		}
		if consolidate.IsEntry(line) {
			n.Lines++
		}
	}
	return n, cmp.Or(err, errOrigins, errAnswered, errNotes)
}

// Text says the news in words; empty if there are none.
func (n News) Text(now time.Time) string {
	text, day := memoir.Count(n.Lines, "line"), func(t time.Time) string { return t.Local().Format(time.DateOnly) }
	switch {
	case n.New+n.Notes == 0:
		return ""
	case n.New > 0 && n.Since != nil:
		at := day(*n.Since)
		at = cmp.Or(map[string]string{day(now): "today", day(now.AddDate(0, 0, -1)): "yesterday"}[at], at)
		text += fmt.Sprintf(", %d new since %s", n.New, at)
	case n.New > 0:
		text += fmt.Sprintf(", %d new", n.New)
	}
	if n.Notes > 0 {
		text += strings.Replace(", "+memoir.Count(n.Notes, "note")+" wait", "note wait", "note waits", 1)
	}
	return text
}
