// Package transcript writes the scenarios' sessions as the agents write theirs: the
// records, the names and the places below an agent's home. It knows every agent's
// format, one file an agent; it knows no memory. The same session gives the same
// bytes: ids come from names, times from the scenario.
//
// Read transcript.go first, then codex.go and claude.go; verify.go says what a reader must
// make of a session.
package transcript

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"memoir"
	"memoir/bench/memory/scenario"
)

// File is one session as its agent left it on the disk.
type File struct {
	Path string // below the directory of all sessions, slash-separated; begins with the agent
	ID   string // the agent's id of the session
	Data []byte
	At   time.Time // of the last record
}

// New makes a session's file.
func New(p scenario.Project, s scenario.Session) File {
	b := &book{project: p, session: s}
	switch memoir.Source(s.Agent) {
	case memoir.SourceCodex:
		return writeCodex(b)
	case memoir.SourceClaude:
		return writeClaude(b)
	}
	panic(fmt.Sprintf("no agent is called %q", s.Agent)) // a scenario that was read has one
}

// Save writes a file below a directory, with the time of its last record.
func (f File) Save(dir string) (string, error) {
	target := filepath.Join(dir, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return "", fmt.Errorf("write a session: %w", err)
	}
	if err := os.WriteFile(target, f.Data, 0o600); err != nil {
		return "", fmt.Errorf("write a session: %w", err)
	}
	return target, os.Chtimes(target, f.At, f.At)
}

// dir is where a command runs: the project's directory, or one below it.
func (b *book) dir(e scenario.Entry) string { return path.Join(b.project.Dir, e.In) }

// file is the absolute path of a file of the project.
func (b *book) file(name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(b.project.Dir, name)
}

// commandLine is a command with its way to the directory that it runs in, for agents
// whose shell tool takes none.
func commandLine(e scenario.Entry) string {
	if e.In == "" {
		return e.Text
	}
	return "cd " + e.In + " && " + e.Text
}
