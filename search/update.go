package search

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/internal/failpoint"
	"memoir/memory"
	"memoir/store"
)

// patience is how long one that writes waits for another. A run skips the index then: whoever holds it
// adds what is new, or the next run does. Forgetting waits longer, since it promises more.
const (
	patience       = 2 * time.Second
	cleanPatience  = time.Minute
	readPatience   = 2 * time.Second
	batchDocuments = 256 // documents of one transaction
)

// Update brings the index of a home up to date with the database and the memories, and makes it anew where
// it is missing, damaged or of another version. With clean, what was taken out leaves no byte in the file
// when Update returns without an error; else another process that writes the index is left to it.
//
// A process that dies on the way leaves an index that says it is behind; the next Update goes on.
func Update(ctx context.Context, st *store.Store, home string, clean bool) error {
	path := filepath.Join(home, fileName)
	if clean && !Available { // another build of this program may have made one
		return removeFiles(path)
	}
	if _, err := os.Lstat(path); !Available || clean && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := update(ctx, st, home, clean)
	if errors.Is(err, errUnusable) || isDamage(err) {
		if err = createIndex(ctx, home); err == nil {
			err = update(ctx, st, home, clean)
		}
	}
	if isBusy(err) && !clean {
		return nil
	}
	return explain(err, "update the index of "+home)
}

// Renew makes the index anew, if there is one: texts were changed that kept their place.
func Renew(ctx context.Context, st *store.Store, home string) error {
	path := filepath.Join(home, fileName)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := removeFiles(path); err != nil {
		return err
	}
	return Update(ctx, st, home, false)
}

func update(ctx context.Context, st *store.Store, home string, clean bool) error {
	wait := patience
	if clean {
		wait = cleanPatience
	}
	x, err := openIndex(ctx, home, wait)
	if err != nil {
		return err
	}
	defer x.close()
	w := &writer{index: x, st: st, home: home, token: "written by " + rand.Text()}
	if w.now, err = stateOf(ctx, st, home); err != nil {
		return err
	}
	state, removed, err := x.state(ctx)
	if err != nil || state == w.now.text() && !(clean && removed) {
		return err
	}
	return errors.Join(w.all(ctx, clean), w.end())
}

// state is what the index says of itself.
func (x *index) state(ctx context.Context) (state string, removed bool, err error) {
	err = x.get(ctx, `SELECT (SELECT value FROM meta WHERE name = 'state'),
		(SELECT value <> '' FROM meta WHERE name = 'removed')`, nil, &state, &removed)
	return state, removed, err
}

// contents says what an index should hold.
type contents struct {
	sessions string            // store.SearchState
	projects []string          // that have a memory
	memories map[string]string // by project: the live generation, and MEMORY.md as the file system describes it
}

func stateOf(ctx context.Context, st *store.Store, home string) (c contents, err error) {
	c.memories = map[string]string{}
	if c.sessions, c.projects, err = st.SearchState(ctx); err != nil {
		return c, err
	}
	for _, id := range c.projects {
		root := memory.At(home, id)
		n, err := root.Linked()
		if err != nil {
			continue // who publishes there says so
		}
		c.memories[id] = fmt.Sprint(n)
		if info, err := os.Stat(filepath.Join(root.Live(n), memoryFile)); err == nil {
			c.memories[id] += fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
		}
	}
	return c, nil
}

// text is one that differs when the contents do.
func (c contents) text() string {
	var b strings.Builder
	b.WriteString(c.sessions)
	for _, id := range c.projects {
		b.WriteString("\n" + id + " " + c.memories[id])
	}
	return b.String()
}

// writer brings an index up to date, some documents a transaction. Its token stands in the index meanwhile:
// a process that finds another one there leaves the rest to it.
type writer struct {
	*index
	st    *store.Store
	home  string
	token string
	now   contents

	tx   *sql.Tx
	n    int64 // the last document's number
	left int   // documents that this transaction takes yet
}

// errTaken means that another process writes the index now.
var errTaken = memoir.Errorf(memoir.CodeBusy, "wait for it and try again", "another process writes the index")

// begin starts a transaction unless there is one.
func (w *writer) begin(ctx context.Context, first bool) error {
	if w.tx != nil {
		return nil
	}
	if err := failpoint.Before("index"); err != nil {
		return storageError(err, "write %s", w.path)
	}
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	w.tx, w.left = tx, batchDocuments
	state := ""
	if err := tx.QueryRow(`SELECT value, (SELECT coalesce(max(n), 0) FROM document) FROM meta WHERE name = 'state'`).
		Scan(&state, &w.n); err != nil {
		return err
	}
	if !first && state != w.token {
		return errTaken
	}
	return w.set("state", w.token)
}

// commit ends the transaction.
func (w *writer) commit() error {
	tx := w.tx
	if w.tx = nil; tx == nil {
		return nil
	}
	err := tx.Commit()
	failpoint.After("indexed")
	return err
}

// end gives up a transaction that was not committed.
func (w *writer) end() error {
	if w.tx == nil {
		return nil
	}
	return w.tx.Rollback()
}

func (w *writer) set(name, value string) error {
	_, err := w.tx.Exec(`UPDATE meta SET value = ? WHERE name = ?`, value, name)
	return err
}

