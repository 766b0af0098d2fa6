// Package secrets finds and redacts secrets in text with gitleaks' rules, and
// with rules of its own for what gitleaks misses and transcripts hold. It knows
// rules and text; it does not know where a text comes from or where it goes, and
// it holds no secret longer than the Redactor of one session does.
//
// Read scanner.go first (the API), then find.go (from a text to findings),
// verdict.go (gitleaks' judgement of one match), window.go with anchor.go,
// behind.go and dfa.go (why that is fast and exact), view.go, markup.go, hidden.go, doubled.go, numbered.go,
// separated.go, quoted.go and encoded.go (other ways to read a text), whole.go with beginnings.go
// (texts of which rules would read too much), shape.go and tracer.go (what a match captures), apart.go with records.go,
// tables.go, html.go, lists.go, logins.go, hashed.go and stretch.go (names and values that stand apart), redact.go with tail.go and
// escaped.go (from findings to a text without them), known.go with crowd.go, stripped.go and
// disguise.go (the forms in which a secret stands elsewhere), scrambled.go (random letters, told
// from words), filenamed.go (files whose name says that they are a secret), config.go with unread.go
// (a person's rules). The package's own rules are in extra.toml, passwords.toml and told.toml.
package secrets
