package testdata

import (
	"slices"
	"strings"
)

// Fake makes a secret that gitleaks' rule of that name finds, the same on every
// call, and lists what of it must not turn up anywhere. It is not ok for a rule that
// it has no fake for; FakeRules names the others.
func Fake(rule string) (value string, planted []string, ok bool) {
	all := append(newSecrets(), furtherSecrets()...)
	i := slices.IndexFunc(all, func(s secret) bool { return s.rule == rule })
	if i < 0 {
		return "", nil, false
	}
	return all[i].value, all[i : i+1].planted(), true
}

// FakeRules names the rules that Fake knows.
func FakeRules() []string {
	rules := Rules()
	for _, s := range furtherSecrets() {
		rules = append(rules, s.rule)
	}
	return rules
}

// furtherSecrets are fakes that the fixture sessions do not plant.
func furtherSecrets() secrets {
	const (
		digits = "0123456789"
		hex    = digits + "abcdef"
		lower  = "abcdefghijklmnopqrstuvwxyz"
	)
	letters := lower + strings.ToUpper(lower) + digits
	text := randomText(20, 27)
	return secrets{
		{rule: "gitlab-pat", value: "glp" + "at-" + text(letters, 20)},
		{rule: "github-fine-grained-pat", value: "github" + "_pat_" + text(letters, 82)},
		{rule: "github-oauth", value: "gho" + "_" + text(letters, 36)},
		{rule: "slack-bot-token", value: "xox" + "b-" + text(digits[1:], 12) + "-" + text(digits[1:], 12) + "-" + text(letters, 24)},
		{rule: "slack-webhook-url", value: "https://hooks.slack" + ".com/services/" + text(letters, 44)},
		{rule: "stripe-access-token", value: "sk" + "_live_" + text(letters, 24)},
		{rule: "npm-access-token", value: "npm" + "_" + text(letters, 36)},
		{rule: "openai-api-key", value: "sk" + "-" + text(letters, 20) + "T3Blbk" + "FJ" + text(letters, 20)},
		{rule: "anthropic-api-key", value: "sk-ant" + "-api03-" + text(letters, 93) + "AA"},
		{rule: "gcp-api-key", value: "AIz" + "a" + text(letters, 35)},
		{rule: "jwt", value: "ey" + "J" + text(letters, 24) + ".ey" + "J" + text(letters, 48) + "." + text(letters, 43)},
		{rule: "sendgrid-api-token", value: "SG" + "." + text(letters, 66)},
		{rule: "pypi-upload-token", value: "pypi" + "-AgEIcHlwaS5vcmc" + text(letters, 70)},
		{rule: "digitalocean-pat", value: "dop" + "_v1_" + text(hex, 64)},
		{rule: "huggingface-access-token", value: "hf" + "_" + text(lower, 34)},
		{rule: "sentry-user-token", value: "sntr" + "yu_" + text(hex, 64)},
		{rule: "linear-api-key", value: "lin" + "_api_" + text(letters, 40)},
		{rule: "twilio-api-key", value: "S" + "K" + text(hex, 32)},
		{rule: "generic-api-key", value: text(letters, 40)}, // found behind "token =" and the like
	}
}
