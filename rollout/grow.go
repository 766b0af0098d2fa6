package rollout

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"time"

	"memoir"
)

// Mark says up to where a file was read, and what it was then. The zero Mark means
// that the file must be read from its beginning: it is compressed or a document,
// which are written anew; or nobody has said anything in it yet, so that who drives
// it, and what it is about, may still be to come.
type Mark struct {
	Offset  int64  // end of the last whole record that was seen, in bytes
	Print   string // fingerprint of the bytes at the file's beginning and before Offset
	Untimed bool   // no record bears a time: UpdatedAt is the file's
}

// markVersion is part of every fingerprint. It grows when Head finds out other
// things than before, so that recorded heads are not built on.
const markVersion = 2

// printed is how many bytes at either end of what was read the fingerprint covers.
const printed = 4 << 10

// grower is an Agent whose heads can be brought up to date with the records that
// were appended to a file. Those of other agents are read from the beginning.
type grower interface {
	Agent
	// grow does for the records that were appended what Head does for a file's last
	// ones: h is what Head said before, and h.UpdatedAt is zero if that was no
	// record's time. False means that only the whole file can tell.
	grow(h *Head, path string, tail [][]byte) bool
}

// Grow is Probe for a file that was seen before: known is how it was then, and
// before what was found. If it has only grown since, what was found is kept, and
// the file is read from before.Mark on, or at its tail if more than 4 MiB came.
// A file that was replaced, truncated or changed at its beginning is probed.
func Grow(entry Entry, known memoir.File, before Head) (Head, error) {
	if h, ok := grown(entry, known, before); ok {
		return h, nil
	}
	h, err := Probe(entry)
	// Some of what tells oh-my-pi from pi comes later in a session. It is the same
	// session then, and stays what it was taken for: the reader is the same.
	if h.ID == before.ID && h.Source == memoir.SourceOMP && before.Source == memoir.SourcePi {
		h.Source = before.Source
	}
	return h, err
}

func grown(entry Entry, known memoir.File, before Head) (Head, bool) {
	agent, ok := AgentOf(before.Source).(grower)
	if !ok || entry.Err != nil || before.Mark.Print == "" || entry.Inode != known.Inode || entry.Size <= known.Size {
		return Head{}, false
	}
	from := before.Mark.Offset
	if from > known.Size || fingerprint(entry.File, from) != before.Mark.Print {
		return Head{}, false
	}
	tail, end, err := readFrom(entry, from)
	if err != nil {
		return Head{}, false
	}
	h := before
	if before.Mark.Untimed {
		h.UpdatedAt = time.Time{}
	}
	if !agent.grow(&h, entry.Path, tail) {
		return Head{}, false
	}
	untimed := h.UpdatedAt.IsZero()
	if untimed {
		h.UpdatedAt = entry.ModTime.UTC()
	}
	h.entitle(h.Title, before.Title)
	h.Size = entry.Size
	h.Mark = markAt(entry.File, max(from, end), untimed)
	return h, true
}

// said moves the head on to the time of the last record that has one.
func (h *Head) said(tail [][]byte) {
	if t := latest(tail, "timestamp"); !t.IsZero() {
		h.UpdatedAt = t
	}
}

// readFrom returns copies of the records that follow an offset, and where the last
// of them ends.
func readFrom(entry Entry, from int64) (tail [][]byte, end int64, err error) {
	if entry.Size-from > tailMost {
		return readTail(entry.Path)
	}
	f, err := openFile(entry.Path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	piece := make([]byte, entry.Size-from)
	n, err := f.ReadAt(piece, from)
	if n < len(piece) {
		return nil, 0, openError(entry.Path, err)
	}
	tail, end = tailRecords(piece, false)
	return tail, from + end, nil
}

// appended reports whether the file is of those that grow at their end: a
// compressed one and a document do not.
func (r *Reader) appended() bool {
	_, plain := r.src.(*os.File)
	return plain && !r.pretty
}

// markAt marks a file at the end of a record.
func markAt(file memoir.File, offset int64, untimed bool) Mark {
	if offset == 0 {
		return Mark{}
	}
	if print := fingerprint(file, offset); print != "" {
		return Mark{offset, print, untimed}
	}
	return Mark{}
}

// fingerprint tells what stands at a file's beginning and before an offset. It is
// "" if the file cannot be read, or is not the one that was looked at any more.
func fingerprint(file memoir.File, offset int64) string {
	f, err := openFile(file.Path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || inode(info) != file.Inode || info.Size() != file.Size || !info.ModTime().Equal(file.ModTime) {
		return ""
	}
	n := min(offset, printed)
	b := make([]byte, 1+2*n)
	b[0] = markVersion
	if _, err := f.ReadAt(b[1:1+n], 0); err != nil {
		return ""
	}
	if _, err := f.ReadAt(b[1+n:], offset-n); err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
