package entry

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/store"
)

// Bounds of journals that are consolidated.
const (
	weekDays = 7    // days, today among them
	maxTaken = 4000 // characters of a day
)

// cutPage stands where a page was cut.
const cutPage = "\n[the rest of this day is left out]\n"

// Week is a project's journals of the last 7 days as a consolidation takes them.
type Week struct {
	Book
	Project string
	Now     time.Time
	States  func(memoir.Entry) []memoir.Statement // what an entry states

	// Text are the pages, the newest first, each cut at 4,000 characters. A line that a person wrote ends in the
	// citation of its entry, one that nobody confirmed says so. "" if there are none.
	Text string
	Last time.Time // when lines were taken in last; zero: never

	known  map[string]memoir.Entry // by day and text
	shown  map[int64]bool          // those that nobody disabled
	stored map[string]string       // what entries state for a consolidation, by key
	adopt  []memoir.Entry          // lines that a person wrote into a page
	put    []memoir.Extraction     // what is to be stored of entries; empty ones take back what is
}

// Fresh reports whether Read found something that TakeIn would store.
func (w *Week) Fresh() bool { return len(w.adopt)+len(w.put) > 0 }

// Read reads the pages and finds what changed since the last TakeIn.
func (w *Week) Read(ctx context.Context) error {
	w.Text, w.adopt, w.put, w.known, w.shown = "", nil, nil, map[string]memoir.Entry{}, map[int64]bool{}
	days, err := w.Days(w.Project)
	first, today := w.Now.UTC().AddDate(0, 0, 1-weekDays).Format(time.DateOnly), w.Now.UTC().Format(time.DateOnly)
	days = slices.DeleteFunc(days, func(day string) bool { return day < first || day > today })
	pages := make([]string, len(days))
	// Before the pages and after them: of what is forgotten or added meanwhile, one of the two knows.
	err = errors.Join(err, w.learn(ctx, true))
	for i, day := range days {
		page, fault := w.Page(w.Project, day)
		pages[i], err = page, errors.Join(err, fault)
	}
	stored, last, fault := w.Store.JournalInputs(ctx, w.Project)
	if err = errors.Join(err, w.learn(ctx, false), fault); err != nil {
		return err
	}
	w.stored, w.Last = stored, last
	seen := map[int64]bool{}
	for i, page := range pages {
		if strings.TrimSpace(page) != "" {
			w.Text += "## " + days[i] + "\n\n" + w.page(days[i], page, seen) + "\n"
		}
	}
	for _, e := range w.known {
		if day := dayOf(e); w.Text != "" && day >= first && day <= today && !seen[e.ID] { // a person took it off
			w.state(e, nil)
		}
	}
	slices.SortFunc(w.put, func(a, b memoir.Extraction) int { return strings.Compare(a.SessionKey, b.SessionKey) })
	return nil
}

// Adopt reads the pages, stores what changed as inputs of the project's next consolidation, and makes the project due.
// The caller holds the project's lease. After a crash, a later call stores the rest.
func (w *Week) Adopt(ctx context.Context) error {
	err := w.Read(ctx)
	for _, e := range w.adopt {
		if err == nil {
			_, err = w.Store.AddEntry(ctx, e, nil)
		}
	}
	if err == nil && len(w.adopt) > 0 {
		err = w.Read(ctx)
	}
	if err != nil {
		return err
	}
	return w.Store.PutInputs(ctx, w.put)
}

func (w *Week) learn(ctx context.Context, disabled bool) error {
	entries, err := w.Store.Entries(ctx, store.EntryFilter{Projects: []string{w.Project}, Kind: memoir.EntryJournal,
		Disabled: disabled})
	for _, e := range entries {
		if text, err := w.line(e.Text); err == nil { // by the rules for secrets that count now
			w.known[dayOf(e)+text], w.shown[e.ID] = e, !disabled
		}
	}
	return err
}

// page is a page as it is shown. Its lines are noted.
func (w *Week) page(day, page string, seen map[int64]bool) string {
	rest := ""
	if runes := []rune(page); len(runes) > maxTaken {
		text := string(runes[:maxTaken])
		page = text[:strings.LastIndexByte(text, '\n')+1]
		rest = text[len(page):] + cutPage
	}
	var out strings.Builder
	for line := range strings.Lines(page) {
		text, err := w.line(bare(line))
		e, ok := w.known[day+text]
		if err != nil || !ok && strings.Contains(text, "[REDACTED") {
			out.WriteString(line)
			continue
		}
		if !ok {
			e = memoir.Entry{ProjectID: w.Project, Kind: memoir.EntryJournal, Author: memoir.AuthorUser, Text: text}
			e.CreatedAt, _ = time.Parse(time.DateOnly, day) // which Days has done
			w.adopt, w.known[day+text] = append(w.adopt, e), e
		}
		again := seen[e.ID]
		seen[e.ID] = true
		if e.ID == 0 || again || !w.shown[e.ID] {
			continue
		}
		w.state(e, w.States(e))
		mark := " (not confirmed)\n"
		if e.Author == memoir.AuthorUser {
			mark = " [" + strings.ReplaceAll(e.Key(), ":", "-") + " " + day + "]\n"
		}
		out.WriteString("- " + text + mark)
	}
	return out.String() + rest
}

// state notes what is to be stored of an entry, if that is not what is.
func (w *Week) state(e memoir.Entry, statements []memoir.Statement) {
	if memoir.FormatStatements(statements) != w.stored[e.Key()] {
		w.put = append(w.put, memoir.Extraction{SessionKey: e.Key(), ProjectID: e.ProjectID, Statements: statements,
			Title: e.Text, StartedAt: e.CreatedAt, EndedAt: e.CreatedAt, ContentHash: e.Key()})
	}
}
