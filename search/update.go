package search

import (
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

// patience is how long one that writes waits for another, and a reader for both. A run skips the index then:
// whoever holds it adds what is new, or the next run does. Forgetting waits longer, since it promises more.
const (
	patience      = 2 * time.Second
	cleanPatience = time.Minute

	maxHistory = 256 << 20 // bytes
)

// Update brings the index of a home up to date with the database and the memories, and makes it anew where
// it is missing, damaged or of another version. With clean, what was taken out leaves no byte in the file
// when Update returns without an error; else another process that writes the index is left to it.
//
// It is one transaction: a process that dies on the way leaves the index as it was.
func Update(ctx context.Context, st *store.Store, home string, clean bool) error {
	if clean && !Available { // another build of this program may have made one
		return Discard(home)
	}
	if _, err := os.Lstat(filepath.Join(home, fileName)); !Available || clean && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := update(ctx, st, home, clean)
	if errors.Is(err, errUnusable) || isDamage(err) {
		if err = createIndex(home); err == nil {
			err = update(ctx, st, home, clean)
		}
	}
	if isBusy(err) && !clean {
		return nil
	}
	return explain(err, "update the index of "+home)
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
	defer x.Close()
	now, memories, err := stateOf(ctx, st, home)
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
	// Changes stay in this process until they are committed: readers go on.
	_, err = tx.Exec(fmt.Sprintf("PRAGMA cache_spill = OFF; PRAGMA user_version = %d;", indexVersion) + schema)
	if err != nil {
		return err
	}
	w := writer{tx: tx, st: st, home: home}
	if err := w.update(ctx, memories); err != nil {
		return err
	}
	if clean {
		// Merging all of the index leaves out the words of what was taken out; SQLite overwrites what it frees.
		if _, err := tx.Exec(`INSERT INTO passage (passage) VALUES ('optimize')`); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(`DELETE FROM indexed; INSERT INTO indexed (state) VALUES (?)`, now); err != nil {
		return err
	}
	err = tx.Commit()
	failpoint.After("indexed")
	return err
}

// source is what documents are made of: a session, or all files of a project's memory.
type source struct {
	project string
	seq     int64  // of a session, as in the database; 0: a memory
	state   string // of a memory: the live generation, MEMORY.md and the history as the file system describes them
}

// stateOf is a text that differs when an index should hold something else, and the memories that there are.
func stateOf(ctx context.Context, st *store.Store, home string) (state string, memories []source, err error) {
	state, projects, err := st.SearchState(ctx)
	for _, id := range projects {
		root := memory.At(home, id)
		n, err := root.Linked()
		if err != nil {
			continue // who publishes there says so
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

// writer brings an index up to date in a transaction.
type writer struct {
	tx   *sql.Tx
	st   *store.Store
	home string
	n    int64 // the last document's number
}

// update takes out of the index what is no more as it was, and adds what it lacks.
func (w *writer) update(ctx context.Context, memories []source) error {
	sessions, err := w.st.Searchable(ctx)
	if err != nil {
		return err
	}
	want := make([]source, 0, len(sessions)+len(memories))
	for _, s := range sessions {
		want = append(want, source{project: s.ProjectID, seq: s.Seq})
	}
	have, err := w.documents(ctx)
	if err != nil {
		return err
	}
	var missing []source
	for _, s := range append(want, memories...) {
		if _, ok := have[s]; !ok {
			missing = append(missing, s)
		}
		delete(have, s)
	}
	for _, numbers := range have {
		for _, n := range numbers {
			if err := w.remove(n); err != nil {
				return err
			}
		}
	}
	for _, s := range missing {
		add := w.addSession
		if s.seq == 0 {
			add = w.addMemory
		}
		if err := add(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// documents are the numbers of the documents of each source.
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

// remove takes a document out.
func (w *writer) remove(n int64) error {
	_, err := w.tx.Exec(`DELETE FROM passage WHERE rowid BETWEEN ? AND ?`, number(n, 0, 0), number(n+1, 0, 0)-1)
	if err == nil {
		_, err = w.tx.Exec(`DELETE FROM document WHERE n = ?`, n)
	}
	return err
}

// addSession adds a session, unless it is gone since.
func (w *writer) addSession(ctx context.Context, s source) error {
	said, err := w.st.Said(ctx, s.seq)
	if err != nil || said == nil {
		return err
	}
	return w.add(s, "", passagesOf(*said))
}

// summariesDir is below a root.
const summariesDir = "rollout_summaries"

// addMemory adds the files of a project's memory. What cannot be read is left out: who publishes there says so.
func (w *writer) addMemory(_ context.Context, s source) error {
	root := memory.At(w.home, s.project)
	text, _ := root.Open(memoir.MemoryFile)
	if err := w.add(s, memoir.MemoryFile, linesOf(string(text), memoryKind)); err != nil {
		return err
	}
	past, _ := historyOf(root)
	if err := w.add(s, historyFile, past); err != nil {
		return err
	}
	names, _ := root.Open(summariesDir)
	for name := range strings.FieldsSeq(string(names)) {
		path := summariesDir + "/" + name
		text, err := root.Open(path)
		if err != nil {
			continue
		}
		if err := w.add(s, path, linesOf(string(text), summaryKind)); err != nil {
			return err
		}
	}
	return nil
}

// historyFile is the file of a project's history, as hits name it.
const historyFile = "HISTORY.md"

// historyOf are the last paragraphs of a project's history, each of which is a line.
func historyOf(root memory.Root) ([]passage, error) {
	text, err := disk.ReadFile(root.History(""), maxHistory)
	all := everyLine(string(text), historyKind)
	return all[max(0, len(all)-maxPassages):], err
}

// number is a passage's in the index.
func number(document int64, place int, k kind) int64 {
	return document<<16 | int64(place)<<3 | int64(k)
}

// add puts a document into the index; path is that of a file.
func (w *writer) add(s source, path string, passages []passage) error {
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
	_, err := w.tx.Exec(`INSERT INTO document (n, project, seq, path, state, passages, words)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, w.n, s.project, s.seq, path, s.state, count, total)
	return err
}
