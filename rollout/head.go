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

// Head is what the beginning and the end of one file say of it.
type Head struct {
	Source       memoir.Source
	ID           string // thread id
	FileID       string // of this physical file; "" where only a file name could tell and does not
	BaseID       string // FileID of the file that this one continues; "" if it begins the thread
	BaseEnd      int64  // of that file, records from this ordinal on are void; -1: none are
	FirstOrdinal int64  // of this file's first record; -1 without ordinals
	Kind         memoir.SessionKind
	ParentID     string // thread id of the session that started this one, or that it was forked from
	Title        string
	Named        bool // a person chose the title: one that the agent gives later does not replace it
	CWD          string
	Branch       string
	Remote       string    // without credentials
	CreatedAt    time.Time // of the thread, as far as this file knows
	FileAt       time.Time // of the first record of this file
	UpdatedAt    time.Time // of the last record, else of the last modification
	OwnRun       bool
	Size         int64 // bytes of the file, or of the session where it is not one file

	told string // what Title is the first line of, where that may be a line of a secret
}

// complete fills in what the records do not say, and replaces an id that is not fit for
// a file's name.
func (h *Head) complete(entry Entry) {
	if h.UpdatedAt.IsZero() {
		h.UpdatedAt = entry.ModTime.UTC()
	}
	if h.CreatedAt.IsZero() {
		h.CreatedAt = h.UpdatedAt
	}
	if h.FileAt.IsZero() {
		h.FileAt = h.CreatedAt
	}
	if !legalID.MatchString(h.ID) {
		h.ID = legalised(stem(entry.Path))
	}
	if h.FileID == "" && h.BaseID == "" {
		h.FileID = h.ID
	}
	h.Remote = withoutCredentials(h.Remote)
}

// subagent makes a head that of a sub-agent, whose records bear the id of the session that
// started it.
func (h *Head) subagent(path, parent, agent string) {
	h.Kind, h.ID = memoir.KindSubagent, stem(path)
	if agent != "" {
		h.ID = "agent-" + agent
	}
	if legalID.MatchString(parent) {
		h.ParentID = parent
	}
}

const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

var uuidForm = lazyregexp.New(uuid)

// legalID is the form of a thread id that may become part of a file's name, a
// citation and a line on a terminal. The agents' own ids all have it.
var legalID = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.:@+=-]{0,127}$`)

// legalised gives a file's name the form of a thread id, and keeps names apart
// that come to the same.
func legalised(name string) string {
	if legalID.MatchString(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	clean := strings.Trim(illegal.ReplaceAllString(name, "-"), "-.")
	return fmt.Sprintf("%.48s-%x", cmp.Or(clean, "session"), sum[:4])
}

var illegal = lazyregexp.New(`[^A-Za-z0-9_.]+`)

// stem is a file's name without directory and endings.
func stem(path string) string {
	name := filepath.Base(path)
	for _, ending := range []string{".zst", ".jsonl", ".json"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// withoutCredentials takes the user information off a repository's URL. The rest stays as it
// is spelled: what is a secret in it may be none with other escapes.
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
	} // else a password may hold what would end it
	return scheme + "://" + rest[strings.LastIndexByte(rest[:server], '@')+1:]
}

const (
	// maxTitle is how many runes of a title are kept here: far more than is shown, so
	// that a secret in it is whole, and found, when the title is redacted and cut.
	maxTitle = 2000

	maxTold = 8 << 10 // bytes of the text that a title begins
	keyWord = 8       // bytes of a word that may be a secret, or a part of one
)

// CleanTitle is the title as it is without secrets, which a function takes out of a text. It
// is asked about the text that the title is the first line of, as it was written: of a key of
// several lines, nobody can tell what the first one is, nor a cookie without its tabs.
func (h *Head) CleanTitle(clean func(text string) string) string {
	if h.told != "" {
		return firstLine(clean(h.told))
	}
	return clean(h.Title)
}

// Untitled is the head without its title, which is most of its size.
func (h Head) Untitled() Head {
	h.entitle()
	return h
}

// entitle takes the first line of the first of some texts that has one for the title.
func (h *Head) entitle(texts ...string) {
	h.Title, h.told = "", ""
	for _, text := range texts {
		if h.Title = firstLine(text); h.Title == "" {
			continue
		}
		long := func(word string) bool { return len(word) >= keyWord }
		if text = strings.TrimSpace(text); text != h.Title && slices.ContainsFunc(strings.Fields(h.Title), long) {
			h.told = strings.Clone(text[:min(len(text), maxTold)])
		}
		return
	}
}

// firstLine returns the first line of a text that is not blank, cut at white space
// to maxTitle runes.
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
		return "" // one word without end is data
	}
	return ""
}
