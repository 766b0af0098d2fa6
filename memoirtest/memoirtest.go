// Package memoirtest writes statements for tests as Markdown.
package memoirtest

import (
	"regexp"
	"strconv"
	"strings"

	"memoir"
)

var (
	counts   = regexp.MustCompile(`^(.*) \((\d+) (?:times|edits?)\)$`)
	commands = regexp.MustCompile("^(?:([a-z ]+): )?`([^`]+)`(?: in `([^`]+)`)?")
	quotes   = regexp.MustCompile(`^“([^“”]*)”(?: \(after: .*\))?$`)
	spans    = regexp.MustCompile("^`([^`]+)`")
)

// withFields sets the fields of a statement from its text.
func withFields(st memoir.Statement) memoir.Statement {
	st.Signal, st.By, st.At = memoir.SignalModel, memoir.ByTool, "2026-07-01"
	for _, signal := range []string{memoir.SignalRule, memoir.SignalMaybe, "passed"} {
		if text, ok := strings.CutPrefix(st.Text, signal+": "); ok {
			st.Text, st.Signal = text, signal
		}
	}
	if m := counts.FindStringSubmatch(st.Text); m != nil {
		st.Text = m[1]
		st.Times, _ = strconv.Atoi(m[2])
	}
	switch st.Kind {
	case memoir.StatementPreference:
		st.By = memoir.ByPerson
		if m := quotes.FindStringSubmatch(st.Text); m != nil {
			st.Quote = m[1]
		}
	case memoir.StatementTask:
		_, st.Outcome, _ = strings.Cut(st.Text, " → ")
	case memoir.StatementOutcome:
		st.Outcome, st.Detail, _ = strings.Cut(st.Text, " — ")
	case memoir.StatementCommand:
		if m := commands.FindStringSubmatch(st.Text); m != nil {
			st.Purpose, st.Command, st.Dir = m[1], m[2], m[3]
			for _, purpose := range []string{"test", "lint", "run"} { // as a model's words are read
				if st.Purpose == "" && (strings.Contains(st.Command, purpose) || purpose == "run") {
					st.Purpose = purpose
				}
			}
		}
	case memoir.StatementFailure:
		command, rest, _ := strings.Cut(st.Text, " failed")
		st.Command = strings.Trim(command, "`")
		if why, fix, ok := strings.Cut(rest, "; fixed by "); ok {
			st.Error, st.Fix = strings.TrimPrefix(why, ": "), strings.Trim(fix, "`")
			st.Signature = memoir.Signature(st.Error)
		}
	case memoir.StatementFile:
		if m := spans.FindStringSubmatch(st.Text); m != nil {
			st.Paths = []string{m[1]}
		}
	}
	return st
}

// Statements reads the format of memoir.FormatStatements, and the fields from the forms of lines that the built-in
// model writes. It skips unknown sections and prose, and accepts missing citations.
func Statements(markdown string) []memoir.Statement {
	var out []memoir.Statement
	var kind memoir.StatementKind
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			kind = ""
			for _, k := range memoir.StatementKinds {
				if strings.EqualFold(string(k), strings.TrimSpace(heading)) {
					kind = k
				}
			}
			continue
		}
		text, ok := strings.CutPrefix(line, "- ")
		if !ok || kind == "" {
			continue
		}
		text, items := cutItems(strings.TrimSpace(text))
		if text != "" {
			out = append(out, withFields(memoir.Statement{Kind: kind, Text: text, Items: items}))
		}
	}
	return out
}

// cutItems splits a trailing "[1, 2]" off a statement's text.
func cutItems(text string) (string, []int) {
	open := strings.LastIndexByte(text, '[')
	if open < 0 || !strings.HasSuffix(text, "]") {
		return text, nil
	}
	var items []int
	for field := range strings.SplitSeq(text[open+1:len(text)-1], ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 1 {
			return text, nil
		}
		items = append(items, n)
	}
	return strings.TrimSpace(text[:open]), items
}
