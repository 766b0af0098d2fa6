package rollout

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
)

// look is what a walk finds at a path.
func look(t testing.TB, path string) Entry {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return Entry{File: memoir.File{Path: path, Size: info.Size(), ModTime: info.ModTime(), Inode: inode(info)}}
}

func probeEntry(t testing.TB, entry Entry) Head {
	t.Helper()
	head, err := Probe(entry)
	if err != nil {
		t.Fatal(err)
	}
	return head
}

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

// overwrite changes bytes of a file in place.
func overwrite(t testing.TB, path string, at int64, content string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(content), at); err != nil {
		t.Fatal(err)
	}
}

func TestOnlyAFileThatGrewIsReadFromWhereItWas(t *testing.T) {
	t.Parallel()
	begun := strings.Join(cx(cxMeta(""), cxTurn("t1"), cxUser("first prompt")), "\n") + "\n"
	long := begun + strings.Repeat(cx(cxAgent("an answer"))[0]+"\n", 200)
	later := `{"timestamp":"2026-03-09T00:00:00Z","type":"event_msg","payload":{"type":"thread_name_updated","thread_name":"named later"}}` + "\n"
	slot := `{"type":"title","title":"one","pad":"` + strings.Repeat(" ", 200) + `"}` + "\n"
	omp := slot + strings.Join(piConversation(true), "\n") + "\n"
	named := pe("e9", "e6", piUser("third prompt")) + "\n"
	tests := []struct {
		name   string
		before string
		change func(t *testing.T, path string)
		grown  bool
		title  string
		day    string // of UpdatedAt
	}{
		{"grown", long, func(t *testing.T, path string) { appendTo(t, path, later) }, true, "named later", "2026-03-09"},
		{"grown across a cut last line", long + later[:40], func(t *testing.T, path string) { appendTo(t, path, later[40:]) }, true, "named later", "2026-03-09"},
		{"grown by a cut line", long, func(t *testing.T, path string) { appendTo(t, path, later[:90]) }, true, "first prompt", "2026-03-01"},
		{"grown by records without a time", long, func(t *testing.T, path string) {
			appendTo(t, path, `{"type":"event_msg","payload":{"type":"token_count"}}`+"\n")
		}, true, "first prompt", "2026-03-01"},
		{"grown by blank lines", long, func(t *testing.T, path string) { appendTo(t, path, "\n\n\n") }, true, "first prompt", "2026-03-01"},
		{"grown by more than is read at once", long, func(t *testing.T, path string) {
			appendTo(t, path, strings.Repeat(cx(cxAgent(strings.Repeat("x", 1000)))[0]+"\n", 5000)+later)
		}, true, "named later", "2026-03-09"},
		{"touched", long, func(t *testing.T, path string) {
			if err := os.Chtimes(path, time.Time{}, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}, false, "first prompt", "2026-03-01"},
		{"truncated", long, func(t *testing.T, path string) {
			if err := os.Truncate(path, int64(len(begun))); err != nil {
				t.Fatal(err)
			}
		}, false, "first prompt", "2026-03-01"},
		{"truncated and written on", long, func(t *testing.T, path string) {
			writeAt(t, path, begun+strings.Repeat(cx(cxAgent("another one"))[0]+"\n", 200)+later)
		}, false, "named later", "2026-03-09"},
		{"replaced by another that begins alike", long, func(t *testing.T, path string) {
			writeAt(t, path+".new", long+later)
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		}, false, "named later", "2026-03-09"},
		{"rewritten in place", long, func(t *testing.T, path string) {
			writeAt(t, path, strings.Replace(long, "first prompt", "other prompt", 1)+strings.Repeat(cx(cxAgent("x"))[0]+"\n", 9))
		}, false, "other prompt", "2026-03-01"},
		{"not begun", strings.Join(cx(cxMeta(""), cxTurn("t1")), "\n") + "\n", func(t *testing.T, path string) {
			appendTo(t, path, cx(cxUser("first prompt"))[0]+"\n")
		}, false, "first prompt", "2026-03-01"},
		{"a turn rolled back", long, func(t *testing.T, path string) {
			appendTo(t, path, strings.Join(cx(`event_msg {"type":"thread_rolled_back","num_turns":1}`, cxTurn("t2"), cxUser("second prompt")), "\n")+"\n")
		}, false, "second prompt", "2026-03-01"},
		{"a title slot as it was", omp, func(t *testing.T, path string) { appendTo(t, path, named) }, true, "one", "2026-03-01"},
		{"a title slot rewritten", omp, func(t *testing.T, path string) {
			overwrite(t, path, 0, strings.Replace(slot, `"one"`, `"two"`, 1))
			appendTo(t, path, named)
		}, false, "two", "2026-03-01"},
		{"a document", geminiDoc(gm("1", "user", `"first prompt"`, "")), func(t *testing.T, path string) {
			writeAt(t, path, geminiDoc(gm("1", "user", `"first prompt"`, ""), gm("2", "gemini", `"first answer"`, "")))
		}, false, "first prompt", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "session.jsonl")
			writeAt(t, path, tt.before)
			at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC) // of many a record, too
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
			known := look(t, path)
			before := probeEntry(t, known)
			tt.change(t, path)
			entry := look(t, path)
			if _, ok := grown(entry, known.File, before); ok != tt.grown {
				t.Errorf("read from where it was: %v, want %v", ok, tt.grown)
			}
			got, err := Grow(entry, known.File, before)
			if err != nil {
				t.Fatal(err)
			}
			if day := got.UpdatedAt.Format("2006-01-02"); got.Title != tt.title || tt.day != "" && day != tt.day {
				t.Errorf("title %q, updated %s", got.Title, day)
			}
			if want := probeEntry(t, entry); got.ID != want.ID || got.Kind != want.Kind || got.Size != want.Size || got.CreatedAt != want.CreatedAt {
				t.Errorf("grown %+v\nprobed %+v", got, want)
			}
		})
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
	h, err := Grow(look(t, path), known.File, before)
	if err != nil || h.Source != memoir.SourcePi || h.ID != before.ID {
		t.Errorf("%+v, %v", h, err)
	}
	items, _ := readParts(t, []Part{{Path: path, Head: h}})
	expect(t, items, "typed: b")
	if h, err := Probe(look(t, path)); err != nil || h.Source != memoir.SourceOMP {
		t.Errorf("one that is new: %+v, %v", h, err)
	}
}

