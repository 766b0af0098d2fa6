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

// linesIn are the lines of a file of testdata.
func linesIn(t *testing.T, name string) []string {
	b, err := os.ReadFile(filepath.Join("testdata", name))
	must(t, err)
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// In testdata/secret_forms.txt are secrets as people and programs write them, whatever rules there are.
// A brace holds an alphabet and a length: what is made of it is secret.
var (
	ownBrace     = regexp.MustCompile(`\{([A-Za-z])(\d+)\}`)
	ownAlphabets = map[string]string{"B": letters + "234567", "U": letters + "0123456789", "d": "0123456789", "h": "0123456789abcdef",
		"l": letters + strings.ToLower(letters), "q": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"}
)

// ownSecret makes a secret of a form, and what of it must not turn up. It ends with a digit where
// it is a password: one of letters alone may be a word.
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

// named matches the names of fields that name something.
var named = regexp.MustCompile(`(?i)(?:^|\.)(?:\w*id|uuid|\w*cwd|\w*branch|title|\w*path|directory|repository_url|\w*hash)$`)

// hostileNames are ids, directories, remotes, branches, titles and names of files.
var hostileNames = append([]string{"../../../../pwned", "..", ".", "-rf", "--yes", "$(touch pwned)", "`touch pwned`", "; touch pwned",
	"a\nb", "a\x00b", "\x1b[2J\x1b]0;x\a", "\u202egnp.exe", "zero\u200bwidth", "CON", "nul.txt", `C:\windows`, `\\host\share`,
	"ü\u0308", "%2e%2e%2fpwned", "' OR 1=1 --", "{{.Home}}", "<script>", "memory", "MEMORY.md", ".git", ".memoir.yml", "~", "*",
	"\xff\xfe", "😀", "a b", "dot.", "space ", "live", "manifest.json", "memoir.db", "[x](y)", "|", "\r", "", "null",
}, strings.Repeat("x", 240), strings.Repeat("../", 80)+"pwned", strings.Repeat("é", 2000))

// Secrets of forms that no rule was asked for come out of no place of a session of any agent, and no
// name leads out of the home or steers a terminal. What is planted follows from the seed, which is
// the same in each run unless one is named.
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
