package memoir

import (
	"strconv"
	"strings"
	"time"
)

// Entry is a note or a line of a journal or history. It is stored as a session of SourceEntry and KindEntry
// with the text as its one message, so that entries are found, forgotten and consolidated like sessions.
type Entry struct {
	ID        int64 // from 1, never reused
	ProjectID string
	Kind      EntryKind
	Category  string // of a note, one of Categories
	Author    Author
	Text      string
	CreatedAt time.Time
	// AccessedAt is the time of a note's last recall, initially of its creation.
	AccessedAt time.Time
}

// SourceEntry is the source of sessions that are entries.
const SourceEntry Source = "memoir"

// EntryKind is the place of an entry.
type EntryKind string

// The kinds of an entry.
const (
	EntryNote    EntryKind = "note"    // a statement to be remembered
	EntryJournal EntryKind = "journal" // a line of a day's journal
	EntryHistory EntryKind = "history" // a paragraph on a session
)

// Categories are the categories of notes.
var Categories = []string{"preference", "fact", "project", "person", "routine"}

// Author is the originator of an entry.
type Author string

// The authors of an entry. Entries of AuthorAuto and AuthorAgent are claims.
const (
	AuthorUser  Author = "user"  // a person asked for it
	AuthorAuto  Author = "auto"  // memoir noticed it
	AuthorAgent Author = "agent" // an agent decided it
)

// Unconfirmed ends a line of MEMORY.md that an agent wrote, until a person removes the mark or the line. Such
// a line is a claim and is not injected.
const Unconfirmed = " (not confirmed)"

// IsEntry reports whether a session's key is that of an entry.
func IsEntry(key string) bool { return strings.HasPrefix(key, string(SourceEntry)+":") }

// IsJournal reports whether a session's key is that of a line of a journal.
func IsJournal(key string) bool {
	return strings.HasPrefix(key, string(SourceEntry)+":"+string(EntryJournal)+"-")
}

// IsKept reports whether only memoir has the session of a key: an entry or a conversation. Forgetting deletes it.
func IsKept(key string) bool {
	source, _ := SplitKey(key)
	return source == SourceEntry || source == SourceConversation
}

// EntryID returns the id of a session's entry; 0 if it is not an entry.
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

// Key returns the key of the entry's session.
func (e Entry) Key() string {
	return SessionKey(SourceEntry, string(e.Kind)+"-"+strconv.FormatInt(e.ID, 10))
}
