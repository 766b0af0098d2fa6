package rollout

import (
	"cmp"
	"context"
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

// Probe reads a file's head and tail and says what session it belongs to. It
// reads at most 256 KiB of the head unless the first record is longer, and 64 KiB
// of the tail unless the last record is longer (a compressed file is passed
// through once for its tail). The error has memoir.CodeUnreadable and says why:
// empty, of no known agent, not permitted.
func Probe(entry Entry) (Head, error) {
	if entry.Err != nil {
		return Head{}, entry.Err
	}
	if entry.ModTime.IsZero() {
		f, err := Stat(entry.Path)
		if err != nil {
			return Head{}, openError(entry.Path, err)
		}
		entry.File = f
	}
	head, whole, err := readHead(entry.Path, headBudget)
	if err == nil && len(head) == 0 {
		err = memoir.Errorf(memoir.CodeUnreadable, "", "%s holds no complete JSON record", entry.Path)
	}
	if len(head) == 0 {
		return Head{}, err
	}
	agent := recognise(entry, head)
	if agent == nil {
		return Head{}, memoir.Errorf(memoir.CodeUnreadable, "", "%s is not a session of any known agent", entry.Path)
	}
	tail := head
	if !whole {
		if tail, err = readTail(entry.Path); err != nil {
			return Head{}, err
		}
	}
	h := Head{Source: agent.Source(), Kind: memoir.KindMain, BaseEnd: -1, FirstOrdinal: -1, Size: entry.Size,
		UpdatedAt: latest(tail)}
	agent.Head(&h, entry.Path, head, tail)
	h.complete(entry)
	prompt, ownRun := firstPrompt(agent, h, head)
	if prompt == "" && h.Title == "" && h.ParentID != "" && !whole {
		if more, _, err := readHead(entry.Path, forkBudget); err == nil {
			prompt, _ = firstPrompt(agent, h, more)
		}
	}
	h.entitle(h.Title, prompt)
	if h.OwnRun = ownRun; ownRun {
		h.Kind = memoir.KindOwnRun
	}
	return h, nil
}

// ProbeAgain is Probe for a file in which a session was found before. Some of what tells
// oh-my-pi from pi comes later in a session: the same session stays what it was taken for.
func ProbeAgain(entry Entry, before Head) (Head, error) {
	h, err := Probe(entry)
	if h.ID == before.ID && h.Source == memoir.SourceOMP && before.Source == memoir.SourcePi {
		h.Source = before.Source
	}
	return h, err
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

func recognise(entry Entry, head [][]byte) Agent {
	if agent := AgentOf(entry.Source); agent != nil && agent.Recognises(entry.Path, head) {
		return agent
	}
	for _, agent := range Agents {
		if agent.Recognises(entry.Path, head) {
			return agent
		}
	}
	return nil
}

// opening are those of a file's first records that may tell which agent wrote it.
func opening(head [][]byte) [][]byte { return head[:min(len(head), 20)] }

// firstPrompt reads the head as a session to find what a person said first. A
// command of the agent's own begins no session: what follows says more.
func firstPrompt(agent Agent, h Head, head [][]byte) (prompt string, ownRun bool) {
	stats := Stats{}
	e := newEmitter(func(it memoir.Item) error {
		if it.Kind != memoir.ItemMessage || it.Role != memoir.RoleUser {
			return nil
		}
		if it.Origin == memoir.OriginSlashCommand { // says less than what follows it
			prompt = cmp.Or(prompt, it.Text)
			return nil
		}
		prompt = it.Text
		return errStop
	}, &stats, h.Kind)
	// An error here can only be errStop: the records are in memory.
	_ = agent.Read(context.Background(), &tape{parts: []Part{{Head: h}}, heads: head, stats: &stats}, e)
	if e.err == nil {
		e.finish()
	}
	return prompt, stats.OwnRun
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

// latest returns the last timestamp of the records.
func latest(records [][]byte) time.Time {
	for _, raw := range slices.Backward(records) {
		if t := instant(get(raw, "timestamp")); !t.IsZero() {
			return t
		}
	}
	return time.Time{}
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
