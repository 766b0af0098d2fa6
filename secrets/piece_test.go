package secrets

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func cutUp(t *testing.T, text string, sizes pieceSizes) (out []Piece) {
	t.Helper()
	err := pieces(context.Background(), iotest.OneByteReader(strings.NewReader(text)), sizes, func(p Piece) error {
		out = append(out, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPiecesEndAtLinesAndLoseNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       []string // the part of each in brackets
	}{
		{"empty", "", nil},
		{"one piece", "a\nb", []string{"<a\nb>"}},
		{"several", "aaaa\nbbbb\ncccc\ndd", []string{"<aaaa\n>bbbb\n", "aaaa\n<bbbb\ncccc\ndd>"}},
		{"a line that is longer than a part", "aaaaaaaaaaaa\nb\ncccccc\nd", []string{"<aaaaaaaaaaaa\n>b\n", "aaaaa\n<b\ncccccc\nd>"}},
		{"a line that is longer than any may be", "aaaaaaaaaaaaaaaa bbbbbbbbbbb\nc", []string{"<aaaaaaaaaaaaaaaa >bbbbbb", "aaaaa <bbbbbbbbbbb\nc>"}},
		{"one without words", strings.Repeat("é", 15), []string{"<ééééééééé>ééé", "ééé<éééééé>"}},
		{"no line end at the end", "aaaa\nbbbb\ncccccccccccccccc", []string{"<aaaa\n>bbbb\n", "aaaa\n<bbbb\n>cccccc", "bbbb\n<cccccccccccccccc>"}},
	} {
		var got []string
		whole := ""
		for _, p := range cutUp(t, test.text, pieceSizes{part: 8, beyond: 6, longest: 20}) {
			got = append(got, p.Text[:p.Start]+"<"+p.Part()+">"+p.Text[p.End:])
			whole += p.Part()
		}
		if whole != test.text {
			t.Errorf("%s: lost something: %q", test.name, got)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// A place in a piece is one in the text.
func TestPiecesKnowWhereTheyAre(t *testing.T) {
	t.Parallel()
	text := "name,token\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,%s\n", i, strings.Repeat("x", i*i%23))
	}
	text += strings.Repeat("ü", 90) + " " + strings.Repeat("ß", 60) + "\n\nend"
	for _, p := range cutUp(t, text, pieceSizes{part: 48, beyond: 20, longest: 64, head: 16}) {
		for i := p.Start; i < p.End; i++ {
			line, column := p.Line+strings.Count(p.Text[:i], "\n"), len([]rune(p.Text[strings.LastIndexByte(p.Text[:i], '\n')+1:i]))
			if !strings.Contains(p.Text[:i], "\n") {
				column += p.Column
			}
			lines := strings.Split(text, "\n")
			if want := []rune(lines[line] + "\n")[column]; !strings.HasPrefix(p.Text[i:], string(want)) && p.Text[i]&0xc0 != 0x80 {
				t.Fatalf("byte %d of %q is at line %d, column %d, where %q is", i, p.Text, line, column, want)
			}
		}
	}
}

func TestPiecesOfATableBeginWithItsHead(t *testing.T) {
	t.Parallel()
	table := "name,token\n" + strings.Repeat("ada,xxxx\n", 16)
	heads := 0
	for _, p := range cutUp(t, "before\n\n"+table+"\nwords, not a row\n"+strings.Repeat("more\n", 16), pieceSizes{part: 32, beyond: 20, longest: 64, head: 32}) {
		switch row := strings.HasPrefix(p.Part(), "ada"); {
		case row && !strings.Contains(p.Text, "name,token\n"):
			t.Errorf("a piece without the head: %q", p.Text)
		case row:
			heads++
		case strings.HasPrefix(p.Part(), "more") && strings.Contains(p.Text, "token"):
			t.Errorf("the head of a table that has ended: %q", p.Text)
		}
	}
	if heads < 3 {
		t.Errorf("%d pieces hold rows", heads)
	}
}

func TestWhatIsDecodedIsEncodedAsItWas(t *testing.T) {
	t.Parallel()
	wide := func(order string, units ...uint16) (b []byte) {
		for _, u := range units {
			if order == "little" {
				b = append(b, byte(u), byte(u>>8))
			} else {
				b = append(b, byte(u>>8), byte(u))
			}
		}
		return b
	}
	for name, test := range map[string]struct {
		raw  []byte
		text string
	}{
		"nothing":             {nil, ""},
		"a byte":              {[]byte("a"), "a"},
		"UTF-8":               {[]byte("aé\n"), "aé\n"},
		"not UTF-8":           {[]byte("a\xff\xfe\n"), "a\xff\xfe\n"},
		"UTF-8 with a mark":   {[]byte("\xef\xbb\xbfaé\r\n"), "aé\r\n"},
		"a mark alone":        {[]byte("\xff\xfe"), ""},
		"little end first":    {wide("little", 0xfeff, 'a', 0xe9, 0xd83d, 0xde00, '\r', '\n'), "aé😀\r\n"},
		"big end first":       {wide("big", 0xfeff, 'a', 0xe9, 0xd83d, 0xde00, 0), "aé😀\x00"},
		"units of four bytes": {[]byte("\xff\xfe\x00\x00a\x00\x00\x00"), "\xff\xfe\x00\x00a\x00\x00\x00"},
	} {
		for _, r := range []io.Reader{bytes.NewReader(test.raw), iotest.OneByteReader(bytes.NewReader(test.raw)), iotest.DataErrReader(bytes.NewReader(test.raw))} {
			text, encoding, err := Decode(r)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(text)
			if err != nil || string(got) != test.text {
				t.Errorf("%s: read %q, %v, want %q", name, got, err, test.text)
			}
			if back := encoding.Mark() + encoding.Encode(string(got)); back != string(test.raw) {
				t.Errorf("%s: became %q, was %q", name, back, test.raw)
			}
		}
	}
}
