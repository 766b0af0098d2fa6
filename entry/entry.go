// Package entry stores and reads what people and agents write down themselves: notes, the pages of journals, which are
// files in a project's folder, and the history of a project's sessions there. It checks and redacts each text. It uses
// the database and the folder, and knows no model, no agent's format and no terminal.
//
// Read entry.go first (writing and recalling), then page.go (journals), history.go, inject.go (the notes that a session
// gets) and patch.go (changing lines of MEMORY.md).
package entry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"memoir"
	"memoir/internal/failpoint"
	"memoir/memory"
	"memoir/store"
)

// Bounds.
const (
	MaxText   = 4000 // bytes of an entry
	MaxRecall = 20   // notes that one recall returns
	MaxLatest = 100  // notes that one list of the latest has
)

// Book holds the entries of a home.
type Book struct {
	Store  *store.Store
	Home   string
	Redact func(string) string // takes secrets out of a text
}

// Write checks and redacts an entry and stores it durably. It sets the ID, and CreatedAt if that is zero. The next
// process finds the entry, and the next session gets a person's note. The error of an invalid text or category has the
// code memoir.CodeUsage. If the entry exists, nothing is stored: added is false, and stored is the existing entry.
// That is one of the project's 100 last accessed notes, whatever its letter case if it has the same author, or a line
// of the day's journal, with ID 0 if a person wrote it into the file. A note without a category is a fact, and equals
// one of any category. A person's note confirms an agent's of the same text, which keeps its number. One that replaces
// another is stored in the project of that one, and by default in its category.
func (b Book) Write(ctx context.Context, e memoir.Entry) (stored memoir.Entry, added bool, err error) {
	if e.Replaces != 0 {
		if err := b.replace(ctx, &e); err != nil {
			return e, false, err
		}
	}
	anyCategory := e.Kind == memoir.EntryNote && e.Category == ""
	if anyCategory {
		e.Category = "fact"
	}
	e, statements, err := b.Checked(e)
	if err != nil {
		return e, false, err
	}
	err = b.Store.Alone(ctx, func() error { // so that no other process adds or files the same entry meanwhile
		found, err := b.existing(ctx, e, anyCategory)
		if found != nil && e.Kind == memoir.EntryNote {
			if e.Replaces == found.ID || e.Replaces == found.Replaces {
				e.Replaces = 0
			}
			theirs := found.Author == memoir.AuthorUser
			switch {
			case theirs && e.Replaces != 0 && e.Author != memoir.AuthorUser:
				return usage("a person can say what it replaces", "#%d is the same note", found.ID)
			case e.Replaces != 0, !theirs && e.Author == memoir.AuthorUser:
				e.ID, e.CreatedAt, e.Replaces = found.ID, found.CreatedAt, cmp.Or(e.Replaces, found.Replaces)
				statements, found = []memoir.Statement{statementOf(e)}, nil
			}
		}
		if added = err == nil && found == nil; !added {
			stored = *cmp.Or(found, &e)
			return err
		}
		stored, err = b.Store.AddEntry(ctx, e, statements)
		return err
	})
	if err != nil || !added {
		return stored, added, err
	}
	if err := b.File(ctx, stored.ID); err != nil {
		return stored, true, memoir.Errorf(memoir.CodeOf(err), memoir.HintOf(err),
			"#%d is stored; the next run adds it to its file: %w", stored.ID, err)
	}
	return stored, true, nil
}

// replace gives an entry the project of the note that it replaces.
func (b Book) replace(ctx context.Context, e *memoir.Entry) error {
	found, err := b.notes(ctx, b.Store.Entries, store.EntryFilter{ID: e.Replaces,
		Projects: []string{memoir.UserProjectID, e.ProjectID}})
	if err == nil && len(found) == 0 {
		err = memoir.Errorf(memoir.CodeNotFound, "`memoir notes` lists notes", "no note here is #%d", e.Replaces)
	}
	if err == nil {
		e.ProjectID, e.Category = found[0].ProjectID, cmp.Or(e.Category, found[0].Category)
	}
	return err
}

// Number returns the number in a name of a note: 12, #12 or memoir:note-12.
func Number(name string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimPrefix(name, "#"), "memoir:note-"), 10, 64)
	if err != nil || n < 1 {
		return 0, usage("for example #12", "%q is not the number of a note", cut(name))
	}
	return n, nil
}

// Checked returns an entry as Write stores it, and its statements.
func (b Book) Checked(e memoir.Entry) (memoir.Entry, []memoir.Statement, error) {
	var err error
	if e.Text, err = b.line(e.Text); err != nil {
		return e, nil, err
	}
	if e.CreatedAt.IsZero() {
		e.CreatedAt = time.Now()
	}
	if e.Kind != memoir.EntryNote {
		return e, nil, nil
	}
	return e, []memoir.Statement{statementOf(e)}, known(e.Category)
}

