package main

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// ruins are ways in which a database is damaged at a page, and what is left of it.
var ruins = map[string]func(database []byte, n int) []byte{
	"zeros": func(b []byte, n int) []byte { clear(b[n*pageBytes:][:pageBytes]); return b },
	"noise": func(b []byte, n int) []byte {
		_, _ = rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)}).Read(b[n*pageBytes:][:pageBytes])
		return b
	},
	"flipped bits": func(b []byte, n int) []byte {
		chance := rand.New(rand.NewPCG(uint64(n), 1))
		for range 24 {
			b[n*pageBytes+chance.IntN(pageBytes)] ^= 1 << chance.IntN(8)
		}
		return b
	},
	"a lost head":      func(b []byte, n int) []byte { clear(b[n*pageBytes:][:16]); return b },
	"an end before":    func(b []byte, n int) []byte { return b[:n*pageBytes] },
	"an end inside it": func(b []byte, n int) []byte { return b[:n*pageBytes+pageBytes/2] },
}

// A page that is lost costs no memory, no hand edit and no tombstone, as long as the
// rest of the file is there. Of a file that was cut the memory stays, and where it is not
// known any more what was forgotten or disabled, the repair says so.
func TestADatabaseWithADamagedPageIsRepairedAndNothingIsLost(t *testing.T) {
	t.Parallel()
	r := newRuin(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	tried, had, kept := 0, map[string]int{}, map[string]int{}
	for _, n := range chosenOf(t, "damage", len(r.database)/pageBytes, by(t, 2, 6, every)) {
		for _, way := range slices.Sorted(maps.Keys(ruins)) {
			if way == "an end before" && n == 0 {
				continue // an empty file
			}
			tried++
			room <- struct{}{}
			wg.Go(func() {
				defer func() { <-room }()
				got := r.salvaged(t, fmt.Sprintf("page %d with %s", n+1, way), ruins[way](bytes.Clone(r.database), n), strings.HasPrefix(way, "an end"))
				mu.Lock()
				defer mu.Unlock()
				for table, rows := range r.rows {
					had[way] += len(rows)
					kept[way] += min(len(rows), got[table])
				}
			})
		}
	}
	wg.Wait()
	for _, way := range slices.Sorted(maps.Keys(had)) {
		t.Logf("%s: %.2f%% of %d rows were read", way, 100*float64(kept[way])/float64(had[way]), had[way])
	}
	t.Logf("%d damages", tried)
}

// salvaged repairs a database, runs, and holds what came of it against what was. It
// returns how many rows of each table were read.
func (r *ruin) salvaged(t *testing.T, what string, database []byte, cut bool) map[string]int {
	dir, err := os.MkdirTemp(inMemory(t), "")
	must(t, err)
	defer os.RemoveAll(dir)
	s := r.damagedIn(filepath.Join(dir, "home"), database)
	code, out := s.do(nil, "doctor")
	if strings.Contains(out, "goroutine") || code != exitDone && !strings.Contains(out, "doctor --repair") {
		t.Errorf("%s: doctor: exit code %d:\n%s", what, code, out)
	}
	if diff := cmp.Diff(r.live, lastOf(t, s.home)); diff != "" {
		t.Errorf("%s: the memory was changed before the repair:\n%s", what, diff)
	}
	code, out = s.do(nil, "doctor", "--repair", "--yes", "--json")
	if code != exitDone {
		t.Errorf("%s: repair: exit code %d:\n%s", what, code, out)
		return nil
	}
	read := map[string]int{}
	gjson.Get(out, "tables").ForEach(func(_, table gjson.Result) bool {
		read[table.Get("table").String()] = int(table.Get("rows").Int())
		return true
	})
	if !gjson.Get(out, "repaired").Bool() { // nothing that matters was hit
		for table, rows := range r.rows {
			read[table] = len(rows)
		}
	}
	marked := gjson.Get(out, `tables.#(table=="mark")`)
	unsure := marked.Get("unknown").Bool() || marked.Get("lost").Int() > 0 || gjson.Get(out, "missing").Bool()
	if code, out := s.do(nil, "run", "-q"); code != exitDone {
		t.Errorf("%s: run: exit code %d:\n%s", what, code, out)
	}
	rows := rowsOf(t, s.home)
	marks := strings.Join(rows["mark"], "\n")
	lost, flipped := false, strings.Contains(what, "flipped bits")
	for key, flag := range map[string]string{r.forgotten: "forgotten=1", r.disabled: "disabled=1"} {
		if !strings.Contains(marks, key) || !strings.Contains(marks, flag) {
			lost = true
			if !cut || !unsure {
				t.Errorf("%s: %s is lost of %s; said to be unsure: %v", what, flag, key, unsure)
			}
		}
	}
	if diff := cmp.Diff(r.live, lastOf(t, s.home)); diff != "" && !lost {
		t.Errorf("%s: the memory differs:\n%s", what, diff)
	}
	for path, text := range lastOf(t, s.home) {
		if strings.HasSuffix(path, "MEMORY.md") && !strings.Contains(text, "never on a Friday") {
			t.Errorf("%s: %s lost what a person wrote", what, path)
		}
	}
	for _, table := range []string{"project", "extraction", "session", "generation"} {
		if cut { // what the live memory tells of the rest is not all
			break
		}
		had, has := named(r.rows[table], flipped), named(rows[table], flipped)
		if entry := gjson.Get(out, `tables.#(table=="extraction")`); table == "extraction" && (entry.Get("lost").Int() > 0 || entry.Get("unknown").Bool()) {
			// The live memory does not have it, and no run reads the session of it.
			own := func(row string) bool { return strings.Contains(row, r.disabled) }
			had, has = slices.DeleteFunc(had, own), slices.DeleteFunc(has, own)
		}
		if diff := cmp.Diff(had, has); diff != "" {
			t.Errorf("%s: %s differs:\n%s", what, table, diff)
		}
	}
	for _, row := range rows["ledger"] {
		if flipped {
			break // no index tells of a text in the ledger that it is another
		}
		if !slices.Contains(r.rows["ledger"], row) && strings.Contains(row, "some/model") {
			t.Errorf("%s: a row of the ledger that never was: %s", what, row)
		}
	}
	if out := s.must("doctor"); strings.Contains(out, "fail  ") {
		t.Errorf("%s: not sound:\n%s", what, out)
	}
	return read
}

// named are rows without what an extraction that was taken back from the live memory
// lacks: the space around its text, its model, the milliseconds of its times. Of flipped
// bits no index tells that they are in the text itself.
func named(rows []string, flipped bool) (out []string) {
	for _, row := range rows {
		name, text, extraction := strings.Cut(row, " raw_memory=")
		if extraction && !flipped {
			text, _, _ = strings.Cut(text, " started_at=")
			name += " " + strings.Join(strings.Fields(text), " ")
		}
		out = append(out, name)
	}
	return out
}
