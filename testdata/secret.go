package testdata

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
)

// A secret is a fake that gitleaks' rule of that name finds. Fakes are made
// when they are written, because a repository that holds anything that looks like a
// secret trips the scanners of whoever clones it.
type secret struct {
	rule  string
	value string   // what replaces the placeholder
	parts []string // what must not turn up anywhere
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// newSecrets makes the same fakes on every call: golden results stay equal.
func newSecrets() []secret {
	random := rand.New(rand.NewPCG(20, 26))
	text := func(alphabet string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(alphabet[random.IntN(len(alphabet))])
		}
		return b.String()
	}
	one := func(rule, value string) secret { return secret{rule, value, []string{value}} }
	key := []string{text(letters, 64), text(letters, 64), text(letters, 48)}
	kind := "OPENSSH PRIVATE " + "KEY-----"
	return []secret{
		one("github-pat", "ghp"+"_"+text(letters, 36)),
		one("aws-access-token", "AKI"+"A"+text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
		{"private-key", "-----BEGIN " + kind + "\n" + strings.Join(key, "\n") + "\n-----END " + kind, key},
		one("gitlab-pat", "glp"+"at-"+text(letters, 20)),
		one("slack-bot-token",
			"xox"+"b-"+text("123456789", 12)+"-"+text("123456789", 12)+"-"+text(letters, 24)),
		one("generic-api-key", text(letters, 40)), // found behind "token =" and the like
	}
}

// Fill replaces the placeholders in text, all of which stand inside JSON strings,
// and lists what of the secrets must not turn up anywhere.
func Fill(text string) (filled string, planted []string) {
	for _, s := range newSecrets() {
		placeholder := "@@SECRET:" + s.rule + "@@"
		if !strings.Contains(text, placeholder) {
			continue
		}
		quoted, err := json.Marshal(s.value)
		if err != nil {
			panic(err) // a string is always valid JSON
		}
		text = strings.ReplaceAll(text, placeholder, string(quoted[1:len(quoted)-1]))
		planted = append(planted, s.parts...)
	}
	return text, planted
}

// Fake makes a secret that gitleaks' rule of that name finds, the same on every
// call, and lists what of it must not turn up anywhere. It is not ok for a rule that
// it has no fake for.
func Fake(rule string) (value string, planted []string, ok bool) {
	all := newSecrets()
	i := slices.IndexFunc(all, func(s secret) bool { return s.rule == rule })
	if i < 0 {
		return "", nil, false
	}
	return all[i].value, all[i].parts, true
}
