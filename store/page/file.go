package page

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	magic       = "SQLite format 3\x00"
	headerSize  = 100 // of the database, at the begin of page 1
	usualSize   = 4096
	logHeader   = 32
	frameHeader = 24
)

// File is a database as it was last committed: its pages, those in its write-ahead
// log before those in the file.
type File struct {
	db      io.ReaderAt
	log     io.ReaderAt
	size    int    // of a page, in bytes
	usable  int    // what of a page may be used, in bytes
	pages   uint32 // how many there are
	inFile  int64  // bytes of the database file
	inLog   map[uint32]int64
	left    int64 // bytes that may yet be read from overflow pages
	cut     bool
	foreign bool
	sized   bool // the file says itself of what size its pages are
	// Change counters of the first and the last commit of page 1 in the log; 0: none.
	oldest, newest uint32
	Header         Header
	Unusual        bool // the header is not that of a database, and usual values stand for it
}

// Header is what a database says about itself in its first bytes.
type Header struct {
	Magic         bool
	UserVersion   uint32
	ApplicationID uint32
}

// Open reads a database of size bytes, and its log of logSize bytes; log may be nil.
// Nothing is too damaged to be opened, but a failure to read is an error.
func Open(db io.ReaderAt, size int64, log io.ReaderAt, logSize int64) (*File, error) {
	f := &File{db: db, log: log, inFile: size, inLog: map[uint32]int64{}}
	head := make([]byte, headerSize)
	if n, err := db.ReadAt(head, 0); n < len(head) && !errors.Is(err, io.EOF) && err != nil {
		return nil, fmt.Errorf("read the header: %w", err)
	}
	f.size = usualSize
	// At a size that is too large fewer pages are found to be of a tree.
	if said := pageSize(head); bytes.HasPrefix(head, []byte(magic)) && said != 0 && (size < usualSize || f.likely(said) >= f.likely(usualSize)) {
		f.size, f.sized = said, true
	}
	f.usable = f.size
	f.pages = f.pagesInFile()
	if log != nil {
		if err := f.readLog(logSize); err != nil {
			return nil, err
		}
	}
	f.left = 4 * (size + logSize)
	if f.readHeader(head); f.foreign || f.logOfAnother(head) {
		f.IgnoreLog()
	}
	return f, nil
}

// readHeader takes the header of the first page, or that of the file where there is none.
func (f *File) readHeader(inFile []byte) {
	head := inFile
	if first := f.Page(1); len(first) >= headerSize {
		head = first
	}
	f.Header = Header{
		Magic:         bytes.HasPrefix(head, []byte(magic)),
		UserVersion:   binary.BigEndian.Uint32(head[60:]),
		ApplicationID: binary.BigEndian.Uint32(head[68:]),
	}
	f.Unusual = !f.Header.Magic || pageSize(head) != f.size
}

// pageSize is what a header says; 0 if it makes no sense.
func pageSize(head []byte) int {
	n := int(binary.BigEndian.Uint16(head[16:]))
	if n == 1 {
		return 65536
	}
	if n < 512 || n&(n-1) != 0 {
		return 0
	}
	return n
}

// likely counts the pages at the begin of the file that look like one of a tree, if
// pages had that size.
func (f *File) likely(size int) int {
	n := 0
	b := make([]byte, 1)
	for at := int64(size); at < f.inFile && at < 1<<20; at += int64(size) {
		if _, err := f.db.ReadAt(b, at); err == nil && (b[0] == leafTable || b[0] == leafIndex || b[0] == innerTable || b[0] == innerIndex) {
			n++
		}
	}
	return n
}

// Pages is how many pages there are; they are numbered from 1.
func (f *File) Pages() uint32 { return f.pages }

// LogCut reports that the log goes on behind the last frame that can be used: its end
// was lost or damaged. A process that was killed in the middle of a transaction leaves
// such a log, too.
func (f *File) LogCut() bool { return f.cut }

// ForeignLog reports that the log is that of another database, and was left out: its
// pages are of another size, or the first of them says that another program made it.
// SQLite takes any log for the database's whose own checksums are right.
func (f *File) ForeignLog() bool { return f.foreign }

// IgnoreLog makes it the database as the file alone has it, for a log that is another's.
func (f *File) IgnoreLog() {
	f.inLog, f.cut, f.foreign = map[uint32]int64{}, false, true
	f.pages = f.pagesInFile()
	f.readHeader(make([]byte, headerSize))
}

// logOfAnother holds the first page in the log against the header in the file. A
// database that was just made has no mark in its file yet. Each commit that changes that
// page counts on by one at most from what it finds, and what is in the file is what the
// log began from, or one of its states: another count is that of a copy from before or after.
func (f *File) logOfAnother(inFile []byte) bool {
	if _, ok := f.inLog[1]; !ok || !bytes.HasPrefix(inFile, []byte(magic)) || binary.BigEndian.Uint32(inFile[68:]) == 0 {
		return false
	}
	if f.Header.Magic && f.Header.ApplicationID != binary.BigEndian.Uint32(inFile[68:]) {
		return true
	}
	counter := binary.BigEndian.Uint32(inFile[24:])
	sure := counter == binary.BigEndian.Uint32(inFile[92:]) && f.oldest > 0 // it stands there twice
	return sure && (counter+1 < f.oldest || counter > f.newest)
}

