package rollout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	parts = Assemble(parts)
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
