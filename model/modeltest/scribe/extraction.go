package scribe

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"memoir"
)

// Extraction is an answer of Phase 1.
type Extraction struct {
	RawMemory      string `json:"raw_memory"`
	RolloutSummary string `json:"rollout_summary"`
	RolloutSlug    string `json:"rollout_slug"`
}

// Item is an item of a session as it is shown.
type Item struct {
	N      int    `json:"n"`
	Kind   string `json:"kind"`
	Role   string `json:"role"`
	Origin string `json:"origin"`
	Final  bool   `json:"final"`
	Text   string `json:"text"`
	Tool   string `json:"tool"`
	Input  string `json:"input"`
	Output string `json:"output"`
	Exit   *int   `json:"exit"`
	Failed bool   `json:"failed"`
}

// Items are those that a question of Phase 1 shows.
func (q Question) Items() []Item {
	var items []Item
	if err := json.Unmarshal([]byte(q.between("transcript")), &items); err != nil {
		return nil
	}
	return items
}

// Bounds of what an answer of Phase 1 tells, in statements of a kind.
const (
	maxTold  = 15
	maxQuote = 140 // bytes
	minQuote = 8
)

// Extraction tells what the session shows; nothing where nobody typed anything.
func (q Question) Extraction() Extraction {
	var tasks, told, outcome []memoir.Statement
	seen := map[string]bool{}
	add := func(to *[]memoir.Statement, kind memoir.StatementKind, text string, items ...int) {
		if key := string(kind) + text; !seen[key] && len(*to) < maxTold {
			seen[key] = true
			*to = append(*to, memoir.Statement{Kind: kind, Text: text, Items: items})
		}
	}
	var wants, runs, fails, found []memoir.Statement
	asked, askedAt := "", 0
	for _, it := range q.Items() {
		switch {
		case it.Kind != memoir.ItemTool && memoir.Origin(it.Origin).ByPerson():
			said := Quote(it.Text)
			if said == "" {
				continue
			}
			if asked, askedAt = "", it.N; strings.Contains(it.Text, "?") {
				asked = said
			}
			add(&tasks, memoir.StatementTask, "“"+said+"”", it.N)
			for _, rule := range Rules(it.Text) {
				add(&wants, memoir.StatementPreference, "“"+rule+"”", it.N)
			}
		case it.Kind != memoir.ItemTool && it.Role == "assistant":
			said := Quote(it.Text)
			if said == "" {
				continue
			}
			outcome = []memoir.Statement{
				{
					Kind:  memoir.StatementOutcome,
					Text:  "unknown: the agent closed with “" + said + "”",
					Items: []int{it.N},
				},
			}
			if asked != "" && it.Final {
				add(&found, memoir.StatementDecision, "asked “"+asked+"”, the agent said “"+said+"”", askedAt, it.N)
				asked = ""
			}
		case it.Kind == memoir.ItemTool:
			line := Command(it)
			switch {
			case line == "":
			case it.Failed || it.Exit != nil && *it.Exit != 0:
				if said := Quote(it.Output); said != "" {
					add(&fails, memoir.StatementFailure, "`"+line+"` failed: “"+said+"”", it.N)
				}
			case it.Exit != nil:
				add(&runs, memoir.StatementCommand, "`"+line+"` ends with exit code 0", it.N)
			default: // not every agent tells codes
				add(&runs, memoir.StatementCommand, "`"+line+"` runs without a failure", it.N)
			}
		}
	}
	if len(tasks) == 0 {
		return Extraction{}
	}
	told = slices.Concat(q.earlier(), tasks, outcome, wants, fails, runs, found)
	title := strings.Trim(tasks[0].Text, "“”")
	summary := fmt.Sprintf("# %s\n\n", title)
	for _, st := range tasks {
		summary += fmt.Sprintf("- asked: %s [%d]\n", st.Text, st.Items[0])
	}
	return Extraction{RawMemory: memoir.FormatStatements(told), RolloutSummary: summary, RolloutSlug: slugOf(title)}
}

// earlier are the statements of an earlier extraction of the session, if the question
// shows one: they stay.
func (q Question) earlier() []memoir.Statement {
	for _, tag := range earlierTag.FindAllStringSubmatch(q.Input, -1) {
		if statements := memoir.ParseStatements(q.between(tag[1])); len(statements) > 0 {
			return statements
		}
	}
	return nil
}

var earlierTag = regexp.MustCompile(`(?m)^<([a-z]*earlier[a-z-]*)>$`)

// calm is what a quotation is made of, so that nothing in it has a meaning for Markdown.
var calm = regexp.MustCompile(`[^“”„«»"\x60\n\r\t<>\[\]()|*_~#\\]+`)

// Quote is a piece of a text that can be quoted as it stands, cut at a word; empty if
// there is none of some length. Where a secret was taken out, it ends.
func Quote(text string) string {
	for _, piece := range calm.FindAllString(text, 8) {
		if len(piece) > maxQuote {
			at := strings.LastIndexByte(piece[:maxQuote], ' ')
			if at < minQuote {
				continue
			}
			piece = piece[:at]
		}
		piece = strings.Trim(piece, " .,;:!?-–—'’‘&•·=+/")
		if len(piece) >= minQuote && strings.Contains(piece, " ") {
			return piece
		}
	}
	return ""
}

var (
	standing    = regexp.MustCompile(`(?i)\b(?:always|never|from now on|do not ever|must not)\b`)
	sentenceEnd = regexp.MustCompile(`[.!?\n]`)
)

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

// Command is the line that an item ran; empty if it is none that can be shown in one line.
func Command(it Item) string {
	line := strings.TrimSpace(it.Input)
	if len(line) < 3 || len(line) > 90 || strings.HasPrefix(line, "{") ||
		strings.ContainsAny(line, "`\n\r\t<>[]“”\"'\\*") {
		return ""
	}
	return line
}

var notOfSlug = regexp.MustCompile(`[^a-z0-9]+`)

func slugOf(title string) string {
	slug := strings.Trim(notOfSlug.ReplaceAllString(strings.ToLower(title), "-"), "-")
	if len(slug) > 50 {
		slug = strings.Trim(slug[:50], "-")
	}
	return slug
}
