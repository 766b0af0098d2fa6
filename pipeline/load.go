package pipeline

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"

	"memoir"
	"memoir/rollout"
	"memoir/secrets"
)

// Bounds on one item, in bytes. What exceeds them is cut in the middle; what all
// items together may take is maxHeld.
const (
	maxMessage = 64 << 10 // one message
	maxInput   = 16 << 10 // the input of one tool call
	maxOutput  = 16 << 10 // the output of one tool call
)

// Loaded is one session as Phase 1 sees it: filtered, redacted, bounded.
type Loaded struct {
	Items      []memoir.Item
	Stats      rollout.Stats
	Hash       string         // of the filtered items, before redaction and bounds
	Grown      bool           // it begins with the content that has the earlier hash
	Redactions secrets.Counts // by rule
	Omitted    int            // items, and texts of items, that gave way to maxHeld
}

// Load reads a session's files in order. Nothing of the text leaves this function
// unredacted. Earlier is the hash of an earlier reading, if there was one.
func Load(ctx context.Context, scanner *secrets.Scanner, parts []rollout.Part, earlier string) (Loaded, error) {
	var (
		out      Loaded
		held     holding
		hasher   rollout.Hasher
		redactor = scanner.Session()
	)
	stats, err := rollout.Read(ctx, parts, func(it memoir.Item) error {
		hasher.Add(it)
		out.Grown = out.Grown || earlier != "" && hasher.Sum() == earlier
		it = redactor.Item(it)
		it.Text = cutMiddle(it.Text, maxMessage)
		it.Input = cutMiddle(it.Input, maxInput)
		it.Output = cutMiddle(it.Output, maxOutput)
		held.add(it)
		return nil
	})
	out.Stats, out.Items, out.Omitted = stats, held.items, held.omitted
	if err != nil {
		return out, err
	}
	// A secret seen late may stand, bare, in an earlier item.
	for i, it := range out.Items {
		out.Items[i] = redactor.Again(it)
	}
	out.Hash = hasher.Sum()
	out.Redactions = redactor.Counts()
	return out, nil
}

// cutMark stands where something was cut out.
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
	maxHeld  = 8 << 20 // bytes of all items of a session together, with what they cost besides their texts
	itemCost = 400     // bytes that an item costs besides its texts
	heldTail = 400     // bytes that stay of a text that had to give way
)

// holding is what is kept of one session, in order.
type holding struct {
	items   []memoir.Item
	bytes   int
	omitted int // items, and texts of items, that gave way
}

func (h *holding) add(it memoir.Item) {
	h.items = append(h.items, it)
	if h.bytes += cost(it); h.bytes > maxHeld {
		h.shed()
	}
}

// cost is what an item takes of memory, about.
func cost(it memoir.Item) int {
	return itemCost + len(it.Text) + len(it.Tool) + len(it.Input) + len(it.Output) +
		len(it.CWD) + len(it.Branch) + len(it.TurnID)
}

// What gives way, first to last; the oldest first in each. A cut leaves the end of
// an output and the ends of a message.
var shedding = []struct {
	of  func(memoir.Item) bool
	cut bool
}{
	{isTool, true},
	{func(it memoir.Item) bool { return isTool(it) && !it.Failed }, false},
	{isTool, false},
	{func(it memoir.Item) bool { return !it.Origin.ByPerson() && !it.Final }, false},
	{func(it memoir.Item) bool { return !it.Origin.ByPerson() }, false},
	{func(memoir.Item) bool { return true }, true},
	{func(memoir.Item) bool { return true }, false},
}

func isTool(it memoir.Item) bool { return it.Kind == memoir.ItemTool }

// shed makes room for an eighth more than is held, so that it is seldom called.
func (h *holding) shed() {
	for _, s := range shedding {
		for i := range h.items {
			if h.bytes <= maxHeld*7/8 {
				break
			}
			it := &h.items[i]
			if it.N == 0 || !s.of(*it) {
				continue
			}
			before := cost(*it)
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
			h.bytes -= before - cost(*it)
			h.omitted++
		}
	}
	h.items = slices.DeleteFunc(h.items, func(it memoir.Item) bool { return it.N == 0 })
}

// Parts looks at a registered session's files as they are now, and puts them into
// reading order. Its errors have the code CodeUnreadable.
func Parts(ctx context.Context, s memoir.Session) ([]rollout.Part, error) {
	return partsOf(ctx, s, nil)
}

// partsOf is Parts with what was seen of files in this run: one that was not
// touched since is not looked at again.
func partsOf(ctx context.Context, s memoir.Session, seen map[string]rollout.Head) ([]rollout.Part, error) {
	parts := make([]rollout.Part, 0, len(s.Files))
	for _, f := range s.Files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		head, known := seen[f.Path]
		if !known || !untouched(f) {
			var err error
			if head, err = rollout.Probe(rollout.Entry{File: f, Source: s.Source}); err != nil {
				return nil, err
			}
		}
		if head.ID != s.ID && !strings.HasPrefix(s.ID, redactedID) {
			return nil, memoir.Errorf(memoir.CodeUnreadable, "run memoir again: the next scan sees what it is now",
				"%s holds another session than when it was registered", f.Path)
		}
		parts = append(parts, rollout.Part{Path: f.Path, Head: head})
	}
	ordered, _ := rollout.Assemble(parts)
	if len(ordered) == 0 {
		return nil, memoir.Errorf(memoir.CodeUnreadable, "the agent may have deleted them",
			"the files of session %s are gone", s.ID)
	}
	return ordered, nil
}

// untouched reports whether a file is as it was when it was registered.
func untouched(f memoir.File) bool {
	now, err := rollout.Stat(f.Path)
	if f.Inode == 0 {
		now.Inode = 0
	}
	return err == nil && same(now, f)
}

// looks are how files were when a session began to be read, by path.
type looks map[string]fs.FileInfo

// lookAt looks at files. What is no file of its own, or cannot be looked at, is left to who
// reads it.
func lookAt(files []memoir.File) looks {
	out := looks{}
	for _, f := range files {
		if info, err := os.Stat(f.Path); err == nil {
			out[f.Path] = info
		}
	}
	return out
}

// whole is an error where a file was written anew while it was read: what was read may be
// the beginning of one session and the end of another, or a half of it. The session is
// then left for the next run, with the code memoir.CodeUnreadable.
func (l looks) whole() error {
	for path, before := range l {
		after, err := os.Stat(path)
		if err != nil || !rollout.Appended(path, before, after) {
			return memoir.Errorf(memoir.CodeUnreadable, "run memoir again, once the agent has ended",
				"%s was written anew while it was read", path)
		}
	}
	return nil
}
