package rollout

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Head describes one file by its beginning and end.
type Head struct {
	Source       memoir.Source
	ID           string // thread id
	FileID       string // of this physical file; "" if its name does not have it
	BaseID       string // FileID of the file that this one continues; "" if it begins the thread
	BaseEnd      int64  // records of that file from this ordinal on are void; -1: none
	FirstOrdinal int64  // of this file's first record; -1 without ordinals
	Kind         memoir.SessionKind
	ParentID     string // thread id of the session that started this one or from which it was forked
	Title        string
	Opening      string // Mark of the first message of a person, which a fork repeats
	CWD          string
	Branch       string
	Remote       string    // without credentials
	CreatedAt    time.Time // of the thread, as far as this file knows
	FileAt       time.Time // of the first record of this file
	UpdatedAt    time.Time // of the last record, else of the last modification; no item is later
	Size         int64     // bytes of the file, or of the session in a database

	titleText string // the text that Title is the first line of, if Title may be part of a longer secret
}

// complete fills in missing fields, and replaces an id that is not a legal file name; a parent's is dropped. A time
// after the file's, or after now, is of a clock that was ahead: the earlier one counts.
func (h *Head) complete(entry Entry) {
	if h.UpdatedAt.IsZero() {
		h.UpdatedAt = entry.ModTime.UTC()
	}
	latest := []time.Time{h.UpdatedAt, time.Now().UTC()}
	if _, _, member := splitMember(entry.Path); !member && h.UpdatedAt.After(entry.ModTime) { // it may have grown
		if f, err := Stat(entry.Path); err == nil {
			latest = append(latest, f.ModTime.UTC())
		}
	}
	h.UpdatedAt = slices.MinFunc(latest, time.Time.Compare)
	if h.CreatedAt.IsZero() || h.CreatedAt.After(h.UpdatedAt) {
		h.CreatedAt = h.UpdatedAt
	}
	if h.FileAt.IsZero() {
		h.FileAt = h.CreatedAt
	}
	if !legalID.MatchString(h.ID) {
		h.ID = legalised(stem(entry.Path))
	}
	if !legalID.MatchString(h.ParentID) {
		h.ParentID = ""
	}
	if h.FileID == "" && h.BaseID == "" {
		h.FileID = h.ID
	}
	h.Remote = withoutCredentials(h.Remote)
}

// subagent makes a head that of a subagent, whose records have the id of the session that started it.
func (h *Head) subagent(path, parent, agent string) {
	h.Kind, h.ID = memoir.KindSubagent, stem(path)
	if agent != "" {
		h.ID = "agent-" + agent
	}
	h.ParentID = cmp.Or(parent, h.ParentID)
}

const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

var uuidForm = lazyregexp.New(uuid)

// legalID is the form of a thread id that is safe in a file name, a citation and a terminal line. All agents' ids
// have it.
var legalID = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.:@+=-]{0,127}$`)

// legalised converts a file name to the form of a thread id. Different names give different ids.
func legalised(name string) string {
	if legalID.MatchString(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	clean := strings.Trim(illegal.ReplaceAllString(name, "-"), "-.")
	return fmt.Sprintf("%.48s-%x", cmp.Or(clean, "session"), sum[:4])
}

var illegal = lazyregexp.New(`[^A-Za-z0-9_.]+`)

func stem(path string) string {
	name := filepath.Base(path)
	for _, ending := range []string{".zst", ".jsonl", ".json"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// withoutCredentials removes the user information from a repository's URL. It does not normalise the rest, since
// rules may not recognise a secret with other escapes.
func withoutCredentials(remote string) string {
	scheme, rest, ok := strings.Cut(remote, "://")
	if !ok {
		return remote
	}
	server := len(rest)
	if _, err := url.Parse(remote); err == nil {
		if end := strings.IndexAny(rest, "/?#"); end >= 0 {
			server = end
		}
	} // otherwise a password may contain a delimiter
	return scheme + "://" + rest[strings.LastIndexByte(rest[:server], '@')+1:]
}

const (
	// maxTitle is the number of runes that are kept of a title. It is far more than is shown, so that a
	// secret is complete, and found, when the title is redacted and cut.
	maxTitle = 2000

	maxTitleText = 8 << 10 // bytes that are kept of the text that begins with the title
	keyWord      = 8       // least bytes of a word that may be a secret or a part of one
)

// CleanTitle returns the title redacted by clean. clean gets the original text that begins with the title, since
// the first line of a key, or a cookie without its tabs, is not recognised alone.
func (h *Head) CleanTitle(clean func(text string) string) string {
	if h.titleText != "" {
		return firstLine(clean(h.titleText))
	}
	return clean(h.Title)
}

// Untitled returns the head without its title, which is most of its size.
func (h Head) Untitled() Head {
	h.entitle()
	return h
}

// entitle sets the title to the first line of the first text that has one.
func (h *Head) entitle(texts ...string) {
	h.Title, h.titleText = "", ""
	for _, text := range texts {
		if h.Title = firstLine(text); h.Title == "" {
			continue
		}
		long := func(word string) bool { return len(word) >= keyWord }
		if text = strings.TrimSpace(text); text != h.Title && slices.ContainsFunc(strings.Fields(h.Title), long) {
			h.titleText = strings.Clone(text[:min(len(text), maxTitleText)])
		}
		return
	}
}

// firstLine returns the first line of a text that is not blank, cut at white space to maxTitle runes.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		line = strings.Join(fields, " ")
		if utf8.RuneCountInString(line) <= maxTitle {
			return line
		}
		cut := string([]rune(line)[:maxTitle])
		if end := strings.LastIndexByte(cut, ' '); end > 0 {
			return cut[:end]
		}
		return "" // a longer word is data
	}
	return ""
}
