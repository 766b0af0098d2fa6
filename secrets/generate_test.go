package secrets

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// contexts are the ways in which a secret stands in a transcript.
var plantings = []struct {
	name  string
	plant func(id, secret string) string
}{
	{"bare", func(_, s string) string { return s }},
	{"key = value", func(id, s string) string { return id + " = " + s + "\n" }},
	{"quoted assignment", func(id, s string) string { return "const " + id + " = \"" + s + "\";\n" }},
	{"YAML", func(id, s string) string { return "service:\n  " + id + ": " + s + "\n  name: x\n" }},
	{"JSON", func(id, s string) string { return "{\"name\":\"x\",\"" + id + "\":" + quote(s) + ",\"n\":1}" }},
	{"JSON in JSON", func(id, s string) string {
		return "{\"arguments\":" + quote("{\"command\":\"echo\\nrun\",\""+id+"\":"+quote(s)+"}\n") + "}"
	}},
	{"shell export", func(id, s string) string {
		return "$ export " + strings.ToUpper(strings.ReplaceAll(id, "-", "_")) + "='" + s + "' && make\n"
	}},
	{"URL", func(id, s string) string { return "GET https://api.test/v1/x?" + id + "=" + s + "&page=2 200\n" }},
	{"log line", func(id, s string) string { return "12:00:01 INFO  client: using " + id + ": " + s + " (cached)\n" }},
	{"Markdown table", func(id, s string) string { return "| name | value |\n|---|---|\n| " + id + " | `" + s + "` |\n" }},
	{"keyword elsewhere", func(id, s string) string { return s + "\nsee the docs of " + id + " at the end" }},
}

func quote(s string) string { return strconv.Quote(s) }

// newRandom is a source that gives the same numbers each time.
func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }

func mustLoad(t testing.TB, extra bool) *ruleSet {
	t.Helper()
	set, err := loadRules(Options{}, extra)
	if err != nil {
		t.Fatal(err)
	}
	return set
}
