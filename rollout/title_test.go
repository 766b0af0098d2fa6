package rollout

import (
	"strings"
	"testing"
)

func TestATitleIsCleanedAsThePartOfItsTextThatItIs(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("q7Z", 8)
	for _, test := range []struct{ name, text, asked, want string }{
		{"a line of a key", long + "\n" + long + "\nEND KEY", long + "\n" + long + "\nEND KEY", "<secret>"},
		{"what tabs tell", "use\tTRUE\t" + long, "use\tTRUE\t" + long, "<secret>"},
		{"a title of short words", "fix the build\n" + long, "fix the build", "<secret>"},
		{"a short password", "printf 2J6:Z9I7\n| su", "printf 2J6:Z9I7\n| su", "<secret>"},
		{"one line", "fix " + long, "fix " + long, "<secret>"},
	} {
		var h Head
		h.entitle(" \n", test.text)
		asked := ""
		got := h.CleanTitle(func(text string) string {
			asked = text
			return "<secret>"
		})
		if got != test.want || asked != test.asked {
			t.Errorf("%s: %q was asked about, the title is %q", test.name, asked, got)
		}
	}
}
