package memoir

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"memoir/internal/lazyregexp"
)

// StatementKind is the section of a statement in a raw memory.
type StatementKind string

// The kinds of a statement; the value is the section's heading in Markdown.
const (
	StatementTask        StatementKind = "Task"        // a request with its result
	StatementOutcome     StatementKind = "Outcome"     // delivered work: a commit, a pull request, an approved plan
	StatementPreference  StatementKind = "Preferences" // a person's rule or correction
	StatementFailure     StatementKind = "Failures"    // a failure with its remedy
	StatementCommand     StatementKind = "Commands"    // a command that passed
	StatementDecision    StatementKind = "Decisions"   // a choice with its reason
	StatementFinding     StatementKind = "Findings"    // a cause that was found, a fact about the repository
	StatementRefuted     StatementKind = "Refuted"     // a wrong hypothesis, or what a later word overturned
	StatementFile        StatementKind = "Files"       // an important file
	StatementEnvironment StatementKind = "Environment" // versions, services, quirks
	StatementProcedure   StatementKind = "Procedure"   // ordered steps as actually run
	StatementOpen        StatementKind = "Open"        // unfinished work

	// StatementClaim is a statement that only the agent's own words support. It can be found
	// by searching and never reaches MEMORY.md or memory_summary.md.
	StatementClaim StatementKind = "Claims of the agent, not verified"
)

// StatementKinds lists the kinds in the order of their sections.
var StatementKinds = []StatementKind{
	StatementTask, StatementOutcome, StatementPreference, StatementFailure, StatementCommand,
	StatementDecision, StatementFinding, StatementRefuted, StatementFile, StatementEnvironment,
	StatementProcedure, StatementOpen, StatementClaim,
}

// Party is whose word a statement is.
type Party string

// The parties of a session.
const (
	ByPerson Party = "person"
	ByAgent  Party = "agent"
	ByTool   Party = "tool"
	ByMember Party = "member" // another one of the team
)

// Signals of statements that no signal of the built-in extractor wrote. Those of the extractor are in
// extract/extract.go.
const (
	SignalModel    = "model"    // a language model wrote it
	SignalNote     = "note"     // a note
	SignalJournal  = "journal"  // a line of a journal
	SignalRepeated = "repeated" // a person's rule of several projects
	SignalTeam     = "team"     // a member of the team promoted it
	SignalEdit     = "edit"     // members changed the line; no statement has it
)

// Signals of the built-in extractor that other packages know.
const (
	SignalRule  = "rule"  // a person's sentence with the form of a rule; said once, it is shown as that
	SignalMaybe = "maybe" // a person's words that may hold from now on; said once, they wait in review
	SignalCut   = "cut"   // a rule that lost a secret: a claim that it is left out, which waits in review
	SignalVain  = "vain"  // a failure with a command that did not repair it: a claim that a tool bears out
)

// Statement is one thing worth knowing: what a session shows, with its evidence. Each line of a memory is made from
// statements. Texts are redacted.
type Statement struct {
	ID     string        `json:"id,omitempty"` // StatementID; it is set when a statement is read from the store
	Kind   StatementKind `json:"kind"`
	Text   string        `json:"text"`            // the one line of Markdown that is shown
	Signal string        `json:"signal"`          // the rule that wrote it
	By     Party         `json:"by"`              // whose word it is
	Items  []int         `json:"items,omitempty"` // items of the session that show it, ascending
	At     string        `json:"at,omitempty"`    // the day of the last of these items, UTC: 2006-01-02
	Quote  string        `json:"quote,omitempty"` // a person's words, as typed

	Outcome string `json:"outcome,omitempty"` // of a task: what became of it; of an outcome: its name; if refuted: when
	Detail  string `json:"detail,omitempty"`  // of an outcome: what its body says
	Times   int    `json:"times,omitempty"`   // of a command: how often it passed; of a file: how often it was edited

	Command   string `json:"command,omitempty"`   // of a command, and the one that failed
	Dir       string `json:"dir,omitempty"`       // where it ran, relative to the project
	Purpose   string `json:"purpose,omitempty"`   // "test", "build", …
	Error     string `json:"error,omitempty"`     // of a failure: the error line, as printed
	Signature string `json:"signature,omitempty"` // of a failure: see Signature
	Cause     string `json:"cause,omitempty"`     // of a failure: what was found to be the reason
	Fix       string `json:"fix,omitempty"`       // of a failure: the command that passed

	Paths    []string `json:"paths,omitempty"`    // files it speaks of, relative to the project
	Anchors  []Anchor `json:"anchors,omitempty"`  // where the project's files bear it out
	Replaces string   `json:"replaces,omitempty"` // the id of the statement that it overturns
	Order    string   `json:"order,omitempty"`    // of a wish in a session's first prompt: a hash of the rest of that
	Stands   string   `json:"stands,omitempty"`   // the file of the project that says it, too: MEMORY.md does not
}

// StatementID returns the id of a statement: 10 hexadecimal digits of a hash of its project, kind and folded text. The
// same statement of several sessions has one id.
func StatementID(projectID string, kind StatementKind, text string) string {
	sum := sha256.Sum256([]byte(projectID + "\x00" + string(kind) + "\x00" + Folded(text)))
	return hex.EncodeToString(sum[:5])
}

// Unproved reports whether a statement is a claim that no tool bears out, which no other machine gets.
func (s Statement) Unproved() bool {
	return s.Kind == StatementClaim && (s.Signal != SignalVain || s.By != ByTool)
}

