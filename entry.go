package memoir

import (
	"strconv"
	"strings"
	"time"
)

// Entry is what a person or an agent writes down at once. It is a session of SourceEntry and KindEntry whose
// one message is the text, so that what finds, forgets and consolidates sessions does so with entries.
type Entry struct {
	ID        int64 // from 1; none is given twice
	ProjectID string
	Kind      EntryKind
	Category  string // of a note, one of Categories
	Author    Author
	Text      string
	CreatedAt time.Time
	// AccessedAt is when a note was last recalled, at first when it was made.
	AccessedAt time.Time
}

// SourceEntry is the source of sessions that are entries.
const SourceEntry Source = "memoir"

// EntryKind says where an entry was written.
type EntryKind string

// The kinds of an entry.
const (
	EntryNote    EntryKind = "note"    // a statement to be remembered
	EntryJournal EntryKind = "journal" // a line of a day's journal
	EntryHistory EntryKind = "history" // a paragraph on a session
)

// Categories are those of notes.
var Categories = []string{"preference", "fact", "project", "person", "routine"}

// Author says on whose account an entry was written.
type Author string

// The authors of an entry. What others than a person write is a claim.
const (
	AuthorUser  Author = "user"  // a person asked for it
	AuthorAuto  Author = "auto"  // it was noticed
	AuthorAgent Author = "agent" // an agent decided so
)

// Unconfirmed ends a line of MEMORY.md that an agent wrote, until a person takes it off or out. Such a line is a
// claim: no session is told it.
const Unconfirmed = " (not confirmed)"

// IsEntry reports whether a session's key is that of an entry.
func IsEntry(key string) bool { return strings.HasPrefix(key, string(SourceEntry)+":") }

// IsJournal reports whether a session's key is that of a line of a journal.
func IsJournal(key string) bool {
	return strings.HasPrefix(key, string(SourceEntry)+":"+string(EntryJournal)+"-")
}

// IsKept reports whether nobody but memoir keeps what a session's key names: an entry, or a conversation. Forgetting
// it deletes it.
func IsKept(key string) bool {
	source, _ := SplitKey(key)
	return source == SourceEntry || source == SourceConversation
}

// EntryID is the id of the entry that a session is; 0: it is none.
func EntryID(key string) int64 {
	if !IsEntry(key) {
		return 0
	}
	id, err := strconv.ParseInt(key[strings.LastIndexByte(key, '-')+1:], 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// Key is the key of the session that the entry is.
func (e Entry) Key() string {
	return SessionKey(SourceEntry, string(e.Kind)+"-"+strconv.FormatInt(e.ID, 10))
}
