package entry

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
	"memoir/internal/lazyregexp"
	"memoir/memory"
	"memoir/store"
)

// Bounds of journals.
const (
	maxPage    = 1 << 20 // bytes of a day
	maxSnippet = 500     // characters of a line that is found
)

// pageName is the name of a journal's page; files of other names are ignored.
var pageName = lazyregexp.New(`^\d{4}-\d{2}-\d{2}\.md$`)

// Day returns the UTC date for a name: today, yesterday or a date. "" is today.
func Day(name string, now time.Time) (string, error) {
	switch now = now.UTC(); name {
	case "", "today":
		return now.Format(time.DateOnly), nil
	case "yesterday":
		return now.AddDate(0, 0, -1).Format(time.DateOnly), nil
	}
	if _, err := time.Parse(time.DateOnly, name); err != nil {
		return "", usage("use today, yesterday or a date such as 2026-07-01", "%q is not a date", cut(name))
	}
	return name, nil
}

// dayOf returns the date of an entry's page, lineOf its line there.
func dayOf(e memoir.Entry) string { return e.CreatedAt.UTC().Format(time.DateOnly) }

func lineOf(e memoir.Entry) string { return "- " + e.Text + "\n" }

func pagePath(root memory.Root, day string) string {
	return filepath.Join(root.Journal(), day+".md")
}

// Page returns the content of a project's journal file of a day without secrets, "" if there is none.
func (b Book) Page(projectID, day string) (string, error) {
	root := memory.At(b.Home, projectID)
	path := pagePath(root, day)
	content, err := disk.ReadIn(root.Dir(), path, 2*maxPage) // several may have found the last room
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", memoir.Errorf(memoir.CodeStorage,
			cmp.Or(disk.HintOr(err, "--home"), "move it away, or split it"), "read %s: %w", path, err)
	}
	return b.Redact(strings.ToValidUTF8(string(content), "\uFFFD")), nil
}

// Days lists the days of which a project has a journal, the newest first.
func (b Book) Days(projectID string) ([]string, error) {
	entries, err := os.ReadDir(memory.At(b.Home, projectID).Journal())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, storageError(err, "list the journals of %s", projectID)
	}
	var days []string
	for _, e := range slices.Backward(entries) {
		day := strings.TrimSuffix(e.Name(), ".md")
		if _, err := time.Parse(time.DateOnly, day); err == nil && pageName.MatchString(e.Name()) {
			days = append(days, day)
		}
	}
	return days, nil
}

// PageHit is a line of a journal.
type PageHit struct {
	Day  string `json:"date"`
	Line int    `json:"line"` // from 1
	Text string `json:"text"` // at most 500 characters
}

// SearchPages returns at most limit lines of a project's journals that contain a text, ignoring case, newest day
// first. Unread are the errors of pages that could not be read.
func (b Book) SearchPages(ctx context.Context, projectID, text string, limit int) (
	hits []PageHit, unread []error, err error) {
	days, err := b.Days(projectID)
	hits = []PageHit{}
	for _, day := range days {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		page, err := b.Page(projectID, day)
		if err != nil {
			unread = append(unread, err)
		}
		n := 0
		for line := range strings.Lines(page) {
			if n++; strings.Contains(memoir.Folded(line), memoir.Folded(text)) {
				if hits = append(hits, PageHit{day, n, cut(strings.TrimSpace(line))}); len(hits) == limit {
					return hits, unread, nil
				}
			}
		}
	}
	return hits, unread, err
}

func cut(text string) string { return memoir.Cut(text, maxSnippet) }

// existing returns the note that equals e, of any category or only of that of e, or the line of e that its day's page
// has or will get, nil if there is none. Letter case tells apart notes of two authors alone, or what one replaces. It
// fails if the page has no room for the line.
func (b Book) existing(ctx context.Context, e memoir.Entry, anyCategory bool) (*memoir.Entry, error) {
	journal := e.Kind == memoir.EntryJournal
	of := store.EntryFilter{Projects: []string{e.ProjectID}, Kind: e.Kind, Max: 100}
	latest, err := b.Store.Entries(ctx, of)
	of.Unfiled, of.Max = true, 0
	unfiled, fault := b.Store.Entries(ctx, of)
	if err = errors.Join(err, fault); err != nil {
		return nil, err
	}
	same := slices.DeleteFunc(latest, func(other memoir.Entry) bool {
		if journal {
			return other.Text != e.Text || dayOf(other) != dayOf(e)
		}
		again := other.Author == e.Author && e.Replaces == 0
		return other.Text != e.Text && !(again && memoir.Folded(other.Text) == memoir.Folded(e.Text)) ||
			other.Category != e.Category && !(again && anyCategory)
	})
	if journal {
		page, err := b.Page(e.ProjectID, dayOf(e))
		for _, other := range unfiled {
			if dayOf(other) == dayOf(e) {
				page += "\n" + lineOf(other)
			}
		}
		if err == nil && without(page, e) == page && len(page)+len(lineOf(e)) >= maxPage {
			err = usage("", "the journal of %s is full", dayOf(e))
		}
		if err != nil || without(page, e) == page {
			return nil, err
		}
		same = append(same, e)
	}
	if len(same) == 0 {
		return nil, nil
	}
	return &same[0], nil
}

