// Package transcript writes the scenarios' sessions in the agents' formats: of each record
// what tells who said and did what. It knows the formats, one file an agent; it knows no
// memory. The same session gives the same bytes: ids come from names, times from the scenario.
//
// Read transcript.go first, then codex.go and claude.go; verify_test.go says what a reader must
// make of a session.
package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"memoir"
	"memoir/bench/memory/scenario"
)

// File is one session on its way to the disk.
type File struct {
	Path string // below the directory of all sessions, slash-separated; begins with the agent
	ID   string // the agent's id of the session
	Data []byte

	at      time.Time // of the last record
	project scenario.Project
	session scenario.Session
	ids     int
}

// SaveAll writes the sessions of projects below a directory.
func SaveAll(dir string, projects []scenario.Project) error {
	for _, p := range projects {
		for _, s := range p.Sessions {
			if _, err := New(p, s).Save(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// New makes a session's file.
func New(p scenario.Project, s scenario.Session) File {
	f := &File{project: p, session: s}
	f.ID = f.id()
	f.Path = s.Agent + "/" + f.ID + ".jsonl"
	switch memoir.Source(s.Agent) {
	case memoir.SourceCodex:
		f.codex()
	case memoir.SourceClaude:
		f.claude()
	}
	return *f
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
	return target, os.Chtimes(target, f.at, f.at)
}

// file is the absolute path of a file of the project.
func (f *File) file(name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(f.project.Dir, name)
}

type obj = map[string]any

// line writes one record, with its time.
func (f *File) line(at time.Time, record obj) {
	f.at = at
	record["timestamp"] = at.UTC().Format("2006-01-02T15:04:05.000Z")
	f.Data = append(append(f.Data, encode(record)...), '\n')
}

// encode writes a value as JSON with <, > and & as they are, like the programs that write
// sessions.
func encode(v any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err) // strings, numbers and what YAML gave
	}
	return bytes.TrimSpace(out.Bytes())
}

// id is the next of the session's ids.
func (f *File) id() string {
	f.ids++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", f.project.Name, f.session.Name, f.ids))
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// taken is when a call that began at a time has its result.
func taken(at time.Time) time.Time { return at.Add(2 * time.Second) }
