package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"memoir/bench/memory/scenario"
	"memoir/bench/memory/transcript"
	"memoir/secrets"
	"memoir/secrets/secretstest"
	"memoir/testdata"
)

// canaryRules returns the built-in rules.
var canaryRules = once(func(t *testing.T) []secretstest.Rule {
	t.Helper()
	rules, err := secretstest.BuiltIn("../../secrets")
	must(t, err)
	return rules
})

// A flock is the canaries of one home.
type flock struct {
	hand   // for canaries planted in a fixed order
	t      *testing.T
	rules  []secretstest.Rule
	seed   uint64
	healed atomic.Bool // models no longer fail

	mu    sync.Mutex        // models plant concurrently
	all   map[string]string // forbidden texts, with their rule and location
	asked map[string]int    // number of times that a model got the same question
}

// A hand plants canaries, each with the next rule. They depend only on the flock's seed and the hand's name.
type hand struct {
	flock  *flock
	next   int
	random *rand.Rand
}

// newFlock has the same seed in each run unless seedVariable is set, so that a new failure is due to a change.
func newFlock(t *testing.T, n int) *flock {
	t.Helper()
	f := &flock{t: t, rules: canaryRules(t), seed: 1 + uint64(n)<<32, all: map[string]string{}, asked: map[string]int{}}
	if os.Getenv(seedVariable) != "" {
		f.seed = seed + uint64(n)<<32
	}
	if many := by(t, 40, len(f.rules), len(f.rules)); many < len(f.rules) { // gitleaks compiles each rule
		chosen := make([]secretstest.Rule, many)
		for i := range chosen {
			chosen[i] = f.rules[(i*len(f.rules)/many+int(f.seed%1000))%len(f.rules)]
		}
		f.rules = chosen
	}
	f.hand = f.another("the first")
	return f
}

// another returns the hand with a name.
func (f *flock) another(name string) hand {
	h := fnv.New64a()
	_, _ = io.WriteString(h, name)
	random := rand.New(rand.NewPCG(f.seed, h.Sum64()))
	return hand{f, random.IntN(len(f.rules)), random}
}

// add plants a canary after a space at the end of a text, or on a separate line if the text has blanks.
func (h *hand) add(text, field string) string {
	ways := []func(string) string{func(match string) string { return text + " " + match }}
	if strings.ContainsAny(text, " \n") {
		ways = append(ways, func(match string) string { return text + "\n" + match + "\nand so on" })
	}
	return h.plant(field, ways...)
}

// quotable reports whether the scanner finds a canary in JSON strings, in which agents and models write texts. A rule
// that needs the start or end of a line may miss a canary at a quotation mark.
func quotable(t *testing.T, c secretstest.Canary) bool {
	t.Helper()
	text, parts := c.Text, slices.Clone(c.Parts)
	for range 2 {
		text = `{"text":` + string(quoted(text)) + `}`
		out, _ := canaryScanner(t).Redact(text)
		for i, part := range parts {
			parts[i] = strings.Trim(string(quoted(part)), `"`)
			if strings.Contains(out, parts[i]) {
				return false
			}
		}
	}
	return true
}

var canaryScanner = once(func(t *testing.T) *secrets.Scanner {
	t.Helper()
	s, err := secrets.New(secrets.Options{})
	must(t, err)
	return s
})

// plant plants a canary of the next rule that finds a secret there.
func (h *hand) plant(field string, ways ...func(string) string) string {
	f := h.flock
	f.t.Helper()
	for range f.rules {
		rule := f.rules[h.next%len(f.rules)]
		h.next++
		c, ok := rule.Plant(h.random, true, ways...)
		if !ok || !quotable(f.t, c) {
			continue
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, part := range c.Parts {
			f.all[part] = c.Rule + " in " + field
		}
		return c.Text
	}
	f.t.Errorf("no rule sees a secret in %s", field)
	return ""
}

// sow writes sessions of all agents: some with a canary in every text, and some with a canary in one structural field.
func (f *flock) sow(dir string) {
	f.t.Helper()
	texts, alone := by(f.t, 2, 10, 24), by(f.t, 5, 40, 60)
	must(f.t, os.MkdirAll(dir, 0o700))
	all := templates(f.t)
	n := 0
	for i := range min(texts, len(all)) {
		n++
		x := all[(int(f.seed>>32)*texts+i)%len(all)].copyOf(n)
		x.fields(func(path, text string) string {
			if text == "" || holding.MatchString(path) {
				return text
			}
			return f.add(text, x.agent+" "+path)
		}).write(f.t, dir)
	}
	fields := slices.Clone(heldTogether(f.t))
	f.random.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	for _, at := range fields[:min(alone, len(fields))] {
		n++
		planted := map[string]string{}
		at.template.copyOf(n).fields(func(path, text string) string {
			if path != at.field || text == "" {
				return text
			}
			if planted[text] == "" {
				planted[text] = f.add(text, at.agent+" "+path)
			}
			return planted[text]
		}).write(f.t, dir)
	}
}

type fieldOf struct {
	template
	field string
}

// heldTogether returns the structural fields of all templates.
var heldTogether = once(func(t *testing.T) (fields []fieldOf) {
	for _, x := range templates(t) {
		seen := map[string]bool{}
		x.fields(func(path, text string) string {
			if holding.MatchString(path) && text != "" && !seen[path] {
				seen[path] = true
				fields = append(fields, fieldOf{x, path})
			}
			return text
		})
	}
	return fields
})

// A template is a session in an agent's format.
type template struct {
	agent, path, id string
	data            []byte
}

// templates returns the fixture sessions of one file, and the benchmark's sessions in each agent's format.
var templates = once(func(t *testing.T) []template {
	t.Helper()
	dir := t.TempDir()
	_, err := testdata.Write(dir)
	must(t, err)
	var out []template
	for _, s := range testdata.Expected() {
		if len(s.Files) != 1 || s.ID == "" || s.Kind != "main" || !strings.Contains(s.Files[0], s.ID) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(s.Files[0])))
		must(t, err)
		out = append(out, template{string(s.Source), s.Files[0], s.ID, data})
	}
	all, err := scenario.ReadAll(filepath.FromSlash("../../bench/memory/testdata/sessions"))
	must(t, err)
	for _, p := range all {
		for _, s := range p.Sessions {
			for _, agent := range scenario.Agents {
				s.Agent = string(agent)
				f := transcript.New(p, s)
				out = append(out, template{s.Agent, f.Path, f.ID, f.Data})
			}
		}
	}
	return out
})

