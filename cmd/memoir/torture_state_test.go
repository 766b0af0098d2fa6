//go:build unix

package main

import (
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/memory"
	"memoir/store"
)

// state is the content of a home, except for data that depends on time and order.
type state struct {
	Files map[string]string   // of the whole home, by path
	Rows  map[string][]string // of the database, by table
}

// published returns the state without database files, and without staged and removed files.
func (s state) published() state {
	files := map[string]string{}
	for path, text := range s.Files {
		if !strings.HasPrefix(path, databaseName) && !strings.Contains(path, "/.") {
			files[path] = text
		}
	}
	return state{files, s.Rows}
}

// without returns the state without a table.
func (s state) without(table string) state {
	rows := maps.Clone(s.Rows)
	delete(rows, table)
	return state{s.Files, rows}
}

// differences describes the differences to another state, "" if there are none.
func (s state) differences(other state) string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(s.Files)) {
		text, ok := other.Files[path]
		if !ok {
			fmt.Fprintf(&b, "- %s\n", path)
		} else if text != s.Files[path] {
			fmt.Fprintf(&b, "%s differs: %.1000s\n", path, cmp.Diff(s.Files[path], text))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(other.Files)) {
		if _, ok := s.Files[path]; !ok {
			fmt.Fprintf(&b, "+ %s\n", path)
		}
	}
	for _, table := range slices.Sorted(maps.Keys(s.Rows)) {
		if diff := cmp.Diff(s.Rows[table], other.Rows[table]); diff != "" {
			fmt.Fprintf(&b, "%s differs: %.2000s\n", table, diff)
		}
	}
	return b.String()
}

// bookkeeping are the columns, by table, that depend on times, processes and the order of events. nil means all
// columns.
var bookkeeping = map[string][]string{
	"counter":    {"n"},
	"extraction": {"seq", "stored_at"},
	"generation": {"fence", "seq", "at"},
	"job": {"owner", "holder", "lease_until", "attempts", "crashes", "purpose", "next_attempt_at",
		"last_error", "input_version", "done_version", "started_at", "finished_at"},
	"hand_edit":  {"id", "at"},
	"ledger":     {"id", "at", "run", "duration_ms", "work"},
	"mark":       {"at"},
	"message":    {"id", "seq"},
	"outbox":     {"n"},
	"searchable": {"seq"},
	"share":      {"at"},
	"run":        nil,
	"project":    {"history_seq", "change_seq", "consumed_seq", "forced_seq", "fence", "published_at"},
	"withdrawal": {"seq"},
}

// ofFiles are the columns that differ between copies of a file.
var ofFiles = []string{"path", "mtime_ns", "inode", "version", "taken"}

func stateOf(t testing.TB, home string) state {
	t.Helper()
	s := state{Files: files(t, home), Rows: rowsOf(t, home)}
	for path := range s.Files {
		switch base := filepath.Base(path); {
		case strings.HasPrefix(base, databaseName+".backup"), // replaced by the next publication
			path == "log", strings.HasPrefix(path, "log/"): // logs of background runs
			delete(s.Files, path)
		case base == "search.db", base == "seen", base == "lately", path == "team/sync.json", base == databaseName, strings.HasSuffix(base, ".bak"):
			s.Files[path] = "" // compared by row, or dependent on time
		case strings.HasSuffix(base, ".tar.zst"):
			s.Files[path] = inArchive(t, home, path)
		}
	}
	return s
}

// inArchive returns the files in an archive, since equal files may be packed into different bytes.
func inArchive(t testing.TB, home, path string) string {
	t.Helper()
	parts := strings.Split(filepath.ToSlash(path), "/")
	n, err := strconv.Atoi(strings.TrimSuffix(parts[len(parts)-1], ".tar.zst"))
	if err != nil || len(parts) != 4 { // staged
		return "an archive"
	}
	files, err := memory.At(home, parts[1]).ReadArchive(n)
	must(t, err)
	return fmt.Sprintf("%q", files)
}

