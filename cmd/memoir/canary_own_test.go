package main

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"memoir"
)

// linesIn returns the lines of a file in testdata.
func linesIn(t *testing.T, name string) []string {
	b, err := os.ReadFile(filepath.Join("testdata", name))
	must(t, err)
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// testdata/secret_forms.txt has forms in which people and programs write secrets, chosen without regard to the rules.
// Braces contain an alphabet and a length, and stand for a random secret.
var (
	ownBrace     = regexp.MustCompile(`\{([A-Za-z])(\d+)\}`)
	ownAlphabets = map[string]string{"B": letters + "234567", "U": letters + "0123456789", "d": "0123456789", "h": "0123456789abcdef",
		"l": letters + strings.ToLower(letters), "q": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"}
)

// ownSecret returns a text of a form and the secrets in it. A password ends in a digit, since letters may be a word.
func ownSecret(form string, random *rand.Rand) (text string, parts []string) {
	text = ownBrace.ReplaceAllStringFunc(strings.ReplaceAll(form, `\n`, "\n"), func(brace string) string {
		m := ownBrace.FindStringSubmatch(brace)
		made, alphabet := "", cmp.Or(ownAlphabets[m[1]], ownAlphabets["l"]+ownAlphabets["d"])
		for n, _ := strconv.Atoi(m[2]); len(made) < n; {
			made += string(alphabet[random.IntN(len(alphabet))])
		}
		switch m[1] {
		case "c":
			made = base64.StdEncoding.EncodeToString([]byte("app:" + made))
		case "p":
			made = made[1:] + "7"
		}
		if len(made) >= 10 {
			parts = append(parts, made)
		}
		return made
	})
	return text, parts
}

// named matches JSON paths of fields with ids, paths, branches and titles.
var named = regexp.MustCompile(`(?i)(?:^|\.)(?:\w*id|uuid|\w*cwd|\w*branch|title|\w*path|directory|repository_url|\w*hash)$`)

// hostileNames are values for fields that match named.
var hostileNames = append([]string{"../../../../pwned", "..", ".", "-rf", "--yes", "$(touch pwned)", "`touch pwned`", "; touch pwned",
	"a\nb", "a\x00b", "\x1b[2J\x1b]0;x\a", "\u202egnp.exe", "zero\u200bwidth", "CON", "nul.txt", `C:\windows`, `\\host\share`,
	"ü\u0308", "%2e%2e%2fpwned", "' OR 1=1 --", "{{.Home}}", "<script>", "memory", "MEMORY.md", ".git", ".memoir.yml", "~", "*",
	"\xff\xfe", "😀", "a b", "dot.", "space ", "live", "manifest.json", "memoir.db", "[x](y)", "|", "\r", "", "null",
}, strings.Repeat("x", 240), strings.Repeat("../", 80)+"pwned", strings.Repeat("é", 2000))

// No command prints or stores a secret from any text of any agent's session. No hostile name leads outside the home or
// controls a terminal. The seed is fixed unless seedVariable is set.
func TestSecretsAndNamesOfOwnFormsComeOutNowhere(t *testing.T) {
	t.Parallel()
	forms := linesIn(t, "secret_forms.txt")
	many := by(t, 24, 2*len(forms), 20*len(forms))
	f, sessions, dir, all, next := newFlock(t, 3), templates(t), t.TempDir(), map[string]string{}, 0
	for n := range many {
		x, name := sessions[n%len(sessions)].copyOf(n), hostileNames[n/2%len(hostileNames)]
		x.fields(func(path, text string) string {
			switch {
			case n%2 == 1 && named.MatchString(path) && text != "":
				return name
			case n%2 == 1 || text == "" || holding.MatchString(path):
				return text
			}
			next++
			secret, parts := ownSecret(forms[next%len(forms)], f.random)
			for _, part := range parts {
				all[part] = fmt.Sprintf("%q in %s of %s", forms[next%len(forms)], path, x.agent)
			}
			return text + "\n" + secret
		}).write(t, dir)
	}
	s, words := scene{t: t, home: filepath.Join(t.TempDir(), "home"), user: t.TempDir()}, map[string]string{}
	call := func(args ...string) string {
		code, out, said := s.memoir(args...)
		if words[args[0]] += out + said; code != exitDone && args[0] != "show" && args[0] != "view" {
			t.Errorf("%s: %d: %s", args, code, said)
		}
		return out
	}
	call("run", "--json", "--sessions", dir, "--max-age", "0", "--min-idle", "0", "--limit", "10000")
	for _, x := range gjson.Get(call("sessions", "--json"), "sessions").Array() {
		call("show", x.Get("id").Str)
	}
	for _, p := range gjson.Get(call("projects", "--json"), "projects").Array() {
		call("view", "--project", p.Get("id").Str)
	}
	words["a memory"], words["a name"] = fmt.Sprint(lastOf(t, s.home)), fmt.Sprint(slices.Collect(maps.Keys(files(t, s.home))))
	catch := newNet(all)
	catch.home(t, s.home)
	for what, text := range words {
		catch.search("what "+what+" says", []byte(text))
		if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && memoir.Hidden(r) }); i >= 0 {
			t.Errorf("%s holds %q", what, text[max(0, i-60):min(len(text), i+20)])
		}
	}
	for _, what := range slices.Sorted(maps.Keys(catch.caught)) {
		t.Errorf("%s: %s", what, catch.caught[what])
	}
	for _, place := range []string{".", filepath.Dir(dir), s.user, filepath.Dir(s.home), s.home} {
		if found, _ := filepath.Glob(place + "/*pwned*"); len(found) > 0 {
			t.Errorf("%s was made", found)
		}
	}
	t.Logf("%d forms, %d secrets in %d texts, %d sessions; %s=%d", len(forms), len(all), next, many, seedVariable, f.seed)
}
