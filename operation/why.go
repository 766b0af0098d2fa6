package operation

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/internal/lazyregexp"
	"memoir/store"
)

// Bounds of Why.
const (
	maxLines    = 10      // lines or statements with a text that are shown
	maxSessions = 5       // sessions of a statement whose items are read
	maxCited    = 10      // items of each
	maxItem     = 2 << 10 // bytes of an item's text
)

// Why is the origin of lines of a memory: the statements that they were made from, with their evidence.
type Why struct {
	Lines      []string    `json:"lines"` // of MEMORY.md and the summary; else what members made of theirs
	Statements []Statement `json:"statements"`
	// HandWritten reports whether a person wrote one of the lines.
	HandWritten bool `json:"hand_written"`
	More        int  `json:"more,omitempty"` // lines, or statements without one, with the text that are left out
}

// Statement is the form of a statement with its sessions, the newest first. For a line that a language model wrote in
// its own words, the id is the line's key, Signal and By are memoir.SignalModel, and the sessions those that it cites.
// Of one that members changed, Signal is memoir.SignalEdit, and By has their names.
type Statement struct {
	ID       string     `json:"id"`
	Kind     string     `json:"kind"`
	Text     string     `json:"text"`
	Signal   string     `json:"signal"`
	By       string     `json:"by"`
	Sessions []Evidence `json:"sessions"`
	Replaces string     `json:"replaces"` // the id of the statement that it overturned
	Stands   string     `json:"stands"`   // the file of the project that says it, too, so that no line does
	// Edit is what a member made of its line in a hub's memory, for all.
	Edit *memoir.LineEdit `json:"edit,omitempty"`
}

// Evidence is a session or an entry that has a statement, with the items that show it.
type Evidence struct {
	ID    string         `json:"id"` // its key
	At    string         `json:"at"` // the day
	Title string         `json:"title"`
	Items []EvidenceItem `json:"items"`
	Error string         `json:"error"` // why the items cannot be shown
	More  int            `json:"more"`  // items that are not shown

	numbers []int // of the items
}

// EvidenceItem is the redacted text of an item, or a field of a statement that another machine sent.
type EvidenceItem struct {
	N    int    `json:"n"` // 0: a field
	Text string `json:"text"`
}

var (
	statementID = lazyregexp.New(`^[0-9a-f]{10}$`)
	lineKey     = lazyregexp.New(`^[0-9a-f]{20}$`)
)

