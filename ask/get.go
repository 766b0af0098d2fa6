package ask

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"memoir"
	"memoir/entry"
	"memoir/extract"
	"memoir/memory"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/store"
)

const (
	maxPaths  = 10
	leastItem = 80 // bytes of a cut item
)

type memoryGetIn struct {
	Path      string   `json:"path,omitempty"`
	Paths     []string `json:"paths,omitempty" jsonschema:"several, each with #N to begin there"`
	From      int      `json:"from,omitempty" jsonschema:"first line, or item of a session"`
	Lines     int      `json:"lines,omitempty" jsonschema:"how many of them"`
	MaxTokens int      `json:"maxTokens,omitempty" jsonschema:"as in memory_search"`
}

type memoryGetOut struct {
	part
	Results []part `json:"results,omitempty"`
}

type part struct {
	Path  string `json:"path,omitempty"`
	Text  string `json:"text,omitempty"`
	From  int    `json:"from,omitempty"`
	To    int    `json:"to,omitempty"`
	Total int    `json:"total,omitempty" jsonschema:"lines, or items"`
	Note  string `json:"note,omitempty" jsonschema:"what was left out"`
	Error string `json:"error,omitempty"`
}

// document is the content of an address: the lines of a file, or the items of a session.
type document struct {
	address
	about string // of a session
	units []unit
	asked int // units that the client asked for, 0: all
	total int
	err   error
}

type unit struct {
	n    int // from 1
	text string
}

func (s *server) memoryGet(ctx context.Context, in memoryGetIn) (out memoryGetOut, err error) {
	paths := in.Paths
	if in.Path != "" {
		paths = append([]string{in.Path}, paths...)
	}
	if len(paths) == 0 || len(paths) > maxPaths {
		return out, usage("", "memory_get takes 1 to %d paths, not %d", maxPaths, len(paths))
	}
	var documents []document
	for _, path := range paths {
		documents = append(documents, s.document(ctx, path, in.From, in.Lines))
	}
	if len(paths) == 1 && documents[0].err != nil {
		return out, documents[0].err
	}
	return fit(budget(in.MaxTokens), mostTokens*4, func(room int) memoryGetOut {
		if len(documents) == 1 {
			return memoryGetOut{part: s.render(documents[0], room, getFrom)}
		}
		out := memoryGetOut{}
		for i, d := range documents {
			if room < 200*i { // not even the addresses fit
				out.Note = fmt.Sprintf("paths left out: %d; name fewer", len(documents)-i)
				break
			}
			out.Results = append(out.Results, s.render(d, room/len(documents), getFrom))
		}
		return out
	}), nil
}

type fetchIn struct {
	ID string `json:"id"`
}

type fetchOut struct {
	ID       string            `json:"id"`
	Title    string            `json:"title"`
	Text     string            `json:"text"`
	URL      string            `json:"url"`
	Metadata map[string]string `json:"metadata"`
}

// fetch is the tool fetch. It reads from the line or item in the id's fragment.
func (s *server) fetch(ctx context.Context, in fetchIn) (out fetchOut, err error) {
	d := s.document(ctx, in.ID, 0, 0)
	if d.err != nil {
		return out, d.err
	}
	return fit(usualTokens, mostTokens*4, func(room int) fetchOut {
		p := s.render(d, room, "fetch "+d.text+"#")
		return fetchOut{ID: in.ID, Title: p.Path, Text: p.Text, URL: in.ID, Metadata: map[string]string{
			"from": strconv.Itoa(p.From), "to": strconv.Itoa(p.To), "total": strconv.Itoa(p.Total), "note": p.Note}}
	}), nil
}