// File updates the projects' folders for an entry, or with id 0 for all entries that a dead process left: it adds a
// line to the journal's page, and marks a project that has notes.
func (b Book) File(ctx context.Context, id int64) error {
	return b.Store.FileEntries(ctx, id, func(e memoir.Entry) error {
		if e.Kind == memoir.EntryJournal {
			return b.onPage(e)
		}
		return mark(memory.At(b.Home, e.ProjectID))
	})
}

// line converts a text to one line without secrets and control characters.
func (b Book) line(text string) (string, error) {
	if len(text) > 16*MaxText { // too long even to be redacted
		return "", usage("shorten it, or write several", "a text may have at most %d bytes, not %d", MaxText, len(text))
	}
	text = strings.Map(func(r rune) rune { // before secrets are looked for: without them parts of one may meet
		if !unicode.IsSpace(r) && unicode.In(r, unicode.Cc, unicode.Cf) && r != '\u200d' { // a joiner is a part of emoji
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = b.Redact(strings.Join(strings.Fields(b.Redact(text)), " ")) // what stood on two lines may be one now
	if len(text) > MaxText {
		return "", usage("shorten it, or write several", "a text may have at most %d bytes, not %d", MaxText, len(text))
	}
	return text, Worded(text)
}

// Worded returns an error for a text that says nothing.
func Worded(text string) error {
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return usage("", "the text has no letter and no digit")
	}
	return nil
}

// statementOf returns a note's statement. A person's rules are quoted. A note that no person asked for is a claim.
func statementOf(e memoir.Entry) memoir.Statement {
	st := memoir.Statement{Kind: memoir.StatementFinding, Text: e.Text, Signal: memoir.SignalNote, By: memoir.ByPerson,
		Items: []int{1}, At: e.CreatedAt.UTC().Format(time.DateOnly)}
	if e.Replaces != 0 {
		st.Replaces = fmt.Sprintf("#%d", e.Replaces)
	}
	switch {
	case e.Author != memoir.AuthorUser:
		st.Kind, st.By = memoir.StatementClaim, memoir.ByAgent
	case e.Category == "preference", e.Category == "routine":
		st.Kind, st.Text, st.Quote = memoir.StatementPreference, "“"+e.Text+"”", e.Text
	}
	return st
}

// Recall returns at most MaxRecall notes of projects that contain all words, last accessed first, and records the
// access. Category "" is any.
func (b Book) Recall(ctx context.Context, projects []string, category string, words []string) ([]memoir.Entry, error) {
	return b.notes(ctx, b.Store.Recall, store.EntryFilter{Projects: projects, Category: category, Words: words,
		Max: MaxRecall})
}

// Notes returns all notes of projects, by category and number. Category "" is any.
func (b Book) Notes(ctx context.Context, projects []string, category string) ([]memoir.Entry, error) {
	notes, err := b.notes(ctx, b.Store.Entries, store.EntryFilter{Projects: projects, Category: category})
	byCategory(notes)
	return notes, err
}

// Latest returns at most MaxLatest notes of all projects, last accessed first. Category "" is any.
func (b Book) Latest(ctx context.Context, category string) ([]memoir.Entry, error) {
	return b.notes(ctx, b.Store.Entries, store.EntryFilter{Category: category, Max: MaxLatest})
}

func (b Book) notes(ctx context.Context, read func(context.Context, store.EntryFilter) ([]memoir.Entry, error),
	f store.EntryFilter) ([]memoir.Entry, error) {
	if err := known(f.Category); err != nil && f.Category != "" {
		return nil, err
	}
	f.Kind = memoir.EntryNote
	return read(ctx, f)
}

func known(category string) error {
	if slices.Contains(memoir.Categories, category) {
		return nil
	}
	return usage("use one of "+strings.Join(memoir.Categories, ", "), "unknown category %q", cut(category))
}

// byCategory sorts notes by category, in the order of memoir.Categories, and by number.
func byCategory(notes []memoir.Entry) {
	slices.SortStableFunc(notes, func(a, b memoir.Entry) int {
		return cmp.Or(slices.Index(memoir.Categories, a.Category)-slices.Index(memoir.Categories, b.Category), int(a.ID-b.ID))
	})
}

// markName is a file in the folder of each project that has notes. If it is missing, a session starts without opening
// the database.
const markName = "notes"

func mark(root memory.Root) error {
	err := failpoint.MkdirAll(root.Dir(), 0o700)
	if err == nil && !Any(root) {
		err = failpoint.WriteFile(markPath(root), nil, 0o600)
	}
	if err != nil {
		return storageError(err, "write %s", markPath(root))
	}
	return nil
}
