package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/consolidate"
	"memoir/memoirtest"
	"memoir/memory"
)

// An editing is a memory of the built-in model that a person edits between runs.
type editing struct {
	t    *testing.T
	st   *Store
	in   consolidate.Input
	live memoir.Consolidation
	base int64
}

const stated = `## Preferences
- “use tabs” [1]
- “ask Ann before a release” [2]

## Decisions
- the lock is in store.go [3]
- two writers race for the queue [4]

## Environment
- CI runs on port 4242 [5]
`

func newEditing(t *testing.T) *editing {
	st, _ := newStore(t)
	register(t, st, project)
	e := &editing{t: t, st: st}
	e.learn(stated)
	e.run("")
	return e
}

// learn adds a session with statements.
func (e *editing) learn(statements string) {
	one := memoir.Extraction{SessionKey: fmt.Sprintf("codex:0000100%d-0000-7000-8000-000000000000", len(e.in.Extractions)),
		Statements: memoirtest.Statements(statements), EndedAt: noon}
	e.in.Extractions = append(e.in.Extractions, one)
}

// run records a person's MEMORY.md, and makes the next one.
func (e *editing) run(now string) {
	e.t.Helper()
	if e.base++; now != "" {
		changed := memory.Differences(memory.Files{"MEMORY.md": []byte(e.live.MemoryMD)}, memory.Files{"MEMORY.md": []byte(now)})
		must(e.t, e.st.RecordHandEdits(e.t.Context(), project, e.base, memory.HandEdits(project, changed, noon)))
	}
	var err error
	e.in.HandEdits, err = e.st.HandEdits(e.t.Context(), project)
	must(e.t, err)
	e.live, err = consolidate.NewBuiltin().Consolidate(e.t.Context(), e.in)
	must(e.t, err)
}

// lines is a text without the blank lines that only separate blocks.
func lines(text string) string {
	var b strings.Builder
	for _, one := range memoir.Blocks(text) {
		b.WriteString(one.Text + "\n")
	}
	return b.String()
}

func (e *editing) want(history, want string) {
	e.t.Helper()
	for _, n := range e.in.HandEdits {
		history += fmt.Sprintf("%s %q behind %q %d: %q, %d others\n", n.Action, n.Section, n.After, n.Nth, n.Text, n.Others)
	}
	if diff := cmp.Diff(lines(want), lines(e.live.MemoryMD)); diff != "" {
		e.t.Fatalf("%s%s", history, diff)
	}
	again := consolidate.ApplyHandEdits(e.live, consolidate.LiveHandEdits(e.in.HandEdits, e.in))
	if diff := cmp.Diff(e.live, again); diff != "" {
		e.t.Fatalf("%s\napplied again: %s", history, diff)
	}
}

func TestHandEditsStayBesideWhatIsLearnedLater(t *testing.T) {
	t.Parallel()
	const mine = "\n## Mine\n\n- twin\n- other\n- twin\n\nA paragraph.\n\n```sh\n# a comment\nmake\n\n```\n\n## Mine too\n\n- twin\n"
	for _, test := range []struct {
		name           string
		first, second  func(memory string) string // what the person makes of MEMORY.md before and after a run
		learned        string                     // the next session's statements
		contain, leave string                     // in the file that follows; not in it
	}{
		{"one of two equal lines is deleted", nil, replace("- other\n- twin\n", "- other\n"), "",
			"- twin\n- other\nA paragraph.\n```sh\n# a comment\nmake\n\n```\n## Mine too\n- twin\n", ""},
		{"one under another heading is changed", nil, replace("too\n\n- twin", "too\n\n- single"), "", "## Mine too\n- single\n", "too\n- twin"},
		{"a code block is changed", nil, replace("make\n\n", "## make\n\n~~~\n"), "",
			"A paragraph.\n```sh\n# a comment\n## make\n\n~~~\n```\n## Mine too\n- twin\n", ""},
		{"prose is added again", nil, replace("## Mine too\n", "A paragraph.\n\n## Mine too\n"), "", "```\nA paragraph.\n## Mine too\n", ""},
		{"a section is learned", replace("## What is known", "## Mine first\n\n- x\n\n## What is known"), nil,
			"## Decisions\n- the lock is held for a second [1]\n", "- x\n## What is known\n- the lock is held for a second", ""},
		{"a section is learned that the person left empty", deleted("- the lock", "- two writers"), replace("## What is known\n", "## What is known\n\n## Last\n"),
			"## Decisions\n- the lock is held for a second [1]\n", "## What is known\n- the lock is held for a second [00001001 2026-09-01]\n## Last\n", ""},
		{"a line is deleted that is learned again", deleted("- CI runs"), nil, "## Environment\n- CI runs on port 4242 [1]\n", "", "4242"},
		{"a line is learned that the person wrote", replace("## Mine too", "- the sky is blue\n\n## Mine too"), nil,
			"## Decisions\n- the sky is blue [1]\n", "- the sky is blue", "is blue\n## Mine too"},
	} {
		e := newEditing(t)
		e.run(e.live.MemoryMD + mine)
		for _, edit := range []func(string) string{test.first, test.second} {
			if edit != nil {
				now := edit(e.live.MemoryMD)
				e.run(now)
				e.want(test.name+"\n", now)
			}
		}
		if test.learned != "" {
			e.learn(test.learned)
			e.run("")
		}
		got := lines(e.live.MemoryMD)
		if !strings.Contains(got, test.contain) || test.leave != "" && strings.Contains(got, test.leave) {
			t.Errorf("%s:\n%s", test.name, got)
		}
	}
}

func replace(old, now string) func(string) string {
	return func(text string) string { return strings.Replace(text, old, now, 1) }
}

// deleted deletes the lines with some beginnings.
func deleted(heads ...string) func(string) string {
	return func(text string) string {
		all := strings.SplitAfter(text, "\n")
		return strings.Join(slices.DeleteFunc(all, func(l string) bool {
			return slices.ContainsFunc(heads, func(head string) bool { return strings.HasPrefix(l, head) })
		}), "")
	}
}

func TestAnyEditsOfAPersonStayAsTheyAre(t *testing.T) {
	t.Parallel()
	words := []string{"- a", "- b", "text", "more text", "## Mine", "### Sub", "## Environment", "```sh", "```", "# comment", "~~~", "  - a",
		"- “use tabs”", "- “use tabs” [00001000 2026-07-01]", "| x | y |", "---", "    make", "<b>bold</b>", ""}
	for seed := range 400 {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		e := newEditing(t)
		for range 1 + r.IntN(6) {
			lines := strings.Split(strings.TrimSuffix(e.live.MemoryMD, "\n"), "\n")
			for range 1 + r.IntN(5) {
				at, to := 1+r.IntN(len(lines)-1), 1+r.IntN(len(lines)-1) // the title is the program's
				line, word := lines[at], words[r.IntN(len(words))]
				switch r.IntN(6) {
				case 0:
					lines = slices.Insert(lines, at, word)
				case 1:
					lines = slices.Insert(lines, at, "```", word, "", "- a", "```")
				case 2:
					lines = slices.Insert(lines, to, line)
				case 3:
					lines[at] = word
				case 4:
					lines = append(slices.Delete(lines, at, at+1), "text")
				case 5:
					lines = slices.Insert(slices.Delete(lines, at, at+1), min(to, len(lines)-1), line)
				}
			}
			before, now := e.live.MemoryMD, strings.Join(lines, "\n")+"\n"
			e.run(now)
			e.want(fmt.Sprintf("seed %d:\n%s\nwas edited:\n\n%s", seed, before, now), now)
		}
		must(t, e.st.Close())
	}
}
