package rollout

import (
	"context"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"memoir"
)

// eachBeginning tries each number of records, from 4 on, that the file of a session with some
// more of them may have.
func eachBeginning(t *testing.T, try func(t *testing.T, path string, records []string, n int)) {
	for _, c := range conversations {
		if !c.lines {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "session.jsonl")
			for n := 4; n < len(c.records); n++ {
				try(t, path, c.records, n)
			}
		})
	}
}

// Half a line is no record: what ends in one gives what it gives without it, and says that it
// is cut.
func TestHalfALineAtTheEndGivesNothing(t *testing.T) {
	t.Parallel()
	eachBeginning(t, func(t *testing.T, path string, records []string, n int) {
		whole := strings.Join(records[:n], "\n") + "\n"
		writeAt(t, path, whole)
		want, _ := read(t, path)
		for _, half := range []int{1, len(records[n]) / 2, len(records[n]) - 1} {
			writeAt(t, path, whole+records[n][:half])
			got, stats := read(t, path)
			if !reflect.DeepEqual(want, got) || !stats.CutTail || stats.Malformed > 0 {
				t.Fatalf("%d records and %d bytes: %+v\n%s", n, half, stats, indent(sketch(got)))
			}
		}
	})
}

// What is written while a session is read is left to the next reading, whole lines and
// half ones: agents read a session twice, and both times read the same.
func TestWhatIsWrittenWhileASessionIsReadIsLeftToTheNextReading(t *testing.T) {
	t.Parallel()
	eachBeginning(t, func(t *testing.T, path string, records []string, n int) {
		writeAt(t, path, strings.Join(records[:n], "\n")+"\n")
		want, _ := read(t, path)
		if len(want) == 0 {
			return
		}
		rest := strings.Join(records[n:], "\n")
		var got []memoir.Item
		stats, err := Read(context.Background(), []Part{{Path: path, Head: probe(t, path)}}, func(it memoir.Item) error {
			if len(got) == 0 {
				appendTo(t, path, rest[:len(rest)-9])
			}
			got = append(got, it)
			return nil
		})
		if err != nil || !reflect.DeepEqual(want, got) || stats.CutTail {
			t.Fatalf("%d records: %+v, %v\n%s", n, stats, err, indent(sketch(got)))
		}
		appendTo(t, path, rest[len(rest)-9:]+"\n")
		whole := filepath.Join(t.TempDir(), "whole.jsonl")
		writeAt(t, whole, strings.Join(records, "\n")+"\n")
		then, _ := read(t, path)
		if all, _ := read(t, whole); !reflect.DeepEqual(all, then) {
			t.Fatalf("%d records, then the rest:\n%s", n, indent(sketch(then)))
		}
	})
}
