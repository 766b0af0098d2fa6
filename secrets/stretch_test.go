package secrets

import (
	"strings"
	"testing"
)

// plainStart and plainEnd are what textLines tells, without anything remembered.
func plainStart(text string, at int) int {
	start := strings.LastIndexByte(text[:at], '\n') + 1
	for _, opening := range []string{`":"`, `": "`} {
		if i := strings.LastIndex(text[start:at], opening); i >= 0 {
			start += i + len(opening)
		}
	}
	return start
}

func plainEnd(text string, at int) int {
	end := len(text)
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		end = at + i
	}
	for i := at; i < end; i++ {
		if text[i] == '"' && closes(text[i+1:end]) {
			return i
		}
	}
	return end
}

func TestLinesBeginAndEndWhereTheyDoWhateverWasAskedBefore(t *testing.T) {
	t.Parallel()
	random := newRandom(17)
	alphabet := []string{"a", " ", "\n", `"`, `":"`, `": "`, `":": "`, `","b":"`, `"}`, `"]`, "token", ","}
	for range 400 {
		text := randomText(alphabet, random.IntN(40), random)
		lines := newTextLines(text)
		at := 0
		for range 60 {
			if at = min(len(text), at+random.IntN(4)); random.IntN(4) == 0 {
				at = random.IntN(len(text) + 1)
			}
			if got, want := lines.start(at), plainStart(text, at); got != want {
				t.Fatalf("the line around %d of %q begins at %d, want %d", at, text, got, want)
			}
			if got, want := lines.end(at), plainEnd(text, at); got != want {
				t.Fatalf("the line around %d of %q ends at %d, want %d", at, text, got, want)
			}
		}
	}
}

func TestAStretchEndsAtTheNextOfItsBytesWhateverWasAskedBefore(t *testing.T) {
	t.Parallel()
	random := newRandom(18)
	for range 400 {
		text := randomText([]string{"a", "b", "aaaa", "]", ","}, random.IntN(30), random)
		s := stretch{stops: valueStops}
		for range 40 {
			at := random.IntN(len(text) + 1)
			limit := at + random.IntN(len(text)-at+1)
			want := limit
			if i := strings.IndexAny(text[at:limit], "],"); i >= 0 {
				want = at + i
			}
			if got := s.next(text, at, limit); got != want {
				t.Fatalf("from %d to %d of %q the next is at %d, want %d", at, limit, text, got, want)
			}
		}
	}
}

// longLines are pieces that texts of one kind repeat many times on few lines: each of them
// was once read anew from each of its names.
var longLines = []string{
	`{"name":"token","value":"x"},`, `"value":`, `"token",`, `|"psk": "|`, `":"token|`, `":"token,`, "tokens: [a, ", " passs: [ ",
	"insert into t(", `insert into%22(`, "from stdin;", "(token) from stdin;\n", "token|x\n---\n---\n", "tokens", "value: ", "value-value", "- tokens:\n",
}

func TestWhatNamesAndValuesComeToGrowsWithTheText(t *testing.T) {
	t.Parallel()
	set := mustLoad(t, true)
	for _, piece := range longLines {
		var size [2]int
		for i, times := range []int{150, 600} {
			text := strings.Repeat(piece, times)
			_, spots := set.findRules(text)
			a := readApart(text, spots)
			size[i] = a.lines.Len()
			if size[i] > (maxGrowth+1)*len(text)+maxValue {
				t.Errorf("%q %d times comes to %d bytes", piece, times, size[i])
			}
		}
		if size[1] > 5*size[0]+maxValue {
			t.Errorf("four times as much of %q comes to %d bytes instead of %d", piece, size[1], size[0])
		}
	}
}