func (f *File) pagesInFile() uint32 {
	return uint32(min((f.inFile+int64(f.size)-1)/int64(f.size), 1<<31))
}

// Page returns the bytes of a page; those of one that is cut off are filled with
// zeros. It is nil if there is no such page, or it can't be read.
func (f *File) Page(n uint32) []byte {
	if n == 0 || n > f.pages {
		return nil
	}
	b := make([]byte, f.size)
	if at, ok := f.inLog[n]; ok {
		if _, err := f.log.ReadAt(b, at); err != nil {
			return nil
		}
		return b
	}
	got, err := f.db.ReadAt(b, int64(n-1)*int64(f.size))
	if err != nil && (!errors.Is(err, io.EOF) || got == 0) {
		return nil
	}
	return b
}

// readLog finds the last state of each page in the frames up to the last commit. What
// follows a frame with a wrong checksum was not committed, or belongs to an earlier log.
func (f *File) readLog(size int64) error {
	head := make([]byte, logHeader)
	if size < logHeader {
		f.cut = size > 0
		return nil
	}
	if _, err := f.log.ReadAt(head, 0); err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	number := binary.BigEndian.Uint32(head)
	sum := checksum{big: number&1 != 0}
	sum.add(head[:24])
	if number&^1 != 0x377f0682 || !sum.is(head[24:]) {
		f.cut = true
		return nil
	}
	if int(binary.BigEndian.Uint32(head[8:])) != f.size {
		f.foreign, f.cut = f.sized, !f.sized
		return nil
	}
	salt := head[16:24]
	frame := make([]byte, frameHeader+f.size)
	frames := bufio.NewReaderSize(io.NewSectionReader(f.log, logHeader, size-logHeader), int(min(size, 256<<10))) // commands that are to be quick read it, too
	pending := map[uint32]int64{}
	var counter uint32 // of the first page, as it was written last
	var at int64
	for at = logHeader; at+int64(len(frame)) <= size; at += int64(len(frame)) {
		if _, err := io.ReadFull(frames, frame); err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
		if !bytes.Equal(frame[8:16], salt) {
			return nil // of an earlier log
		}
		sum.add(frame[:8])
		sum.add(frame[frameHeader:])
		page := binary.BigEndian.Uint32(frame)
		if page == 0 || !sum.is(frame[16:]) {
			f.cut = true
			return nil
		}
		if pending[page] = at + frameHeader; page == 1 {
			counter = binary.BigEndian.Uint32(frame[frameHeader+24:])
		}
		if pages := binary.BigEndian.Uint32(frame[4:]); pages != 0 { // a commit
			for n, where := range pending {
				f.inLog[n] = where
			}
			if _, ok := pending[1]; ok {
				f.newest = counter
				f.oldest = cmp.Or(f.oldest, f.newest)
			}
			pending = map[uint32]int64{} // which clear would leave as large as the largest transaction
			f.pages = min(pages, 1<<31)
		}
	}
	f.cut = at < size || len(pending) > 0
	return nil
}

// checksum is that of a log, over words of 4 bytes.
type checksum struct {
	big  bool // the words begin with their highest byte
	a, b uint32
}

func (c *checksum) add(data []byte) {
	a, b := c.a, c.b
	if c.big {
		for ; len(data) >= 8; data = data[8:] {
			a += binary.BigEndian.Uint32(data) + b
			b += binary.BigEndian.Uint32(data[4:]) + a
		}
	} else {
		for ; len(data) >= 8; data = data[8:] {
			a += binary.LittleEndian.Uint32(data) + b
			b += binary.LittleEndian.Uint32(data[4:]) + a
		}
	}
	c.a, c.b = a, b
}

func (c *checksum) is(data []byte) bool {
	return binary.BigEndian.Uint32(data) == c.a && binary.BigEndian.Uint32(data[4:]) == c.b
}

// Free returns the pages that are in no tree, as far as their list can be read. What
// they hold was deleted.
func (f *File) Free() map[uint32]bool {
	free := map[uint32]bool{}
	first := f.Page(1)
	if first == nil || f.Unusual {
		return free
	}
	for trunk := binary.BigEndian.Uint32(first[32:]); trunk > 1 && trunk <= f.pages && !free[trunk]; {
		b := f.Page(trunk)
		if b == nil {
			break
		}
		free[trunk] = true
		n := binary.BigEndian.Uint32(b[4:])
		if int64(n) > int64(f.usable/4-2) {
			break
		}
		for i := range n {
			if leaf := binary.BigEndian.Uint32(b[8+4*i:]); leaf > 1 && leaf <= f.pages {
				free[leaf] = true
			}
		}
		trunk = binary.BigEndian.Uint32(b)
	}
	return free
}
