package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"memoir"
)

// StatementsFile has the statements of all sessions of a generation, a session a line, as data.
const StatementsFile = "statements.jsonl"

// A sessionLine is a line of StatementsFile.
type sessionLine struct {
	Session    string             `json:"session"` // its key
	Title      string             `json:"title"`
	Slug       string             `json:"slug"`
	CWD        string             `json:"cwd"`
	Branch     string             `json:"branch"`
	Started    time.Time          `json:"started"`
	Ended      time.Time          `json:"ended"`
	Model      string             `json:"model"`
	Statements []memoir.Statement `json:"statements"`
}

// EncodeStatements returns the content of StatementsFile, with each text changed, in the order of the extractions.
func EncodeStatements(extractions []memoir.Extraction, change func(string) string) []byte {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	for _, e := range extractions {
		line := sessionLine{e.SessionKey, change(e.Title), e.RolloutSlug, change(e.CWD), change(e.Branch), e.StartedAt.UTC(),
			e.EndedAt.UTC(), e.Model, memoir.Changed(e.Statements, change)}
		if err := to.Encode(line); err != nil {
			panic(err) // texts, numbers and times always encode
		}
	}
	return []byte(inert.Replace(b.String()))
}

// inert escapes the characters with which Markdown loads something. JSON has them in strings alone; the encoder escapes
// angle brackets itself.
var inert = strings.NewReplacer("@", `\u0040`, "!", `\u0021`, "(", `\u0028`)

// DecodeStatements is the inverse of EncodeStatements. The extractions have no rollout summaries and no hashes.
func DecodeStatements(content []byte) ([]memoir.Extraction, error) {
	var out []memoir.Extraction
	n := 0
	for line := range bytes.Lines(content) {
		n++
		var l sessionLine
		if err := json.Unmarshal(line, &l); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", StatementsFile, n, err)
		}
		out = append(out, memoir.Extraction{SessionKey: l.Session, Title: l.Title, RolloutSlug: l.Slug, CWD: l.CWD,
			Branch: l.Branch, StartedAt: l.Started, EndedAt: l.Ended, Model: l.Model, Statements: l.Statements})
	}
	return out, nil
}

// ChangeStatements returns the content of StatementsFile with each text changed. It returns a content that is not valid
// as it is.
func ChangeStatements(content []byte, change func(string) string) []byte {
	all, err := DecodeStatements(content)
	if err != nil {
		return content
	}
	for i := range all {
		if slug := all[i].RolloutSlug; slug != "" && change(slug) != slug {
			all[i].RolloutSlug = ""
		}
	}
	return EncodeStatements(all, change)
}

// Readable returns the content of a file as text: of StatementsFile, each text on a line.
func Readable(path string, content []byte) string {
	all, err := DecodeStatements(content)
	if path != StatementsFile || err != nil {
		return string(content)
	}
	var lines []string
	EncodeStatements(all, func(text string) string {
		lines = append(lines, text)
		return text
	})
	return strings.Join(lines, "\n")
}
