// Package scribe is a language model for tests that answers well. It knows nothing
// but the question, as a server or a program was asked it: of a session it tells what
// people typed and which commands ran, each with the number of its item; into a memory
// it folds what the sessions state, citing them. The same question has the same answer.
package scribe

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/model/modeltest"
)

// Phase is what a question is for.
type Phase string

// The phases.
const (
	Extract     Phase = "extract"
	Consolidate Phase = "consolidate"
	Reflect     Phase = "reflect"
)

// Question is what a model was asked.
type Question struct {
	Phase     Phase  // empty if it is neither
	Input     string // with the data between its tags
	Objection string // what was wrong with an earlier answer; empty: there was none
}

// Asked reads a call to a server, in whichever format it came.
func Asked(c modeltest.Call) Question {
	var q Question
	body := gjson.ParseBytes(c.Body)
	for _, turn := range body.Get("messages").Array() {
		if turn.Get("role").Str != "user" {
			continue
		}
		text := turn.Get("content").Str
		for _, part := range turn.Get("content").Array() {
			text += part.Get("text").Str
		}
		if q.Input == "" {
			q.Input = text
		} else {
			q.Objection = text
		}
	}
	q.Phase = phaseOf(q.Input)
	return q
}

// Read reads the question that a program has on its standard input.
func Read(stdin string) Question {
	const objects = "\n\nThat answer could not be used: "
	q := Question{Input: stdin}
	if input, rest, ok := strings.Cut(stdin, "\n\nYou answered:\n\n"); ok {
		q.Input = input
		if at := strings.LastIndex(rest, objects); at >= 0 {
			q.Objection = rest[at+len(objects):]
		}
	}
	q.Phase = phaseOf(q.Input)
	return q
}

func phaseOf(input string) Phase {
	switch {
	case strings.Contains(input, "<transcript>\n") && strings.Contains(input, "<current-memory>\n"):
		return Reflect
	case strings.Contains(input, "<transcript>\n"):
		return Extract
	case strings.Contains(input, "<raw-memories>\n"):
		return Consolidate
	}
	return ""
}

// Answer answers well.
func (q Question) Answer() string {
	switch q.Phase {
	case Extract:
		return encode(q.Extraction())
	case Consolidate:
		return encode(q.Memory())
	case Reflect:
		return `{"ops": [{"op": "insert", "line": 4, "content": "- by reflection"}]}`
	}
	return "ok"
}

func encode(answer any) string {
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err) // texts have a JSON form
	}
	return string(text)
}

// between is what a question shows between two tags. Data cannot imitate them: what
// looks like one has an entity for its bracket, and keeps it in an answer.
func (q Question) between(tag string) string {
	_, rest, ok := strings.Cut(q.Input, "<"+tag+">\n")
	if !ok {
		return ""
	}
	text, _, _ := strings.Cut(rest, "\n</"+tag+">")
	if text == "(none)" {
		return ""
	}
	return text
}

// Extraction is an answer of Phase 1.
type Extraction struct {
	RawMemory      string `json:"raw_memory"`
	RolloutSummary string `json:"rollout_summary"`
	RolloutSlug    string `json:"rollout_slug"`
	HistoryEntry   string `json:"history_entry"`
}

// item is an item of a session as it is shown.
type item struct {
	N      int           `json:"n"`
	Kind   string        `json:"kind"`
	Origin memoir.Origin `json:"origin"`
	Text   string        `json:"text"`
	Input  string        `json:"input"`
	Output string        `json:"output"`
	Exit   *int          `json:"exit"`
	Failed bool          `json:"failed"`
}

// Bounds of what an answer of Phase 1 tells.
const (
	maxTold  = 15  // statements of a kind
	maxQuote = 140 // bytes
	minQuote = 8
)

// Extraction tells what the session shows; nothing where nobody typed anything.
func (q Question) Extraction() Extraction {
	var items []item
	if json.Unmarshal([]byte(q.between("transcript")), &items) != nil {
		return Extraction{}
	}
	var told []memoir.Statement
	many, title, summary := map[memoir.StatementKind]int{}, "", ""
	add := func(kind memoir.StatementKind, n int, format string, args ...any) {
		st := memoir.Statement{Kind: kind, Text: fmt.Sprintf(format, args...), Items: []int{n}}
		known := func(earlier memoir.Statement) bool { return earlier.Kind == kind && earlier.Text == st.Text }
		if many[kind] < maxTold && !slices.ContainsFunc(told, known) {
			many[kind]++
			told = append(told, st)
		}
	}
	for _, it := range items {
		line := command(it.Input)
		switch said := Quote(it.Text); {
		case it.Kind != memoir.ItemTool && it.Origin.ByPerson() && said != "":
			if title == "" {
				title = said
			}
			add(memoir.StatementTask, it.N, "“%s”", said)
			summary += fmt.Sprintf("- asked: “%s” [%d]\n", said, it.N)
			for _, rule := range Rules(it.Text) {
				add(memoir.StatementPreference, it.N, "“%s”", rule)
			}
		case it.Kind != memoir.ItemTool || line == "":
		case it.Failed || it.Exit != nil && *it.Exit != 0:
			if why := Quote(it.Output); why != "" {
				add(memoir.StatementFailure, it.N, "`%s` failed: “%s”", line, why)
			}
		case it.Exit != nil:
			add(memoir.StatementCommand, it.N, "`%s` ends with exit code 0", line)
		default: // not every agent tells codes
			add(memoir.StatementCommand, it.N, "`%s` runs without a failure", line)
		}
	}
	if title == "" {
		return Extraction{}
	}
	slug := notOfSlug.ReplaceAllString(strings.ToLower(title), "-")
	return Extraction{RawMemory: memoir.FormatStatements(told), RolloutSummary: "# " + title + "\n\n" + summary,
		RolloutSlug: strings.Trim(slug[:min(len(slug), 50)], "-"), HistoryEntry: "[2026-07-01 10:00] Asked: " + title}
}

var (
	// calm is what a quotation is made of, so that nothing in it has a meaning for Markdown.
	calm        = regexp.MustCompile(`[^“”„«»"\x60\n\r\t<>\[\]()|*_~#\\]+`)
	standing    = regexp.MustCompile(`(?i)\b(?:always|never|from now on|do not ever|must not)\b`)
	sentenceEnd = regexp.MustCompile(`[.!?\n]`)
	notOfSlug   = regexp.MustCompile(`[^a-z0-9]+`)
)

// Quote is a piece of a text that can be quoted as it stands, cut at a word; empty if
// there is none of some length. Where a secret was taken out, it ends.
func Quote(text string) string {
	for _, piece := range calm.FindAllString(text, 8) {
		if len(piece) > maxQuote {
			piece = piece[:max(strings.LastIndexByte(piece[:maxQuote], ' '), 0)]
		}
		piece = strings.Trim(piece, " .,;:!?-–—'’‘&•·=+/")
		if len(piece) >= minQuote && strings.Contains(piece, " ") {
			return piece
		}
	}
	return ""
}

// Rules are the sentences of a text that say what holds always or never.
func Rules(text string) []string {
	var out []string
	for _, sentence := range sentenceEnd.Split(text, -1) {
		if said := Quote(sentence); said != "" && standing.MatchString(said) {
			out = append(out, said)
		}
	}
	return out
}

// command is the line that an item ran; empty if it is none that can be shown in one line.
func command(input string) string {
	line := strings.TrimSpace(input)
	if len(line) < 3 || len(line) > 90 || strings.HasPrefix(line, "{") ||
		strings.ContainsAny(line, "`\n\r\t<>[]“”\"'\\*") {
		return ""
	}
	return line
}