func TestACompressedFileIsReadFromItsBeginning(t *testing.T) {
	t.Parallel()
	path := compress(t, write(t, "session.jsonl", cx(cxMeta(""), cxTurn("t1"), cxUser("first prompt"))...))
	if head := probeEntry(t, look(t, path)); head.Mark != (Mark{}) || head.Title != "first prompt" {
		t.Errorf("head %+v", head)
	}
}

func TestAGrownFileIsNotReadBeforeItsMark(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "session.jsonl")
	filler := strings.Repeat(cx(cxAgent(strings.Repeat("x", 1000)))[0]+"\n", 20)
	writeAt(t, path, strings.Join(cx(cxMeta(""), cxTurn("t1")), "\n")+"\n"+filler+cx(cxUser("first prompt"))[0]+"\n"+filler)
	known := look(t, path)
	before := probeEntry(t, known)
	// What was read before is damaged, but neither its beginning nor its end.
	overwrite(t, path, printed+2000, strings.Repeat("#", int(known.Size)-2*printed-4000))
	appendTo(t, path, cx(cxAgent("more"))[0]+"\n")
	got, err := Grow(look(t, path), known.File, before)
	if err != nil || got.Title != "first prompt" {
		t.Errorf("head %+v, error %v", got, err)
	}
	if again := probeEntry(t, look(t, path)); again.Title != "" {
		t.Errorf("the damage is nowhere: %+v", again)
	}
}

// checkGrowth cuts a file at a length, and compares what is found as it grows to
// the whole with what is found in the whole.
func checkGrowth(t *testing.T, name string, content []byte, cut int) (resumed bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	writeAt(t, path, string(content[:cut]))
	known := look(t, path)
	before, err := Probe(known)
	if err != nil {
		return false // nothing recognisable yet
	}
	stored, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	before = Head{}
	if err := json.Unmarshal(stored, &before); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, string(content[cut:]))
	entry := look(t, path)
	_, resumed = grown(entry, known.File, before)
	got, err := Grow(entry, known.File, before)
	if err != nil {
		t.Fatal(err)
	}
	want := probeEntry(t, entry)
	if got.Mark.Untimed {
		got.FileAt, got.CreatedAt = want.FileAt, want.CreatedAt
	}
	if len(content) > headBudget && got.Title == before.Title {
		got.Title = want.Title // a name that was given in the middle, where Probe does not look
	}
	if before.Source == memoir.SourcePi && want.Source == memoir.SourceOMP {
		got.Source = want.Source // it stays what it was taken for
	}
	want.told, got.told = "", "" // of a title that was known before, only its line is
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Head{})); diff != "" {
		t.Errorf("cut at %d (-probed +grown):\n%s", cut, diff)
	}
	return resumed
}

