package rollout

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/internal/lazyregexp"
)

// ErrNoSession is in the error chain of a file that is not a session, or of a link out of the directory.
var ErrNoSession = errors.New("not a session")

// ErrNoRecord is also in the error chain of a file that is empty, or was cut in its first record.
var ErrNoRecord = fmt.Errorf("%w: it contains no complete JSON record", ErrNoSession)

// Probe reads a file's head and tail, and returns which session it belongs to. It reads at most 256 KiB of the
// head, or the first record if that is longer, and 4 MiB for the title of a fork. Of the tail it reads 64 KiB, or
// up to 4 MiB if the last record is longer. A compressed file is read to its end. The error has the code
// memoir.CodeUnreadable: the file is empty, of no known agent, or not permitted.
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
		err = memoir.Errorf(memoir.CodeUnreadable, "", "%s is %w", entry.Path, ErrNoRecord)
	}
	if len(head) == 0 {
		return Head{}, err
	}
	agent := recognise(entry, head)
	if agent.Format == nil {
		return Head{}, memoir.Errorf(memoir.CodeUnreadable, "", "%s is %w of any known agent", entry.Path, ErrNoSession)
	}
	tail := head
	if !whole {
		if tail, err = readTail(entry.Path); err != nil {
			return Head{}, err
		}
	}
	h := Head{Source: agent.Source, Kind: memoir.KindMain, BaseEnd: -1, FirstOrdinal: -1, Size: entry.Size,
		UpdatedAt: firstTime(slices.Backward(tail))}
	agent.Head(&h, entry.Path, head, tail)
	if h.CreatedAt.IsZero() {
		h.CreatedAt = firstTime(slices.All(head))
	}
	h.complete(entry)
	prompt, known := firstPrompt(agent, &h, head)
	if !known {
		return Head{}, unknownStore(entry.Path, "has only records of unknown forms")
	}
	if prompt == "" && h.Title == "" && h.ParentID != "" && !whole {
		if more, _, err := readHead(entry.Path, forkBudget); err == nil {
			prompt, _ = firstPrompt(agent, &h, more)
		}
	}
	h.entitle(h.Title, prompt)
	place := strings.ReplaceAll(h.CWD, `\`, "/")
	if h.Kind == memoir.KindMain && (scriptedPlace.MatchString(place) || scriptedPrompt.MatchString(prompt)) {
		h.Kind = memoir.KindAutomation
	}
	return h, nil
}

// scriptedPlace matches directories in which only programs start sessions: observers of a memory tool, and agents'
// schedules and memories. scriptedPrompt matches the beginnings of their prompts.
var (
	scriptedPlace  = lazyregexp.New(`/\.(?:claude-mem|claude/scheduled-tasks|codex/(?:automations|memories))(?:/|$)`)
	scriptedPrompt = lazyregexp.New(`^(?:<scheduled-task name=|Automation: [^\n]+\nAutomation ID: |` +
		`You are a Claude-Mem, |Hello memory agent, you are continuing to observe )`)
)

// Unread calls fn with the errors of the agents' directories and stores that cannot be read, and of each agent's newest
// files, by which a new format is noticed first.
func Unread(ctx context.Context, env Env, fn func(memoir.Source, error)) error {
	newest := map[memoir.Source][]Entry{}
	err := Walk(ctx, env, func(e Entry) error {
		if e.Err != nil {
			fn(e.Source, e.Err)
		} else if e.Size > 0 { // otherwise it has only been created
			all := append(newest[e.Source], e)
			slices.SortFunc(all, func(a, b Entry) int { return b.ModTime.Compare(a.ModTime) })
			newest[e.Source] = all[:min(len(all), 3)]
		}
		return nil
	})
	for source, entries := range newest {
		for _, e := range entries {
			if _, failed := Probe(e); failed != nil {
				fn(source, failed)
			}
		}
	}
	return err
}

// ProbeAgain is Probe for a file in which a session was found before. Marks of oh-my-pi may appear late in a
// session; a session that was recognised as pi's stays pi's.
func ProbeAgain(entry Entry, before Head) (Head, error) {
	h, err := Probe(entry)
	if h.ID == before.ID && h.Source == memoir.SourceOMP && before.Source == memoir.SourcePi {
		h.Source = before.Source
	}
	return h, err
}

// recognise returns the agent of a file, if possible the one in whose directory it is; none if no agent knows it.
func recognise(entry Entry, head [][]byte) Agent {
	for _, all := range []bool{false, true} {
		for _, agent := range Agents {
			if (all || agent.Source == entry.Source) && agent.Recognises(entry.Path, head) {
				return agent
			}
		}
	}
	return Agent{}
}

// opening returns the first records, by which an agent is recognised.
func opening(head [][]byte) [][]byte { return head[:min(len(head), 20)] }

// firstPrompt reads the head as a session and returns the first message of a person, if possible not a slash command.
// It sets Opening, and the kind of a model call of memoir. known is false if all records have unknown forms.
func firstPrompt(agent Format, h *Head, head [][]byte) (prompt string, known bool) {
	stats := Stats{}
	e := newEmitter(func(it memoir.Item) error {
		if it.Kind != memoir.ItemMessage || it.Role != memoir.RoleUser {
			return nil
		}
		h.Opening = cmp.Or(h.Opening, Mark(h.Source, it))
		if it.Origin == memoir.OriginSlashCommand { // the next message is a better title
			prompt = cmp.Or(prompt, it.Text)
			return nil
		}
		prompt = it.Text
		return errStop
	}, &stats, h.Kind)
	// An error here can only be errStop: the records are in memory.
	_ = agent.Read(context.Background(), &tape{parts: []Part{{Head: *h}}, heads: head, stats: &stats}, e)
	if e.err == nil {
		e.finish()
	}
	if stats.OwnRun {
		h.Kind = memoir.KindOwnRun
	}
	return prompt, stats.Items > 0 || len(stats.Unknown) == 0 || stats.OwnRun
}

// firstTime returns the first time in records.
func firstTime(records iter.Seq2[int, []byte]) time.Time {
	for _, raw := range records {
		if t := instant(get(raw, "timestamp")); !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

const (
	headBudget = 256 << 10 // bytes of a file's beginning that Probe reads, unless its first record is longer
	forkBudget = 4 << 20   // the same for a fork's title, since the parent's records come first
)

const (
	tailFirst = 64 << 10
	tailMost  = 4 << 20
)

// readHead returns copies of a file's first records.
func readHead(path string, budget int64) (head [][]byte, whole bool, err error) {
	f, err := open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	r := NewReader(f)
	defer r.Close()
	r.budget, r.brief = budget, true
	if head, err = r.rest(); err != io.EOF {
		return head, false, openError(path, err)
	}
	return head, r.eof, nil
}

// rest returns copies of the records up to the error that ends them.
func (r *Reader) rest() (records [][]byte, err error) {
	for {
		raw, err := r.Next()
		if err != nil {
			return records, err
		}
		records = append(records, bytes.Clone(raw))
	}
}

// readTail returns copies of the last records of a file, whole ones only. A compressed
// file must be decompressed to its end; only its last piece is kept.
func readTail(path string) ([][]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, ok := f.(*memberStream); ok {
		return nil, nil // the first record has the times
	}
	if plain, ok := f.(*os.File); ok {
		info, err := plain.Stat()
		if err != nil {
			return nil, openError(path, err)
		}
		for size := int64(tailFirst); ; size *= 8 {
			from := max(0, info.Size()-size)
			piece := make([]byte, info.Size()-from)
			if _, err := plain.ReadAt(piece, from); err != nil && err != io.EOF {
				return nil, openError(path, err)
			}
			if records := tailRecords(piece, from > 0); len(records) > 0 || from == 0 || size >= tailMost {
				return records, nil
			}
		}
	}
	return tailRecords(lastPiece(f, tailFirst), true), nil
}

// tailRecords returns copies of the whole records in the last piece of a file. A partial
// piece may begin in the middle of a line.
func tailRecords(piece []byte, partial bool) (out [][]byte) {
	skipped := 0
	if partial {
		i := bytes.IndexByte(piece, '\n')
		if i < 0 {
			return nil
		}
		skipped = i + 1
	}
	r := NewReader(bytes.NewReader(piece[skipped:]))
	defer r.Close()
	out, _ = r.rest()
	return out
}

// lastPiece reads to the end, or to damage, and keeps the last n to 2n bytes.
func lastPiece(src io.Reader, n int) []byte {
	buf := make([]byte, 0, 2*n)
	for {
		if len(buf) == cap(buf) {
			buf = buf[:copy(buf, buf[len(buf)-n:])]
		}
		m, err := src.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+m]
		if err != nil {
			return buf
		}
	}
}
