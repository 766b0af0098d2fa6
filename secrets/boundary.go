package secrets

import (
	"slices"
	"strings"

	"github.com/zricethezav/gitleaks/v8/config"
)

// Most of gitleaks' rules want a quote, white space, a semicolon, an escaped line break or
// the end of the text behind a secret, and no letter, digit or underscore before it. In
// transcripts, secrets also stand in lists, calls, addresses, tags, tables and at the end of
// a sentence, and those that are known by their beginning anywhere.
const (
	boundary = `(?:[\x60'"\s;]|\\[nr]|$)`
	spaced   = `(?:\s|\z)`
	wider    = `(?:[\x60'"\s;,)&<>\]}|\\:*]|[.!?](?:[\x60'"\s)]|$)|$)`
	widest   = `(?:[^A-Za-z0-9+.(]|\.(?:[^A-Za-z0-9]|$)|$)`

	wordStart = `\b(`
	tokenHead = `(?:\b|_|%[0-9A-Fa-f]{2}){1}(` // emphasis of Markdown, an escape of an address; {1} keeps anchors from being looked for in it
)

// asNames are the rules that take names of variables and of functions for secrets where
// what follows is no longer white space: "s.ReadUint16LengthPrefixed(x)" is a token's form.
var asNames = []string{"generic-api-key", "vault-service-token"}

// plainForms are the rules that begin with their secret, and know it by what other things have
// too: a number, a commit's hash, base64 of some zeros.
var plainForms = []string{"facebook-access-token", "sourcegraph-access-token", "square-access-token"}

// widen lets rules find their secrets before other characters, too, and behind some. What
// gitleaks finds, they find as before: none of the characters can be part of a secret of
// these rules.
func widen(c *config.ViperConfig) {
	for i := range c.Rules {
		r := &c.Rules[i]
		if slices.Contains(asNames, r.ID) {
			continue
		}
		end := wider
		if flags, token, ok := strings.Cut(r.Regex, wordStart); ok && (flags == "" || flags == "(?i)") && !slices.Contains(plainForms, r.ID) {
			r.Regex, end = flags+tokenHead+token, widest
		}
		head, ok := strings.CutSuffix(r.Regex, boundary)
		if !ok {
			head, ok = strings.CutSuffix(r.Regex, spaced)
		}
		if ok && !strings.HasSuffix(head, `")`) { // where the secret has its quotes, nothing is to be gained
			r.Regex = head + end
		}
	}
}
