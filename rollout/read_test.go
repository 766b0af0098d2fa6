package rollout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoir"
)

func TestUnknownTypesAreAllCountedAndFewAreHeld(t *testing.T) {
	t.Parallel()
	var s Stats
	for i := range 3 * maxTypes {
		s.unknown(fmt.Sprint("type", i))
	}
	s.unknown("type0")
	s.unknown(strings.Repeat("x", maxType+1))
	s.unknown("")
	total := 0
	for kind, n := range s.Unknown {
		total += n
		if len(kind) > maxType {
			t.Errorf("%q is held", kind)
		}
	}
	if total != 3*maxTypes+3 || len(s.Unknown) > maxTypes+1 || s.Unknown["type0"] != 2 || s.Unknown["(others)"] != 2*maxTypes+2 {
		t.Errorf("%d counted, %d types held, %d others", total, len(s.Unknown), s.Unknown["(others)"])
	}
}

// lettered makes items of letters: upper case is a person's, lower case the agent's.
func lettered(letters string) []memoir.Item {
	var out []memoir.Item
	for i, r := range letters {
		it := memoir.Item{N: i + 1, Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Text: string(r)}
		if r >= 'A' && r <= 'Z' {
			it.Role, it.Origin = memoir.RoleUser, memoir.OriginTyped
		}
		out = append(out, it)
	}
	return out
}

func trailOf(letters string, earlier []memoir.Mark) *Trail {
	t := NewTrail(earlier)
	for _, it := range lettered(letters) {
		t.Add(it)
	}
	return t
}

func TestATrailTellsHowFarAThreadIsAsItWas(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		before, now string
		same        int
	}{
		{"AbCd", "AbCdEf", 4},
		{"AbCd", "AbCd", 4},
		{"AbCde", "AbCdxYz", 4}, // its last item changed
		{"AbCde", "AbCxxYz", 3}, // all of its last answer
		{"AbCd", "AbXdEf", 0},   // what a person said last is another
		{"AbCd", "AbXd", 0},
		{"AbCd", "xbCdEf", 0},    // something before changed
		{"AbCd", "AxbCdEf", 0},   // something came between
		{"AbCd", "bCdEf", 0},     // the beginning is gone
		{"AbCd", "Ab", 0},        // the last turn is undone
		{"AbCdEf", "AbCdGh", 0},  // undone, and another in its place
		{"AbCdEf", "AbCdEx", 5},  // undone, and asked again in the same words
		{"", "Ab", 0},            // nothing was read
		{"abcd", "abcdE", 4},     // nobody typed anything
		{"abcd", "abxxE", 2},     // nobody did, and the end changed
		{"Ab", "AbSomething", 2}, // much more
	} {
		if got := trailOf(tt.now, trailOf(tt.before, nil).Marks()).Same(); got != tt.same {
			t.Errorf("%s, then %s: the same up to %d, want %d", tt.before, tt.now, got, tt.same)
		}
	}
}

func TestATrailIsBoundedAndItsHashIsThatOfTheItems(t *testing.T) {
	t.Parallel()
	letters := "A"
	var plain Hasher
	for i := range 100 {
		letters += string(rune('a' + i%26))
	}
	for _, it := range lettered(letters) {
		plain.Add(it)
	}
	trail := trailOf(letters, nil)
	marks := trail.Marks()
	if trail.Sum() != plain.Sum() || len(marks) != maxMarks || marks[maxMarks-1] != (memoir.Mark{Item: 101, Hash: plain.Sum()}) {
		t.Errorf("%d marks, the last %+v", len(marks), marks[len(marks)-1])
	}
	if !slices.IsSortedFunc(marks, func(a, b memoir.Mark) int { return a.Item - b.Item }) {
		t.Errorf("marks out of order: %+v", marks)
	}
	again := trailOf(letters+"B", marks)
	if again.Same() != 101 || fmt.Sprint(again.Marks()[0].Item) != "102" {
		t.Errorf("the same up to %d, marks from %d", again.Same(), again.Marks()[0].Item)
	}
}

// write makes a session file of records, one a line.
func write(t testing.TB, name string, records ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.FromSlash(name))
	writeAt(t, path, strings.Join(records, "\n")+"\n")
	return path
}

func writeAt(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func probe(t testing.TB, path string) Head {
	t.Helper()
	head, err := Probe(Entry{File: memoir.File{Path: path}})
	if err != nil {
		t.Fatalf("probe: %v", err)
	}
	return head
}

// read returns the items and stats of a thread in the given files.
func read(t testing.TB, paths ...string) ([]memoir.Item, Stats) {
	t.Helper()
	var parts []Part
	for _, path := range paths {
		parts = append(parts, Part{Path: path, Head: probe(t, path)})
	}
	parts, _ = Assemble(parts)
	return readParts(t, parts)
}

func readParts(t testing.TB, parts []Part) ([]memoir.Item, Stats) {
	t.Helper()
	var items []memoir.Item
	stats, err := Read(context.Background(), parts, func(it memoir.Item) error {
		items = append(items, it)
		return nil
	})
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return items, stats
}

// sketch writes items in one line each, as tests compare them:
//
//	typed: the words           agent: the words           agent!: a final answer
//	Bash(go test) = output     Bash(go test) ! output     Bash(go test) !1 output
func sketch(items []memoir.Item) []string {
	var out []string
	for _, it := range items {
		switch {
		case it.Kind == memoir.ItemTool:
			mark := "="
			if it.Failed {
				mark = "!"
			}
			if it.Exit != nil {
				mark += fmt.Sprint(*it.Exit)
			}
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s(%s) %s %s", it.Tool, it.Input, mark, it.Output)))
		case it.Final:
			out = append(out, string(it.Origin)+"!: "+it.Text)
		default:
			out = append(out, string(it.Origin)+": "+it.Text)
		}
	}
	return out
}

// expect compares a session's sketch.
func expect(t *testing.T, items []memoir.Item, want ...string) {
	t.Helper()
	got := sketch(items)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("items:\n%s\nwant:\n%s", indent(got), indent(want))
	}
	for i, it := range items {
		if it.N != i+1 {
			t.Errorf("item %d has N %d", i+1, it.N)
		}
	}
}

func indent(lines []string) string { return "\t" + strings.Join(lines, "\n\t") }

// q quotes a text as JSON.
func q(s string) string { return fmt.Sprintf("%q", s) }
