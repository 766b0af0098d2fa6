package secrets

import (
	"slices"
	"strings"

	"github.com/zricethezav/gitleaks/v8/config"
)

// Most of gitleaks' rules want a quote, white space, a semicolon, an escaped line break or
// the end of the text behind a secret. In transcripts, secrets also stand in lists,
// calls, addresses, tags, tables and at the end of a sentence.
const (
	boundary = `(?:[\x60'"\s;]|\\[nr]|$)`
	spaced   = `(?:\s|\z)`
	wider    = `(?:[\x60'"\s;,)&<>\]}|\\:*]|[.!?](?:\s|$)|$)`
)

// asNames are the rules that take names of variables and of functions for secrets where
// what follows is no longer white space: "s.ReadUint16LengthPrefixed(x)" is a token's form.
var asNames = []string{"generic-api-key", "vault-service-token"}

// widen lets rules find their secrets before other characters, too. What gitleaks finds,
// they find as before: none of the characters can be part of a secret of these rules.
func widen(c *config.ViperConfig) {
	for i := range c.Rules {
		if slices.Contains(asNames, c.Rules[i].ID) {
			continue
		}
		head, ok := strings.CutSuffix(c.Rules[i].Regex, boundary)
		if !ok {
			head, ok = strings.CutSuffix(c.Rules[i].Regex, spaced)
		}
		if ok && !strings.HasSuffix(head, `")`) { // where the secret has its quotes, nothing is to be gained
			c.Rules[i].Regex = head + wider
		}
	}
}
