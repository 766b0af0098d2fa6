// Package prompts has the texts for language models and for the agents into which memory is
// injected: static Markdown files with placeholders, their variables and the rendering. It
// does not depend on models or on the sources of the values.
//
// Read the Markdown files first, then prompts.go (rendering), inert.go (data that can't pose
// as instructions or tags) and instructs.go (detection of instructions).
package prompts

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasttemplate"
)

//go:embed *.md
var files embed.FS

// render fills in the values of a prompt. It does not expand variables in values. It panics on a
// variable without a value and on a missing file: both are bugs.
func render(file string, values map[string]string) string {
	text, err := files.ReadFile(file)
	if err != nil {
		panic(err)
	}
	return fasttemplate.ExecuteFuncString(string(text), "{{", "}}", func(w io.Writer, name string) (int, error) {
		value, ok := values[strings.TrimSpace(name)]
		if !ok {
			return 0, fmt.Errorf("prompt %s: variable %s has no value", file, name)
		}
		return io.WriteString(w, value)
	})
}

// StageOneVars is one session as Phase 1 shows it to a model.
type StageOneVars struct {
	ThreadID          string
	Agent             string
	CWD               string
	Branch            string
	StartedAt         time.Time
	EndedAt           time.Time
	ItemCount         int
	OmittedCount      int    // of them left out
	BehindCount       int    // of these after the last one shown
	ResponseItemsJSON string // a JSON array of items, redacted
}

// StageOne renders the prompts of Phase 1: the system part, which is the same for every session, and the input.
func StageOne(v StageOneVars) (system, input string) {
	system, end := render("stage_one_system.md", nil), "the last one shown is the end of the session"
	if v.BehindCount > 0 {
		end = fmt.Sprintf("%d of them after the last one shown", v.BehindCount)
	}
	input = render("stage_one_input.md", map[string]string{
		"thread_id":           inline(v.ThreadID),
		"agent":               inline(v.Agent),
		"cwd":                 inline(v.CWD),
		"branch":              inline(v.Branch),
		"started_at":          instant(v.StartedAt),
		"ended_at":            instant(v.EndedAt),
		"item_count":          strconv.Itoa(v.ItemCount),
		"omitted_count":       strconv.Itoa(v.OmittedCount),
		"end":                 end,
		"response_items_json": block(v.ResponseItemsJSON),
	})
	return system, input
}

// Turn renders the prompts of the shadow journaler: items of a turn, as JSON, and today's journal.
func Turn(items, journal string) (system, input string) {
	return render("turn_system.md", nil), render("turn.md", map[string]string{
		"response_items_json": block(items), "journals": block(journal)})
}

func instant(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format(time.RFC3339)
}

// ConsolidateVars is the input of Phase 2 for a model. Empty texts are shown as "none". Sessions
// are named as citations name them: short id and date.
type ConsolidateVars struct {
	Project           string
	Date              time.Time // of the newest session: the same input gives the same question
	MemoryBytes       int       // limit of memory_md
	Over              int       // bytes of the current memory, if they exceed the hard limit
	CurrentMemory     string
	CurrentSkills     string
	HandEdits         string
	Journals          string
	NewSessions       []string
	ChangedSessions   []string
	WithdrawnSessions []string
	RawMemories       string
}

// Consolidate renders the prompts of Phase 2: the system part, which is the same for every project, and the input.
func Consolidate(v ConsolidateVars) (system, input string) {
	system = render("consolidation_system.md", nil)
	prune := ""
	if v.Over > 0 {
		prune = fmt.Sprintf("\nThe present memory has %d bytes, which is too much: prune what is stale or of little value.",
			v.Over)
	}
	date, _, _ := strings.Cut(instant(v.Date), "T")
	input = render("consolidation.md", map[string]string{
		"project":            inline(v.Project),
		"date":               date,
		"memory_bytes":       strconv.Itoa(v.MemoryBytes),
		"prune":              prune,
		"current_memory":     block(v.CurrentMemory),
		"current_skills":     block(v.CurrentSkills),
		"hand_edits":         block(v.HandEdits),
		"journals":           block(v.Journals),
		"new_sessions":       block(bullets(v.NewSessions)),
		"changed_sessions":   block(bullets(v.ChangedSessions)),
		"withdrawn_sessions": block(bullets(v.WithdrawnSessions)),
		"raw_memories":       block(v.RawMemories),
	})
	return system, input
}

// Reflect renders the prompts for a patch of a memory after a session: the system part, which is always the same,
// and the input, in which the memory's lines are numbered. most is the limit of the memory in bytes.
func Reflect(project, memory string, most int, session string) (system, input string) {
	var numbered strings.Builder
	n := 0
	for line := range strings.Lines(memory) {
		n++
		fmt.Fprintf(&numbered, "%d\t%s", n, line)
	}
	return render("reflect_system.md", nil), render("reflect.md", map[string]string{
		"project": inline(project), "memory_bytes": strconv.Itoa(most),
		"current_memory": block(numbered.String()), "response_items_json": block(session),
	})
}

// ReadPathVars are the values of the text that is injected into an agent's session.
type ReadPathVars struct {
	Project       string // name; empty: left out
	Root          string // path or URL of the memory; empty: memory://root
	Files         string // what is below Root; empty: MEMORY.md and skills/<name>/SKILL.md
	MemorySummary string // within the caller's limit
}

// ReadPath renders the text that is injected into an agent's session. Whatever the values contain, it is one
// memoir-context element, opened by its first line and closed by its last, so that it is recognised in transcripts.
func ReadPath(v ReadPathVars) string {
	return render("read_path.md", map[string]string{
		"project":        attribute(cmp.Or(v.Project, "this project")),
		"root":           attribute(strings.TrimRight(cmp.Or(v.Root, "memory://root"), "/")),
		"files":          cmp.Or(v.Files, "MEMORY.md and skills/<name>/SKILL.md"),
		"memory_summary": strings.Trim(inert(v.MemorySummary), "\n"),
	})
}

var attributeEscapes = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;")

// attribute returns a text that is safe between the quotes of an attribute.
func attribute(text string) string { return attributeEscapes.Replace(inline(text)) }
