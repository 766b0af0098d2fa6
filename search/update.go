package search

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
	"memoir/memory"
	"memoir/store"
)

// patience bounds the wait for another process that uses the index. After it, a run leaves the update to that
// process or the next run. Forgetting waits longer, since it must remove content.
const (
	patience      = 2 * time.Second
	cleanPatience = time.Minute

	maxHistory = 256 << 20 // bytes
)

// Update updates the index of a home from the database and the memories, and rebuilds it if it is missing,
// damaged or of another version. With clean, no byte of removed content is left in the file after a return
// without an error, and a missing index is not built. Without clean, Update leaves the index to another process
// that writes it, and returns nil. redact removes secrets from a text.
//
// The update is one transaction: after a crash the index is unchanged.
func Update(ctx context.Context, st *store.Store, home string, redact func(string) string, clean bool) error {
	if clean && !Available { // another build of this program may have built one
		return Discard(home)
	}
	if _, err := os.Lstat(filepath.Join(home, fileName)); !Available || clean && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	w := writer{st: st, home: home, redact: redact}
	err := w.build(ctx, clean)
	if errors.Is(err, errUnusable) || isDamage(err) {
		if err = Discard(home); err == nil {
			err = failpoint.WriteFile(filepath.Join(home, fileName), nil, 0o600) // the transaction fills it
		}
		if err == nil {
			err = w.build(ctx, clean)
		}
	}
	switch {
	case err != nil && ctx.Err() != nil: // err may be that the transaction was rolled back
		return context.Cause(ctx)
	case isBusy(err) && !clean:
		return nil
	}
	return explain(err, "update the index of "+home)
}

func (w writer) build(ctx context.Context, clean bool) error {
	wait := patience
	if clean {
		wait = cleanPatience
	}
	x, err := openIndex(ctx, w.home, wait)
	if err != nil {
		return err
	}
	defer x.Close()
	now, memories, err := stateOf(ctx, w.st, w.home)
	if err != nil {
		return err
	}
	if state, err := x.state(ctx); err != nil || state == now && !clean {
		return err
	}
	if err := failpoint.Before("index"); err != nil {
		return err
	}
	tx, err := x.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	w.tx = tx
	// Changes stay in memory until the commit, so that readers are not blocked.
	w.exec(fmt.Sprintf("PRAGMA cache_spill = OFF; PRAGMA user_version = %d;", indexVersion) + schema)
	w.update(ctx, memories)
	if clean { // the merge drops the words of removed documents; SQLite overwrites freed pages
		w.exec(`INSERT INTO passage (passage) VALUES ('optimize')`)
	}
	if w.exec(`DELETE FROM indexed; INSERT INTO indexed (state) VALUES (?)`, now); w.err == nil {
		w.err = tx.Commit()
	}
	failpoint.After("indexed")
	return w.err
}

// source is the source of documents: a session, or all files of a project's memory.
type source struct {
	project string
	seq     int64  // of a session, as in the database; 0: a memory
	state   string // of a memory: the live generation, and size and time of MEMORY.md and the history
}

// stateOf returns a text that changes if the index is out of date, and the existing memories.
func stateOf(ctx context.Context, st *store.Store, home string) (state string, memories []source, err error) {
	state, projects, err := st.SearchState(ctx)
	for _, id := range projects {
		root := memory.At(home, id)
		n, err := root.Linked()
		if err != nil {
			continue // the next publication reports it
		}
		m := source{project: id, state: fmt.Sprint(n)}
		if info, err := os.Stat(filepath.Join(root.Live(n), memoir.MemoryFile)); err == nil {
			m.state += fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
		}
		if info, err := os.Stat(root.History("")); err == nil {
			m.state += fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
		}
		memories = append(memories, m)
		state += "\n" + id + " " + m.state
	}
	return state, memories, err
}

type writer struct {
	tx     *sql.Tx
	st     *store.Store
	home   string
	redact func(string) string
	n      int64 // the last document's number
	err    error // the first; statements after it do nothing
}

func (w *writer) exec(query string, args ...any) {
	if w.err == nil {
		_, w.err = w.tx.Exec(query, args...)
	}
}

