package rollout

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"memoir"
	"memoir/internal/disk"
)

// appendTo writes at a file's end, as an agent does.
func appendTo(t testing.TB, path, content string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(content); err != nil {
		t.Fatal(err)
	}
}

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

func TestASessionStaysWhatItWasTakenFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	begun := piV3 + "\n" + pe("1", "", piUser("a")) + "\n"
	writeAt(t, path, begun)
	known := look(t, path)
	before, err := Probe(known)
	if err != nil || before.Source != memoir.SourcePi {
		t.Fatalf("%+v, %v", before, err)
	}
	writeAt(t, path, begun+pe("2", "1", `"type":"reset_boundary"`)+"\n"+pe("3", "2", piUser("b"))+"\n")
	h, err := ProbeAgain(look(t, path), before)
	if err != nil || h.Source != memoir.SourcePi || h.ID != before.ID {
		t.Errorf("%+v, %v", h, err)
	}
	items, _ := readParts(t, []Part{{Path: path, Head: h}})
	expect(t, items, "typed: b")
	if h, err := Probe(look(t, path)); err != nil || h.Source != memoir.SourceOMP {
		t.Errorf("one that is new: %+v, %v", h, err)
	}
}

// recordsOf reads a stream, in small chunks, and returns its records.
func recordsOf(t *testing.T, src io.Reader) (records []string) {
	t.Helper()
	r := &Reader{src: src, in: make([]byte, 1<<10)}
	for {
		raw, err := r.Next()
		if err == io.EOF {
			return records
		}
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, string(raw))
	}
}

// checkCut compares the records of a stream's beginning with those of the whole.
func checkCut(t *testing.T, whole []string, in []byte, cut int) {
	t.Helper()
	got := recordsOf(t, bytes.NewReader(in[:cut]))
	if len(got) > len(whole) || !slices.Equal(got, whole[:len(got)]) {
		t.Errorf("the first %d bytes give other records than the whole", cut)
	}
}

func FuzzAPrefixGivesAPrefix(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n{\"b\":2}"), 9)
	f.Add([]byte(`{"type":"x","a":"y{"type":"z"}`+"\n{\"b\":2}\n"), 12)
	f.Add([]byte("{\"a\":1,\n{\"b\":2}{\"c\":"), 8)
	f.Add([]byte("\xEF\xBB\xBF{\"a\":1} and\r\n\x00{\n\"b\":{}}"), 20)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		if cut >= 0 && cut <= len(in) {
			whole := recordsOf(t, bytes.NewReader(in))
			checkCut(t, whole, in, cut)
		}
	})
}

// look is what a walk finds at a path.
func look(t testing.TB, path string) Entry {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return Entry{File: memoir.File{Path: path, Size: info.Size(), ModTime: info.ModTime(), Inode: disk.Inode(info)}}
}
