// Package memoir is the vocabulary of the program: sessions, items, extractions, consolidations and projects. It has
// plain values with their rules, and does not access files, databases or the network.
//
// Read memoir.go first (the words), then statement.go (the form of a raw memory) and error.go (codes, hints).
package memoir

import (
	"crypto/sha256"
	"encoding/hex"
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
	// SourceConversation is an application that adds its messages itself.
	SourceConversation Source = "conversation"
)

// SessionKind is the kind of a session's author. By default, only main sessions are extracted.
type SessionKind string

// The kinds of a session.
const (
	KindMain       SessionKind = "main"
	KindSubagent   SessionKind = "subagent"   // started by another session: sub-agents, reviews, guardians, compaction
	KindAutomation SessionKind = "automation" // started by a schedule, a script or another program
	KindOwnRun     SessionKind = "own_run"    // memoir's own model calls
	KindEntry      SessionKind = "entry"      // no transcript: an Entry
)

// OwnRunMarker in the first text of a session identifies memoir's own model calls: it begins
// every question to an agent, since some agents store each run as a session.
const OwnRunMarker = "memoir:own-run"

// ChildVariable is set in the environment of programs that memoir starts, so that memoir does
// nothing when their hooks start it.
const ChildVariable = "MEMOIR_CHILD"

// Reason is why a session is, or is not, extracted. Every registered session has exactly one:
// the first that applies, in the order of Reasons.
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
	ReasonOutdated   Reason = "outdated"
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
	ReasonUnreadable, ReasonNoProject, ReasonUpToDate, ReasonOutdated, ReasonActive, ReasonTooRecent,
	ReasonTooOld, ReasonBackoff, ReasonDead, ReasonOverCap, ReasonEligible,
}

// Meanings says for each reason, in help and pages, why a session is, or is not, extracted from.
var Meanings = map[Reason]string{
	ReasonSubagent:   "another session started it; only main sessions are read",
	ReasonAutomation: "a schedule, script or other program started it; memories.includeAutomation includes it",
	ReasonOwnRun:     "memoir itself made it when it called a model",
	ReasonForgotten:  "it is not read again until `memoir forget --undo`; a conversation is gone",
	ReasonDisabled:   "`memoir sessions disable`, exclude or .memoir.yml keeps it out of memory",
	ReasonUnreadable: "it cannot be read",
	ReasonNoProject:  "its directory is unknown, temporary or your home directory: no project",
	ReasonUpToDate:   "it was extracted and has not changed since",
	ReasonOutdated:   "an earlier version of the built-in model, or another model, read it; the next run reads it again",
	ReasonActive:     "it changed within memories.activeRolloutMinutes, or called memoir",
	ReasonTooRecent:  "it changed within memories.minRolloutIdleHours",
	ReasonTooOld:     "it is older than memories.maxRolloutAgeDays",
	ReasonBackoff:    "it failed and waits for its next attempt; `memoir retry` ends the wait",
	ReasonDead:       "it failed too often; `memoir retry` retries it",
	ReasonOverCap:    "it is over the cap of a run; a later run reads it",
	ReasonEligible:   "the next run extracts from it",
}

// File is one file of a session as the file system describes it. Files with equal Size,
// ModTime and Inode are assumed to have the same content.
//
// An agent may keep many sessions in one database, or one in many files. Then Path is <database>#<session id>, or the
// session's own file, and Size, ModTime and Inode only distinguish states of the session.
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
	CWD       string // first working directory, as recorded
	Branch    string
	Remote    string // recorded URL of the repository, without credentials
	Files     []File // in reading order
	Bytes     int64  // sum over Files
	CreatedAt time.Time
	UpdatedAt time.Time // time of the last record, else of the last modification
	Reason    Reason
	Error     string // why the session is unreadable, or its last failure
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

// Origin is how a text entered the conversation. ByPerson reports which of them are a person's own words.
type Origin string

