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
	"memoir/prompts"
	"memoir/store"
	"memoir/team"
	"memoir/team/wire"
)

// maxOnce is how many rules that were said once a person is asked about, unless they want all. What only may be a rule
// is asked about then alone: a rule holds in one of three cases, this in one of fourteen (docs/benchmarks.md).
const maxOnce = 10

// Review is what waits for a person's answer about a memory: lines and agents' notes, the oldest first, then what a
// person said once, rules before what only may be one, each the newest first.
type Review struct {
	Lines []ReviewLine `json:"lines"`
	Left  int          `json:"-"` // of what was said once
}

// Text counts what waits, with "new" as the start of a session and status have it.
func (r Review) Text() string {
	fresh, notes := 0, 0
	for _, l := range r.Lines {
		if l.State != "once" && l.note.ID != 0 {
			notes++
		} else if l.State != "once" {
			fresh++
		}
	}
	all := len(r.Lines) + r.Left
	return fmt.Sprintf("%d left: %d new, %s, %d said once", all, fresh, memoir.Count(notes, "note"), all-fresh-notes)
}

// ReviewLine is a line of MEMORY.md with its key as the id, an agent's note with its number, or a statement that a
// person said once.
type ReviewLine struct {
	Statement
	State string `json:"state"` // new, changed since an answer, once, or unconfirmed
	Drop  string `json:"drop"`  // of a hub's line, who loses it by a drop: "here" or "all"; else empty. An edit is for all
	Was   string `json:"was"`   // what a line said that members changed; empty: unknown

	Others     bool   `json:"-"` // other members say it, or changed it
	line       string // of MEMORY.md, or as it would have it
	held       bool   // MEMORY.md has it
	statements []string
	note       memoir.Entry // the agent's, or the person's if it is confirmed
}

// Takes lists the answers that a line takes.
func (l ReviewLine) Takes() []string {
	if l.State == "once" || l.State == "unconfirmed" {
		return []string{"confirm", "drop", "edit"}
	}
	return []string{"keep", "drop", "edit"}
}

// Review returns what waits for an answer, of what was said once all or at most maxOnce rules. See also Evidence.
func (a Access) Review(ctx context.Context, st *store.Store, projectID string, whole bool) (Review, error) {
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
		out.Lines = append(out.Lines, ReviewLine{State: "unconfirmed", note: n, held: true, Statement: Statement{
			ID: fmt.Sprintf("#%d", n.ID), Kind: "Note", Text: a.Clean(n.Text), Signal: memoir.SignalNote,
			By: string(memoir.ByAgent), Sessions: []Evidence{{ID: n.Key(), Items: []EvidenceItem{},
				At: n.CreatedAt.UTC().Format(time.DateOnly)}}}})
	}
	no, once := map[string]bool{}, map[string]bool{} // keys of lines, of the first also ids of statements
	for _, l := range m.lines {
		if onlyOnce(l.Text) {
			once[l.Key] = true
			continue
		}
		for _, id := range append(l.origin.Statements, l.Key) {
			no[id] = true
		}
		if waits(l.Text, l.origin.Hand, answered) {
			out.Lines = append(out.Lines, a.reviewLine(l, m, all, answered))
		}
	}
	day := func(l ReviewLine) string { return append(l.Sessions, Evidence{})[0].At }
	slices.SortStableFunc(out.Lines, func(a, b ReviewLine) int { return strings.Compare(day(a), day(b)) })
	first := len(out.Lines)
	for _, n := range edits {
		no[memoir.LineKey(n.Text)] = no[memoir.LineKey(n.Text)] || n.Action == memoir.EditRemoved
	}
	for _, s := range all {
		no[s.statement.Replaces] = true
	}
	for _, signal := range []string{memoir.SignalRule, memoir.SignalCut, memoir.SignalMaybe} {
		for _, s := range all {
			key, id := memoir.LineKey(s.statement.Text), s.statement.ID
			theirs := memoir.MemberOf(s.session.SessionKey) != ""
			if s.statement.Signal != signal || no[key] || no[id] || answered[key] > 0 || theirs {
				continue
			}
			if no[key] = true; !whole && (signal == memoir.SignalMaybe || len(out.Lines)-first == maxOnce) {
				out.Left++
				continue
			}
			one := ReviewLine{Statement: a.evidence([]string{id}, all)[0], State: "once", held: once[key],
				line: "- " + s.statement.Text, statements: []string{id}}
			one.Text = a.Clean(cmp.Or(s.statement.Quote, s.statement.Text))
			one.Kind = cmp.Or(map[string]string{memoir.SignalCut: "Rule that had a secret, told to none"}[signal], one.Kind)
			one.note = memoir.Entry{ProjectID: projectID, Kind: memoir.EntryNote, Category: "preference", Text: one.Text}
			out.Lines = append(out.Lines, one)
		}
	}
	return out, nil
}