// update removes changed sources from the index and adds missing ones.
func (w *writer) update(ctx context.Context, memories []source) {
	sessions, err1 := w.st.Searchable(ctx)
	have, err2 := w.documents(ctx)
	w.err = cmp.Or(w.err, err1, err2)
	want := memoir.Map(sessions, func(s store.Searchable) source { return source{project: s.ProjectID, seq: s.Seq} })
	var missing []source
	for _, s := range append(want, memories...) {
		if _, ok := have[s]; !ok {
			missing = append(missing, s)
		}
		delete(have, s)
	}
	for _, numbers := range have {
		for _, n := range numbers {
			w.exec(`DELETE FROM passage WHERE rowid BETWEEN ? AND ?`, number(n, 0, 0), number(n+1, 0, 0)-1)
			w.exec(`DELETE FROM document WHERE n = ?`, n)
		}
	}
	for _, s := range missing {
		switch {
		case w.err != nil:
			return
		case s.seq == 0:
			w.addMemory(s)
		default:
			w.addSession(ctx, s)
		}
	}
}

func (w *writer) documents(ctx context.Context) (map[source][]int64, error) {
	rows, err := w.tx.QueryContext(ctx, `SELECT n, project, seq, state FROM document ORDER BY n`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	have := map[source][]int64{}
	for rows.Next() {
		var s source
		if err := rows.Scan(&w.n, &s.project, &s.seq, &s.state); err != nil {
			return nil, err
		}
		have[s] = append(have[s], w.n)
	}
	return have, rows.Err()
}

// addSession adds a session unless it was removed meanwhile.
func (w *writer) addSession(ctx context.Context, s source) {
	text, err := w.st.SessionText(ctx, s.seq)
	if w.err = err; text != nil {
		w.add(s, "", passagesOf(*text))
	}
}

// addMemory adds the files of a project's memory, without unreadable ones, which the next publication reports.
func (w *writer) addMemory(s source) {
	root := memory.At(w.home, s.project)
	text, _ := textOf(root, memoir.MemoryFile, w.redact)
	w.add(s, memoir.MemoryFile, linesOf(text, memoryKind))
	text, _ = textOf(root, historyFile, w.redact)
	w.add(s, historyFile, linesOf(text, historyKind))
	names, _ := root.Open(memoir.SummariesDir)
	for name := range strings.FieldsSeq(string(names)) {
		path := memoir.SummariesDir + "/" + name
		if text, err := textOf(root, path, w.redact); err == nil {
			w.add(s, path, linesOf(text, summaryKind))
		}
	}
}

// historyFile is the name of a project's history in hits.
const historyFile = "HISTORY.md"

// textOf returns the text of a memory's file or of the history. It is redacted if a person may have edited it, as a
// whole, since a secret can have several lines.
func textOf(root memory.Root, path string, redact func(string) string) (string, error) {
	if path == historyFile {
		text, err := disk.ReadIn(root.Dir(), root.History(""), maxHistory)
		return redact(string(text)), err
	}
	text, err := root.Open(path)
	if path == memoir.MemoryFile && root.Edited() {
		return redact(string(text)), err
	}
	return string(text), err
}

// number returns a passage's rowid in the index.
func number(document int64, place int, k kind) int64 {
	return document<<(placeBits+kindBits) | int64(place)<<kindBits | int64(k)
}

// placeOf is the inverse of number.
func placeOf(n int64) (document int64, place int, k kind) {
	return n >> (placeBits + kindBits), int(n >> kindBits & (maxPassages - 1)), kind(n & (1<<kindBits - 1))
}

// add adds a document to the index; path is the file's, "" for a session.
func (w *writer) add(s source, path string, passages []passage) {
	w.n++
	count, total := 0, 0
	for place, p := range passages {
		text, n := indexed(p.text)
		if n == 0 {
			continue
		}
		if count++; !p.kind.tool() {
			total += n
		}
		w.exec(`INSERT INTO passage (rowid, words) VALUES (?, ?)`, number(w.n, place, p.kind), text)
	}
	w.exec(`INSERT INTO document (n, project, seq, path, state, passages, words)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, w.n, s.project, s.seq, path, s.state, count, total)
}
