package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"memoir"
	"memoir/bench/memory/marks"
)

// remembered is what a home has of a session: its statements, and its project's MEMORY.md and memory_summary.md.
type remembered struct {
	statements []memoir.Statement
	memory     []signalLine
	summary    []marks.Line
}

// A signalLine is a line of a memory with the signal of its statement.
type signalLine struct {
	signal string
	marks.Line
}

// readHome reads the memory of each session of a home by the session's id.
func readHome(home string) (map[string]remembered, error) {
	out := map[string]remembered{}
	paths, err := filepath.Glob(filepath.Join(home, "projects", "*", "memory", "manifest.json"))
	if err == nil && len(paths) == 0 {
		err = memoir.Errorf(memoir.CodeInvalid, "", "%s has no memories", home)
	}
	for _, path := range paths {
		err = errors.Join(err, readProject(filepath.Dir(path), out))
	}
	return out, err
}

func readProject(dir string, out map[string]remembered) error {
	var manifest struct{ Lines map[string]memoir.LineOrigin }
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(data, &manifest)
	}
	memory, noMemory := os.ReadFile(filepath.Join(dir, "MEMORY.md"))
	summary, noSummary := os.ReadFile(filepath.Join(dir, "memory_summary.md"))
	statements, noStatements := os.ReadFile(filepath.Join(dir, "statements.jsonl"))
	if err = errors.Join(err, noMemory, noSummary, noStatements); err != nil {
		return err
	}
	signals := map[string]string{} // by the id of a statement
	all := map[string][]memoir.Statement{}
	for decoder := json.NewDecoder(bytes.NewReader(statements)); ; {
		var one struct {
			Session    string
			Statements []memoir.Statement
		}
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		_, id, _ := strings.Cut(one.Session, ":")
		all[id] = one.Statements
		for _, st := range one.Statements {
			signals[st.ID] = st.Signal
		}
	}
	var lines []signalLine
	for line := range strings.Lines(string(memory)) {
		if strings.HasPrefix(line, "- ") {
			signal := "other"
			if ids := manifest.Lines[memoir.LineKey(line)].Statements; len(ids) > 0 {
				signal = signals[ids[0]]
			}
			lines = append(lines, signalLine{signal, marks.Whole(line[2:])})
		}
	}
	for id, statements := range all {
		out[id] = remembered{statements, lines, marks.Lines(string(summary))}
	}
	return nil
}

// A signalScore is what one signal brings.
type signalScore struct {
	Signal       string
	Lines, Bytes int
	Found, Only  Tally // facts that its lines state, and those that no other line states
	Traps        Tally
}

// signalScores are those of raw memories, or of files, by signal.
type signalScores map[string]*signalScore

func (t signalScores) of(signal string) *signalScore {
	if t[signal] == nil {
		t[signal] = &signalScore{Signal: signal}
	}
	return t[signal]
}

// count counts lines, which several sessions may share.
func (t signalScores) count(lines []signalLine) {
	for _, l := range lines {
		s := t.of(l.signal)
		s.Lines++
		s.Bytes += len(l.Text)
	}
}

// look looks for the marks of a session in lines.
func (t signalScores) look(lines []signalLine, m marks.Marks) {
	by := map[string][]marks.Line{}
	for _, l := range lines {
		by[l.signal] = append(by[l.signal], l.Line)
	}
	for _, fact := range m.Facts {
		var states []string
		for signal, lines := range by {
			if fact.Find(lines).States {
				states = append(states, signal)
			}
		}
		for _, signal := range states {
			t.of(signal).Found.add(fact.Weight, true)
			t.of(signal).Only.add(fact.Weight, len(states) == 1)
		}
	}
	for signal, lines := range by {
		traps, _ := look(lines, m.Traps, "", "")
		t.of(signal).Traps.merge(traps)
	}
}
