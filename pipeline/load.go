package pipeline

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/extract"
	"memoir/memory"
	"memoir/rollout"
	"memoir/secrets"
	"memoir/store"
)

// Parts reads the heads of a registered session's files, with rollout.Probe or a replacement of it, and
// puts the files into reading order. Its errors have the code CodeUnreadable.
func Parts(
	ctx context.Context, s memoir.Session, probe func(rollout.Entry) (rollout.Head, error),
) ([]rollout.Part, error) {
	if memoir.IsReceived(s.Key()) {
		return nil, memoir.Errorf(memoir.CodeUnreadable, "`memoir why` shows what it taught",
			"the transcript of %s is on another machine, of %s", s.ID, cmp.Or(memoir.MemberOf(s.Key()), "yours"))
	}
	parts := make([]rollout.Part, 0, len(s.Files))
	for _, f := range s.Files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		head, err := probe(rollout.Entry{File: f, Source: s.Source})
		if err != nil {
			return nil, err
		}
		if head.ID != s.ID && !strings.HasPrefix(s.ID, redactedID) {
			return nil, memoir.Errorf(memoir.CodeUnreadable, "run memoir again: the next scan reads it again",
				"%s contains a different session than when it was registered", f.Path)
		}
		parts = append(parts, rollout.Part{Path: f.Path, Head: head})
	}
	ordered := rollout.Assemble(parts)
	if len(ordered) == 0 {
		return nil, memoir.Errorf(memoir.CodeUnreadable, "the agent may have deleted them",
			"the files of session %s are gone: %w", s.ID, fs.ErrNotExist)
	}
	return ordered, nil
}

// Bounds on one item, in bytes. Longer texts are cut in the middle. maxHeld bounds all items together.
const (
	maxMessage    = 64 << 10  // one message
	maxInput      = 16 << 10  // the input of one tool call
	maxToolOutput = 16 << 10  // the output of one tool call
	maxWaiting    = 256 << 10 // all items that wait to be redacted
)

// maxSecrets bounds the number of different secrets in one session, since each is searched for in all of
// its texts. A secret takes about 250 bytes.
const maxSecrets = 1 << 15

// Loaded is one session as Phase 1 reads it: filtered, redacted, bounded.
type Loaded struct {
	Items      []memoir.Item
	Stats      rollout.Stats
	Hash       string              // of the filtered items, before redaction and bounds
	Grown      bool                // the content of the earlier hash is a prefix of it
	Redactions secrets.Counts      // by rule
	Again      func(string) string // removes the session's secrets from a text
	redact     func(string) string // a text of the session that was changed since
	Gone       string              // why the items are not as they were; "": they are
	Omitted    int                 // items, and texts of items, that were dropped or cut because of maxHeld
	bytes      int                 // cost of the items
}

// rules returns the run's scanner, for LoadSession.
func (r *run) rules() (*secrets.Scanner, error) { return r.scanner, nil }

// LoadSession loads a registered session, without copies of what is forgotten in a home.
func LoadSession(ctx context.Context, home string, session memoir.Session, scanner func() (*secrets.Scanner, error)) (
	Loaded, error) {
	parts, err1 := Parts(ctx, session, rollout.Probe)
	rules, err2 := scanner()
	_, forgotten, err3 := Tombstones(home)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return Loaded{}, err
	}
	return Load(ctx, rules, parts, "", forgotten)
}

// Load reads a session's files in order and returns only redacted text. Copies of items of a forgotten session are left
// out: forgotten has the hashes. earlier is the hash of an earlier reading, or empty. A session with more than
// maxSecrets secrets is refused with an error of code CodeUnreadable, since none of them may stay.
func Load(ctx context.Context, scanner *secrets.Scanner, parts []rollout.Part, earlier string,
	forgotten map[string]bool) (Loaded, error) {
	var (
		out      Loaded
		hasher   rollout.Hasher
		head     = parts[0].Head
		copies   = beginning{source: head.Source}
		fork     = forgotten[tombstone(memoir.SessionKey(head.Source, head.ParentID))]
		redactor = redaction{Redactor: scanner.Session(), path: parts[0].Path}
		latest   time.Time // a later one is of a clock that was ahead
	)
	for _, part := range parts {
		latest = laterOf(latest, part.Head.UpdatedAt)
	}
	stats, err := rollout.Read(ctx, parts, func(it memoir.Item) error {
		if len(forgotten) > 0 {
			mark, run := copies.add(it)
			if forgotten[run] {
				if err := redactor.take(0); err != nil {
					return err
				}
				redactor.held, hasher = holding{}, rollout.Hasher{}
			}
			fork = fork || forgotten[run] || forgotten[mark]
			if forgotten[run] || forgotten[mark] || fork && it.Kind == memoir.ItemSummary { // of its origin's words, too
				return nil
			}
		}
		hasher.Add(it)
		out.Grown = out.Grown || earlier != "" && hasher.Sum() == earlier
		if it.At.After(latest) {
			it.At = latest
		}
		return redactor.add(it)
	})
	err = cmp.Or(err, redactor.take(0))
	held := redactor.held
	out.Stats, out.Items, out.Omitted, out.bytes = stats, held.items, held.omitted, held.bytes
	if err != nil {
		return out, err
	}
	// An earlier item may contain a secret that only a later one identifies.
	for i, it := range out.Items {
		out.Items[i] = redactor.Again(it)
	}
	out.Hash, out.Again, out.redact = hasher.Sum(), redactor.AgainText, redactor.Text
	out.Redactions = redactor.Counts()
	return out, nil
}

