package rollout

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// readAll returns a stream's records as strings.
func readAll(t *testing.T, src io.Reader) ([]string, *Reader) {
	t.Helper()
	r := NewReader(src)
	var out []string
	for {
		raw, err := r.Next()
		if err == io.EOF {
			return out, r
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(raw))
	}
}

func TestReaderFindsEveryRecordOfADamagedStream(t *testing.T) {
	t.Parallel()
	const bom = "\xEF\xBB\xBF"
	tests := []struct {
		name      string
		in        string
		want      []string
		malformed int
		cut       bool
	}{
		{name: "lines", in: "{\"a\":1}\n{\"b\":2}\n", want: []string{`{"a":1}`, `{"b":2}`}},
		{name: "no final newline", in: "{\"a\":1}\n{\"b\":2}", want: []string{`{"a":1}`, `{"b":2}`}},
		{name: "two values on a line", in: "{\"a\":1}{\"b\":2}\n", want: []string{`{"a":1}`, `{"b":2}`}},
		{name: "a byte order mark, CRLF and blank lines", in: bom + "{\"a\":1}\r\n\r\n\n{\"b\":2}\r\n", want: []string{`{"a":1}`, `{"b":2}`}},
		{name: "a run of NUL", in: "{\"a\":1}\n\x00\x00\x00\x00{\"b\":2}\n\x00\x00", want: []string{`{"a":1}`, `{"b":2}`}},
		{name: "garbage", in: "what\n{\"a\":1}\n<html>\n{\"b\":2}\n", want: []string{`{"a":1}`, `{"b":2}`}, malformed: 2},
		{name: "braces that are not JSON", in: "{not json}\n{\"a\":1}\n", want: []string{`{"a":1}`}, malformed: 1},
		{name: "garbage after a record", in: "{\"a\":1} and\n{\"b\":2}\n", want: []string{`{"a":1}`, `{"b":2}`}, malformed: 1},
		{name: "a cut last line", in: "{\"a\":1}\n{\"b\":\"x", want: []string{`{"a":1}`}, cut: true},
		{name: "a line cut in a string", in: "{\"a\":\"x\n{\"b\":2}\n", want: []string{`{"b":2}`}, malformed: 1},
		{name: "a line cut outside a string", in: "{\"a\":1,\n{\"b\":2}\n", want: []string{`{"b":2}`}, malformed: 1},
		{name: "a record glued to a cut one", in: `{"type":"x","a":"y{"type":"z"}` + "\n{\"b\":2}\n", want: []string{`{"type":"z"}`, `{"b":2}`}, malformed: 1},
		{name: "a printed record", in: "{\n  \"a\": {\n    \"b\": [1,\n 2]\n  }\n}\n{\"b\":2}\n", want: []string{"{\n  \"a\": {\n    \"b\": [1,\n 2]\n  }\n}", `{"b":2}`}},
		{name: "escaped quotes and backslashes", in: `{"a":"\\","b":"\"{","c":"\\\"}"}` + "\n{\"b\":2}\n", want: []string{`{"a":"\\","b":"\"{","c":"\\\"}"}`, `{"b":2}`}},
		{name: "nothing", in: "", want: nil},
		{name: "an array", in: "[1,2]\n{\"a\":1}\n", want: []string{`{"a":1}`}, malformed: 1},
		{name: "too deep", in: strings.Repeat(`{"a":`, maxDepth+1) + "1" + strings.Repeat("}", maxDepth+1) + "\n{\"b\":2}\n", want: []string{`{"b":2}`}, malformed: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, how := range []struct {
				name string
				src  io.Reader
			}{
				{"at once", strings.NewReader(tt.in)},
				{"byte by byte", iotest.OneByteReader(strings.NewReader(tt.in))},
			} {
				got, r := readAll(t, how.src)
				if strings.Join(got, "|") != strings.Join(tt.want, "|") {
					t.Errorf("%s: records %q, want %q", how.name, got, tt.want)
				}
				if r.Malformed != tt.malformed || r.CutTail != tt.cut {
					t.Errorf("%s: malformed %d, cut %v; want %d, %v", how.name, r.Malformed, r.CutTail, tt.malformed, tt.cut)
				}
			}
		})
	}
}