// onlyOnce reports whether a line of MEMORY.md is a rule that was said once. A refusal with that mark is kept or
// dropped as other lines are.
func onlyOnce(line string) bool {
	return memoir.OnceMark(line) != "" && strings.HasPrefix(memoir.LineText(line), "“")
}

// reviewLine returns an entry of MEMORY.md as a review has it.
func (a Access) reviewLine(l Line, m projectMemory, all []withExtraction, answered map[string]int64) ReviewLine {
	one := ReviewLine{State: "new", line: l.Text, held: true, statements: l.origin.Statements}
	one.Kind = "Line"
	sessions := []Evidence{}
	made := a.source(l, m, all)
	for _, s := range made {
		sessions = append(sessions, s.Sessions...)
		if !slices.ContainsFunc(made, func(o Statement) bool { return o.Replaces == s.ID }) {
			one.Statement = s
		}
		if m.became(s.ID, l) {
			one.Was = s.Text
		}
	}
	text, unsure := strings.CutSuffix(l.Text, memoir.Unconfirmed)
	one.ID, one.Text, one.Sessions = l.Key, memoir.LineText(text), sessions
	if slices.ContainsFunc(one.statements, func(id string) bool { return answered[id] > 0 }) {
		one.State = "changed"
	}
	if unsure {
		one.State = "unconfirmed"
	}
	var mine bool
	hubs := slices.ContainsFunc(sessions, func(s Evidence) bool { return !memoir.IsRepository(s.ID) })
	if one.Others, mine = a.members(l); (one.Others || mine) && hubs && team.HasBase(a.Home, m.project) {
		one.Drop = map[bool]string{true: "all", false: "here"}[mine]
	}
	return one
}

// members reports whether a line names other members of the team, and whether it names this person, or is the hub's of
// their sessions.
func (a Access) members(l Line) (others, mine bool) {
	names, editors := memoir.TeamOf(memoir.LineText(l.Text))
	for _, key := range l.cited {
		if member := memoir.MemberOf(key); len(names) == 0 && member != "" {
			editors = append(editors, member)
		}
	}
	hub, _ := team.Load(a.Home)
	for _, name := range append(names, editors...) {
		mine = mine || name == wire.MemberName(hub.Member)
		others = others || name != wire.MemberName(hub.Member)
	}
	return others, mine
}

// Named returns for each id the newest own statement that it names: by its own, or that of a line in a review.
func (a Access) Named(ctx context.Context, st *store.Store, projectID string, ids []string) (
	statements []memoir.Statement, sessions []memoir.Extraction, err error) {
	m, err := a.readMemory(projectID)
	all, errAll := m.statements(ctx, st)
	if err = cmp.Or(err, errAll); err != nil {
		return nil, nil, err
	}
	all = slices.DeleteFunc(all, func(s withExtraction) bool { return memoir.IsReceived(s.session.SessionKey) })
	for _, id := range ids {
		of := id
		for _, l := range m.lines {
			if l.Key == id && len(l.origin.Statements) > 0 {
				of = l.origin.Statements[0]
			}
		}
		i := slices.IndexFunc(all, func(s withExtraction) bool { return s.statement.ID == of })
		if i < 0 {
			return nil, nil, memoir.Errorf(memoir.CodeNotFound, "`memoir why TEXT` shows ids",
				"no own statement of project %s has the id %q", projectID, id)
		}
		statements, sessions = append(statements, all[i].statement), append(sessions, all[i].session)
	}
	return statements, sessions, nil
}