func (w *writer) all(ctx context.Context, clean bool) error {
	if err := w.begin(ctx, true); err != nil {
		return err
	}
	sessions, projects, err := w.missing(ctx)
	if err != nil {
		return err
	}
	err = w.addSessions(ctx, sessions)
	for _, id := range projects {
		if err == nil {
			err = w.addMemory(ctx, id)
		}
	}
	if errors.Is(err, errTaken) && !clean {
		return nil
	}
	if err == nil {
		err = w.begin(ctx, false)
	}
	if err == nil && clean {
		// Merging all of the index leaves out the words of what was taken out; SQLite overwrites what it frees.
		if _, err = w.tx.Exec(`INSERT INTO passage (passage) VALUES ('optimize')`); err == nil {
			err = w.set("removed", "")
		}
	}
	if err != nil {
		return err
	}
	if err := w.set("state", w.now.text()); err != nil {
		return err
	}
	return w.commit()
}

// missing takes out of the index what is no more as it was, and returns the sessions and the projects'
// memories that it lacks.
func (w *writer) missing(ctx context.Context) (sessions []int64, projects []string, err error) {
	found, err := w.st.Searchable(ctx)
	if err != nil {
		return nil, nil, err
	}
	want := make(map[int64]string, len(found))
	for _, q := range found {
		want[q.Seq] = q.ProjectID
	}
	type doc struct {
		n, seq         int64
		project, state string
	}
	var have []doc
	rows, err := w.tx.Query(`SELECT n, seq, project, state FROM document ORDER BY n`)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var d doc
		if err := rows.Scan(&d.n, &d.seq, &d.project, &d.state); err != nil {
			return nil, nil, err
		}
		have = append(have, d)
	}
	if err := rows.Err(); err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for _, d := range have {
		project, wanted := want[d.seq]
		switch {
		case d.seq == 0 && d.state == w.now.memories[d.project]:
			known[d.project] = true
		case d.seq == 0 || !wanted:
			err = w.remove(d.n)
		default:
			delete(want, d.seq)
			if project != d.project {
				_, err = w.tx.Exec(`UPDATE document SET project = ? WHERE n = ?`, project, d.n)
			}
		}
		if err != nil {
			return nil, nil, err
		}
	}
	for _, q := range found {
		if _, missing := want[q.Seq]; missing {
			sessions = append(sessions, q.Seq)
		}
	}
	for _, id := range w.now.projects {
		if !known[id] {
			projects = append(projects, id)
		}
	}
	return sessions, projects, nil
}

// remove takes a document out.
func (w *writer) remove(n int64) error {
	_, err := w.tx.Exec(`DELETE FROM passage WHERE rowid BETWEEN ? AND ?`, number(n, 0, 0), number(n+1, 0, 0)-1)
	if err != nil {
		return err
	}
	if _, err := w.tx.Exec(`DELETE FROM document WHERE n = ?`, n); err != nil {
		return err
	}
	return w.set("removed", "1")
}

// sessionsAtOnce is how many sessions are read at once: they may have 256 KiB each.
const sessionsAtOnce = 32

func (w *writer) addSessions(ctx context.Context, seqs []int64) error {
	for chunk := range slices.Chunk(seqs, sessionsAtOnce) {
		all, err := w.st.Said(ctx, chunk)
		if err != nil {
			return err
		}
		for _, d := range all {
			if err := w.add(ctx, document{project: d.ProjectID, seq: d.Seq}, passagesOf(d)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Names in a root.
const (
	memoryFile   = "MEMORY.md"
	summariesDir = "rollout_summaries"
)

// addMemory adds the files of a project's memory. What cannot be read is left out: who publishes there says so.
func (w *writer) addMemory(ctx context.Context, id string) error {
	root := memory.At(w.home, id)
	d := document{project: id, path: memoryFile, state: w.now.memories[id]}
	text, _ := root.Open(memoryFile)
	if err := w.add(ctx, d, linesOf(string(text), memoryKind)); err != nil {
		return err
	}
	names, _ := root.Open(summariesDir)
	for name := range strings.FieldsSeq(string(names)) {
		d.path = summariesDir + "/" + name
		text, err := root.Open(d.path)
		if err != nil {
			continue
		}
		_, _, body := headed(string(text))
		if err := w.add(ctx, d, linesOf(body, summaryKind)); err != nil {
			return err
		}
	}
	return nil
}

// document is a session or a file.
type document struct {
	project, path, state string
	seq                  int64
}

// number is a passage's in the index.
func number(document int64, place int, k kind) int64 {
	return document<<16 | int64(place)<<3 | int64(k)
}

// add puts a document into the index.
func (w *writer) add(ctx context.Context, d document, passages []passage) error {
	if w.left--; w.left < 0 {
		if err := w.commit(); err != nil {
			return err
		}
	}
	if err := w.begin(ctx, false); err != nil {
		return err
	}
	w.n++
	count, total := 0, 0
	for place, p := range passages {
		text, n := indexed(p.text)
		if n == 0 {
			continue
		}
		count, total = count+1, total+n
		_, err := w.tx.Exec(`INSERT INTO passage (rowid, words) VALUES (?, ?)`, number(w.n, place, p.kind), text)
		if err != nil {
			return err
		}
	}
	units := 1
	if d.path == memoryFile {
		units = count
	}
	_, err := w.tx.Exec(`INSERT INTO document (n, project, seq, path, state, units, passages, words)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, w.n, d.project, d.seq, d.path, d.state, units, count, total)
	return err
}
