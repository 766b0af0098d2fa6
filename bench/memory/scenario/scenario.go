// Package scenario knows the sessions of the benchmark as their authors write them:
// a project's directory with project.yml and one file a session. It knows what was
// said and done and what of it is to be remembered; it knows no agent's format.
//
// Read scenario.go first (the words), then read.go (from the disk, and why none holds a secret).
package scenario

import (
	"time"

	"go.yaml.in/yaml/v3"

	"memoir/bench/memory/marks"
)

// Project is one invented repository with its sessions in order of their names.
type Project struct {
	Name        string           `yaml:"project"`
	Remote      string           `yaml:"remote"`
	Dir         string           `yaml:"dir"` // absolute; it need not exist
	About       string           `yaml:"about"`
	marks.Marks `yaml:",inline"` // of the memory after all sessions
	Sessions    []Session        `yaml:"-"`
}

// Session is one session of one agent.
type Session struct {
	Name        string           `yaml:"session"` // <number>-<name>, as its file
	Agent       string           `yaml:"agent"`   // a memoir.Source
	At          time.Time        `yaml:"at"`
	Branch      string           `yaml:"branch"`
	Said        []Entry          `yaml:"said"`
	marks.Marks `yaml:",inline"` // what this session alone teaches; evidence counts entries from 1
	Planted     []string         `yaml:"-"` // what of its secrets must not turn up anywhere
}

// Step is the time between two entries that do not say when they were.
const Step = 20 * time.Second

// Kind says what an entry is.
type Kind int

// The kinds of an entry.
const (
	Person      Kind = iota // Text was typed
	Agent                   // Text was written by the agent
	Run                     // the command line Text was run in In
	Read                    // the file Text was read
	Edit                    // Old became New in the file Text
	Write                   // the file Text was written
	Search                  // the files were searched for Text
	Tool                    // the tool Text was called
	Refused                 // the person rejected Call and said Text, which may be empty
	Queued                  // Text was typed while the agent was at work
	Interrupted             // the person stopped the agent
	Injected                // Text was put in by the agent's program
	Summary                 // the context was replaced by Text
)

// Entry is one thing that was said or done. The fields beside Text belong to the
// kinds that name them.
type Entry struct {
	Kind    Kind                 `yaml:"-"`
	Text    string               `yaml:"-"`
	Kinds   map[string]yaml.Node `yaml:",inline"` // as it is written: the kind's key, and Text or Call
	At      time.Time            `yaml:"at"`
	In      string               `yaml:"in"`      // Run: directory below the project's, slash-separated
	Exit    int                  `yaml:"exit"`    // Run
	Output  string               `yaml:"output"`  // Run, Read, Search, Tool
	Old     string               `yaml:"old"`     // Edit
	New     string               `yaml:"new"`     // Edit
	Content string               `yaml:"content"` // Write
	Input   map[string]any       `yaml:"input"`   // Tool
	Fails   string               `yaml:"fails"`   // Read, Edit, Write, Search, Tool: what it said instead
	Reason  string               `yaml:"reason"`  // Refused: what Text becomes
	Call    *Entry               `yaml:"-"`       // Refused
	N       int                  `yaml:"-"`       // in its file, from 1
}

// IsCall reports whether the entry is a tool call.
func (e Entry) IsCall() bool { return e.Kind >= Run && e.Kind <= Refused }

// Closing reports whether entry i is the agent's closing answer of a turn: nothing
// but the person's next words, a summary or the end follows it.
func (s Session) Closing(i int) bool {
	if s.Said[i].Kind != Agent {
		return false
	}
	for _, next := range s.Said[i+1:] {
		switch next.Kind {
		case Injected:
		case Person, Queued, Summary:
			return true
		default:
			return false
		}
	}
	return true
}