// waits reports whether a line of MEMORY.md waits for an answer. A person's is one by hand, or has no citation, or one
// of a note.
func waits(line string, byHand bool, answered map[string]int64) bool {
	if !consolidate.IsEntry(line) || onlyOnce(line) || memoir.Answered(answered, line) {
		return false
	}
	text := memoir.LineText(line)
	_, citation, _ := strings.Cut(line, text)
	byHand = byHand || strings.HasSuffix(line, text) || strings.Contains(citation, "["+string(memoir.EntryNote)+"-")
	return !byHand || strings.HasSuffix(line, memoir.Unconfirmed)
}

// Evidence adds to the sessions of lines the items that show them.
func (a Access) Evidence(ctx context.Context, st *store.Store, lines ...ReviewLine) error {
	return a.fill(ctx, st, memoir.Map(lines, func(l ReviewLine) Statement { return l.Statement }))
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
	var keys, never, here []string
	theirs := false // what is accepted of others is told from the next generation on
	for _, one := range answers {
		one.Text = strings.Join(strings.Fields(one.Text), " ")
		if err := a.answerNote(ctx, st, opts, one); err != nil {
			return err
		}
		l := one.Line
		instead := strings.TrimSuffix(l.line, memoir.Unconfirmed)
		switch _, citation, _ := strings.Cut(instead, memoir.LineText(instead)); {
		case one.Answer == "drop", one.Answer == "edit" && l.State == "once":
			instead = ""
		case one.Answer == "edit" && l.line != "":
			instead = "- " + one.Text + citation
		}
		if instead == "" && !l.held {
			never = append(never, l.line)
		} else if instead != l.line {
			changes[l.line] = instead
		}
		if instead == "" && l.Drop == "here" {
			here = append(here, l.line)
		}
		own := memoir.WithoutTeam(memoir.LineText(instead))
		keys = append(append(keys, l.statements...), memoir.LineKey(own)) // whoever says it
		if own == memoir.LineText(instead) {
			keys = append(keys, memoir.LineKey(instead))
		} else {
			theirs = true
		}
	}
	if len(changes) > 0 {
		if _, err := pipeline.ChangeLines(ctx, st, opts, project, changes, here...); err != nil {
			return err
		}
	}
	err := st.Answer(ctx, project.ID, keys, never)
	if theirs && err == nil {
		err = st.Edited(ctx, project.ID)
	}
	return err
}

