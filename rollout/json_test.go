package rollout

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestTextDecodesAsTheStandardLibraryDoes(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`""`, `"plain"`, `"a\nb\tc\r\b\f\/\\\""`, `"\u00e9\u4e2d"`, `"\ud83d\ude00 smile"`, `"\ud83d lone"`, `"\ude00"`, `"\\\\n"`, `"é"`,
	} {
		var want string
		if err := json.Unmarshal([]byte(raw), &want); err != nil {
			t.Fatal(err)
		}
		if got := text([]byte(raw)); got != want {
			t.Errorf("text(%s) = %q, want %q", raw, got, want)
		}
	}
	if got := text([]byte("\"a\xffb\"")); !utf8.ValidString(got) {
		t.Errorf("invalid UTF-8 in %q", got)
	}
	if got := text([]byte(`12`)); got != "" {
		t.Errorf("text of a number is %q", got)
	}
	if got := text([]byte(`"a\u0000b"`)); strings.ContainsRune(got, 0) {
		t.Errorf("NUL in %q", got)
	}
}

func TestGetWalksObjects(t *testing.T) {
	t.Parallel()
	object := []byte(`{ "a" : { "b" : [ 1 , {"c":"}"} ] , "d":null} , "e" : -12 , "e2":"x\"y" }`)
	tests := []struct{ path, want string }{
		{"a.b", `[ 1 , {"c":"}"} ]`}, {"a.d", "null"}, {"e", "-12"}, {"e2", `"x\"y"`}, {"a.x", ""}, {"e.x", ""},
	}
	for _, tt := range tests {
		if got := string(get(object, strings.Split(tt.path, ".")...)); got != tt.want {
			t.Errorf("get %s = %s, want %s", tt.path, got, tt.want)
		}
	}
	var seen []string
	for v := range elements(get(object, "a", "b")) {
		seen = append(seen, string(v))
	}
	if strings.Join(seen, "|") != `1|{"c":"}"}` {
		t.Errorf("elements %q", seen)
	}
}

func TestInstantReadsTheFormsOfTimes(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 7, 1, 22, 40, 10, 263e6, time.UTC)
	for _, raw := range []string{`"2026-07-01T22:40:10.263Z"`, `"2026-07-02T00:40:10.263+02:00"`, `"2026-07-01T22:40:10.263"`, `"2026-07-01 22:40:10.263"`,
		"1782945610263", "1782945610263.5", `"1782945610263"`, "1782945610.263"} {
		if got := instant([]byte(raw)); !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("instant(%s) = %v", raw, got)
		}
	}
	for _, raw := range []string{`"yesterday"`, `""`, `"`, "null", "true", "{}", "[1782945610263]", "0", "-1", "1e400", "1e300", "NaN", `"NaN"`, `"Inf"`, ""} {
		if got := instant([]byte(raw)); !got.IsZero() {
			t.Errorf("instant(%s) = %v", raw, got)
		}
	}
}

func TestIntegerReadsNumbersInStrings(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int64{"3": 3, "-1": -1, `"3"`: 3, "2.0": 2, `"-1"`: -1, "0": 0} {
		if got, ok := integer([]byte(raw)); !ok || got != want {
			t.Errorf("integer(%s) = %d, %v", raw, got, ok)
		}
	}
	for _, raw := range []string{"", `""`, `"`, "1.5", "null", "true", `"x"`, "+1", "-", "99999999999999999999", "[1]"} {
		if got, ok := integer([]byte(raw)); ok {
			t.Errorf("integer(%s) = %d", raw, got)
		}
	}
}

func FuzzWalkingNeverPanics(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1,"\u12"]}}`))
	f.Add([]byte(`{"a":"`))
	f.Add([]byte(`[{"text":"\`))
	f.Fuzz(func(t *testing.T, in []byte) {
		get(in, "a", "b")
		getText(in, "a")
		text(in)
		contentText(in)
		instant(in)
		if in = bytes.TrimSpace(in); json.Valid(in) && utf8.Valid(in) {
			var want string
			if json.Unmarshal(in, &want) == nil && len(in) > 0 && in[0] == '"' && !strings.ContainsRune(want, 0) && text(in) != want {
				t.Errorf("text(%s) = %q, want %q", in, text(in), want)
			}
		}
	})
}
