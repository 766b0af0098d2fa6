// Package secrets finds and redacts secrets in text. It uses gitleaks' rules, and its own rules for secrets that
// gitleaks misses in transcripts. It handles only rules and text, not where a text is read or stored. It keeps
// secrets no longer than the Redactor of one session.
//
// Read scanner.go first (the API), then find.go (from text to findings), normal.go (escapes) and redact.go (from
// findings to redacted text).
package secrets
