// Package memoir is the vocabulary of the program: sessions, items, extractions,
// consolidations, projects and what they may be. It holds plain values and the
// rules about them; it knows no file, no database and no network, and imports
// nothing but the standard library's value types.
//
// Read memoir.go first (the words), then statement.go (the form of a raw
// memory) and error.go (codes, hints).
package memoir

import (
	"strconv"
	"strings"
	"time"
)

// Source names the coding agent whose transcript a session is.
type Source string

// The agents whose sessions can be read.
const (
	SourceCodex    Source = "codex"
	SourceClaude   Source = "claude"
	SourcePi       Source = "pi"
	SourceOMP      Source = "omp"
	SourceOpenCode Source = "opencode"
	SourceGemini   Source = "gemini"
	SourceQwen     Source = "qwen"
	SourceCopilot  Source = "copilot"
	SourceUnknown  Source = "unknown" // a file that no reader recognises
	// SourceConversation is no agent, but an application that hands its messages over.
	SourceConversation Source = "conversation"
)

// SessionKind says who drove a session. Only main sessions are extracted.
type SessionKind string

// The kinds of a session.
const (
	KindMain       SessionKind = "main"
	KindSubagent   SessionKind = "subagent"   // started by another session: sub-agents, reviews, guardians, compaction
	KindAutomation SessionKind = "automation" // driven by a script: SDK and headless runs
	KindOwnRun     SessionKind = "own_run"    // memoir's own model calls
	KindEntry      SessionKind = "entry"      // no transcript: an Entry
)

// OwnRunMarker in the first text of a session says that memoir itself made it: it
// begins every question that is put to an agent, since some keep each of their runs.
const OwnRunMarker = "memoir:own-run"

// ChildVariable is set in the environment of whatever memoir starts, so that hooks
// which start memoir in turn do nothing.
const ChildVariable = "MEMOIR_CHILD"

// Reason says what becomes of a session, and why. Every registered session has
// exactly one: the first that applies, in the order of Reasons.
type Reason string

// The reasons, in order of precedence.
const (
	ReasonSubagent   Reason = "subagent"
	ReasonAutomation Reason = "automation"
	ReasonOwnRun     Reason = "own_run"
	ReasonForgotten  Reason = "forgotten"
	ReasonDisabled   Reason = "disabled"
	ReasonUnreadable Reason = "unreadable"
	ReasonNoProject  Reason = "no_project"
	ReasonUpToDate   Reason = "up_to_date"
	ReasonActive     Reason = "active"
	ReasonTooRecent  Reason = "too_recent"
	ReasonTooOld     Reason = "too_old"
	ReasonBackoff    Reason = "backoff"
	ReasonDead       Reason = "dead"
	ReasonOverCap    Reason = "over_cap"
	ReasonEligible   Reason = "eligible"
)

// Reasons lists every reason in order of precedence.
var Reasons = []Reason{
	ReasonSubagent, ReasonAutomation, ReasonOwnRun, ReasonForgotten, ReasonDisabled,
	ReasonUnreadable, ReasonNoProject, ReasonUpToDate, ReasonActive, ReasonTooRecent,
	ReasonTooOld, ReasonBackoff, ReasonDead, ReasonOverCap, ReasonEligible,
}

// File is one file of a session as the file system describes it. Two files with
// equal Size, ModTime and Inode are taken to hold the same bytes.
//
// An agent may keep many sessions in one database, or one in many files. Then Path
// is <database>#<session id>, or the session's own file, and Size, ModTime and
// Inode do no more than tell one state of the session from another.
type File struct {
	Path    string
	Size    int64 // bytes
	ModTime time.Time
	Inode   uint64 // 0 where the file system has none
}

// Session is one conversation of one agent: a thread id and one or more files.
type Session struct {
	ID        string // the agent's thread id; unique within a Source only
	Source    Source
	Kind      SessionKind
	ParentID  string // thread id of the session that started this one, if known
	ProjectID string // empty: no project
	Title     string
	CWD       string // where the session began, as recorded
	Branch    string
	Remote    string // the repository URL that the session recorded, without credentials
	Files     []File // in reading order
	Bytes     int64  // sum over Files
	CreatedAt time.Time
	UpdatedAt time.Time // time of the last record, else of the last modification
	Reason    Reason
	Error     string // what is wrong with an unreadable session, or its last failure
}

