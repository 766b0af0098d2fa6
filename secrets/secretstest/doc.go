// Package secretstest makes secrets for tests: strings that a rule's expression matches,
// and texts in which gitleaks' own detector finds a secret of the rule. It knows rules in
// gitleaks' form; it does not know the scanner that it is used to test.
//
// Read rule.go first.
package secretstest