// Texts returns the texts of a statement that come from its session, to redact or neutralise them. Paths and anchors
// are not among them: they are dropped if a secret is in them.
func (s *Statement) Texts() []*string {
	return []*string{&s.Text, &s.Quote, &s.Outcome, &s.Detail, &s.Command, &s.Dir, &s.Error, &s.Signature, &s.Cause,
		&s.Fix, &s.Stands}
}

// Changed returns statements with each text changed. Paths and anchors that change would alter are dropped. The
// statements given stay as they are.
func Changed(statements []Statement, change func(string) string) []Statement {
	out := slices.Clone(statements)
	for i := range out {
		st := &out[i]
		for _, text := range st.Texts() {
			if *text != "" {
				*text = change(*text)
			}
		}
		altered := func(text string) bool { return text != "" && change(text) != text }
		st.Paths = slices.DeleteFunc(slices.Clone(st.Paths), altered)
		st.Anchors = slices.DeleteFunc(slices.Clone(st.Anchors), func(a Anchor) bool {
			return altered(a.Path) || altered(a.Text) || altered(a.Key)
		})
	}
	return out
}

// Line returns the statement as a line of a raw memory: its text, with what its signal and counts say.
func (s Statement) Line() string {
	line := strings.Join(strings.Fields(s.Text), " ")
	switch {
	case s.Kind == StatementFile && s.Times > 0:
		line += " (" + Count(s.Times, "edit") + ")"
	case s.Kind == StatementRefuted && s.Outcome != "":
		line += " (refuted " + s.Outcome + ")"
	case s.Times > 1:
		line += " (" + strconv.Itoa(s.Times) + " times)"
	}
	return line
}

// variable matches what differs when a program fails in the same way again: addresses and hashes, paths, numbers.
var variable = lazyregexp.New(`\b(?:0x)?[0-9a-f]*\d[0-9a-f]{6,}\b|(?:[\w.@~-]*/)+[\w.@-]*|\d+`)

var colour = lazyregexp.New(`\x1b\[[0-9;]*m`)

// Signature returns an error line without what differs from time to time, to recognise the same failure.
func Signature(line string) string {
	return strings.Join(strings.Fields(variable.ReplaceAllString(colour.ReplaceAllString(line, ""), " ")), " ")
}

// FormatStatements writes statements as the Markdown of a raw memory: a section per kind, a
// bullet per statement, with its items in brackets at the end:
//
//	## Commands
//	- `go test ./...` passes (ran 3 times) [12, 40]
func FormatStatements(statements []Statement) string {
	var b strings.Builder
	for _, kind := range StatementKinds {
		first := true
		for _, s := range statements {
			if s.Kind != kind {
				continue
			}
			if first {
				if b.Len() > 0 {
					b.WriteByte('\n')
				}
				b.WriteString("## " + string(kind) + "\n")
				first = false
			}
			b.WriteString("- " + s.Line())
			if len(s.Items) > 0 {
				b.WriteString(" " + strings.ReplaceAll(fmt.Sprint(s.Items), " ", ", "))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

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
	RecalledAt     time.Time // of a note, as in Entry.AccessedAt
	ContentHash    string    // of its items, then @ and what read them
	FilterVersion  int       // of the filter that selected the items
	Model          string    // provider/model, or "builtin"
	Seq            int64     // the project's change sequence when it was stored
}

// Content is a ContentHash without what read the items.
func Content(hash string) string { return strings.SplitN(hash, "@", 2)[0] }

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

	// Citations lists all sessions behind a line of MEMORY.md that cites more than one, newest first, each as "KEY
	// DATE". Its keys are hashes of lines without citations, so that the list does not reveal their text.
	Citations map[string][]string

	// Lines are the origins of the lines of MEMORY.md and of the summary, by LineKey.
	Lines map[string]LineOrigin

	// Anchors are the anchors of these lines, by LineKey.
	Anchors map[string][]Anchor

	// Edited are the lines of a hub's memory that members changed or removed, by the LineKey of their former words.
	Edited map[string]LineEdit

	// Open are the keys of sessions that are left for the next consolidation.
	Open []string
}

// Wish stands before the text of a person's wish that was promoted to their team.
const Wish = "a wish: "

// LineEdit is what became of a line of a hub's memory. It has no words, since they may be forgotten.
type LineEdit struct {
	By     string `json:"by"`               // the member who made the newest edit
	Day    string `json:"day,omitempty"`    // of it, as Statement.At; empty: unknown
	Became string `json:"became,omitempty"` // LineKey of the words of now; empty: the line was removed
}

// LineOrigin says what a line of a memory was made from.
type LineOrigin struct {
	Statements []string // ids, the newest session's first
	Hand       bool     // a person wrote it
	Kept       bool     // it is of a note or a failure, which is told even if the project's own files say it
}

const (
	byHand = "hand-written"
	isKept = "kept "
)

// MarshalText writes the ids of the statements, or that a person wrote the line.
func (o LineOrigin) MarshalText() ([]byte, error) {
	if o.Hand {
		return []byte(byHand), nil
	}
	text := strings.Join(o.Statements, " ")
	if o.Kept {
		text = isKept + text
	}
	return []byte(text), nil
}

// UnmarshalText is the inverse of MarshalText.
func (o *LineOrigin) UnmarshalText(text []byte) error {
	*o = LineOrigin{Hand: string(text) == byHand}
	if !o.Hand {
		ids, kept := strings.CutPrefix(string(text), isKept)
		o.Kept, o.Statements = kept, strings.Fields(ids)
	}
	return nil
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