// document reads at most lines lines or items of an address, 0 for all. It starts at number from; 0 is the number in
// the address, or else the first.
func (s *server) document(ctx context.Context, path string, from, lines int) (d document) {
	d.asked = lines
	if d.address, d.err = parse(path); d.err != nil {
		return d
	}
	if d.session != "" {
		d.err = s.readSession(ctx, &d)
	} else {
		d.err = s.readFile(ctx, &d)
	}
	if from <= 0 {
		from = d.line
	}
	for len(d.units) > 0 && d.units[0].n < from {
		d.units = d.units[1:]
	}
	if lines > 0 && len(d.units) > lines {
		d.units = d.units[:lines]
	}
	return d
}

// readFile reads a file, journal or history of a memory, or lists a directory. It marks lines of the client's project
// that are outdated in the working tree.
func (s *server) readFile(ctx context.Context, d *document) error {
	p, root, err := s.root(ctx)
	own := d.project == ""
	switch {
	case err != nil && (own || switchedOff(err)):
		return err
	case !own && d.project != memoir.UserProjectID && !s.AllProjects:
		return errOther
	case !own:
		root, p.ID = memory.At(s.Home, d.project), d.project
	}
	content, err := s.beside(p.ID, d.place)
	if content == nil && err == nil {
		content, err = root.Open(d.place)
	}
	if n, _ := root.Linked(); n == 0 && d.project == memoir.UserProjectID && memoir.CodeOf(err) == memoir.CodeNotFound {
		return memoir.ErrUserEmpty
	}
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(s.Clean(string(content)), "\n"), "\n")
	var marks map[int]string
	if own {
		marks = outdated(p, root, lines)
	}
	for i, line := range lines {
		if marks[i] != "" {
			line += " (" + marks[i] + ")"
		}
		d.units = append(d.units, unit{i + 1, line})
	}
	d.total = len(lines)
	return nil
}

// beside reads a journal or history: journal/DATE, where the date may be today or yesterday, HISTORY.md or
// HISTORY-YYYY-MM.md. For other places it returns nil.
func (s *server) beside(projectID, place string) ([]byte, error) {
	b := entry.Book{Home: s.Home, Redact: s.Redact}
	place = strings.TrimSuffix(strings.TrimPrefix(place, rootAddress+"/"), ".md")
	if day, ok := strings.CutPrefix(place, "journal/"); ok {
		day, err := entry.Day(day, time.Now())
		if err != nil {
			return nil, err
		}
		page, err := b.Page(projectID, day)
		return []byte(cmp.Or(page, "No journal entry for "+day+".\n")), err
	}
	if month, ok := strings.CutPrefix(place, "HISTORY"); ok {
		text, err := b.History(projectID, strings.TrimPrefix(month, "-"))
		return []byte(text), err
	}
	return nil, nil
}

func (s *server) readEntry(ctx context.Context, st *store.Store, id int64, d *document) error {
	found, err := st.Entries(ctx, store.EntryFilter{ID: id})
	if err != nil || len(found) == 0 {
		return err
	}
	if _, writing, err := s.Change(ctx); err == nil { // a failure to record the access does not prevent the answer
		_, _ = writing.Recall(ctx, store.EntryFilter{ID: id, Kind: memoir.EntryNote})
		writing.Close()
	}
	e := found[0]
	d.address.text = sessionScheme + e.Key()
	d.about = fmt.Sprintf("%s of %s, by the %s", e.Kind, e.CreatedAt.UTC().Format("2006-01-02"), e.Author)
	d.total, d.units = 1, []unit{{1, memory.Neutralise(strings.TrimSpace(e.Category + " " + e.Text))}}
	return nil
}