// answerNote checks an answer, makes the note of its line the person's, and forgets an agent's that is not confirmed.
func (a Access) answerNote(ctx context.Context, st *store.Store, opts pipeline.Options, one Answer) (err error) {
	takes, n, key := one.Line.Takes(), one.Line.note, one.Line.note.Key()
	if !slices.Contains(takes, one.Answer) {
		return memoir.Errorf(memoir.CodeUsage, "use "+strings.Join(takes, ", "), "%q is no answer about what is %s",
			memoir.Cut(one.Answer, 50), one.Line.State)
	}
	if one.Answer == "edit" {
		n.Text, err = one.Text, entry.Worded(one.Text)
	}
	if n.Kind != "" && one.Answer != "drop" && err == nil {
		n.Author = memoir.AuthorUser
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
	Lines, New int       // of MEMORY.md; those that wait for an answer
	Notes      int       // of agents, also for all projects, that nobody confirmed
	Since      time.Time // the last answer

	fresh  []string // keys of the new lines
	theirs []string // of these, the words of lines of other members
}

// ReadNews counts what waits for an answer, without what was said once. It reads little, since sessions wait for it.
func ReadNews(ctx context.Context, st *store.Store, home, projectID string) (n News, err error) {
	text, err := memory.At(home, projectID).Open(memoir.MemoryFile)
	answered, errAnswered := st.Answered(ctx, projectID)
	if entry.Any(memory.At(home, projectID)) || entry.Any(memory.At(home, memoir.UserProjectID)) {
		notes, errNotes := entry.Injected(ctx, st, projectID)
		n.Notes, err = len(notes.Waiting), cmp.Or(err, errNotes)
	}
	hub, _ := team.Load(home) // the hub's lines may be of this person alone
	me := func(name string) bool { return name == wire.MemberName(hub.Member) }
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if waits(line, false, answered) {
			n.New, n.fresh = n.New+1, append(n.fresh, memoir.LineKey(line))
			members, editors := memoir.TeamOf(memoir.LineText(line))
			if who := append(members, editors...); len(slices.DeleteFunc(who, me)) > 0 {
				n.theirs = append(n.theirs, memoir.WithoutTeam(memoir.LineText(line)))
			}
		}
		if consolidate.IsEntry(line) {
			n.Lines++
		}
	}
	if at := slices.Collect(maps.Values(answered)); len(at) > 0 {
		n.Since = time.UnixMilli(slices.Max(at))
	}
	return n, cmp.Or(err, errAnswered)
}

// Came counts the lines of other members that wait for an answer and that a generation, 0 for none, did not have.
func (n News) Came(home, projectID string, since int64) (came int, err error) {
	var before memory.Files
	if len(n.theirs) > 0 && since > 0 {
		before, err = memory.At(home, projectID).ReadArchive(int(since))
	}
	had := map[string]bool{}
	for line := range strings.Lines(string(before[memoir.MemoryFile])) {
		had[memoir.WithoutTeam(memoir.LineText(strings.TrimRight(line, "\r\n")))] = true
	}
	return len(slices.DeleteFunc(slices.Clone(n.theirs), func(line string) bool { return had[line] })), err
}

// Told returns the lines of memory in the text that a session gets.
func Told(injected string) []string {
	entries := func(text string) []string {
		return slices.DeleteFunc(consolidate.Told(text), func(line string) bool { return !consolidate.IsEntry(line) })
	}
	frame, all := entries(prompts.ReadPath(prompts.ReadPathVars{})), entries(injected)
	return all[min(len(frame), len(all)):]
}

// Text says in words how many lines a session is told and how many of them are new, and what else waits for an answer;
// empty if nothing waits.
func (n News) Text(now time.Time, told []string) (text string) {
	day := func(t time.Time) string { return t.Local().Format(time.DateOnly) }
	lines, fresh, from := len(told), 0, ""
	for _, line := range told {
		if slices.Contains(n.fresh, memoir.LineKey(line)) {
			fresh++
		}
	}
	if at := day(n.Since); !n.Since.IsZero() {
		from = cmp.Or(map[string]string{day(now): " today", day(now.AddDate(0, 0, -1)): " since yesterday"}[at], " since "+at)
	}
	for _, part := range []struct {
		n    int
		says string
	}{{lines, memoir.Count(lines, "line")}, {fresh, fmt.Sprintf("%d new%s", fresh, from)},
		{n.New - fresh, memoir.Count(n.New-fresh, "other") + " to review"},
		{n.Notes, strings.Replace(memoir.Count(n.Notes, "note")+" wait", "note wait", "note waits", 1)}} {
		if part.n > 0 && n.New+n.Notes > 0 {
			text += ", " + part.says
		}
	}
	return strings.TrimPrefix(text, ", ")
}

// withExtraction is a statement with the session that taught it.
type withExtraction struct {
	statement memoir.Statement
	session   memoir.Extraction
}
