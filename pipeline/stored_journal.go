package pipeline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/failpoint"
)

// journalName is the file of a home that is there while redacting is under way: the
// lines by which rules know what is a secret. They stand elsewhere in the home as
// well when it is written, and are gone from there, perhaps, when a process dies: where
// the same values stand bare, nothing else would tell.
const journalName = "redacting.jsonl"

// journal is the first line of that file.
type journal struct {
	Project string `json:"project"` // that is redacted; empty: the whole home
	Dirty   bool   `json:"dirty"`   // always; a line of its own tells a whole journal from none
}

func (s *sweep) journalPath() string { return filepath.Join(s.home, journalName) }

// recallJournal takes up what a process that died had found, and reports whether there
// was one. What is redacted is then at least what that one began with.
func (s *sweep) recallJournal() (bool, error) {
	data, err := os.ReadFile(s.journalPath())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, memoir.Errorf(memoir.CodeStorage, "", "read what redacting had begun: %w", err)
	}
	in := bufio.NewReader(bytes.NewReader(data))
	first := true
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return true, nil
		}
		if first {
			var j journal
			if json.Unmarshal([]byte(line), &j) == nil && j.Project != s.project {
				s.project = ""
			}
			first = false
			continue
		}
		var from source
		if json.Unmarshal([]byte(line), &from) == nil {
			s.learn(from.Owner, from.Text)
			s.sources = append(s.sources, from)
		}
	}
}

// keepJournal writes down by what the secrets are known, before anything is changed.
func (s *sweep) keepJournal() error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(journal{Project: s.project, Dirty: true})
	for _, from := range s.sources {
		err = errors.Join(err, enc.Encode(from))
	}
	if err != nil {
		return err
	}
	return replaceFile(s.journalPath(), 0o600, func(f *os.File) error {
		_, err := f.Write(b.Bytes())
		return err
	})
}

// dropJournal says that redacting is done.
func (s *sweep) dropJournal() error {
	if failpoint.Before("drop journal") != nil {
		return memoir.Errorf(memoir.CodeStorage, "", "remove %s: no room", journalName)
	}
	if err := os.Remove(s.journalPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return memoir.Errorf(memoir.CodeStorage, "remove it", "remove %s: %w", journalName, err)
	}
	failpoint.After("dropped journal")
	return nil
}

// around is how many lines on each side of a secret may tell a rule that it is one.
const linesAround = 4

// source is a text by which secrets are known, and by whose rules. It is written as a string
// where those are a person's own, as it was before projects' rules counted.
type source struct{ Owner, Text string }

func (f source) MarshalJSON() ([]byte, error) {
	if f.Owner == "" {
		return json.Marshal(f.Text)
	}
	return json.Marshal([]string{f.Owner, f.Text})
}

func (f *source) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &f.Text); err == nil {
		return nil
	}
	var both [2]string
	err := json.Unmarshal(data, &both)
	f.Owner, f.Text = both[0], both[1]
	return err
}

// source is as much of a text as tells all the secrets in it.
func (s *sweep) source(owner, text string) source {
	lines := strings.SplitAfter(text, "\n")
	wanted := make([]bool, len(lines))
	for _, f := range s.judgeOf(owner).find(text) {
		last := f.Line + strings.Count(text[f.Start:f.End], "\n")
		for i := max(0, f.Line-1-linesAround); i < min(len(lines), last+linesAround); i++ {
			wanted[i] = true
		}
	}
	var b strings.Builder
	for i, line := range lines {
		if wanted[i] {
			b.WriteString(line)
		}
	}
	if short := b.String(); slices.Contains(wanted, false) && s.secretsIn(owner, short) == s.secretsIn(owner, text) {
		text = short
	}
	return source{owner, text}
}

func (s *sweep) secretsIn(owner, text string) int {
	known := s.scanner.Session()
	newJudge(s.judgeOf(owner).scanners, known).text(text)
	return known.Secrets()
}

// replaceFile gives a file a new content in one step, durably, with the mode given.
func replaceFile(path string, mode fs.FileMode, write func(*os.File) error) (err error) {
	if err := failpoint.Before("replace " + filepath.Base(path)); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), unfinishedStart+"*")
	if err != nil {
		return memoir.Errorf(memoir.CodeStorage, "", "rewrite %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = memoir.Errorf(memoir.CodeStorage, "", "rewrite %s: %w", path, errors.Join(err, f.Close(), os.Remove(f.Name())))
		}
	}()
	if err := errors.Join(f.Chmod(mode), write(f), f.Sync()); err != nil {
		return err
	}
	if err := failpoint.Before("rename " + filepath.Base(path)); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	_ = f.Close()
	failpoint.After("renamed " + filepath.Base(path))
	return syncFolder(filepath.Dir(path))
}

// unfinishedStart begins the name of a file that is to replace another.
const unfinishedStart = ".redact-"

// syncFolder makes the names in a folder durable, where that is possible.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return nil // it is the file that matters
	}
	_ = d.Sync()
	return d.Close()
}
