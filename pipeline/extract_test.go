package pipeline_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"memoir"
	"memoir/model/modeltest"
	"memoir/pipeline"
)

// inputOf is what a call of Chat Completions shows of a session.
func inputOf(t *testing.T, c modeltest.Call) string {
	t.Helper()
	var body struct {
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(c.Body, &body); err != nil || len(body.Messages) != 2 {
		t.Fatalf("%d messages, %v", len(body.Messages), err)
	}
	return body.Messages[1].Content
}

var typedItem = regexp.MustCompile(`(?m)^\{"n":(\d+),"kind":"message","role":"user".*"text":"([^"\n]*)"`)

// remembers answers with what was known before and a statement for each thing that a person said.
func remembers(t *testing.T, c modeltest.Call) string {
	input := inputOf(t, c)
	_, rest, _ := strings.Cut(input, "<earlier-memory>\n")
	memory, _, _ := strings.Cut(rest, "</earlier-memory>")
	if memory == "" {
		memory = "## Task\n"
	}
	for _, found := range typedItem.FindAllStringSubmatch(input, -1) {
		if statement := fmt.Sprintf("- %s [%s]\n", found[2], found[1]); !strings.Contains(memory, statement) {
			memory += statement
		}
	}
	text, err := json.Marshal(map[string]string{"raw_memory": memory, "rollout_summary": "# Work\n\nIt went on.\n", "rollout_slug": "work"})
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// said is what a person says in a turn.
func said(n int) string { return fmt.Sprintf("Step %d, please.", n) }

// turn is a turn of Claude Code with a long answer.
func turn(n int) string {
	answer := fmt.Sprintf("Understood, turn %d.", n)
	return strings.Replace(growing[1].turn(n, said(n)), answer, answer+strings.Repeat(fmt.Sprintf(" It is the %dth of many.", n), 40), 1)
}

// talk is a session of Claude Code with a number of turns.
func talk(turns int) string {
	text := ""
	for n := 1; n <= turns; n++ {
		text += turn(n)
	}
	return text
}

func TestASessionThatGrewIsReadFromWhatIsNew(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, growing[1].file)
	server := modeltest.OpenAIChat(t, func(_ int, c modeltest.Call) modeltest.Step { return modeltest.Step{Text: remembers(t, c)} })
	o := ofServer(t, home, dir, "phase1", server.URL)
	made := 0
	next := func(what string, calls int, want pipeline.Phase1Report) []string {
		t.Helper()
		if report := run(t, o); report.Phase1 != want {
			t.Errorf("%s: %+v", what, report.Phase1)
		}
		var inputs []string
		for _, c := range server.Calls()[made:] {
			inputs = append(inputs, inputOf(t, c))
		}
		if made += len(inputs); len(inputs) != calls {
			t.Fatalf("%s: %d calls, want %d", what, len(inputs), calls)
		}
		return inputs
	}
	stored := pipeline.Phase1Report{Claimed: 1, Stored: 1}

	put(t, path, talk(20), 1)
	first := next("new", 1, stored)[0]
	if strings.Contains(first, "<earlier-memory>") || strings.Count(first, "Understood, turn") != 20 {
		t.Errorf("first input:\n%s", first)
	}

	put(t, path, talk(21), 2)
	dry := o
	dry.DryRun = true
	if would := run(t, dry).Would; len(would) == 0 || would[0].Action != "extract" || 8*would[0].Tokens > 4*len(first) {
		t.Errorf("a dry run estimates %+v, of a session that was read with %d bytes", would, len(first))
	}
	second := next("grown", 1, stored)[0]
	_, transcript, _ := strings.Cut(second, "<transcript>")
	if !strings.Contains(second, "- Step 1, please.") || !strings.Contains(transcript, "Understood, turn 21.") || !strings.Contains(transcript, `"Step 21, please.`) || strings.Contains(transcript, "Understood, turn 19.") {
		t.Errorf("second input:\n%s", second)
	}
	if len(second)*2 > len(first) {
		t.Errorf("the first input has %d bytes, the second %d", len(first), len(second))
	}
	for n := 1; n <= 21; n++ {
		if memory := memoryOfSession(t, home); !strings.Contains(memory, fmt.Sprintf("- Step %d, please.", n)) {
			t.Errorf("step %d is forgotten:\n%s", n, memory)
		}
	}

	put(t, path, talk(21), 3)
	next("touched", 0, pipeline.Phase1Report{Unchanged: 1})

	// The last turn was undone, and another is in its place.
	text := talk(20) + strings.NewReplacer(`"u21"`, `"u22"`, `"a21"`, `"a22"`, "turn 21", "turn 22").Replace(growing[1].turn(21, said(22)))
	put(t, path, text, 4)
	third := next("rewritten", 1, stored)[0]
	if strings.Contains(third, "<earlier-memory>") || strings.Count(third, "Understood, turn") != 21 {
		t.Errorf("third input:\n%s", third)
	}
	if memory := memoryOfSession(t, home); strings.Contains(memory, "Step 21") || !strings.Contains(memory, "Step 22") {
		t.Errorf("what was undone is remembered:\n%s", memory)
	}

	// Another model goes on from what the one before it wrote.
	o.Settings.ModelRoles.Phase1 = "mine/other"
	next("another model", 0, pipeline.Phase1Report{})
	put(t, path, text+turn(23), 5)
	if fourth := next("grown, with another model", 1, stored)[0]; !strings.Contains(fourth, "- Step 22, please.") || strings.Contains(fourth, "Understood, turn 19.") {
		t.Errorf("fourth input:\n%s", fourth)
	}
}

func memoryOfSession(t *testing.T, home string) string {
	t.Helper()
	st := open(t, home)
	defer st.Close()
	var all string
	for _, p := range projectsIn(t, st) {
		extractions, err := st.Extractions(t.Context(), p.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range extractions {
			all += e.RawMemory
		}
	}
	return all
}

func TestWhatTheBuiltinModelWroteIsReadAnewByALanguageModel(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, growing[1].file)
	put(t, path, growing[1].turn(1, "Never deploy on a Friday."), 1)
	run(t, options(home, dir))
	server := modeltest.OpenAIChat(t, func(_ int, c modeltest.Call) modeltest.Step { return modeltest.Step{Text: remembers(t, c)} })
	put(t, path, growing[1].turn(1, "Never deploy on a Friday.")+growing[1].turn(2, "Always run make lint."), 2)
	run(t, ofServer(t, home, dir, "phase1", server.URL))
	if calls := server.Calls(); len(calls) != 1 || strings.Contains(inputOf(t, calls[0]), "<earlier-memory>") {
		t.Errorf("%d calls", len(calls))
	}
}

func TestASessionThatGrewByNothingWorthKeepingIsReadOn(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, growing[1].file)
	empty := false
	server := modeltest.OpenAIChat(t, func(_ int, c modeltest.Call) modeltest.Step {
		if empty {
			return modeltest.Step{Text: `{"raw_memory": "", "rollout_summary": "", "rollout_slug": ""}`}
		}
		return modeltest.Step{Text: remembers(t, c)}
	})
	o := ofServer(t, home, dir, "phase1", server.URL)
	put(t, path, talk(3), 1)
	run(t, o)
	before := memoryOfSession(t, home)
	for turns := 4; turns <= 5; turns++ {
		empty = true
		put(t, path, talk(turns), turns)
		if report := run(t, o); report.Phase1 != (pipeline.Phase1Report{Claimed: 1, Empty: 1}) || memoryOfSession(t, home) != before || len(report.Phase2) > 0 {
			t.Errorf("%d turns: %+v, %+v", turns, report.Phase1, report.Phase2)
		}
		calls := server.Calls()
		_, transcript, _ := strings.Cut(inputOf(t, calls[len(calls)-1]), "<transcript>")
		if strings.Contains(transcript, fmt.Sprintf("Understood, turn %d.", turns-2)) || !strings.Contains(transcript, fmt.Sprintf("Understood, turn %d.", turns)) {
			t.Errorf("%d turns: it was not read on:\n%s", turns, transcript)
		}
	}
}

func TestEachAgentsSessionIsReadOnWhenItGrew(t *testing.T) {
	t.Parallel()
	for _, format := range growing {
		home, dir := t.TempDir(), t.TempDir()
		path := filepath.Join(dir, "sessions", filepath.FromSlash(format.file))
		if format.source == memoir.SourceGemini {
			put(t, filepath.Join(dir, "sessions", ".project_root"), "/srv/app", 1)
		}
		server := modeltest.OpenAIChat(t, func(_ int, c modeltest.Call) modeltest.Step { return modeltest.Step{Text: remembers(t, c)} })
		o := ofServer(t, home, filepath.Join(dir, "sessions"), "phase1", server.URL)
		text := format.begin + format.turn(1, said(1))
		put(t, path, text, 1)
		run(t, o)
		put(t, path, text+format.turn(2, said(2)), 2)
		run(t, o)
		calls := server.Calls()
		if len(calls) != 2 {
			t.Errorf("%s: %d calls", format.source, len(calls))
			continue
		}
		if input := inputOf(t, calls[1]); !strings.Contains(input, "- Step 1, please. [1]") || !strings.Contains(input, "items up to 2: read before") {
			t.Errorf("%s:\n%s", format.source, input)
		}
	}
}
