package testdata

import (
	"bytes"
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
	parts []string // what must not turn up anywhere; the value if empty
}

type secrets []secret

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// randomText returns a maker of texts of n letters of an alphabet: the same ones, in
// order, for the same seeds.
func randomText(seed1, seed2 uint64) func(alphabet string, n int) string {
	random := rand.New(rand.NewPCG(seed1, seed2))
	return func(alphabet string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(alphabet[random.IntN(len(alphabet))])
		}
		return b.String()
	}
}

// newSecrets makes the same fakes on every call: golden results stay equal.
func newSecrets() secrets {
	text := randomText(20, 26)
	body := []string{text(letters, 64), text(letters, 64), text(letters, 48)}
	kind := "OPENSSH PRIVATE " + "KEY-----"
	return secrets{
		{rule: "github-pat", value: "ghp" + "_" + text(letters, 36)},
		{rule: "aws-access-token", value: "AKI" + "A" + text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)},
		{
			rule:  "private-key",
			value: "-----BEGIN " + kind + "\n" + strings.Join(body, "\n") + "\n-----END " + kind,
			parts: body,
		},
	}
}

func (s secret) placeholder() string { return "@@SECRET:" + s.rule + "@@" }

// fill replaces the placeholders in a session's bytes, all of which stand
// inside JSON strings.
func (s secrets) fill(data []byte) []byte {
	for _, secret := range s {
		quoted, err := json.Marshal(secret.value)
		if err != nil {
			panic(err) // a string is always valid JSON
		}
		data = bytes.ReplaceAll(data, []byte(secret.placeholder()), quoted[1:len(quoted)-1])
	}
	return data
}

// planted lists what must not turn up anywhere.
func (s secrets) planted() []string {
	var out []string
	for _, secret := range s {
		if len(secret.parts) == 0 {
			out = append(out, secret.value)
		}
		out = append(out, secret.parts...)
	}
	return out
}

// Rules names the gitleaks rules whose secrets Write plants.
func Rules() []string {
	var out []string
	for _, secret := range newSecrets() {
		out = append(out, secret.rule)
	}
	return out
}

// Fake makes a secret that gitleaks' rule of that name finds, the same on every
// call, and lists what of it must not turn up anywhere. It is not ok for a rule that
// it has no fake for.
func Fake(rule string) (value string, planted []string, ok bool) {
	all := append(newSecrets(), furtherSecrets()...)
	i := slices.IndexFunc(all, func(s secret) bool { return s.rule == rule })
	if i < 0 {
		return "", nil, false
	}
	return all[i].value, all[i : i+1].planted(), true
}

// furtherSecrets are fakes that the fixture sessions do not plant.
func furtherSecrets() secrets {
	text := randomText(20, 27)
	return secrets{
		{rule: "gitlab-pat", value: "glp" + "at-" + text(letters, 20)},
		{rule: "slack-bot-token", value: "xox" + "b-" + text("123456789", 12) + "-" + text("123456789", 12) + "-" + text(letters, 24)},
		{rule: "generic-api-key", value: text(letters, 40)}, // found behind "token =" and the like
	}
}
