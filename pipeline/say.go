package pipeline

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
	"unicode"

	"memoir"
	"memoir/entry"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
	"memoir/internal/lazyregexp"
	"memoir/memory"
	"memoir/rollout"
	"memoir/store"
)

// Bounds on conversations.
const (
	MaxMessage   = 64 << 10 // bytes of a message
	MaxMessages  = 200      // messages that a project keeps, the newest ones, and that one call may add
	maxPartBytes = 16 << 20 // bytes of a file that is read
)

// Message is a message of an application without transcripts.
type Message struct {
	Role    string    `json:"role" jsonschema:"user, assistant, system (stored, but neither shown nor extracted)"`
	Content string    `json:"content"`
	Source  string    `json:"source,omitempty"` // its channel, for instance telegram
	Key     string    `json:"key,omitempty"`    // of one text in a project, which is stored once
	At      time.Time `json:"-"`                // zero: now
}

// Spoken is the result of Say.
type Spoken struct {
	Session string   `json:"session"`        // key of the last message's session
	Stored  int      `json:"stored"`         // number of messages that were not there
	Full    []string `json:"full,omitempty"` // keys of sessions that are full now
}

// conversationName is the form of a conversation's name, which becomes part of an id and of a file name.
var conversationName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// partTime is the layout of the time at the end of the id of a conversation's session.
const partTime = "20060102T150405.000000"

// Say redacts messages and adds them to a conversation of a registered project; the name "" means the current UTC day.
// Each memories.memoryWindow messages of a conversation are one session. A session is registered and searchable at
// once, and a run extracts from it as from an agent's. If one message is invalid, all are refused with an error of code
// memoir.CodeUsage. It ends with such an error at a key of another text.
func Say(ctx context.Context, st *store.Store, opts Options, projectID, name string, messages []Message) (
	Spoken, error) {
	opts.MinIdle = time.Duration(opts.Settings.Memories.MinRolloutIdleHours * float64(time.Hour))
	r, err := newRun(st, opts)
	if err != nil {
		return Spoken{}, err
	}
	project, err := st.FindProject(ctx, projectID)
	if err != nil {
		return Spoken{}, err
	}
	if project.IsUser() {
		return Spoken{}, memoir.Errorf(memoir.CodeUsage, "name a project", "a conversation belongs to a project")
	}
	c := conversation{run: r, project: project.Project, name: cmp.Or(name, r.now().UTC().Format(time.DateOnly)),
		dir: memory.At(opts.Home, project.ID).Conversations()}
	if len(project.Directories) > 0 {
		c.cwd = project.Directories[0]
	}
	lines, err := c.lines(messages)
	if err != nil {
		return Spoken{}, err
	}
	var out Spoken
	for len(lines) > 0 && err == nil {
		n := 0
		err = st.Alone(ctx, func() (err error) {
			n, err = c.sayOne(ctx, lines, &out)
			return err
		})
		if err == nil {
			lines = lines[n:]
			continue
		}
		if out.Stored > 0 {
			err = memoir.Errorf(memoir.CodeOf(err), memoir.HintOf(err), "only %d of %d messages are stored: %w", out.Stored,
				len(messages), err)
		}
	}
	if len(out.Full) > 0 && err == nil {
		err = r.pruneConversations(ctx)
	}
	return out, err
}

// sayOne adds the first lines of some to one file, and returns their number.
func (c conversation) sayOne(ctx context.Context, lines []messageLine, out *Spoken) (n int, err error) {
	parts, err := partsIn(c.dir)
	if err != nil {
		return 0, err
	}
	key, said := lines[0].key, lines[0].said
	has := func(p conversationPart) bool { return key != "" && p.has(`"key":"`+key+`"`) }
	if i := slices.IndexFunc(parts, has); i >= 0 {
		if !parts[i].has(said) {
			return 0, memoir.Errorf(memoir.CodeUsage, "give each message a key of its own",
				"another message has the key %s", key)
		}
		out.Session = memoir.SessionKey(memoir.SourceConversation, parts[i].id)
		return 1, c.add(ctx, parts[i].path, "") // the process that stored it may have died before it was registered
	}
	path, id, room := c.part(parts, lines[0].at)
	text := ""
	if room == c.window() {
		text = rollout.Conversation{}.Begin(id, c.cwd, lines[0].at)
	}
	for n < min(room, len(lines)) && (n == 0 || lines[n].key == "") { // one with a key may be there already
		text += lines[n].text
		n++
	}
	out.Session = memoir.SessionKey(memoir.SourceConversation, id)
	if n == room {
		out.Full = append(out.Full, out.Session)
	}
	if err = c.add(ctx, path, text); err == nil {
		out.Stored += n
	}
	return n, err
}