// Key identifies a session among all agents: ids of different agents may collide.
func (s Session) Key() string { return SessionKey(s.Source, s.ID) }

// SessionKey joins an agent and one of its thread ids.
func SessionKey(source Source, id string) string { return string(source) + ":" + id }

// SplitKey is the inverse of SessionKey. A key without a source has the source "".
func SplitKey(key string) (Source, string) {
	if source, id, ok := strings.Cut(key, ":"); ok {
		return Source(source), id
	}
	return "", key
}

// Item kinds.
const (
	ItemMessage = "message" // text that a person or the agent wrote
	ItemTool    = "tool"    // a tool call joined to its result
	ItemSummary = "summary" // a summary that an agent wrote of its own earlier conversation
)

// Item roles.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// Origin says how a text entered the conversation. ByPerson says
// which of them are a person's own words.
type Origin string

// The origins of an item.
const (
	OriginTyped             Origin = "typed"
	OriginQueued            Origin = "queued"        // typed while the agent was busy
	OriginSlashCommand      Origin = "slash_command" // a command's name and arguments
	OriginShell             Origin = "shell"         // a command that the person ran in the agent's prompt
	OriginPlanHandover      Origin = "plan_handover" // a plan that the agent wrote and a new session began with
	OriginInjected          Origin = "injected"      // put there by the agent, a hook or a tool
	OriginCompactionSummary Origin = "compaction_summary"
	OriginSubagentTask      Origin = "subagent_task" // the task that a parent session gave
	OriginRejection         Origin = "rejection"     // what a person said when refusing a tool call
	OriginAnswer            Origin = "answer"        // what a person answered to a question of the agent
	OriginAgent             Origin = "agent"         // the agent's own text
	OriginTool              Origin = "tool"
)

// ByPerson reports whether a person wrote the text themselves.
func (o Origin) ByPerson() bool {
	switch o {
	case OriginTyped, OriginQueued, OriginSlashCommand, OriginShell, OriginRejection, OriginAnswer:
		return true
	}
	return false
}

// Item is one normalised entry of a session, in conversation order.
type Item struct {
	N      int    // position in the session, from 1, counted before anything is left out
	Kind   string // ItemMessage, ItemTool or ItemSummary
	Role   string // RoleUser, RoleAssistant or RoleTool
	Origin Origin
	Text   string // of a message or summary
	Final  bool   // the agent's closing answer of a turn, where the format says so
	Tool   string // the tool's name as the agent recorded it
	Input  string // of a tool call: the command line of a shell tool, else its arguments as JSON
	Output string // of a tool call: the result without the agent's framing
	Exit   *int   // exit status, where the format has one
	Failed bool   // the format marks the call as failed, or Exit is not 0
	At     time.Time
	CWD    string // in force at this item
	Branch string // in force at this item
}

// Shell reports whether the item is a command line that was run; Input is then
// that command line.
func (it Item) Shell() bool {
	if it.Kind != ItemTool {
		return false
	}
	switch it.Tool {
	case "shell", "shell_command", "exec_command", "local_shell_call", "unified_exec",
		"Bash", "bash", "run_shell_command", "user_shell":
		return true
	}
	return false
}

// Project is where memory belongs: a repository, else a directory.
type Project struct {
	ID          string // <name>-<hash of Identity>: also the name of its folder; never collides
	Name        string
	Identity    string // what makes it this project: a normalised remote, a common git directory or a directory
	Remote      string // normalised, without credentials; empty if unknown
	Directories []string
	Aliases     []string // earlier identities and names
}

// UserProjectID is the id of the project that is the user's own memory: what a person stated in
// several projects. No session belongs to it. Its hash is none that an identity has.
const UserProjectID = "user-000000000000"

// UserProject is the project of UserProjectID.
func UserProject() Project {
	return Project{ID: UserProjectID, Name: "user", Identity: UserProjectID}
}

// IsUser reports whether a project is the user's own memory.
func (p Project) IsUser() bool { return p.ID == UserProjectID }