// Shorten reduces the items to at most so many bytes, the outputs of tools first.
func (l *Loaded) Shorten(most int) {
	h := holding{l.Items, l.bytes, l.Omitted}
	h.shed(most)
	l.Items, l.bytes, l.Omitted = h.items, h.bytes, h.omitted
}

// EndedAt returns the time of the last item.
func (l Loaded) EndedAt(otherwise time.Time) time.Time { return lastItemAt(l.Items, otherwise) }

// redaction redacts the items of a session in their order, since what is found in one is removed from the others. The
// rules search those that wait in goroutines of their own.
type redaction struct {
	*secrets.Redactor
	path    string // of the session
	held    holding
	waiting []memoir.Item
	clean   []<-chan bool // for each of them
	bytes   int
}

func (r *redaction) add(it memoir.Item) error {
	r.waiting, r.clean, r.bytes = append(r.waiting, it), append(r.clean, r.Ahead(it)), r.bytes+costOf(it)
	return r.take(maxWaiting)
}

// take redacts the oldest items until at most so many bytes wait.
func (r *redaction) take(most int) error {
	for r.bytes > most {
		r.bytes -= costOf(r.waiting[0])
		it := r.Searched(r.waiting[0], <-r.clean[0])
		if r.waiting, r.clean = r.waiting[1:], r.clean[1:]; r.Secrets() > maxSecrets {
			return memoir.Errorf(memoir.CodeUnreadable, "`memoir forget SESSION` excludes it permanently",
				"read session %s: it contains more than %d different secrets", r.path, maxSecrets)
		}
		it.Text = cutMiddle(it.Text, maxMessage)
		it.Input = cutMiddle(it.Input, maxInput)
		it.Output = cutMiddle(it.Output, maxToolOutput)
		r.held.add(it)
	}
	return nil
}

// cutMark replaces a part of a text that was cut out.
const cutMark = "\n[… cut …]\n"

// cutMiddle keeps the head and the tail of a text that is longer than limit
// bytes, cut at line or rune boundaries, with a mark between them.
func cutMiddle(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, end := text[:limit*6/10], text[len(text)-limit*4/10:]
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		head = head[:i]
	}
	if i := strings.IndexByte(end, '\n'); i >= 0 && i < len(end)/2 {
		end = end[i+1:]
	}
	return strings.ToValidUTF8(head, "") + cutMark + strings.ToValidUTF8(end, "")
}

// tail returns the last n bytes of a text, less a character that begins before them.
func tail(text string, n int) string {
	return strings.ToValidUTF8(text[max(0, len(text)-n):], "")
}

const (
	maxHeld  = 8 << 20 // bytes of all items of a session together, itemCost included
	itemCost = 400     // bytes that an item needs besides its texts
	heldTail = 400     // bytes that remain of a text that is cut because of maxHeld
)

// holding collects the items of one session, in order, up to maxHeld.
type holding struct {
	items   []memoir.Item
	bytes   int
	omitted int // items, and texts of items, that were dropped or cut
}

func (h *holding) add(it memoir.Item) {
	h.items = append(h.items, it)
	if h.bytes += costOf(it); h.bytes > maxHeld {
		h.shed(maxHeld * 7 / 8) // so that it is seldom called
	}
}

// costOf is about how many bytes of memory an item needs.
func costOf(it memoir.Item) int {
	return itemCost + len(it.Text) + len(it.Tool) + len(it.Input) + len(it.Output) +
		len(it.CWD) + len(it.Branch)
}

// The steps of shed, in order; each begins with the oldest items. A cut leaves the end of an output, and the
// beginning and end of a message.
var shedding = []struct {
	of  func(memoir.Item) bool
	cut bool
}{
	{isTool, true},
	{isTool, false},
	{func(it memoir.Item) bool { return !it.Origin.ByPerson() && !it.Final }, false},
	{func(memoir.Item) bool { return true }, true},
	{func(memoir.Item) bool { return true }, false},
}

