package memoir

import (
	"strings"
	"time"
)

// Extraction is Phase 1's result for one version of one session. No statements and no
// summary means that nothing was worth keeping.
type Extraction struct {
	SessionKey     string
	ProjectID      string
	Statements     []Statement
	RolloutSummary string // Markdown
	RolloutSlug    string // [a-z0-9-], at most 60 bytes
	Title          string
	HistoryEntry   string // the project's history entry, in one line; empty: made from Statements
	CWD            string
	Branch         string
	StartedAt      time.Time // of the session
	EndedAt        time.Time // of the session
	ContentHash    string    // of its items
	FilterVersion  int       // of the filter that selected the items
	Model          string    // provider/model, or "builtin"
	Seq            int64     // the project's change sequence when it was stored
}

// Empty reports whether nothing was worth keeping.
func (e Extraction) Empty() bool {
	return len(e.Statements) == 0 && strings.TrimSpace(e.RolloutSummary) == ""
}

// RawMemory returns the statements in Markdown; see FormatStatements.
func (e Extraction) RawMemory() string { return FormatStatements(e.Statements) }

// Identify sets the ids of the statements, which depend on the project.
func (e *Extraction) Identify() {
	for i := range e.Statements {
		st := &e.Statements[i]
		st.ID = StatementID(e.ProjectID, st.Kind, st.Text)
	}
}

// Consolidation is Phase 2's result for one project: the files of its memory.
type Consolidation struct {
	MemoryMD      string
	MemorySummary string
	Skills        []Skill // all skills, sorted by name

	// Citations lists all sessions behind a line of MEMORY.md that cites more than one,
	// newest first, each as "KEY DATE". Its keys are hashes of lines without citations, so that
	// the list does not reveal their text.
	Citations map[string][]string

	// Lines are the origins of the lines of MEMORY.md and of the summary, by LineKey.
	Lines map[string]LineOrigin

	// Anchors are the anchors of these lines, by LineKey.
	Anchors map[string][]Anchor

	// Open are the keys of sessions that are left for the next consolidation.
	Open []string
}

// LineOrigin says what a line of a memory was made from.
type LineOrigin struct {
	Statements []string `json:"statements,omitempty"` // ids, the newest session's first
	Hand       bool     `json:"hand_written,omitempty"`
}

// Skill is one procedure, kept in the Agent Skills form.
type Skill struct {
	Name      string // ^[a-z0-9]+(-[a-z0-9]+)*$, at most 64 bytes
	Content   string // of SKILL.md, frontmatter included
	Scripts   []SkillFile
	Templates []SkillFile
	Examples  []SkillFile
}

// SkillFile is a file of a skill; Path is relative to its folder and can't leave it.
type SkillFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}
