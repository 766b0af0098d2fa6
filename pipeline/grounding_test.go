package pipeline_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"memoir/model/modeltest"
	"memoir/pipeline"
)

// asked is the question of a call.
func asked(t *testing.T, c modeltest.Call) (question string, consolidates bool) {
	t.Helper()
	var body struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal(c.Body, &body); err != nil {
		t.Error(err)
		return "", false
	}
	for _, m := range body.Messages {
		if m.Role == "user" {
			return m.Content, strings.Contains(m.Content, "<current-memory>")
		}
	}
	return "", false
}

func object(fields map[string]any) string {
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// between is what a question shows between two tags.
func between(question, tag string) string {
	_, rest, _ := strings.Cut(question, "<"+tag+">\n")
	text, _, _ := strings.Cut(rest, "\n</"+tag+">")
	return text
}

var (
	listedNew = regexp.MustCompile(`(?m)^- (\S+ \d{4}-\d{2}-\d{2})$`)
	header    = regexp.MustCompile(`always write the header of fixture (\w+)`)
)

// answers is a model that extracts what the person said, and folds each session that is
// new or has changed into the memory as one line; more is added to each of its answers.
func answers(t *testing.T, question string, consolidates bool, more string) string {
	t.Helper()
	if !consolidates {
		said := header.FindString(question)
		memory := "## Preferences\n- Write the header: “" + said + "” [1]\n" + more
		return object(map[string]any{"raw_memory": memory, "rollout_summary": "# Headers\n\n## Task\n\n" + said + " [1].\n", "rollout_slug": "headers"})
	}
	memory, summary := between(question, "current-memory"), between(question, "current-summary")
	if memory == "(none)" {
		memory, summary = "", ""
	}
	var lines strings.Builder
	for _, m := range listedNew.FindAllStringSubmatch(between(question, "new-sessions")+"\n"+between(question, "changed-sessions"), -1) {
		fmt.Fprintf(&lines, "- the part %s needs its own care and attention [%s]\n", strings.Fields(m[1])[0], m[1])
	}
	if !strings.Contains(memory, "## What is known\n") {
		memory += "\n## What is known\n"
	}
	memory = strings.TrimRight(memory, "\n") + "\n" + lines.String() + more
	if first, _, _ := strings.Cut(lines.String(), "\n"); len(summary) < 2000 {
		summary += "\n## What to know\n\n" + first + "\n"
	}
	return object(map[string]any{"memory_md": memory, "memory_summary": summary, "skills": []any{}})
}

// answeredWell is what such a model answers to a call.
func answeredWell(t *testing.T, c modeltest.Call) modeltest.Step {
	t.Helper()
	question, consolidates := asked(t, c)
	return modeltest.Step{Text: answers(t, question, consolidates, "")}
}

func TestWhatAModelSaidWithoutGroundIsCounted(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 3)
	server := modeltest.OpenAIChat(t, func(_ int, c modeltest.Call) modeltest.Step {
		question, consolidates := asked(t, c)
		more := "- Use `make everything-else` for it [1]\n- Mind the gap\n- Mind the step [99]\n"
		if consolidates {
			more = "- a line that rests on nobody\n"
		}
		return modeltest.Step{Text: answers(t, question, consolidates, more)}
	})
	report := run(t, ofServer(t, home, dir, "default", server.URL))
	if report.Phase1.Stored != 3 || len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished {
		t.Fatalf("%+v, %+v, %+v", report.Phase1, report.Phase2, report.Warnings)
	}
	g := report.Grounding
	if g == nil || g.Statements != 3 || g.Lines < 3 || g.Dropped["ungrounded"] != 3 ||
		g.Dropped["uncited"] != 3 || g.Dropped["missing"] != 3 || g.Dropped["line"] != 1 {
		t.Errorf("%+v", g)
	}
	if builtin := run(t, options(t.TempDir(), dir)); builtin.Grounding != nil {
		t.Errorf("the built-in model: %+v", builtin.Grounding)
	}
}
