// Package scribe is a language model for tests that answers well. It knows nothing
// but the question, as a server or a program was asked it: of a session it tells what
// people typed and which commands ran, each with the number of its item; into a memory
// it folds what the sessions state, citing them. The same question has the same answer.
//
// Read extraction.go for Phase 1 and memory.go for Phase 2.
package scribe

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"memoir/model/modeltest"
)

// Phase is what a question is for.
type Phase string

// The phases.
const (
	Extract     Phase = "extract"
	Consolidate Phase = "consolidate"
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
