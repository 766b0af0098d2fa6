package entry

import (
	"context"
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
	// Text are the pages, the newest first, each cut at 4,000 characters. A line that a person wrote ends in the
	// citation of its entry, one that nobody confirmed says so. "" if there are none.
	Text string
	// Last is when lines were taken in last; zero: never.
	Last time.Time

	adopt []memoir.Entry      // lines that a person wrote into a page
	put   []memoir.Extraction // what is stored of lines anew; an empty one takes back what is
}

// Fresh reports whether there is something to take in.
func (w Week) Fresh() bool { return len(w.adopt)+len(w.put) > 0 }

// Week reads a project's journals of the days before now. States says what an entry states.
func (b Book) Week(
	ctx context.Context, projectID string, now time.Time, states func(memoir.Entry) []memoir.Statement,
) (w Week, err error) {
	r := weekReader{Book: b, project: projectID, states: states,
		known: map[string]memoir.Entry{}, enabled: map[int64]bool{}, seen: map[int64]bool{}}
	days, err := b.Days(projectID)
	if err != nil {
		return w, err
	}
	var pages []string
	first, last := now.UTC().AddDate(0, 0, 1-weekDays).Format(time.DateOnly), now.UTC().Format(time.DateOnly)
	filter := store.EntryFilter{Projects: []string{projectID}, Kind: memoir.EntryJournal, Disabled: true}
	// Before the pages and after them: of what is forgotten or added meanwhile, one of the two knows.
	if err = r.learn(ctx, filter); err != nil {
		return w, err
	}
	for _, day := range days {
		page := ""
		if day >= first && day <= last {
			if page, err = b.Page(projectID, day); err != nil {
				return w, err
			}
		}
		pages = append(pages, page)
	}
	filter.Disabled = false
	if err = r.learn(ctx, filter); err != nil {
		return w, err
	}
	if r.stored, w.Last, err = b.Store.JournalInputs(ctx, projectID); err != nil {
		return w, err
	}
	for i, page := range pages {
		if strings.TrimSpace(page) != "" {
			w.Text += "## " + days[i] + "\n\n" + r.read(&w, days[i], page) + "\n"
		}
	}
	for _, e := range r.known {
		if day := dayOf(e); w.Text != "" && day >= first && day <= last && !r.seen[e.ID] {
			r.put(&w, e, nil)
		}
	}
	slices.SortFunc(w.put, func(a, b memoir.Extraction) int { return strings.Compare(a.SessionKey, b.SessionKey) })
	return w, nil
}

// TakeIn makes what is fresh in a project's journals inputs of its next consolidation, and the project due. The caller
// holds the project's lease. A process that dies in between leaves the rest to the next call.
func (b Book) TakeIn(
	ctx context.Context, projectID string, now time.Time, states func(memoir.Entry) []memoir.Statement,
) error {
	w, err := b.Week(ctx, projectID, now, states)
	for _, e := range w.adopt {
		if err == nil {
			_, err = b.Store.AddEntry(ctx, e, nil)
		}
	}
	if err == nil && len(w.adopt) > 0 {
		w, err = b.Week(ctx, projectID, now, states)
	}
	if err != nil {
		return err
	}
	return b.Store.PutInputs(ctx, w.put)
}

// weekReader reads the pages of a week.
type weekReader struct {
	Book
	project string
	states  func(memoir.Entry) []memoir.Statement
	known   map[string]memoir.Entry // by day and text
	enabled map[int64]bool
	seen    map[int64]bool
	stored  map[string]string // what entries state, by key
}

func (r *weekReader) learn(ctx context.Context, f store.EntryFilter) error {
	entries, err := r.Store.Entries(ctx, f)
	for _, e := range entries {
		if text, err := r.line(e.Text); err == nil { // by the rules for secrets that count now
			r.known[dayOf(e)+text] = e
			r.enabled[e.ID] = !f.Disabled
		}
	}
	return err
}

// read is a page as it is shown, and notes what its lines state.
func (r *weekReader) read(w *Week, day, page string) string {
	whole, rest := page, ""
	if runes := []rune(page); len(runes) > maxTaken {
		text := string(runes[:maxTaken])
		whole = text[:strings.LastIndexByte(text, '\n')+1]
		rest = text[len(whole):] + cutPage
	}
	var out strings.Builder
	for line := range strings.Lines(whole) {
		text, err := r.line(bare(line))
		e, ok := r.known[day+text]
		switch {
		case err != nil || !ok && strings.Contains(text, "[REDACTED"):
			out.WriteString(line)
		case !ok:
			at, _ := time.Parse(time.DateOnly, day) // which Days has done
			e = memoir.Entry{ProjectID: r.project, Kind: memoir.EntryJournal, Author: memoir.AuthorUser, Text: text,
				CreatedAt: at}
			w.adopt, r.known[day+text] = append(w.adopt, e), e
			out.WriteString(line)
		case e.ID == 0 || !r.enabled[e.ID] || r.seen[e.ID]:
			r.seen[e.ID] = true
		default:
			r.seen[e.ID] = true
			r.put(w, e, r.states(e))
			cite := " (not confirmed)\n"
			if e.Author == memoir.AuthorUser {
				cite = " [" + strings.ReplaceAll(e.Key(), ":", "-") + " " + day + "]\n"
			}
			out.WriteString("- " + text + cite)
		}
	}
	return out.String() + rest
}

// put notes what is to be stored of an entry, if that is not what is.
func (r *weekReader) put(w *Week, e memoir.Entry, statements []memoir.Statement) {
	if raw := memoir.FormatStatements(statements); raw != r.stored[e.Key()] {
		w.put = append(w.put, memoir.Extraction{SessionKey: e.Key(), ProjectID: e.ProjectID, RawMemory: raw, Title: e.Text,
			StartedAt: e.CreatedAt, EndedAt: e.CreatedAt, ContentHash: e.Key()})
	}
}