type conversation struct {
	*run
	project        memoir.Project
	name, dir, cwd string
}

// window returns the number of messages in a session of a conversation.
func (c conversation) window() int { return cmp.Or(c.opts.Settings.Memories.MemoryWindow, MaxMessages) }

// soon returns the window of a run that would begin now.
func (c conversation) soon() store.Window {
	w := c.run.window()
	w.Now = time.Time{} // opts.Now is the time of the messages
	return w
}

// add appends text to a conversation's file and stores what the file holds. If that fails, it removes the text, so that
// a repeated call does not add it twice.
func (c conversation) add(ctx context.Context, path, text string) error {
	from := int64(0)
	if info, err := os.Stat(path); err == nil {
		from = info.Size()
	}
	if err := entry.Append(memory.At(c.opts.Home, c.project.ID), path, text); err != nil {
		return err
	}
	scan, texts, err := c.session(ctx, path)
	if err == nil {
		err = c.store.Converse(ctx, c.soon(), scan, texts)
	}
	if err == nil {
		return nil
	}
	if fault := failpoint.Before("take messages out"); fault != nil {
		return errors.Join(err, fault)
	}
	if from == 0 {
		return errors.Join(err, failpoint.Remove(path))
	}
	return errors.Join(err, os.Truncate(path, from))
}

// A messageLine is the record of a message.
type messageLine struct {
	text, key string
	said      string // the part of text with key, role and content
	at        time.Time
}

// lines checks and redacts messages, and returns their records.
func (c conversation) lines(messages []Message) (lines []messageLine, err error) {
	refuse := func(hint, format string, args ...any) ([]messageLine, error) {
		return nil, memoir.Errorf(memoir.CodeUsage, hint, format, args...)
	}
	switch {
	case !conversationName.MatchString(c.name) || c.spoken(c.name) != c.name: // a secret
		return refuse("letters, digits, dots, dashes and underscores, at most 64", "invalid name for a conversation")
	case len(messages) == 0 || len(messages) > MaxMessages:
		return refuse("", "1 to %d messages can be added at once, not %d", MaxMessages, len(messages))
	}
	for i, m := range messages {
		text := c.spoken(m.Content)
		switch {
		case !slices.Contains([]string{memoir.RoleUser, memoir.RoleAssistant, "system"}, m.Role):
			return refuse("user, assistant or system", "message %d: unknown role %.100q", i+1, m.Role)
		case len(m.Content) > MaxMessage || len(text) > MaxMessage:
			return refuse("shorten it", "message %d: it may have at most %d bytes, not %d", i+1, MaxMessage, len(m.Content))
		case text == "":
			return refuse("", "message %d: its content is empty", i+1)
		case m.Key != "" && (!conversationName.MatchString(m.Key) || c.spoken(m.Key) != m.Key):
			return refuse("letters, digits, dots, dashes and underscores, at most 64", "message %d: invalid key", i+1)
		case len(m.Source) > 64:
			return refuse("", "message %d: its source is longer than 64 bytes", i+1)
		}
		at := m.At
		if at.IsZero() {
			at = time.Now()
		}
		line := rollout.Conversation{}.Line(m.Role, text, c.spoken(m.Source), m.Key, at)
		said, _, _ := strings.Cut(line, `,"source":`)
		lines = append(lines, messageLine{line, m.Key, said, at})
	}
	return lines, nil
}