func rowsOf(t testing.TB, home string) map[string][]string {
	t.Helper()
	path := filepath.Join(home, databaseName)
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return nil
	}
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	must(t, err)
	defer db.Close()
	out := map[string][]string{}
	for _, name := range columnOf(t, db, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`) {
		if left, ok := bookkeeping[name]; ok && left == nil {
			continue
		}
		rows, err := db.Query(`SELECT * FROM "` + name + `"`)
		must(t, err)
		columns, err := rows.Columns()
		must(t, err)
		for rows.Next() {
			values, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			must(t, rows.Scan(into...))
			var row strings.Builder
			ours := strings.Contains(fmt.Sprint(values...), "conversation:") // files in the home itself
			for i, column := range columns {
				if !slices.Contains(bookkeeping[name], column) && !(ours && slices.Contains(ofFiles, column)) {
					fmt.Fprintf(&row, "%s=%v ", column, hexed(values[i]))
				}
			}
			// A claim that was released or never ended leaves the status pending.
			settled := strings.Replace(row.String(), "status=pending", "status=done", 1)
			if strings.HasPrefix(settled, "kind=consolidate") {
				out[name] = append(out[name], settled)
				continue
			}
			out[name] = append(out[name], row.String())
		}
		must(t, errors.Join(rows.Err(), rows.Close()))
		slices.Sort(out[name])
	}
	return out
}

func hexed(value any) any {
	if b, ok := value.([]byte); ok {
		return hex.EncodeToString(b)
	}
	return value
}

func columnOf(t testing.TB, db *sql.DB, query string) (out []string) {
	t.Helper()
	rows, err := db.Query(query)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var one string
		must(t, rows.Scan(&one))
		out = append(out, one)
	}
	must(t, rows.Err())
	return out
}

// lastOf returns the live files of a home, except manifests.
func lastOf(t testing.TB, home string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for project, live := range livesOf(t, home) {
		for path, text := range live {
			if path != "manifest.json" {
				out[filepath.Join(project, path)] = text
			}
		}
	}
	return out
}

// livesOf returns the live files of each project that has a memory.
func livesOf(t testing.TB, home string) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	links, err := filepath.Glob(filepath.Join(home, "projects", "*", "memory"))
	must(t, err)
	for _, link := range links {
		to, err := filepath.EvalSymlinks(link)
		if errors.Is(err, fs.ErrNotExist) { // a dangling link
			continue
		}
		must(t, err)
		out[filepath.Base(filepath.Dir(link))] = files(t, to)
	}
	return out
}

// openStore opens the database of a home; nil if there is none yet.
func openStore(t testing.TB, home string) *store.Store {
	t.Helper()
	path := filepath.Join(home, databaseName)
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return nil
	}
	st, err := store.Open(t.Context(), path, store.Options{})
	must(t, err)
	return st
}

// extracted returns the number of sessions with a current extraction.
func extracted(t testing.TB, home string) int {
	t.Helper()
	st := openStore(t, home)
	if st == nil {
		return 0
	}
	defer st.Close()
	done, err := st.Sessions(t.Context(), store.Filter{Reason: memoir.ReasonUpToDate})
	must(t, err)
	return len(slices.DeleteFunc(done, func(s memoir.Session) bool { return memoir.IsEntry(s.Key()) }))
}

// storedTexts returns the texts and statements of all extractions.
func storedTexts(t testing.TB, home string) (texts []string) {
	t.Helper()
	st := openStore(t, home)
	defer st.Close()
	projects, err := st.Projects(t.Context())
	must(t, err)
	for _, p := range projects {
		all, _, err := st.Selected(t.Context(), p.ID, 1000)
		must(t, err)
		for _, e := range all {
			statements, err := json.Marshal(e.Statements)
			must(t, err)
			texts = append(texts, e.RawMemory(), e.RolloutSummary, e.Title, string(statements))
		}
	}
	return texts
}

// faultsOf returns the faults that store.Check finds in a database.
func faultsOf(t testing.TB, home string) []string {
	t.Helper()
	st := openStore(t, home)
	defer st.Close()
	faults, err := st.Check(t.Context())
	must(t, err)
	return faults
}

// files returns the files below a directory by path: a file's content, a link's target.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == dir {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			out[rel] = "directory"
		case entry.Type()&fs.ModeSymlink != 0:
			out[rel], err = os.Readlink(path)
		default:
			var b []byte
			b, err = os.ReadFile(path)
			out[rel] = string(b)
			if strings.HasPrefix(entry.Name(), databaseName) && !strings.HasSuffix(path, "-wal") {
				out[rel] += packedIn(path)
			}
			if strings.HasPrefix(entry.Name(), "HISTORY") { // paragraphs are in the order of runs
				paragraphs := strings.SplitAfter(out[rel], ")\n\n")
				slices.Sort(paragraphs)
				out[rel] = strings.Join(paragraphs, "")
			}
		}
		return err
	})
	must(t, err)
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