// readSession reads the items of a session as Phase 1 reads them: filtered, redacted and bounded.
func (s *server) readSession(ctx context.Context, d *document) error {
	st, err := s.Read(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	session, err := s.findSession(ctx, st, d.session)
	if err != nil {
		return err
	}
	if id := memoir.EntryID(session.Key()); id != 0 {
		return s.readEntry(ctx, st, id, d)
	}
	loaded, err := pipeline.LoadSession(ctx, s.Home, session, s.Scanner)
	if err != nil {
		loaded, err = pipeline.LoadStored(ctx, st, session, s.Scanner, err)
	}
	if err != nil {
		return err
	}
	d.address.text = sessionScheme + session.Key()
	d.about = s.Clean(fmt.Sprintf("%s session of %s: %s", session.Source, session.UpdatedAt.UTC().Format("2006-01-02"),
		extract.Title(loaded.Again(session.Title)))) + strings.TrimSuffix("; "+loaded.Gone, "; ")
	for _, it := range loaded.Items {
		d.units = append(d.units, unit{it.N, memory.Neutralise(operation.ItemText(it))})
	}
	if n := len(loaded.Items); n > 0 {
		d.total = loaded.Items[n-1].N
	}
	return nil
}

// findSession returns a session that the client may read. It does not find forgotten and disabled sessions, and without
// AllProjects no sessions of other projects.
func (s *server) findSession(ctx context.Context, st *store.Store, ref string) (memoir.Session, error) {
	project, err := s.Project(ctx)
	if err != nil {
		return memoir.Session{}, err
	}
	session, err := operation.FindSession(ctx, st, ref, func(session memoir.Session) bool {
		return session.Reason != memoir.ReasonForgotten && session.Reason != memoir.ReasonDisabled &&
			session.ProjectID != "" && (session.ProjectID == project.ID || s.AllProjects)
	})
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		err = memoir.Errorf(memoir.CodeNotFound, "memory_search returns session keys",
			"no session of this project matches %q", ref)
	}
	return session, err
}

// getFrom is how memory_get reads on, with a number after it.
const getFrom = "call memory_get with from "

// render returns the lines or items of a document that fit into room bytes. The note says what was cut, and how to read
// on: next, with a number after it.
func (s *server) render(d document, room int, next string) part {
	p := part{Path: d.address.text, Total: d.total}
	switch {
	case d.err != nil:
		p.Path, p.Error = memoir.CutBytes(s.Clean(p.Path), 100, "…"), memoir.CutBytes(s.brief(d.err), 200, "…")
		return p
	case len(d.units) == 0:
		p.Note = fmt.Sprintf("the last one is %d", d.total)
		return p
	}
	text, between, noun := d.about, "\n", "line"
	if d.session != "" {
		between, noun = "\n\n", "item"
	}
	most, shortened := d.share(room), 0
	p.From = d.units[0].n
	for i, u := range d.units {
		cut := len(u.text) > most
		if u.text = memoir.CutBytes(u.text, most, "…"); i > 0 || text != "" {
			u.text = between + u.text
		}
		if len(text)+len(u.text) > room && i > 0 {
			break
		}
		if p.To, text = u.n, text+u.text; cut {
			shortened++
			p.Note = fmt.Sprintf("%s %d was cut; ", noun, u.n)
		}
	}
	if p.Text = text; shortened > 1 {
		p.Note = fmt.Sprintf("%d %ss were cut, lines 1 gives more of one; ", shortened, noun)
	}
	if last := d.units[len(d.units)-1].n; last > p.To {
		left := fmt.Sprintf("%s %d", noun, last)
		if last > p.To+1 {
			left = fmt.Sprintf("%ss %d to %d", noun, p.To+1, last)
		}
		p.Note += fmt.Sprintf("%s left out: %s%d", left, next, p.To+1)
	}
	p.Note = strings.TrimSuffix(p.Note, "; ")
	return p
}

// share returns the bytes that each item may have, so that all that were asked for fit. If the client named no number,
// it is at least an eighth of room. Lines of a file are cut only if one alone does not fit.
func (d document) share(room int) int {
	if d.session == "" {
		return room
	}
	least := room / 8
	if d.asked > 0 {
		least = min(least, max(room/d.asked, leastItem))
	}
	share := room
	for sum := room + 1; sum > room && share > least; {
		sum = len(d.about)
		for _, u := range d.units {
			sum += min(len(u.text), share) + len("\n\n")
		}
		if sum > room {
			share = max(share-share/16-1, least)
		}
	}
	return share
}
