package page

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"
)

const rows = 200

// sample makes a database with tables of both kinds, an index, rows that overflow, and a
// log that was not written back.
func sample(t testing.TB, pageSize int) (db, log []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	d, err := sql.Open("sqlite3", path)
	must(t, err)
	defer d.Close()
	d.SetMaxOpenConns(1)
	exec := func(statement string, args ...any) {
		t.Helper()
		_, err := d.Exec(statement, args...)
		must(t, err)
	}
	exec(fmt.Sprintf("PRAGMA page_size = %d", pageSize))
	exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
	exec(`CREATE TABLE a (n INTEGER PRIMARY KEY, t TEXT, r REAL, b BLOB)`)
	exec(`CREATE TABLE b (k TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID`)
	exec(`CREATE INDEX i ON a (t)`)
	exec("PRAGMA synchronous = OFF")
	for n := range rows {
		switch {
		case n == rows/2:
			exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE); BEGIN") // half is in the file, half in the log
		case n == 0:
			exec("BEGIN")
		case n%20 == 0:
			exec("COMMIT; BEGIN")
		}
		exec(`INSERT INTO a VALUES (?, ?, ?, ?)`, n, text(n), float64(n)/4, []byte{byte(n)})
		exec(`INSERT INTO b VALUES (?, ?)`, fmt.Sprintf("%s%d", strings.Repeat("k", n%90), n), int64(n)<<(n%60))
	}
	exec("COMMIT")
	db, err = os.ReadFile(path)
	must(t, err)
	log, err = os.ReadFile(path + "-wal")
	must(t, err)
	return db, log
}

// text is up to three pages long.
func text(n int) string { return strings.Repeat("x", n*n%13_000) + fmt.Sprint(n) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, db, log []byte) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(db), int64(len(db)), bytes.NewReader(log), int64(len(log)))
	must(t, err)
	return f
}

func roots(f *File) map[string]uint32 {
	found := map[string]uint32{}
	f.Tree(1, false, func(p Found) {
		for _, row := range p.Rows {
			if len(row.Values) != 5 {
				continue
			}
			name, _ := row.Values[1].(string)
			root, _ := row.Values[3].(int64)
			found[name] = uint32(root)
		}
	})
	return found
}

func read(f *File, root uint32, index bool) (all []Row, bad []uint32) {
	bad = f.Tree(root, index, func(p Found) { all = append(all, p.Rows...) })
	return all, bad
}

func TestASoundDatabaseIsReadWhole(t *testing.T) {
	t.Parallel()
	for _, size := range []int{512, 4096, 65536} {
		db, log := sample(t, size)
		f := open(t, db, log)
		at := roots(f)
		got, bad := read(f, at["a"], false)
		if len(got) != rows || len(bad) > 0 || f.Unusual || f.LogCut() {
			t.Fatalf("pages of %d: %d rows, bad pages %v, unusual %v, cut %v", size, len(got), bad, f.Unusual, f.LogCut())
		}
		for n, row := range got {
			if row.ID != int64(n) || row.Values[1] != text(n) || row.Values[3].([]byte)[0] != byte(n) {
				t.Fatalf("pages of %d: row %d is %d with %d bytes", size, n, row.ID, len(row.Values[1].(string)))
			}
			if r, ok := row.Values[2].(float64); ok && r != float64(n)/4 {
				t.Fatalf("row %d: %v", n, r)
			}
		}
		keys, bad := read(f, at["b"], true)
		if len(keys) != rows || len(bad) > 0 {
			t.Fatalf("pages of %d: %d keys, bad pages %v", size, len(keys), bad)
		}
		for _, row := range keys {
			var n int
			_, err := fmt.Sscan(strings.TrimLeft(row.Values[0].(string), "k"), &n)
			must(t, err)
			if row.Values[1] != int64(n)<<(n%60) {
				t.Fatalf("key %d: %v", n, row.Values[1])
			}
		}
	}
}

func TestALogCountsUpToItsLastWholeTransaction(t *testing.T) {
	t.Parallel()
	db, log := sample(t, 4096)
	last := rows
	for cut := len(log); cut >= 0; cut -= len(log)/30 + 1 {
		f := open(t, db, log[:cut])
		got, bad := read(f, roots(f)["a"], false)
		if len(bad) > 0 || len(got) > last || len(got) < rows/2 {
			t.Fatalf("log of %d bytes: %d rows after %d, bad pages %v", cut, len(got), last, bad)
		}
		last = len(got)
	}
	if last != rows/2 {
		t.Errorf("%d rows without a log", last)
	}
	garbled := bytes.Clone(log)
	garbled[len(log)/2] ^= 1
	f := open(t, db, garbled)
	if got, bad := read(f, roots(f)["a"], false); len(bad) > 0 || len(got) >= rows || len(got) <= rows/2 || !f.LogCut() {
		t.Errorf("a flipped bit in the log: %d rows, bad pages %v, cut %v", len(got), bad, f.LogCut())
	}
}

// counted counts the readings of a file.
type counted struct {
	io.ReaderAt
	n int
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	c.n++
	return c.ReaderAt.ReadAt(b, at)
}

// Each command that opens a database looks at the log that another process has open.
func TestALogIsReadInLargePieces(t *testing.T) {
	t.Parallel()
	db, log := sample(t, 512)
	file := &counted{ReaderAt: bytes.NewReader(log)}
	f, err := Open(bytes.NewReader(db), int64(len(db)), file, int64(len(log)))
	must(t, err)
	if frames := len(log) / (512 + frameHeader); frames < 100 || f.Pages() == 0 || file.n > 4+len(log)>>17 {
		t.Errorf("a log of %d bytes and %d frames took %d readings", len(log), frames, file.n)
	}
}

func TestADamagedPageCostsItsOwnRowsAlone(t *testing.T) {
	t.Parallel()
	db, _ := sample(t, 4096)
	whole := open(t, db, nil)
	at := roots(whole)
	all, _ := read(whole, at["a"], false)
	for n := uint32(2); n <= whole.Pages(); n++ {
		broken := bytes.Clone(db)
		clear(broken[(n-1)*4096 : n*4096])
		f := open(t, broken, nil)
		got, _ := read(f, at["a"], false)
		for p := uint32(2); p <= f.Pages() && n == at["a"]; p++ { // the tree is gone, its leaves are not
			if found, ok := f.Rows(p); ok && !found.Index {
				got = append(got, found.Rows...)
			}
		}
		if lost := len(all) - len(got); lost > 60 {
			t.Errorf("page %d of %d: %d of %d rows lost", n, whole.Pages(), lost, len(all))
		}
	}
}

func FuzzAnyBytesAreReadToAnEnd(f *testing.F) {
	db, log := sample(f, 512)
	f.Add(db[:64<<10], log[:16<<10], uint16(0), uint64(0))
	f.Add(db[:8<<10], []byte{}, uint16(700), uint64(0xffffffffffffffff))
	f.Add([]byte{}, log[:8<<10], uint16(3), uint64(1))
	f.Fuzz(func(t *testing.T, db, log []byte, at uint16, garbage uint64) {
		if len(db) >= int(at)+8 {
			db = bytes.Clone(db)
			binary.BigEndian.PutUint64(db[at:], garbage)
		}
		file := open(t, db, log)
		file.Free()
		for n := uint32(1); n <= min(file.Pages(), 64); n++ {
			file.Rows(n)
			for _, index := range []bool{true, false} {
				seen := 0
				file.Tree(n, index, func(Found) { seen++ })
				if seen > int(file.Pages()) {
					t.Fatalf("%d pages of %d", seen, file.Pages())
				}
			}
		}
	})
}