// spoken removes control characters and secrets from a text.
func (c conversation) spoken(text string) string {
	if len(text) > MaxMessage { // it will be refused
		return text
	}
	text = strings.Map(func(r rune) rune { // before redaction, since a control character may split a secret
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.TrimSpace(c.clean(text))
}

// part returns the file for the next message, and how many messages fit into it: the newest file of the
// conversation if it is not full, else a new one that begins at the given time.
func (c conversation) part(parts []conversationPart, at time.Time) (path, id string, room int) {
	for _, p := range parts {
		if p.id == c.name+"-"+p.began {
			if n := p.messages(); n < c.window() {
				return p.path, p.id, c.window() - n
			}
			// If the clock was set back, the new file still begins after this one.
			if began, err := time.Parse(partTime, p.began); err == nil && at.Before(began.Add(time.Microsecond)) {
				at = began.Add(time.Microsecond)
			}
			break
		}
	}
	id = c.name + "-" + at.UTC().Format(partTime)
	return filepath.Join(c.dir, id+".jsonl"), id, c.window()
}

// session reads a conversation's file as a scanned session and its messages.
func (c conversation) session(ctx context.Context, path string) (
	scan store.SessionScan, said []store.Message, err error) {
	f, err := rollout.Stat(path)
	if err != nil {
		return scan, nil, err
	}
	row, err := newScan(c.run).look(rollout.Entry{File: f, Source: memoir.SourceConversation}, store.FileRow{}, nil)
	if err != nil {
		return scan, nil, err
	}
	if scan.Session, err = assemble(row.SessionKey, []store.FileRow{row}); err != nil {
		return scan, nil, err
	}
	scan.Session.ProjectID, scan.Identity, scan.Files = c.project.ID, c.project.Identity, []store.FileRow{row}
	parts, err := Parts(ctx, scan.Session, rollout.Probe)
	if err != nil {
		return scan, nil, err
	}
	loaded, err := Load(ctx, c.scanner, parts, "", nil)
	if err == nil {
		said, _, err = texts(loaded) // nobody called a tool
	}
	return scan, said, err
}

type conversationPart struct{ path, id, began string }

// partsIn lists the files of a project's conversations, the newest first.
func partsIn(dir string) ([]conversationPart, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, memoir.Errorf(memoir.CodeStorage, disk.HintOr(err, "--home"), "list the conversations: %w", err)
	}
	var parts []conversationPart
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if at := len(id) - len(partTime); ok && at > 0 {
			parts = append(parts, conversationPart{filepath.Join(dir, e.Name()), id, id[at:]})
		}
	}
	slices.SortStableFunc(parts, func(a, b conversationPart) int { return strings.Compare(b.began, a.began) })
	return parts, nil
}

// messages counts the messages of a file; 0 if it cannot be read.
func (p conversationPart) messages() int {
	content, _ := disk.ReadFile(p.path, maxPartBytes)
	return max(0, strings.Count(string(content), "\n")-1)
}

// has reports whether a file has a text.
func (p conversationPart) has(text string) bool {
	content, _ := disk.ReadFile(p.path, maxPartBytes)
	return strings.Contains(string(content), text)
}

// pruneConversations removes the files of conversations beyond the newest MaxMessages messages of a project, those
// whose last message is the oldest. A file stays until it is extracted.
func (r *run) pruneConversations(ctx context.Context) error {
	for _, root := range (rollout.Conversation{}).Roots(rollout.Env{Memoir: r.opts.Home}) {
		err := r.store.Alone(ctx, func() error { return r.pruneIn(ctx, root.Dir) }) // nobody adds a message meanwhile
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *run) pruneIn(ctx context.Context, dir string) error {
	parts, err := partsIn(dir)
	if err != nil {
		return err
	}
	sessions, err := r.store.Sessions(ctx, store.Filter{Source: memoir.SourceConversation})
	of := memoir.MapOf(sessions, func(s memoir.Session) (string, memoir.Session) { return s.ID, s })
	slices.SortStableFunc(parts, func(a, b conversationPart) int {
		return of[b.id].UpdatedAt.Compare(of[a.id].UpdatedAt)
	})
	kept := 0
	for _, p := range parts {
		if kept < MaxMessages || of[p.id].Reason != memoir.ReasonUpToDate {
			kept += p.messages()
		} else if err == nil {
			err = failpoint.Remove(p.path)
		}
	}
	return err
}

// eraseConversations removes the files of sessions that are conversations.
func (r *run) eraseConversations(keys []string) error {
	for _, root := range (rollout.Conversation{}).Roots(rollout.Env{Memoir: r.opts.Home}) {
		for _, key := range keys {
			source, id := memoir.SplitKey(key)
			if source != memoir.SourceConversation || filepath.Base(id) != id {
				continue
			}
			err := failpoint.Remove(filepath.Join(root.Dir, id+".jsonl"))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return memoir.Errorf(memoir.CodeStorage, disk.HintOr(err, "--home"), "remove a conversation: %w", err)
			}
		}
	}
	return nil
}
