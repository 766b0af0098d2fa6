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
		if waits(l.Text, answered) {
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

// waits reports whether a line of MEMORY.md waits for an answer. A person's has no citation, or one of a note.
func waits(line string, answered map[string]int64) bool {
	byHand := strings.HasSuffix(line, memoir.LineText(line)) || strings.Contains(line, "["+string(memoir.EntryNote)+"-")
	return consolidate.IsEntry(line) && memoir.OnceMark(line) == "" && answered[memoir.LineKey(line)] == 0 &&
		(!byHand || strings.HasSuffix(line, memoir.Unconfirmed))
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
		l := one.Line
		one.Text = strings.Join(strings.Fields(one.Text), " ")
		if !slices.Contains(l.Takes(), one.Answer) {
			return memoir.Errorf(memoir.CodeUsage, "use "+strings.Join(l.Takes(), ", "), "%q is no answer about what is %s",
				memoir.Cut(one.Answer, 50), l.State)
		}
		if err := entry.Worded(one.Text); one.Answer == "edit" && err != nil {
			return err
		}
		if err := a.answerNote(ctx, st, opts, one); err != nil {
			return err
		}
		keys = append(keys, l.statements...)
		instead := strings.TrimSuffix(l.line, memoir.Unconfirmed)
		_, citation, _ := strings.Cut(instead, memoir.LineText(instead))
		switch {
		case l.line == "": // only a note
		case one.Answer == "keep", l.State == "once" && one.Answer == "confirm":
			keys = append(keys, memoir.LineKey(l.line))
		case !l.held:
			never = append(never, l.line)
		case one.Answer == "drop", l.State == "once":
			changes[l.line] = ""
		case one.Answer == "edit":
			instead = "- " + one.Text + citation
			fallthrough
		default:
			changes[l.line] = instead
			keys = append(keys, memoir.LineKey(instead))
		}
	}
	if len(changes) > 0 {
		if _, err := pipeline.ChangeLines(ctx, st, opts, project, changes); err != nil {
			return err
		}
	}
	return st.Answer(ctx, project.ID, keys, never)
}

// answerNote makes the note of a line the person's, and forgets an agent's that is not confirmed.
func (a Access) answerNote(ctx context.Context, st *store.Store, opts pipeline.Options, one Answer) error {
	n, key := one.Line.note, one.Line.note.Key()
	var err error
	if n.Kind != "" && one.Answer != "drop" {
		n.Author, n.Text = memoir.AuthorUser, cmp.Or(one.Text, n.Text)
		_, _, err = a.Remember(ctx, st, opts, n)
	}
	if n.ID != 0 && one.Answer != "confirm" && err == nil {
		_, err = pipeline.Forget(ctx, st, opts, store.Forgetting{Keys: []string{key}})
	}
	if memoir.CodeOf(err) == memoir.CodeBusy { // the next run rewrites the memory
		return nil
	}
	return err
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
	text, err := memory.At(home, projectID).Open(memoir.MemoryFile)
	answered, errAnswered := st.Answered(ctx, projectID)
	notes, errNotes := entry.Injected(ctx, st, projectID)
	n := News{Project: projectID, Notes: len(notes.Waiting)}
	if at := slices.Collect(maps.Values(answered)); len(at) > 0 {
		n.Since = Time(time.UnixMilli(slices.Max(at)))
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if waits(line, answered) {
			n.New++
		}
		if consolidate.IsEntry(line) {
			n.Lines++
		}
	}
	return n, cmp.Or(err, errAnswered, errNotes)
}

// addNews adds the news of projects with new lines. Doctor reports a memory that cannot be read.
func (s *Status) addNews(ctx context.Context, st *store.Store, home string) {
	for _, project := range s.Projects {
		if news, err := ReadNews(ctx, st, home, project.ID); err == nil && news.New > 0 {
			s.Review = append(s.Review, news)
		}
	}
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