// Extraction is Phase 1's result for one version of one session. All three texts
// empty means that nothing was worth keeping.
type Extraction struct {
	SessionKey     string
	ProjectID      string
	RawMemory      string // Markdown in the form of statement.go
	RolloutSummary string // Markdown
	RolloutSlug    string // [a-z0-9-], at most 60 bytes
	Title          string
	HistoryEntry   string // what the project's history says of the session, in one line; empty: what RawMemory says
	CWD            string
	Branch         string
	StartedAt      time.Time // of the session
	EndedAt        time.Time // of the session
	ContentHash    string    // of the items it was made from
	FilterVersion  int       // of the filter that chose those items
	Model          string    // provider/model, or "builtin"
	Seq            int64     // the project's change sequence when it was stored

	// Anchors are those of the statements of RawMemory, by LineKey of their texts.
	Anchors map[string][]Anchor
}

// Empty reports whether nothing was worth keeping.
func (e Extraction) Empty() bool {
	return strings.TrimSpace(e.RawMemory) == "" && strings.TrimSpace(e.RolloutSummary) == ""
}

// Consolidation is Phase 2's result for one project: the files of its memory.
type Consolidation struct {
	MemoryMD      string
	MemorySummary string
	Skills        []Skill // sorted by name; a skill that is not listed is gone

	// Citations lists all sessions behind a line of MEMORY.md that cites more than one,
	// newest first, each as "KEY DATE". A line is named by a hash of its words without
	// citations, so that the list itself tells nothing.
	Citations map[string][]string

	// Anchors are those of the lines of MEMORY.md and of the summary, by LineKey.
	Anchors map[string][]Anchor

	// Open are the keys of sessions that are yet to be folded in: another consolidation
	// goes on with them.
	Open []string
}

// Skill is one procedure, kept in the Agent Skills form.
type Skill struct {
	Name      string // ^[a-z0-9]+(-[a-z0-9]+)*$, at most 64 bytes
	Content   string // of SKILL.md, frontmatter included
	Scripts   []SkillFile
	Templates []SkillFile
	Examples  []SkillFile
}

// SkillFile is a file of a skill; Path is relative to its folder and stays in it.
type SkillFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// Note is a person's own change to a project's memory, found by comparing the
// live files with what was published. Notes outlive generations: Phase 2 applies
// them each time, so that what a person wrote stays and what they deleted stays away.
type Note struct {
	ID        int64
	ProjectID string
	File      string // slash-separated, relative to the root
	Action    NoteAction
	Section   string // the Markdown heading line the text stands under, empty at the top
	After     string // the line before it, empty if it is the first of its section
	Text      string // one line; the whole content for NoteFile
	At        time.Time
}

// NoteAction says what a person did.
type NoteAction string

// The actions of a note.
const (
	NoteAdded   NoteAction = "added"   // a line a person wrote
	NoteRemoved NoteAction = "removed" // a line a person deleted
	NoteFile    NoteAction = "file"    // a whole file a person wrote or rewrote
	NoteDeleted NoteAction = "deleted" // a whole file a person deleted
)

// Usage is what model calls consumed.
type Usage struct {
	Calls        int     `json:"calls"`
	InputTokens  int64   `json:"input_tokens"`
	CachedTokens int64   `json:"cached_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	Cost         float64 `json:"cost"` // US dollars; 0 where the price is unknown
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Calls:        u.Calls + v.Calls,
		InputTokens:  u.InputTokens + v.InputTokens,
		CachedTokens: u.CachedTokens + v.CachedTokens,
		OutputTokens: u.OutputTokens + v.OutputTokens,
		Cost:         u.Cost + v.Cost,
	}
}

// Tokens estimates the tokens of a text: 4 characters (bytes of UTF-8) a token, rounded up.
func Tokens(text string) int { return (len(text) + 3) / 4 }

// Count says how many: "1 session", "3 sessions", "2 memories".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "y") {
		what = strings.TrimSuffix(what, "y") + "ie"
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// Cut is at most a number of characters of a text, of which the last one tells that there were more.
func Cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// maxTitle is how many characters of a title are shown.
const maxTitle = 80

// ShortTitle cuts a title for display, at a word where there is one. Titles are
// redacted before they are cut: half a secret is not recognised.
func ShortTitle(title string) string {
	title = strings.Join(strings.Fields(title), " ")
	runes := []rune(title)
	if len(runes) <= maxTitle {
		return title
	}
	cut := string(runes[:maxTitle-1])
	if end := strings.LastIndexByte(cut, ' '); end > len(cut)/2 {
		cut = cut[:end]
	}
	return cut + "…"
}
