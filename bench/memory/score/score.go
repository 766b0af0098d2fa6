// Package score measures a memory against what its sessions teach. It knows marks,
// scenarios and lines of text; it knows no tool that makes memories and prints
// nothing.
package score

import (
	"fmt"

	"memoir"
	"memoir/bench/memory/marks"
	"memoir/bench/memory/scenario"
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
	Recall         Recall
	Traps          Fallen
	Contradictions Fallen // those of the traps that were true once
	Misses         []Miss
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
		if t.Kind == marks.Superseded {
			s.Contradictions.Add(m.States)
		}
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

// Memory is what a tool made of a project's sessions.
type Memory struct {
	Raw     map[string]string // raw memories by the session's name
	Memory  string            // MEMORY.md
	Summary string            // memory_summary.md
	Skills  []string          // SKILL.md of each
}

// files are the lines of what a later session reads.
func (m Memory) files() []marks.Line {
	lines := append(marks.Lines(m.Memory), marks.Lines(m.Summary)...)
	for _, skill := range m.Skills {
		lines = append(lines, marks.Whole(skill))
	}
	return lines
}

// Counts is what is counted over one project, or over all.
type Counts struct {
	Sessions       int    `json:"sessions"`
	Raw            Recall `json:"raw"`     // facts of sessions, each in its own raw memory
	Files          Recall `json:"files"`   // facts of projects in their files
	Carried        Recall `json:"carried"` // facts of sessions in their projects' files
	TrapsRaw       Fallen `json:"traps_raw"`
	TrapsFiles     Fallen `json:"traps_files"`
	Contradictions Fallen `json:"contradictions"` // those of the traps in files that were true once
	Secrets        Fallen `json:"secrets"`        // planted ones that stand in some file
	Size           Size   `json:"size"`
	MemoryBytes    int    `json:"memory_bytes"`
	SummaryBytes   int    `json:"summary_bytes"`
	Skills         int    `json:"skills"`
}

func (c *Counts) merge(other Counts) {
	c.Sessions += other.Sessions
	c.Raw.Merge(other.Raw)
	c.Files.Merge(other.Files)
	c.Carried.Merge(other.Carried)
	c.TrapsRaw.Merge(other.TrapsRaw)
	c.TrapsFiles.Merge(other.TrapsFiles)
	c.Contradictions.Merge(other.Contradictions)
	c.Secrets.Merge(other.Secrets)
	c.Size.merge(other.Size)
	c.MemoryBytes += other.MemoryBytes
	c.SummaryBytes += other.SummaryBytes
	c.Skills += other.Skills
}

// Project is one project's score.
type Project struct {
	Name string `json:"name"`
	Counts
}

// Report is the score of a tool.
type Report struct {
	Projects []Project `json:"projects"`
	Total    Counts    `json:"total"`
	Misses   []Miss    `json:"misses,omitempty"`
	Millis   int64     `json:"duration_ms"`
}

// PerSession is the milliseconds a session, 0 where no time was taken.
func (r *Report) PerSession() float64 {
	if r.Total.Sessions == 0 {
		return 0
	}
	return float64(r.Millis) / float64(r.Total.Sessions)
}

// Add scores one project; leaked are the planted secrets that were found.
func (r *Report) Add(p scenario.Project, m Memory, planted, leaked int) {
	c := Counts{Sessions: len(p.Sessions), Secrets: Fallen{planted, leaked},
		MemoryBytes: len(m.Memory), SummaryBytes: len(m.Summary), Skills: len(m.Skills)}
	files := m.files()
	carry := func(session string, facts []marks.Fact, traps []marks.Trap) Recall {
		s := OfSession(files, facts, traps, Miss{Project: p.Name, Session: session, Where: InFiles})
		c.TrapsFiles.Merge(s.Traps)
		c.Contradictions.Merge(s.Contradictions)
		for _, miss := range s.Misses {
			if miss.Trap || session == "" { // a session's facts need not be in the files
				r.Misses = append(r.Misses, miss)
			}
		}
		return s.Recall
	}
	for _, s := range p.Sessions {
		c.raw(r, s, m.Raw[s.Name], p.Name)
		c.Carried.Merge(carry(s.Name, s.Facts, s.Traps))
	}
	c.Files.Merge(carry("", p.Facts, p.Traps))
	r.Projects = append(r.Projects, Project{p.Name, c})
	r.Total.merge(c)
}

// raw scores the raw memory of one session.
func (c *Counts) raw(r *Report, s scenario.Session, text, project string) {
	one := OfSession(marks.Lines(text), s.Facts, s.Traps, Miss{Project: project, Session: s.Name, Where: InRaw})
	c.Raw.Merge(one.Recall)
	c.TrapsRaw.Merge(one.Traps)
	c.Size.Add(memoir.Tokens(text))
	r.Misses = append(r.Misses, one.Misses...)
}
