// Package transcript writes the scenarios' sessions as the agents write theirs: the
// records, the names and the places below an agent's home. It knows every agent's
// format, one file an agent; it knows no memory. The same session gives the same
// bytes: ids come from names, times from the scenario.
//
// Read transcript.go first, then codex.go and claude.go; verify.go says what a reader must
// make of a session.
package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
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

// sorted makes an object of what an author wrote as a tool's input.
func sorted(input map[string]any) obj {
	out := obj{}
	for _, key := range slices.Sorted(maps.Keys(input)) {
		out = append(out, key, input[key])
	}
	return out
}

// book is a session on its way to the disk.
type book struct {
	project scenario.Project
	session scenario.Session
	out     bytes.Buffer
	last    time.Time
	ids     int
}

// obj is a JSON object whose members stand in the order in which agents write them:
// names and values alternate.
type obj []any

// line writes one record.
func (b *book) line(at time.Time, record obj) {
	if at.After(b.last) {
		b.last = at
	}
	b.out.Write(encode(record))
	b.out.WriteByte('\n')
}

// done makes the file.
func (b *book) done(path, id string) File {
	return File{Path: path, ID: id, Data: b.out.Bytes(), At: b.last}
}

// encode writes a value as JSON without blanks and with <, > and & as they are, like
// the programs that write sessions.
func encode(v any) []byte {
	var out bytes.Buffer
	write(&out, v)
	return out.Bytes()
}

func write(out *bytes.Buffer, v any) {
	switch v := v.(type) {
	case obj:
		out.WriteByte('{')
		for i := 0; i < len(v); i += 2 {
			if i > 0 {
				out.WriteByte(',')
			}
			write(out, v[i])
			out.WriteByte(':')
			write(out, v[i+1])
		}
		out.WriteByte('}')
	case []any:
		out.WriteByte('[')
		for i, element := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			write(out, element)
		}
		out.WriteByte(']')
	default:
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(v); err != nil {
			panic(err) // strings, numbers and what YAML gave
		}
		out.Truncate(out.Len() - 1) // the encoder ends with a newline
	}
}

// digest is a number of hexadecimal digits, at most 64, that depend on the session
// and on how many ids it has already.
func (b *book) digest(digits int) string {
	b.ids++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", b.project.Name, b.session.Name, b.ids))
	return hex.EncodeToString(sum[:])[:digits]
}

// uuid is a random one, version 4.
func (b *book) uuid() string {
	d := b.digest(32)
	return d[:8] + "-" + d[8:12] + "-4" + d[13:16] + "-a" + d[17:20] + "-" + d[20:]
}

// uuid7 is one that begins with a time, version 7.
func (b *book) uuid7(at time.Time) string {
	d, ms := b.digest(32), fmt.Sprintf("%012x", at.UnixMilli())
	return ms[:8] + "-" + ms[8:] + "-7" + d[13:16] + "-9" + d[17:20] + "-" + d[20:]
}

// stamp is a time as most agents write it.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// taken is when a call that began at a time has its result.
func taken(at time.Time) time.Time { return at.Add(2 * time.Second) }