// Why returns the origin of what ref names: a statement by its id, or the lines of a project's memory that contain a
// text, as whole words if one does, or have a key. If no line contains the text, it finds statements that do, also
// those that no line was made from, and what members made of their lines. It returns the first maxLines of them.
func (a Access) Why(ctx context.Context, st *store.Store, projectID, ref string) (Why, error) {
	out := Why{Lines: []string{}, Statements: []Statement{}}
	m, err := a.readMemory(projectID)
	if err != nil {
		return out, err
	}
	all, err := m.statements(ctx, st)
	if err != nil {
		return out, err
	}
	folded := strings.TrimSpace(memoir.Folded(a.Clean(ref)))
	ref = strings.ToLower(ref)
	if folded == "" {
		return out, memoir.Errorf(memoir.CodeUsage, "give a statement's id or some words of a line", "nothing to look for")
	}
	var ids []string
	if statementID.MatchString(ref) {
		ids = append(ids, ref)
		out.Statements = a.evidence(ids, all)
	}
	found := m.find(ref, folded)
	shown := found[:min(len(found), maxLines)]
	out.More = len(found) - len(shown)
	for _, l := range shown {
		out.Lines = append(out.Lines, l.Text)
		out.HandWritten = out.HandWritten || l.origin.Hand
		for _, s := range a.source(l, m, all) {
			if len(ids) == 0 && !slices.ContainsFunc(out.Statements, func(o Statement) bool { return o.ID == s.ID }) {
				out.Statements = append(out.Statements, s)
			}
		}
	}
	if len(out.Lines) == 0 {
		for _, s := range all {
			if id := s.statement.ID; strings.Contains(memoir.Folded(s.statement.Text), folded) && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		out.More = max(0, len(ids)-maxLines)
		out.Statements = a.evidence(ids[:len(ids)-out.More], all)
		for _, l := range m.lines {
			_, editors := memoir.TeamOf(memoir.LineText(l.Text))
			made := a.source(l, m, all)
			if len(editors) > 0 && slices.ContainsFunc(made, func(s Statement) bool { return slices.Contains(ids, s.ID) }) {
				out.Lines, out.Statements = append(out.Lines, l.Text), append(out.Statements, made[len(made)-1])
			}
		}
	}
	if len(out.Statements) == 0 && len(out.Lines) == 0 {
		return out, memoir.Errorf(memoir.CodeNotFound, "`memoir search` finds sessions that say it",
			"no statement of project %s has this id or text", projectID)
	}
	a.sayEdits(m, out.Statements)
	return out, a.fill(ctx, st, out.Statements)
}

// find returns the lines that ref names, and those that were made from the statement with this id. If a line has the
// text as whole words, those that have it within words are left out.
func (m projectMemory) find(ref, folded string) (found []Line) {
	seen := map[string]bool{"": true} // keys: the summary repeats lines
	for _, l := range slices.Concat(m.lines, m.summary) {
		has := l.Key == ref || !lineKey.MatchString(ref) && strings.Contains(memoir.Folded(l.Text), folded)
		if (has || slices.Contains(l.origin.Statements, ref)) && !seen[l.Key] {
			seen[l.Key] = true
			found = append(found, l)
		}
	}
	words := regexp.MustCompile(`(?:^|[^\pL\pN\pM])` + regexp.QuoteMeta(folded) + `(?:[^\pL\pN\pM]|$)`)
	within := func(l Line) bool { return !words.MatchString(memoir.Folded(l.Text)) }
	if all := slices.DeleteFunc(slices.Clone(found), within); len(all) > 0 {
		return all
	}
	return found
}

// source returns the statements that a line was made from, or the sessions that a model's line cites.
func (a Access) source(l Line, m projectMemory, all []withExtraction) []Statement {
	if l.origin.Hand || len(l.origin.Statements) > 0 || l.Key == "" {
		return a.evidence(l.origin.Statements, all)
	}
	one := Statement{ID: l.Key, Kind: "Line", Text: memoir.LineText(l.Text), Signal: memoir.SignalModel,
		By: memoir.SignalModel, Sessions: []Evidence{}}
	_, editors := memoir.TeamOf(one.Text)
	if len(editors) > 0 {
		one.Signal, one.By = memoir.SignalEdit, strings.Join(editors, ", ")
	}
	l, out := a.here(l, m, all)
	if len(out) > 0 && len(l.cited)+len(editors) == 0 {
		return out
	}
	for _, s := range m.sessions {
		if slices.ContainsFunc(l.cited, func(ref string) bool { return consolidate.Cites(ref, s.Key()) }) {
			one.Sessions = append(one.Sessions, Evidence{ID: s.Key(), At: s.UpdatedAt.UTC().Format(time.DateOnly),
				Title: extract.Title(a.Clean(s.Title)), Items: []EvidenceItem{}})
		}
	}
	one.Sessions = append(one.Sessions, l.atHub(one.Sessions)...)
	return append(out, one)
}

// statements returns the statements of a project, those of the newest session first: those that its generation was
// made from, those that were extracted or said since, and those that were not selected. It leaves out forgotten and
// disabled sessions, and sets the others of the project.
func (m *projectMemory) statements(ctx context.Context, st *store.Store) ([]withExtraction, error) {
	extractions, _, err := st.Selected(ctx, m.project, -1)
	left := map[string]bool{} // sessions that are there or must not be shown
	for _, e := range extractions {
		left[e.SessionKey] = true
	}
	keys := memoir.Map(m.published, func(e memoir.Extraction) string { return e.SessionKey })
	found, errFound := st.Sessions(ctx, store.Filter{Keys: keys})
	own, errOwn := st.Sessions(ctx, store.Filter{Project: m.project})
	said, errSaid := st.Said(ctx, m.project)
	if err = cmp.Or(err, errFound, errOwn, errSaid); err != nil {
		return nil, err
	}
	extractions = append(extractions, said...)
	gone := func(s memoir.Session) bool {
		return s.Reason == memoir.ReasonForgotten || s.Reason == memoir.ReasonDisabled
	}
	for _, s := range found {
		left[s.Key()] = left[s.Key()] || gone(s)
	}
	if len(own) == 0 { // the user's own memory
		own = found
	}
	m.sessions = slices.DeleteFunc(own, gone)
	if err := st.Entitle(ctx, m.sessions); err != nil {
		return nil, err
	}
	stands := map[string]string{} // as the generation was made
	for _, e := range m.published {
		for _, s := range e.Statements {
			stands[s.ID] = cmp.Or(s.Stands, stands[s.ID])
		}
		if !left[e.SessionKey] {
			extractions = append(extractions, e)
		}
	}
	slices.SortStableFunc(extractions, func(a, b memoir.Extraction) int {
		return cmp.Or(b.EndedAt.Compare(a.EndedAt), strings.Compare(a.SessionKey, b.SessionKey))
	})
	var all []withExtraction
	for _, e := range extract.Later(extractions) {
		for _, s := range e.Statements {
			s.Stands = stands[s.ID]
			all = append(all, withExtraction{s, e})
		}
	}
	return all, nil
}

// evidence returns the statements with some ids, in their order, and those that they replaced, with their sessions.
func (a Access) evidence(ids []string, all []withExtraction) []Statement {
	out := []Statement{}
	for i := 0; i < len(ids); i++ {
		id := ids[i]
		is := func(s Statement) bool { return s.ID == id }
		if slices.ContainsFunc(out, is) {
			continue
		}
		for _, s := range all {
			if s.statement.ID != id {
				continue
			}
			if s.statement.Replaces != "" {
				ids = append(slices.Clip(ids), s.statement.Replaces)
			}
			if !slices.ContainsFunc(out, is) {
				out = append(out, Statement{ID: id, Kind: string(s.statement.Kind), Text: a.Clean(s.statement.Text),
					Signal: s.statement.Signal, By: string(s.statement.By), Replaces: s.statement.Replaces, Stands: s.statement.Stands,
					Sessions: []Evidence{}})
			}
			one := &out[len(out)-1]
			one.Sessions = append(one.Sessions, Evidence{ID: s.session.SessionKey, At: s.statement.At,
				Title: extract.Title(a.Clean(s.session.Title)), Items: a.sent(s), numbers: s.statement.Items,
				More: len(s.statement.Items)})
		}
	}
	return out
}

// sent returns what another machine sent of a statement, whose items stay there; never nil.
func (a Access) sent(s withExtraction) []EvidenceItem {
	out := []EvidenceItem{}
	if !memoir.IsReceived(s.session.SessionKey) {
		return out
	}
	st := s.statement
	for _, field := range [][2]string{{"ran", st.Command}, {"in", st.Dir}, {"failed", st.Error}, {"because", st.Cause},
		{"then passed", st.Fix}, {"reason", st.Detail}, {"files", strings.Join(st.Paths, " ")}} {
		if field[1] != "" {
			out = append(out, EvidenceItem{Text: field[0] + ": " + a.Clean(field[1])})
		}
	}
	return out
}

// fill reads the items of statements. It reads each session once.
func (a Access) fill(ctx context.Context, st *store.Store, statements []Statement) error {
	wanted := map[string][]*Evidence{}
	for i := range statements {
		for j := range statements[i].Sessions[:min(len(statements[i].Sessions), maxSessions)] {
			one := &statements[i].Sessions[j]
			wanted[one.ID] = append(wanted[one.ID], one)
		}
	}
	for key, places := range wanted {
		items, err := a.itemsOf(ctx, st, key)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, one := range places {
			if err != nil { // for example, its file was deleted
				one.Error = a.Clean(err.Error())
			}
			for _, it := range items {
				if slices.Contains(one.numbers, it.N) && len(one.Items) < maxCited {
					one.Items = append(one.Items, it)
					one.More--
				}
			}
		}
	}
	return nil
}

// itemsOf returns the items of a session, or the text of an entry.
func (a Access) itemsOf(ctx context.Context, st *store.Store, key string) ([]EvidenceItem, error) {
	if id := memoir.EntryID(key); id != 0 {
		entries, err := st.Entries(ctx, store.EntryFilter{ID: id})
		if err != nil || len(entries) == 0 {
			return nil, err
		}
		return []EvidenceItem{{1, a.Clean(entries[0].Text)}}, nil
	}
	if memoir.IsReceived(key) {
		return nil, memoir.Errorf(memoir.CodeNotFound, "", "its transcript is on another machine")
	}
	reading, err := a.Show(ctx, st, key, 0)
	return memoir.Map(reading.Items, func(it Item) EvidenceItem {
		return EvidenceItem{it.N, memoir.CutBytes(it.Shown, maxItem, "…")}
	}), err
}
