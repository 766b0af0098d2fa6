package secrets

import (
	"strconv"
	"strings"
	"testing"
)

// numberings are the ways in which tools put something before each line of a text.
var numberings = map[string]func(n int, line string) string{
	"cat": func(n int, line string) string {
		return strings.Repeat(" ", 6-len(strconv.Itoa(n))) + strconv.Itoa(n) + "\t" + line
	},
	"an arrow":  func(n int, line string) string { return "    " + strconv.Itoa(n) + "→" + line },
	"a letter":  func(n int, line string) string { return "L" + strconv.Itoa(n) + ": " + line },
	"a bar":     func(n int, line string) string { return strconv.Itoa(n) + " | " + line },
	"a diff":    func(_ int, line string) string { return "+" + line },
	"a context": func(_ int, line string) string { return " " + line },
}

func numberedLinesOf(text string, number func(n int, line string) string) string {
	var b strings.Builder
	b.WriteString("@@ -1,9 +8,9 @@\n")
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		b.WriteString(number(i+8, line) + "\n")
	}
	return b.String()
}

func TestANameAndAValueOnTwoLinesAreOneBehindWhatToolsPutBeforeLines(t *testing.T) {
	t.Parallel()
	s := newScanner("", true)
	for n, text := range []string{
		"<dict>\n<key>ApiToken</key>\n<string>{{hex40}}</string>\n</dict>\n",
		"env:\n  - name: POSTGRES_PASSWORD\n    value: {{weak}}\n  - name: PORT\n    value: 80\n",
		"url,username,password,note\nhttps://a.test,ada,{{weak}},x\nhttps://b.test,bob,{{strongplain}},\n",
		"| user | Password |\n|------|----------|\n| ada | {{weak}} |\n| bob | {{camel}} |\n",
		"Please use the following password to go on:\n\n{{hex32}}\n\nIt is kept in a file.\n",
		"{\n  \"key\": \"client_secret\",\n  \"value\": \"{{alnum40}}\",\n  \"enabled\": true\n",
	} {
		m := maker{newRandom(uint64(n))}
		var values []string
		text = placeholder.ReplaceAllStringFunc(text, func(p string) string {
			value, _ := m.value(p[2 : len(p)-2])
			values = append(values, value)
			return value
		})
		for name, number := range numberings {
			shown := numberedLinesOf(text, number)
			for _, place := range []string{shown, `{"output":` + asJSON(shown) + `,"n":1}`} {
				out, _ := s.Redact(place)
				for _, value := range values {
					if strings.Contains(out, value) {
						t.Errorf("%s: %s is left in %s", name, value, out)
					}
				}
				if strings.Count(out, "\n") != strings.Count(place, "\n") {
					t.Errorf("%s: lines of %q became %q", name, place, out)
				}
			}
		}
	}
}

func TestOnlySurroundingsOfNamesOnNumberedLinesAreReadWithoutTheirNumbers(t *testing.T) {
	t.Parallel()
	set := mustLoad(t, true)
	long := strings.Repeat("x\n", 50)
	for _, test := range []struct{ name, text, want string }{
		{"no names", numberedLinesOf("a\nb\nc\n", numberings["cat"]), ""},
		{"no numbers", "a\nthe token\nb\nc\n", ""},
		{"too few", "8: a\n9: the token\nx\n", ""},
		{"not one by one", "8: a\n12: the token\n20: b\n31: c\n", ""},
		{"numbers", numberedLinesOf("a\nthe token\nb\n", numberings["cat"]), "\na\nthe token\nb\n"},
		{"far away", numberedLinesOf(long+"the token\n"+long, numberings["a bar"]), "\n" + strings.Repeat("x\n", linesBefore) + "the token\n" + strings.Repeat("x\n", linesBehind)},
		{"a long table", numberedLinesOf("id,token,n\n"+strings.Repeat("1,2,3\n", 60), numberings["a letter"]), "\nid,token,n\n" + strings.Repeat("1,2,3\n", 60)},
	} {
		_, spots := set.findAll(test.text)
		v, changed := numbered(test.text, spots)
		if changed != (test.want != "") || v.text != test.want {
			t.Errorf("%s: read as %q, %v", test.name, v.text, changed)
		}
		for at, c := range []byte(v.text) {
			if c != '\n' && test.text[v.raw(at)] != c {
				t.Errorf("%s: %q is taken for %q", test.name, test.text[v.raw(at):], v.text[at:])
				break
			}
		}
	}
}