func TestReaderCutsALongStringAtItsLastWhiteSpace(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxString)
	tests := []struct{ name, in, want string }{
		{"a space", "head word" + long, "head"},
		{"an escaped line break", `head\nword` + long, "head"},
		{"an escaped backslash before n is no line break", `head \\nword` + long, "head"},
		{"no white space: data", long + "x", ""},
		{"white space only behind the bound", long + "x and more", ""},
		{"exactly the bound", long, long},
		{"an escaped quote at the bound", "head " + long[:maxString-6] + `\"` + long, "head"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := `{"a":"` + tt.in + `","b":{"c":"kept"}}` + "\n{\"d\":1}\n"
			got, r := readAll(t, strings.NewReader(in))
			if len(got) != 2 || got[1] != `{"d":1}` {
				t.Fatalf("%d records", len(got))
			}
			if s := getText([]byte(got[0]), "a"); s != tt.want {
				t.Errorf("kept %d bytes, want %d", len(s), len(tt.want))
			}
			if s := getText([]byte(got[0]), "b", "c"); s != "kept" {
				t.Errorf("what follows is %q", s)
			}
			wantElided := 1
			if tt.want == tt.in {
				wantElided = 0
			}
			if r.Elided != wantElided {
				t.Errorf("elided %d, want %d", r.Elided, wantElided)
			}
		})
	}
}

// endless gives a head, then n times a middle, then a tail.
func endless(head, middle string, n int, tail string) io.Reader {
	readers := []io.Reader{strings.NewReader(head)}
	for range n {
		readers = append(readers, strings.NewReader(middle))
	}
	return io.MultiReader(append(readers, strings.NewReader(tail))...)
}

func TestReaderHoldsABoundedAmountOfAnyRecord(t *testing.T) {
	mib := strings.Repeat("x", 1<<20)
	tests := []struct {
		name                      string
		src                       io.Reader
		records, elided, oversize int
	}{
		{"a string of 300 MiB", endless(`{"a":"head `, mib, 300, "\"}\n{\"b\":2}\n"), 2, 1, 0},
		{"300 strings of nearly 1 MiB", endless(`{"a":[""`, `,"`+mib[1:]+`"`, 300, "]}\n{\"b\":2}\n"), 1, 0, 1},
		{"300 strings of more than 1 MiB", endless(`{"a":[""`, `,"`+mib+` x"`, 300, "]}\n{\"b\":2}\n"), 2, 300, 0},
		{"120 MiB of brackets", endless(`{"a":`, strings.Repeat("[", 1<<20), 120, "\n"), 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			got, r := readAll(t, tt.src)
			runtime.ReadMemStats(&after)
			if len(got) != tt.records || r.Elided != tt.elided || r.Oversized != tt.oversize {
				t.Errorf("records %d, elided %d, oversized %d; want %d, %d, %d", len(got), r.Elided, r.Oversized, tt.records, tt.elided, tt.oversize)
			}
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 90 {
				t.Errorf("allocated %d MiB in all", used)
			}
		})
	}
}

func TestReaderGivesTheStreamsError(t *testing.T) {
	t.Parallel()
	r := NewReader(io.MultiReader(strings.NewReader("{\"a\":1}\n"), iotest.ErrReader(io.ErrClosedPipe)))
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != io.ErrClosedPipe {
		t.Errorf("error %v", err)
	}
}

func FuzzReader(f *testing.F) {
	for _, seed := range []string{"{\"a\":1}\n{\"b\":2}", `{"a":"\\\""}{`, "\x00{\"a\":\"\xff\"}", "{\n\"a\":1\n}", `{"type":"x{"type":"y"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		collect := func(src io.Reader) []string {
			got, _ := readAll(t, src)
			return got
		}
		whole := collect(bytes.NewReader(in))
		slow := collect(iotest.OneByteReader(bytes.NewReader(in)))
		if strings.Join(whole, "|") != strings.Join(slow, "|") {
			t.Errorf("records depend on how the bytes arrive: %q and %q", whole, slow)
		}
	})
}
