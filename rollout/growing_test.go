package rollout

import (
	"context"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"memoir"
)

// What is written while a session is read is left to the next reading, whole lines and
// half ones: agents read a session twice, and both times read the same.
func TestWhatIsWrittenWhileASessionIsReadIsLeftToTheNextReading(t *testing.T) {
	t.Parallel()
	for _, c := range conversations {
		if !c.lines {
			continue
		}
		records, n, path := c.records, len(c.records)/2, filepath.Join(t.TempDir(), "session.jsonl")
		writeAt(t, path, strings.Join(records[:n], "\n")+"\n")
		want, _ := read(t, path)
		if len(want) == 0 {
			t.Fatalf("%s: nothing in %d records", c.name, n)
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
			t.Fatalf("%s: %+v, %v\n%s", c.name, stats, err, indent(sketch(got)))
		}
		appendTo(t, path, rest[len(rest)-9:]+"\n")
		whole := filepath.Join(t.TempDir(), "whole.jsonl")
		writeAt(t, whole, strings.Join(records, "\n")+"\n")
		then, _ := read(t, path)
		if all, _ := read(t, whole); !reflect.DeepEqual(all, then) {
			t.Fatalf("%s, then the rest:\n%s", c.name, indent(sketch(then)))
		}
	}
}