// The origins of an item.
const (
	OriginTyped             Origin = "typed"
	OriginQueued            Origin = "queued"        // typed while the agent was busy
	OriginSlashCommand      Origin = "slash_command" // a command's name and arguments
	OriginShell             Origin = "shell"         // a command that the person ran in the agent's prompt
	OriginPlanHandover      Origin = "plan_handover" // an agent's plan at the beginning of a new session
	OriginInjected          Origin = "injected"      // added by the agent, a hook or a tool
	OriginCompactionSummary Origin = "compaction_summary"
	OriginSubagentTask      Origin = "subagent_task" // the task from a parent session
	OriginRejection         Origin = "rejection"     // a person's words with the refusal of a tool call
	OriginAnswer            Origin = "answer"        // a person's answer to a question of the agent
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
	N      int    // position in the session, from 1; omitted items count, too
	Kind   string // ItemMessage, ItemTool or ItemSummary
	Role   string // RoleUser, RoleAssistant or RoleTool
	Origin Origin
	Text   string // of a message or summary
	Final  bool   // the agent's closing answer of a turn, if the format marks it
	Tool   string // the tool's name as the agent recorded it
	Input  string // of a tool call: the command line of a shell tool, else its arguments as JSON
	Output string // of a tool call: the result without the agent's framing
	Exit   *int   // exit status, if the format has one
	Failed bool   // the format marks the call as failed, or Exit is not 0
	Lost   bool   // the call has no result, or was interrupted
	At     time.Time
	CWD    string // at this item
	Branch string // at this item
}

// Shell reports whether the item is an executed command line, which Input then has.
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

// Project is the unit of memory: a repository, else a directory.
type Project struct {
	ID          string // <name>-<hash of Identity>: also the name of its folder; never collides
	Name        string
	Identity    string // a normalised remote, a common git directory or a directory
	Remote      string // normalised, without credentials; empty if unknown
	Directories []string
	Aliases     []string // earlier identities and names

	// Inodes tell the directories of a found project from others that were at their paths. git:TIME is when git made a
	// git directory, which copies share; inode:TIME:INODE is that one alone; dir:INODE:PATH is a directory without git.
	Inodes    []string
	Upstreams []string // other remotes of a found project's repository
}

// ProjectID returns a project's id. The hash distinguishes projects of the same name.
func ProjectID(name, identity string) string {
	sum := sha256.Sum256([]byte(identity))
	return name + "-" + hex.EncodeToString(sum[:])[:12]
}

// UserProjectID is the id of the user's own memory, a project with the rules that a person stated
// in several projects. It has no sessions. Its hash differs from those of all identities.
const UserProjectID = "user-000000000000"

// UserProject is the project of UserProjectID.
func UserProject() Project {
	return Project{ID: UserProjectID, Name: "user", Identity: UserProjectID}
}

// ErrUserEmpty is the error for the user's own memory while it does not exist.
var ErrUserEmpty = Errorf(CodeNotFound, "`memoir remember --user` adds a note", "the user's own memory is empty")

// IsUser reports whether a project is the user's own memory.
func (p Project) IsUser() bool { return p.ID == UserProjectID }

// HandEdit is a person's edit of a project's memory, found by comparing the live files with the published ones. Phase 2
// applies all hand edits to every generation, so that a person's lines stay and deleted lines don't return.
type HandEdit struct {
	ID        int64
	ProjectID string
	File      string // slash-separated, relative to the root
	Action    EditAction
	Section   string // the Markdown heading line above the text, empty at the top
	After     string // the Block before it, empty if it is the first of its section
	Nth       int    // that of Section and After, from 1; 0 is any
	Text      string // a Block; the whole content for EditFile
	Others    int    // blocks with the same text in the file: before it was added, or after it was removed
	Hub       int    // of a line that was removed, the generation of the hub that had it; 0: none, or EditHere
	At        time.Time
}

// EditAction is a kind of hand edit.
type EditAction string