func isTool(it memoir.Item) bool { return it.Kind == memoir.ItemTool }

// shed reduces the items to at most so many bytes.
func (h *holding) shed(most int) {
	for _, s := range shedding {
		for i := range h.items {
			if h.bytes <= most {
				break
			}
			it := &h.items[i]
			if it.N == 0 || !s.of(*it) {
				continue
			}
			before := costOf(*it)
			switch {
			case !s.cut:
				*it = memoir.Item{} // dropped below
				h.bytes -= before
				h.omitted++
				continue
			case len(it.Output) > heldTail+len("[…]"):
				it.Output = "[…]" + tail(it.Output, heldTail)
			case len(it.Text) > 2*heldTail:
				it.Text = cutMiddle(it.Text, heldTail)
			default:
				continue
			}
			h.bytes -= before - costOf(*it)
			h.omitted++
		}
	}
	h.items = slices.DeleteFunc(h.items, func(it memoir.Item) bool { return it.N == 0 })
}

// lastItemAt returns the time of the session's last item. Agents write further records without content,
// which must not change the date that memory cites.
func lastItemAt(items []memoir.Item, otherwise time.Time) time.Time {
	for _, it := range slices.Backward(items) {
		if !it.At.IsZero() {
			return it.At
		}
	}
	return otherwise
}

// untouched reports whether a file is unchanged since it was registered.
func untouched(f memoir.File) bool {
	now, err := rollout.Stat(f.Path)
	if f.Inode == 0 {
		now.Inode = 0
	}
	return err == nil && same(now, f)
}

// redactedID is the prefix of the id of a session whose own id contains a secret.
const redactedID = "redacted-"

// same reports whether two states of a file have the same size, modification time and inode.
func same(a, b memoir.File) bool {
	return a.Size == b.Size && a.ModTime.Equal(b.ModTime) && a.Inode == b.Inode
}

// oneLine joins the lines of a recorded value, so that it cannot begin a new line.
func oneLine(text string) string {
	return strings.Join(strings.Fields(memory.Neutralise(text)), " ")
}

// Bounds on the texts that are stored for searching, in bytes.
const (
	maxMessageBytes  = 4 << 10   // one message; a longer one is cut in the middle
	maxMessagesBytes = 256 << 10 // the messages of a session; the agent's oldest are dropped first, those of people last
	maxToolBytes     = 300       // a command, or what is stored of a result
	maxToolsBytes    = 256 << 10 // the commands and results of a session; the oldest are dropped
	messageCost      = 64        // cost of a text besides its bytes
)

// texts returns what searching finds in a session: messages of people and the agent, commands and what results say,
// each kind in the order of the items. Commands and results are packed.
func texts(loaded Loaded) (said []store.Message, packed []byte, err error) {
	var tools []store.Message
	bytes, used, known := 0, 0, map[string]bool{}
	tool := func(it memoir.Item, kind, text string) {
		if text != "" && !known[kind+text] {
			known[kind+text] = true
			tools = append(tools, store.Message{Item: it.N, Kind: kind, At: it.At, Text: text})
			used += len(text) + messageCost
		}
	}
	visible := func(text string) string {
		if shown := memoir.Visible(text); shown != text {
			return loaded.redact(shown) // what was removed may have been inside a secret
		}
		return text
	}
	for _, it := range loaded.Items {
		typed := it.Origin.ByPerson()
		if it.Kind == memoir.ItemTool {
			it.Input, it.Output = visible(it.Input), visible(it.Output)
			if it.Shell() {
				tool(it, store.MessageCommand, cutMiddle(strings.TrimSpace(it.Input), maxToolBytes))
			}
			if text, reports := extract.ResultText(it, maxToolBytes); reports {
				tool(it, store.MessageError, text)
			} else {
				tool(it, store.MessageOutput, text)
			}
			continue
		}
		text := cutMiddle(strings.TrimSpace(it.Text), maxMessageBytes)
		if it.Kind != memoir.ItemMessage || text == "" || !typed && it.Origin != memoir.OriginAgent {
			continue
		}
		said = append(said, store.Message{Item: it.N, Typed: typed, At: it.At, Text: text})
		bytes += len(text) + messageCost
	}
	for _, typed := range []bool{false, true} {
		said = slices.DeleteFunc(said, func(m store.Message) bool {
			drop := bytes > maxMessagesBytes && m.Typed == typed
			if drop {
				bytes -= len(m.Text) + messageCost
			}
			return drop
		})
	}
	for used > maxToolsBytes {
		used -= len(tools[0].Text) + messageCost
		tools = tools[1:]
	}
	packed, err = store.PackTools(tools)
	return said, packed, err
}