// copyOf returns the session under another id, whose last six characters are the number n.
func (x template) copyOf(n int) template {
	digits := fmt.Sprintf("%06d", n)
	id := x.id[:len(x.id)-len(digits)] + digits
	x.path, x.data = strings.ReplaceAll(x.path, x.id, id), bytes.ReplaceAll(x.data, []byte(x.id), []byte(id))
	if short := x.id[:8]; !strings.Contains(x.path, id) { // some agents name files by the start of the id
		x.path = strings.Replace(x.path, short, short+digits, 1)
	}
	x.id = id
	return x
}

func (x template) write(t *testing.T, dir string) {
	t.Helper()
	put(t, filepath.Join(dir, filepath.FromSlash(x.path)), string(x.data))
}

// holding matches JSON paths of structural fields, which connect records or decide how a session is treated. Each gets
// a canary in a session of its own.
var holding = regexp.MustCompile(`(?i)(?:^|\.)(?:type|role|kind|name|tool|toolName|status|state|subtype|mode|source|originator|model\w*|provider\w*|api|version\w*|cli_version|history_mode|\w*(?:id|ids|uuid|hash)|\w*cwd|directory|directories|root|workdir|worktree|path|\w*time\w*|\w*At|start|end|created|updated|reason|command|cmd|exit\w*|entrypoint|userType|success|event)$`)

// rewrite replaces the strings in JSON, also in JSON inside strings. change gets a string's path of keys below under.
// Everything else stays, including the order of keys.
func rewrite(data []byte, under string, change func(path, text string) string) []byte {
	var out bytes.Buffer
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	type level struct {
		object, value bool   // value: the next token is a value
		n             int    // members or elements
		prefix, path  string // prefix of the object's keys, path of the next value
	}
	levels := []level{{path: under}}
	for {
		token, err := d.Token()
		if err != nil {
			return out.Bytes()
		}
		at := &levels[len(levels)-1]
		path := at.path
		if token == json.Delim('}') || token == json.Delim(']') {
			levels = levels[:len(levels)-1]
			fmt.Fprint(&out, token)
			continue
		}
		if key, isKey := token.(string); at.object && !at.value && isKey {
			if at.n++; at.n > 1 {
				out.WriteByte(',')
			}
			out.Write(quoted(key))
			out.WriteByte(':')
			at.value, at.path = true, at.prefix+key
			continue
		}
		if at.object {
			at.value = false
		} else if at.n++; at.n > 1 && len(levels) > 1 {
			out.WriteByte(',')
		}
		switch v := token.(type) {
		case json.Delim:
			levels = append(levels, level{object: v == '{', prefix: path + ".", path: path})
			fmt.Fprint(&out, v)
		case string:
			if inner := strings.TrimSpace(v); strings.HasPrefix(inner, "{") && json.Valid([]byte(inner)) {
				v = string(rewrite([]byte(inner), path, change))
			} else {
				v = change(path, v)
			}
			out.Write(quoted(v))
		case nil:
			out.WriteString("null")
		default:
			fmt.Fprint(&out, v)
		}
	}
}

func quoted(text string) []byte {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // cannot fail for a string
	}
	return b
}

// fields replaces the strings of a session whose file is one JSON document or one per line.
func (x template) fields(change func(path, text string) string) template {
	if json.Valid(x.data) {
		x.data = rewrite(x.data, "", change)
		return x
	}
	var out []byte
	for line := range bytes.Lines(x.data) {
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 && json.Valid(trimmed) {
			line = append(rewrite(trimmed, "", change), '\n')
		}
		out = append(out, line...)
	}
	x.data = out
	return x
}
