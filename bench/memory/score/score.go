// Package score measures a memory against what its sessions teach. It knows marks,
// scenarios and lines of text; it knows no tool that makes memories and prints
// nothing.
//
// Read score.go first (what is counted), then project.go (over a project).
package score

import (
	"fmt"

	"memoir/bench/memory/marks"
)

// Recall counts facts: how many there are and how many a memory states, plainly and
// by weight.
type Recall struct {
	Facts       int `json:"facts"`
	Found       int `json:"found"`
	Weight      int `json:"weight"`
	WeightFound int `json:"weight_found"`
}

// Weighted is the share of the facts' weight that was found; 1 of no facts.
func (r Recall) Weighted() float64 { return share(r.WeightFound, r.Weight) }

// Add counts one fact.
func (r *Recall) Add(f marks.Fact, found bool) {
	r.Facts++
	r.Weight += f.Weight
	if found {
		r.Found++
		r.WeightFound += f.Weight
	}
}

// Merge adds up.
func (r *Recall) Merge(other Recall) {
	r.Facts += other.Facts
	r.Found += other.Found
	r.Weight += other.Weight
	r.WeightFound += other.WeightFound
}

// Fallen counts traps, or other things that must not be there, and those that are.
type Fallen struct {
	Of   int `json:"of"`
	Into int `json:"into"`
}

// Share is the part that is there; 0 of nothing.
func (f Fallen) Share() float64 {
	if f.Of == 0 {
		return 0
	}
	return float64(f.Into) / float64(f.Of)
}

// Add counts one.
func (f *Fallen) Add(into bool) {
	f.Of++
	if into {
		f.Into++
	}
}

// Merge adds up.
func (f *Fallen) Merge(other Fallen) {
	f.Of += other.Of
	f.Into += other.Into
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// Size is how long the raw memories of some sessions are, in tokens of 4 bytes.
type Size struct {
	Sessions int `json:"sessions"`
	Tokens   int `json:"tokens"`
	Largest  int `json:"largest"`
}

// Average is the tokens a session.
func (s Size) Average() float64 {
	if s.Sessions == 0 {
		return 0
	}
	return float64(s.Tokens) / float64(s.Sessions)
}

// Add counts one session's raw memory.
func (s *Size) Add(tokens int) {
	s.Sessions++
	s.Tokens += tokens
	s.Largest = max(s.Largest, tokens)
}

func (s *Size) merge(other Size) {
	s.Sessions += other.Sessions
	s.Tokens += other.Tokens
	s.Largest = max(s.Largest, other.Largest)
}

// Where a mark was looked for.
const (
	InRaw   = "raw memory"
	InFiles = "files"
)

// Miss is a fact that was not found, or a trap that was fallen into.
type Miss struct {
	Project string `json:"project"`
	Session string `json:"session,omitempty"` // "" for a mark of the project's own
	Where   string `json:"where"`
	Trap    bool   `json:"trap"`
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Weight  int    `json:"weight,omitempty"`
	Text    string `json:"text"`
	Line    string `json:"line"` // what states the trap, or comes nearest to the fact
	Met     int    `json:"met"`  // lists of needs that it meets
	Needs   int    `json:"needs"`
}

// Session is the score of one session's raw memory.
type Session struct {
	Recall Recall
	Traps  Fallen
	Misses []Miss
}

// OfSession scores lines against a session's marks.
func OfSession(lines []marks.Line, facts []marks.Fact, traps []marks.Trap, where Miss) Session {
	var s Session
	for _, f := range facts {
		m := marks.Find(lines, f.Needs, nil)
		s.Recall.Add(f, m.States)
		if !m.States {
			s.Misses = append(s.Misses, where.fact(f, m))
		}
	}
	for _, t := range traps {
		m := marks.Find(lines, t.Needs, t.Unless)
		s.Traps.Add(m.States)
		if m.States {
			s.Misses = append(s.Misses, where.trap(t, m))
		}
	}
	return s
}

func (where Miss) fact(f marks.Fact, m marks.Match) Miss {
	where.ID, where.Kind, where.Weight, where.Text = f.ID, f.Kind, f.Weight, f.Text
	where.Line, where.Met, where.Needs = m.Line, m.Met, len(f.Needs)
	return where
}

func (where Miss) trap(t marks.Trap, m marks.Match) Miss {
	where.Trap, where.ID, where.Kind, where.Text = true, t.ID, t.Kind, t.Text
	where.Line, where.Met, where.Needs = m.Line, m.Met, len(t.Needs)
	return where
}

// String is one miss in two lines.
func (m Miss) String() string {
	what := "missed"
	if m.Trap {
		what = "fell into"
	}
	in := m.Project
	if m.Session != "" {
		in += "/" + m.Session
	}
	weight := ""
	if m.Weight > 0 {
		weight = fmt.Sprintf(", weight %d", m.Weight)
	}
	line := "(no line comes near)"
	if m.Line != "" {
		line = fmt.Sprintf("%d/%d: %s", m.Met, m.Needs, shorten(m.Line))
	}
	return fmt.Sprintf("%s in %s: %s: %s (%s%s) %s\n    %s", what, m.Where, in, m.ID, m.Kind, weight, m.Text, line)
}

func shorten(line string) string {
	const most = 240
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return line
}