// onPage adds an entry to the page of its day, unless a process that died did so.
func (b Book) onPage(e memoir.Entry) error {
	root := memory.At(b.Home, e.ProjectID)
	day := dayOf(e)
	page, err := b.Page(e.ProjectID, day)
	if err != nil {
		return err
	}
	if without(page, e) != page {
		return nil
	}
	return Append(root, pagePath(root, day), lineOf(e))
}

// Append durably appends whole lines to a file of a project's folder, or leaves it as it was, or missing. If the last
// line has no line end, it adds one first.
func Append(root memory.Root, path, text string) error {
	if err := failpoint.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return storageError(err, "make %s", filepath.Dir(path))
	}
	if err := failpoint.Before("append"); err != nil {
		return storageError(err, "write %s", path)
	}
	f, err := disk.OpenIn(root.Dir(), path, os.O_CREATE|os.O_RDWR|os.O_APPEND)
	if err != nil {
		return storageError(err, "write %s", path)
	}
	info, err := f.Stat()
	if err == nil {
		var last [1]byte
		if n, _ := f.ReadAt(last[:], info.Size()-1); n == 1 && last[0] != '\n' {
			text = "\n" + text
		}
		if _, err = f.WriteString(text); err == nil {
			err = f.Sync()
		}
		switch {
		case err != nil && info.Size() == 0:
			err = errors.Join(err, failpoint.Remove(path))
		case err != nil:
			err = errors.Join(err, f.Truncate(info.Size()))
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return storageError(err, "write %s", path)
	}
	failpoint.After("appended")
	return nil
}

// Erase removes the lines of journal entries, given by session keys, from their pages.
func (b Book) Erase(ctx context.Context, keys []string) error {
	for _, key := range keys {
		id := memoir.EntryID(key)
		if id == 0 {
			continue
		}
		found, err := b.Store.Entries(ctx, store.EntryFilter{ID: id, Kind: memoir.EntryJournal, Disabled: true})
		if err == nil && len(found) > 0 {
			err = b.Store.Alone(ctx, func() error { return b.erase(found[0]) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TakenOff reports whether a person removed the line of a journal entry, given by its session key, from its page. It is
// false for other keys, and for a line that is not written to its page yet.
func (b Book) TakenOff(ctx context.Context, key string) (bool, error) {
	if !memoir.IsJournal(key) {
		return false, nil
	}
	of := store.EntryFilter{ID: memoir.EntryID(key), Disabled: true}
	found, err := b.Store.Entries(ctx, of)
	of.Unfiled = true
	unfiled, fault := b.Store.Entries(ctx, of)
	if err = errors.Join(err, fault); err != nil || len(found) == 0 || len(unfiled) > 0 {
		return false, err
	}
	e := found[0]
	e.Text = b.Redact(e.Text) // by the rules for secrets that count now, as in the page
	page, err := b.Page(e.ProjectID, dayOf(e))
	return err == nil && without(page, e) == page, err
}

// bare is a line of a page without its list mark and surplus space; "" for a heading.
func bare(line string) string {
	text := strings.Join(strings.Fields(line), " ")
	if strings.HasPrefix(text, "#") {
		return ""
	}
	return strings.TrimPrefix(strings.TrimPrefix(text, "* "), "- ")
}

// without removes an entry's line from a page, also if a person changed its mark or spaces.
func without(page string, e memoir.Entry) string {
	var out strings.Builder
	for line := range strings.Lines(page) {
		if bare(line) != e.Text {
			out.WriteString(line)
		}
	}
	return out.String()
}

func (b Book) erase(e memoir.Entry) error {
	root := memory.At(b.Home, e.ProjectID)
	path := pagePath(root, dayOf(e))
	content, err := disk.ReadIn(root.Dir(), path, 2*maxPage)
	left := without(string(content), e)
	if errors.Is(err, fs.ErrNotExist) || err == nil && left == string(content) {
		return nil
	}
	if err == nil {
		err = disk.Replace(path, []byte(left), 0o600)
	}
	if err != nil {
		return storageError(err, "remove a line from %s", path)
	}
	return nil
}

func usage(hint, format string, args ...any) error {
	return memoir.Errorf(memoir.CodeUsage, hint, format, args...)
}

func storageError(err error, doing string, args ...any) error {
	return memoir.Errorf(memoir.CodeStorage, disk.HintOr(err, "--home"), doing+": %w", append(args, err)...)
}