func TestAGrownFileSaysWhatTheWholeSays(t *testing.T) {
	t.Parallel()
	for _, c := range conversations {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			content := []byte(strings.Join(c.records, "\n") + "\n")
			resumed := 0
			for cut := 1; cut < len(content) && !t.Failed(); cut += 7 {
				if checkGrowth(t, "session.jsonl", content, cut) {
					resumed++
				}
			}
			// Of Gemini CLI's sessions those are read whole whose directory is not known.
			if (resumed > 0) != (c.lines && c.source != memoir.SourceGemini) {
				t.Errorf("%d were read from where they were", resumed)
			}
		})
	}
}

func TestCorpusGrownFilesSayWhatTheWholeSays(t *testing.T) {
	t.Parallel()
	resumed := 0
	for path, content := range corpusFiles(t) {
		for _, part := range []int{5, 9} {
			if checkGrowth(t, filepath.Base(path), content, len(content)*part/10) {
				resumed++
			}
		}
	}
	if resumed == 0 {
		t.Error("none was read from where it was")
	}
}

// corpusFiles are the sessions of the corpus that are lines, by path.
func corpusFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, e := range collect(t, func(fn func(Entry) error) error { return WalkDir(t.Context(), corpusDir(t), fn) }) {
		if !strings.HasSuffix(e.Path, ".jsonl") {
			continue
		}
		content, err := os.ReadFile(e.Path)
		if err != nil {
			t.Fatal(err)
		}
		files[e.Path] = content
	}
	return files
}

// withOffsets reads a stream, in small chunks, and returns its records with where
// each ends.
func withOffsets(t *testing.T, src io.Reader) (records []string, ends []int64) {
	t.Helper()
	r := &Reader{src: src, in: make([]byte, 1<<10)}
	for {
		raw, err := r.Next()
		if err == io.EOF {
			return records, ends
		}
		if err != nil {
			t.Fatal(err)
		}
		records, ends = append(records, string(raw)), append(ends, r.Offset())
	}
}

// checkResuming reads a stream on from after each step-th record: that gives what
// is left.
func checkResuming(t *testing.T, in []byte, step int) {
	t.Helper()
	records, ends := withOffsets(t, bytes.NewReader(in))
	for i := 0; i < len(ends); i += step {
		left, _ := withOffsets(t, bytes.NewReader(in[ends[i]:]))
		if !slices.Equal(left, records[i+1:]) {
			t.Errorf("after record %d, at %d: %d records are left, want %d", i, ends[i], len(left), len(records)-i-1)
			return
		}
	}
	if _, slow := withOffsets(t, iotest.OneByteReader(bytes.NewReader(in))); len(in) < 10000 && !slices.Equal(slow, ends) {
		t.Errorf("offsets depend on how the bytes arrive: %v and %v", ends, slow)
	}
}

// checkCut compares the records of a stream's beginning with those of the whole.
func checkCut(t *testing.T, whole []string, in []byte, cut int) {
	t.Helper()
	got, _ := withOffsets(t, bytes.NewReader(in[:cut]))
	if len(got) > len(whole) || !slices.Equal(got, whole[:len(got)]) {
		t.Errorf("the first %d bytes give other records than the whole", cut)
	}
}

func TestReadingOnGivesTheRecordsThatAreLeft(t *testing.T) {
	t.Parallel()
	for _, c := range conversations {
		for name, content := range disguises(c.records, c.lines) {
			if c.lines {
				t.Run(c.name+" with "+name, func(t *testing.T) { checkResuming(t, []byte(content), 1) })
			}
		}
	}
}

func TestAPrefixOfAFileGivesAPrefixOfItsRecords(t *testing.T) {
	t.Parallel()
	for _, c := range conversations {
		for name, content := range disguises(c.records, c.lines) {
			if !c.lines {
				continue
			}
			whole, _ := withOffsets(t, strings.NewReader(content))
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

func TestCorpusFilesCanBeCutAndReadOn(t *testing.T) {
	t.Parallel()
	for path, content := range corpusFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			whole, _ := withOffsets(t, bytes.NewReader(content))
			for i := range 8 {
				checkCut(t, whole, content, (len(content)-1)*i/7)
			}
			checkResuming(t, content, 1+len(whole)/6)
		})
	}
}

func FuzzReadingOn(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n{\"b\":2}"), 9)
	f.Add([]byte(`{"type":"x","a":"y{"type":"z"}`+"\n{\"b\":2}\n"), 12)
	f.Add([]byte("{\"a\":1,\n{\"b\":2}{\"c\":"), 8)
	f.Add([]byte("\xEF\xBB\xBF{\"a\":1} and\r\n\x00{\n\"b\":{}}"), 20)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		checkResuming(t, in, 1)
		if cut >= 0 && cut <= len(in) {
			whole, _ := withOffsets(t, bytes.NewReader(in))
			checkCut(t, whole, in, cut)
		}
	})
}
