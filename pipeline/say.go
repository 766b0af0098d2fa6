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

// Bounds of conversations.
const (
	MaxSaid      = 64 << 10 // bytes of a message
	MaxMessages  = 200      // that are kept of a project, the newest ones; and that one call hands over
	maxPartBytes = 16 << 20 // of a file that is read
)

// Message is what an application that keeps no transcript hands over.
type Message struct {
	Role    string    `json:"role"` // user, assistant or system
	Content string    `json:"content"`
	Source  string    `json:"source,omitempty"` // where it was said, for instance telegram
	At      time.Time `json:"-"`                // zero: now
}

// Spoken says where messages were put.
type Spoken struct {
	Session string   `json:"session"`        // the key of the last one's
	Stored  int      `json:"stored"`         // messages
	Full    []string `json:"full,omitempty"` // keys of sessions to which none is added any more
}

// conversationName is what a conversation may be called: it becomes a part of an id and of a file's name.
var conversationName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// partTime ends the id of each session of a conversation.
const partTime = "20060102T150405.000000"

// Say adds messages to a conversation of a registered project, redacted; name "" is that of the day. A conversation
// is a session for each memories.memoryWindow messages. It is registered and searched at once, and a run extracts
// from it as from an agent's. Messages that cannot be stored are refused, all of them, with memoir.CodeUsage.
func Say(ctx context.Context, st *store.Store, opts Options, projectID, name string, messages []Message) (
	Spoken, error) {
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
	c := conversation{run: r, project: project.Project, name: cmp.Or(name, time.Now().UTC().Format(time.DateOnly)),
		dir: memory.At(opts.Home, project.ID).Conversations()}
	if len(project.Directories) > 0 {
		c.cwd = project.Directories[0]
	}
	lines, times, err := c.lines(messages)
	if err != nil {
		return Spoken{}, err
	}
	var out Spoken
	for len(lines) > 0 && err == nil {
		n, part := 0, appended{}
		err = st.Converse(ctx, func() (scan store.SessionScan, said []store.Message, err error) {
			path, id, room, err := c.part(times[out.Stored])
			if err != nil {
				return scan, nil, err
			}
			n = min(room, len(lines))
			text := strings.Join(lines[:n], "")
			if room == c.window() {
				text = rollout.Conversation{}.Begin(id, c.cwd, times[out.Stored]) + text
			}
			if err := part.append(path, text); err != nil {
				return scan, nil, err
			}
			out.Session = memoir.SessionKey(memoir.SourceConversation, id)
			if n == room {
				out.Full = append(out.Full, out.Session)
			}
			return c.session(ctx, path)
		})
		if err == nil {
			out.Stored, lines = out.Stored+n, lines[n:]
			continue
		}
		err = errors.Join(err, st.Alone(context.WithoutCancel(ctx), part.undo))
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

// appended is the end of a file that was added to it.
type appended struct {
	path     string
	from, to int64 // its bytes
}

func (a *appended) append(path, text string) error {
	if info, err := os.Stat(path); err == nil {
		a.from = info.Size()
	}
	err := entry.Append(path, text)
	if info, _ := os.Stat(path); err == nil && info != nil {
		a.path, a.to = path, info.Size()
	}
	return err
}

// undo takes the end off, which else stood there twice once somebody tries again, unless more was added since.
func (a *appended) undo() error {
	if info, err := os.Stat(a.path); a.path == "" || err != nil || info.Size() != a.to {
		return nil
	}
	if err := failpoint.Before("take messages out"); err != nil {
		return err
	}
	return os.Truncate(a.path, a.from)
}

// conversation is one that messages are added to.
type conversation struct {
	*run
	project        memoir.Project
	name, dir, cwd string
}

// window is how many messages a session of a conversation has.
func (c conversation) window() int { return cmp.Or(c.opts.Settings.Memories.MemoryWindow, MaxMessages) }

// lines are the records of messages, checked and redacted, with their times.
func (c conversation) lines(messages []Message) (lines []string, times []time.Time, err error) {
	refuse := func(hint, format string, args ...any) ([]string, []time.Time, error) {
		return nil, nil, memoir.Errorf(memoir.CodeUsage, hint, format, args...)
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
		case len(m.Content) > MaxSaid || len(text) > MaxSaid:
			return refuse("shorten it", "message %d: the limit is %d bytes, and it has %d", i+1, MaxSaid, len(m.Content))
		case text == "":
			return refuse("", "message %d: its content is empty", i+1)
		case len(m.Source) > 64:
			return refuse("", "message %d: its source is longer than 64 bytes", i+1)
		}
		at := m.At
		if at.IsZero() {
			at = time.Now()
		}
		lines = append(lines, rollout.Conversation{}.Said(m.Role, text, c.spoken(m.Source), at))
		times = append(times, at)
	}
	return lines, times, nil
}

// spoken is a text as it is kept: without secrets and control characters.
func (c conversation) spoken(text string) string {
	if len(text) > MaxSaid { // which is refused
		return text
	}
	text = strings.Map(func(r rune) rune { // before secrets are looked for: without them parts of one may meet
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text, _ = c.scannerOf(c.cwd).Redact(text)
	return strings.TrimSpace(text)
}

// part is the file to which the next message goes: the newest one of the conversation that has room for one, else
// one that begins at a moment; and for how many there is room.
func (c conversation) part(at time.Time) (path, id string, room int, err error) {
	parts, err := partsIn(c.dir)
	if err != nil {
		return "", "", 0, err
	}
	for _, p := range parts {
		if p.id == c.name+"-"+p.began {
			if n := p.messages(); n < c.window() {
				return p.path, p.id, c.window() - n, nil
			}
			// A clock that was put back begins no file before this one, nor this one again.
			if began, err := time.Parse(partTime, p.began); err == nil && at.Before(began.Add(time.Microsecond)) {
				at = began.Add(time.Microsecond)
			}
			break
		}
	}
	id = c.name + "-" + at.UTC().Format(partTime)
	return filepath.Join(c.dir, id+".jsonl"), id, c.window(), nil
}

// session is a conversation's file as the registry and searching have it.
func (c conversation) session(ctx context.Context, path string) (
	scan store.SessionScan, said []store.Message, err error) {
	f, err := rollout.Stat(path)
	if err != nil {
		return scan, nil, err
	}
	row, err := c.look(rollout.Entry{File: f, Source: memoir.SourceConversation}, store.FileRow{}, nil)
	if err != nil {
		return scan, nil, err
	}
	if scan.Session, err = assemble(row.SessionKey, []store.FileRow{row}); err != nil {
		return scan, nil, err
	}
	scan.Session.ProjectID, scan.Files = c.project.ID, []store.FileRow{row}
	parts, err := Parts(ctx, scan.Session, rollout.Probe)
	if err != nil {
		return scan, nil, err
	}
	loaded, err := Load(ctx, c.scannerOf(c.cwd), parts, "")
	return scan, messages(loaded.Items), err
}

// conversationPart is a file of a conversation.
type conversationPart struct{ path, id, began string }

// partsIn lists the files of a project's conversations, those that began last first.
func partsIn(dir string) ([]conversationPart, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, memoir.Errorf(memoir.CodeStorage, disk.Hint(err), "list the conversations: %w", err)
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

// messages counts the messages of a file; of one that cannot be read there are none.
func (p conversationPart) messages() int {
	content, _ := disk.ReadFile(p.path, maxPartBytes)
	return max(0, strings.Count(string(content), "\n")-1)
}

// pruneConversations removes the files of conversations beyond the newest MaxMessages of a project. A file that
// memory is yet to be made of stays.
func (r *run) pruneConversations(ctx context.Context) error {
	for _, root := range (rollout.Conversation{}).Roots(rollout.Env{Memoir: r.opts.Home}) {
		parts, err := partsIn(root.Dir)
		if err != nil {
			return err
		}
		kept := 0
		for _, p := range parts {
			if kept < MaxMessages {
				kept += p.messages()
				continue
			}
			key := memoir.SessionKey(memoir.SourceConversation, p.id)
			found, err := r.store.Sessions(ctx, store.Filter{Keys: []string{key}})
			if err == nil && len(found) > 0 && found[0].Reason == memoir.ReasonUpToDate {
				err = failpoint.Remove(p.path)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// eraseConversations removes the files of those of the sessions that are conversations.
func (r *run) eraseConversations(keys []string) error {
	for _, key := range keys {
		source, id := memoir.SplitKey(key)
		if source != memoir.SourceConversation || filepath.Base(id) != id {
			continue
		}
		var err error
		for _, root := range (rollout.Conversation{}).Roots(rollout.Env{Memoir: r.opts.Home}) {
			if fault := failpoint.Remove(filepath.Join(root.Dir, id+".jsonl")); !errors.Is(fault, fs.ErrNotExist) {
				err = errors.Join(err, fault)
			}
		}
		if err != nil {
			return memoir.Errorf(memoir.CodeStorage, disk.Hint(err), "remove a conversation: %w", err)
		}
	}
	return nil
}
