package consolidate_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"memoir"
	"memoir/consolidate"
)

// anchored gives statements of an extraction an anchor each: "text" -> path and text.
func anchored(e memoir.Extraction, of map[string]memoir.Anchor) memoir.Extraction {
	for i, st := range e.Statements {
		if a, ok := of[st.Text]; ok {
			e.Statements[i].Anchors = []memoir.Anchor{a}
		}
	}
	return e
}

// anchorsOf are those of the lines of both files, by their texts.
func anchorsOf(c memoir.Consolidation, in consolidate.Input) map[string]string {
	out := map[string]string{}
	found := consolidate.WithOrigins(c, in).Anchors
	for line := range strings.Lines(c.MemoryMD + c.MemorySummary) {
		for _, a := range found[memoir.LineKey(line)] {
			out[memoir.LineText(line)] += a.Path + " "
		}
	}
	return out
}

func TestLinesHaveTheAnchorsOfTheNewestSessionThatStatesThem(t *testing.T) {
	t.Parallel()
	lint := "lint: `make lint`"
	older := anchored(session(1, id(1), "Commands: "+lint, "Findings: `maxTitle` is 80 characters there"), map[string]memoir.Anchor{
		lint: {Path: "old.mk", Text: "lint:"}, "`maxTitle` is 80 characters there": {Path: "a.go", Text: "80", Key: "maxTitle"}})
	newer := anchored(session(2, id(2), "Commands: "+lint+" (3 times)", "Commands: test: `go test ./lib`"), map[string]memoir.Anchor{
		lint: {Path: "Makefile", Text: "lint:"}, "test: `go test ./lib`": {Path: "lib"}})
	in := input(older, newer)
	c := build(t, in)
	c.MemorySummary += "\n## Where to look\n\n- what lint is: `make lint`\n"
	got := anchorsOf(c, in)
	if got["what lint is: `make lint`"] != "" {
		t.Error("a line of the map has an anchor")
	}
	for line, want := range map[string]string{lint: "Makefile ", "`maxTitle` is 80 characters there": "a.go ", "test: `go test ./lib`": "lib "} {
		if got[line] != want && got[line] != want+want {
			t.Errorf("%q has %q, want %q: %v", line, got[line], want, got)
		}
	}

	// A line that a person wrote has none, the others keep theirs.
	in.HandEdits = []memoir.HandEdit{{ID: 1, File: memoir.MemoryFile, Action: memoir.EditAdded, Section: "## Build, test and other commands", Text: "- lint: `make lint` first [" + id(2)[:8] + " 2026-07-03]"}}
	hand := build(t, in)
	hand.MemorySummary = "# app\n\n- lint: `make lint` first (said once, 2026-07-03)\n"
	if key := memoir.LineKey("- lint: `make lint` first"); !consolidate.WithOrigins(hand, in).Lines[key].Hand {
		t.Error("a line by hand is not one any more since the summary repeats it")
	}
	edited := anchorsOf(build(t, in), in)
	if edited["lint: `make lint` first"] != "" || edited["test: `go test ./lib`"] == "" {
		t.Errorf("with a line by hand: %v", edited)
	}

	// What rested on a withdrawn session leaves no anchor.
	current := c
	current = consolidate.WithOrigins(c, in)
	gone := consolidate.Input{Project: in.Project, Extractions: in.Extractions[:1], Withdrawn: []string{newer.SessionKey}, Current: &current}
	for line, paths := range anchorsOf(build(t, gone), gone) {
		if strings.Contains(paths, "Makefile") || strings.Contains(paths, "lib") {
			t.Errorf("%q still has %q", line, paths)
		}
	}

	// Of sessions that are not selected a line keeps what it had while it is as it was.
	kept := consolidate.Input{Project: in.Project, Known: []string{older.SessionKey, newer.SessionKey}, Current: &current}
	if got := consolidate.WithOrigins(c, kept).Anchors; !maps.EqualFunc(got, current.Anchors, slices.Equal) {
		t.Errorf("kept %v of %v", got, current.Anchors)
	}
	c.MemoryMD = strings.ReplaceAll(c.MemoryMD, id(2)[:8], id(1)[:8])
	if got := anchorsOf(c, kept)[lint]; got != "" {
		t.Errorf("a line that cites another session keeps %q", got)
	}
}

