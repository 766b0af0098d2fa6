// Package secrets finds and redacts secrets in text with gitleaks' rules, and
// with rules of its own for what gitleaks misses and transcripts hold. It knows
// rules and text; it does not know where a text comes from or where it goes, and
// it holds no secret longer than the Redactor of one session does.
//
// Read scanner.go first (the API), then find.go (from a text to findings), normal.go and
// redact.go (from findings to a text without them).
package secrets
