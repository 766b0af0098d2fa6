package rollout

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoir"
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

func TestAPrefixOfAFileGivesAPrefixOfItsRecords(t *testing.T) {
	t.Parallel()
	for _, c := range conversations {
		for name, content := range disguises(c.records, c.lines) {
			if !c.lines {
				continue
			}
			whole := recordsOf(t, strings.NewReader(content))
			step := 1
			if name != "CRLF" { // one of them at every length
				step = 13
			}
			for cut := 0; cut < len(content); cut += step {
				checkCut(t, whole, []byte(content), cut)
			}
			if t.Failed() {
				t.Fatalf("%s with %s", c.name, name)
			}
		}
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
	return Entry{File: memoir.File{Path: path, Size: info.Size(), ModTime: info.ModTime(), Inode: inode(info)}}
}