func TestASummaryHasFewAnchorsOfManyLines(t *testing.T) {
	t.Parallel()
	var bullets []string
	of := map[string][]memoir.Anchor{}
	for i := range 60 {
		text := fmt.Sprintf("the %c%c module number%d reads `first_%d` and `second_%d`", 'a'+i%26, 'a'+i/26, i, i, i)
		bullets = append(bullets, "Findings: "+text)
		for _, name := range []string{"first_", "second_"} {
			of[text] = append(of[text], memoir.Anchor{Path: "a.go", Text: fmt.Sprint(name, i)})
		}
	}
	e := session(1, id(1), bullets...)
	for i, st := range e.Statements {
		e.Statements[i].Anchors = of[st.Text]
	}
	in := input(e)
	c := build(t, in)
	c.MemorySummary = strings.ReplaceAll(c.MemoryMD, " ["+id(1)[:8]+" 2026-07-02]", "") // a model may write a long one
	c.MemoryMD = strings.ReplaceAll(c.MemoryMD, "- the", "- in it the")
	n := 0
	found := consolidate.WithOrigins(c, in).Anchors
	for line := range strings.Lines(c.MemorySummary) {
		n += len(found[memoir.LineKey(line)])
	}
	if n != 40 {
		t.Errorf("the summary has %d anchors", n)
	}
}

func TestALanguageModelsLinesAreAnchoredByWhatTheySay(t *testing.T) {
	t.Parallel()
	text := "The server listens on port 8080 in development"
	e := anchored(session(1, id(1), "Findings: "+text), map[string]memoir.Anchor{text: {Path: "app.yml", Text: "8080", Key: "port"}})
	in := input(e)
	cite := " [" + id(1)[:8] + " 2026-07-02]\n"
	c := memoir.Consolidation{
		MemoryMD:      "# app\n\n## What is known\n\n- In development the server listens on port 8080" + cite + "- The server is written in Go" + cite,
		MemorySummary: "# app\n\n## What to know\n\n- The server listens on port 8080 in development.\n- It is written in Go.\n",
	}
	got := anchorsOf(c, in)
	want := map[string]string{"In development the server listens on port 8080": "app.yml ", "The server listens on port 8080 in development.": "app.yml "}
	if !maps.Equal(got, want) {
		t.Errorf("anchors %v, want %v", got, want)
	}
	if _, err := consolidate.NewBuiltin().Consolidate(context.Background(), in); err != nil {
		t.Error(err)
	}
}

// A model's own words have no statement, however many of them one has.
func TestNoSourceIsGuessedFromWords(t *testing.T) {
	t.Parallel()
	cited := session(0, id(1), "Findings: the pump needs two seconds to start", "Findings: the tank is "+strings.Repeat("very ", 60)+"full")
	other := session(1, id(2), "Findings: the gate opens after the pump has started")
	in := input(cited, other)
	const cites = " [00001001 2026-07-01]\n"
	c := memoir.Consolidation{
		MemoryMD: "# app\n\n## What is known\n\n- the pump needs two seconds to start" + cites + "- to start, the pump needs three seconds" + cites +
			"- the gate opens after the pump has started" + cites + "- the tank is " + strings.Repeat("very ", 60) + "full" + cites,
		MemorySummary: "# app\n\n## What to know\n\n- the pump needs two seconds\n- the tank is very very…\n",
	}
	lines := consolidate.WithOrigins(c, in).Lines
	for text, want := range map[string]int{"the pump needs two seconds to start": 1, "to start, the pump needs three seconds": 0, "the gate opens after the pump has started": 0,
		"the pump needs two seconds": 0, "the tank is very very…": 1} {
		if got, known := lines[memoir.LineKey(text)]; !known || len(got.Statements) != want || got.Hand {
			t.Errorf("%q: %+v, %v", text, got, known)
		}
	}
}
