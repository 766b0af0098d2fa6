package secrets

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestWhatAMessageQuotesIsReadAlone(t *testing.T) {
	t.Parallel()
	long := "lMEW31UWoRP53ErN" + "1P3curgjmekowD3uEqu2S"
	for _, value := range []string{
		"SECRETTOKEN " + long + "```",
		"Dq_PW* ? :: *  ** *** **:" + long + "             ",
		"Q: SET O4z9PRIVATEKEY2B6VnWnaCS   '" + long + "        */",
	} {
		if out, _ := ours.Redact(value); strings.Contains(out, long) {
			t.Fatalf("it is no secret by itself: %q", out)
		}
		for _, message := range []string{
			fmt.Sprintf("config.yml:1: unknown setting %q", value),
			fmt.Sprintf("%q must be a number, not %q\nhint: \"", "x", value),
			fmt.Sprintf("run %s: %q", "a\"", value),
			fmt.Sprintf("missing closing ]: `%s`", strings.ReplaceAll(value, "`", "")),
		} {
			out := ours.Message(message)
			if strings.Contains(out, long[:8]) || strings.Contains(out, long[len(long)-8:]) {
				t.Errorf("said: %s", out)
			}
			if again := ours.Message(out); again != out {
				t.Errorf("%s said again: %s", out, again)
			}
		}
	}
	parts := "you sent --pass,,,\"pass:" + "Xq7vLr2Kw9" + `"iMOC""Arr6ZjjCA"`
	if out := ours.Message(parts); strings.Contains(out, "Xq7v") || strings.Contains(out, "6ZjjCA") {
		t.Errorf("of a value with quotes in it: %s", out)
	}
	for _, plain := range []string{
		"", "\"", "`", "a \"b", "`a` and \"b\\\"c\"", "open \"a/very/long/path\": no such file",
		"unknown setting \"memories.concurency\": did you mean `memories.concurrency`?", "\"\\x00\\u202e is not printable\"",
	} {
		if out := ours.Message(plain); out != plain {
			t.Errorf("%q became %q", plain, out)
		}
	}
}

func TestAMessageOfEscapedQuotesIsReadOnce(t *testing.T) {
	t.Parallel()
	word := fake("p4ss!", "w0rd-of-it")
	// Were each of the quotes read to the end of the quotation, this would take hours.
	out := ours.Message("answer \"" + strings.Repeat(`{\"a\":`, 1<<17) + "\" and \"password: " + word + "\"")
	if strings.Contains(out, word) || !strings.HasSuffix(out, "]\"") {
		t.Errorf("said: …%s", out[len(out)-80:])
	}
}

func TestAMessageOfJSONStaysJSON(t *testing.T) {
	t.Parallel()
	word := fake("p4ss!", "w0rd-of-it")
	for _, between := range []string{"\\n", "\\u0007", "\\u000b", "\x7f", "\U000e0001"} {
		out := ours.Message(`{"error":"bad` + between + ` password: ` + word + `"}`)
		if strings.Contains(out, word) || !json.Valid([]byte(out)) {
			t.Errorf("said: %s", out)
		}
		if again := ours.Message(out); again != out {
			t.Errorf("%s said again: %s", out, again)
		}
	}
}
