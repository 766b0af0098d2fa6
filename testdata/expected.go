package testdata

import (
	"strings"
	"time"

	"memoir"
)

// Session is one fixture and what must become of it.
type Session struct {
	Name    string // unique, short; the README's row says what it is for
	Source  memoir.Source
	ID      string   // thread id; empty for a file that no reader recognises
	Files   []string // slash-separated, below the directory that Write fills, in reading order
	Project string   // Lanternd or Papertrail; empty: none
	Kind    memoir.SessionKind

	// Reason holds for a first scan at Now under the default settings.
	// OpenReason says what holds without limits of age and idleness.
	Reason  memoir.Reason
	Updated time.Time // of the last record; of the file where records have no times

	// Prompts are a person's own words in order: typed, queued, slash
	// commands, shell commands and rejections. They hold placeholders where the
	// file has secrets; Fill makes them equal to what Write wrote.
	Prompts []string

	// Facts stand in the project's MEMORY.md once the session is extracted,
	// in any letter case. Traps stand in no published file: they were
	// undone, belong to another kind of session, or are not worth keeping.
	Facts []string
	Traps []string
}

// Key is the session's key in the registry, empty for an unreadable file.
func (s Session) Key() string {
	if s.ID == "" {
		return ""
	}
	return memoir.SessionKey(s.Source, s.ID)
}

// OpenReason is the reason at a first scan with --min-idle 0 and --max-age 0.
func (s Session) OpenReason() memoir.Reason {
	switch s.Reason {
	case memoir.ReasonActive, memoir.ReasonTooRecent, memoir.ReasonTooOld:
		return memoir.ReasonEligible
	}
	return s.Reason
}

// The names of the two projects.
const (
	Lanternd   = "lanternd"
	Papertrail = "papertrail"
)

// Project is one project of the fixtures. None of its directories exists.
type Project struct {
	Name        string
	Remote      string // normalised
	Directories []string
}

// Projects lists both. Claude Code and pi record no remote: their sessions
// belong here because Codex sessions recorded the same directory with one.
var Projects = []Project{
	{
		Name:        Lanternd,
		Remote:      "git.example.test/acme/lanternd",
		Directories: []string{"/home/mira/src/lanternd", "/home/mira/src/worktrees/lanternd-scenes"},
	},
	{
		Name:        Papertrail,
		Remote:      "git.example.test/acme/papertrail",
		Directories: []string{"/home/mira/src/papertrail"},
	},
}

// Find returns the session of that name and panics if there is none.
func Find(name string) Session {
	for _, s := range Expected() {
		if s.Name == name {
			return s
		}
	}
	panic("testdata: no session " + name)
}

// Holds reports whether text holds fact, in any letter case.
func Holds(text, fact string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(fact))
}