// The actions of a hand edit.
const (
	EditAdded   EditAction = "added"   // a line a person wrote
	EditRemoved EditAction = "removed" // a line a person deleted
	EditFile    EditAction = "file"    // a whole file a person wrote or rewrote
	EditDeleted EditAction = "deleted" // a whole file a person deleted
	// EditRestored is a line that a restoration brought back. It cancels EditRemoved, and is EditAdded
	// again if a person wrote the line.
	EditRestored EditAction = "restored"
	// A line that a later edit removed or added again. These only keep the places of other lines.
	EditWasAdded   EditAction = "was added"
	EditWasRemoved EditAction = "was removed"
)

// Usage is the consumption of model calls.
type Usage struct {
	Calls        int     `json:"calls"`
	InputTokens  int64   `json:"input_tokens"`
	CachedTokens int64   `json:"cached_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	Cost         float64 `json:"cost"` // US dollars; 0 if the price is unknown
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

// Tokens estimates the tokens of a text: 4 bytes per token, rounded up.
func Tokens(text string) int { return (len(text) + 3) / 4 }

// Count returns a number with its noun: "1 session", "3 sessions", "2 memories", "2 days".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if stem, ends := strings.CutSuffix(what, "y"); ends && !strings.HasSuffix(stem, "a") {
		what = stem + "ie"
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// Entry is a note or a line of a journal or history. It is stored as a session of SourceEntry and KindEntry
// with the text as its one message, so that entries are found, forgotten and consolidated like sessions.
type Entry struct {
	ID        int64 // from 1, never reused
	ProjectID string
	Kind      EntryKind
	Category  string // of a note, one of Categories
	Author    Author
	Text      string
	From      string // key of the session that it was written from, and is forgotten with; empty: none is known
	Replaces  int64  // number of the note that it stands in the place of; 0: none. An agent's replaces no person's.

	CreatedAt, AccessedAt time.Time // the latter is that of a note's last recall, initially of its creation
}

// SourceEntry is the source of sessions that are entries.
const SourceEntry Source = "memoir"

// EntryKind is the place of an entry.
type EntryKind string

// The kinds of an entry.
const (
	EntryNote    EntryKind = "note"    // a statement to be remembered
	EntryJournal EntryKind = "journal" // a line of a day's journal
	EntryHistory EntryKind = "history" // a paragraph on a session
)

// Categories are the categories of notes.
var Categories = []string{"preference", "fact", "project", "person", "routine"}

// Author is the originator of an entry.
type Author string

// The authors of an entry. Entries of AuthorAuto and AuthorAgent are claims.
const (
	AuthorUser  Author = "user"  // a person asked for it
	AuthorAuto  Author = "auto"  // memoir noticed it
	AuthorAgent Author = "agent" // an agent decided it
)

// Unconfirmed ends a line of MEMORY.md that an agent wrote, until a person removes the mark or the line. Such
// a line is a claim and is not injected.
const Unconfirmed = " (not confirmed)"

// IsEntry reports whether a session's key is that of an entry.
func IsEntry(key string) bool { return strings.HasPrefix(key, string(SourceEntry)+":") }

// IsJournal reports whether a session's key is that of a line of a journal.
func IsJournal(key string) bool {
	return strings.HasPrefix(key, string(SourceEntry)+":"+string(EntryJournal)+"-")
}

// IsKept reports whether only memoir has the session of a key: an entry or a conversation. Forgetting deletes it.
func IsKept(key string) bool {
	source, _ := SplitKey(key)
	return source == SourceEntry || source == SourceConversation
}

// EntryID returns the id of a session's entry; 0 if it is not an entry.
func EntryID(key string) int64 {
	if !IsEntry(key) {
		return 0
	}
	id, err := strconv.ParseInt(key[strings.LastIndexByte(key, '-')+1:], 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// Key returns the key of the entry's session.
func (e Entry) Key() string {
	return SessionKey(SourceEntry, string(e.Kind)+"-"+strconv.FormatInt(e.ID, 10))
}
