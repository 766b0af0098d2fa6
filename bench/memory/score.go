package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"memoir"
	"memoir/bench/memory/marks"
	"memoir/bench/memory/scenario"
)

// Tally counts facts, traps or secrets: how many there are and how many are found, plainly
// and by weight.
type Tally struct {
	Of          int
	Found       int
	Weight      int // 1 each of what has none
	WeightFound int
}

// Share is the part of the weight that was found; 0 of nothing.
func (t Tally) Share() float64 { return float64(t.WeightFound) / float64(max(t.Weight, 1)) }

// String is a cell of a table.
func (t Tally) String() string {
	if t.Of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f (%d/%d)", t.Share(), t.Found, t.Of)
}

func (t *Tally) add(weight int, found bool) {
	one := Tally{Of: 1, Weight: max(weight, 1)}
	if found {
		one.Found, one.WeightFound = one.Of, one.Weight
	}
	t.merge(one)
}

func (t *Tally) merge(other Tally) {
	t.Of += other.Of
	t.Found += other.Found
	t.Weight += other.Weight
	t.WeightFound += other.WeightFound
}

// Miss is a fact that was not found, or a trap that was fallen into.
type Miss struct {
	Session string // with its project before it; of a project's own mark, that
	Where   string
	marks.Mark
	marks.Match
}

// String is one miss in two lines.
func (m Miss) String() string {
	what, weight := "fell into", ""
	if m.Weight > 0 {
		what, weight = "missed", fmt.Sprintf(", weight %d", m.Weight)
	}
	line := "(no line comes near)"
	if m.Line != "" {
		line = fmt.Sprintf("%d/%d: %.240s", m.Met, len(m.Needs), m.Line)
	}
	return fmt.Sprintf("%s (%s): %s: %s (%s%s) %s\n    %s", what, m.Where, m.Session, m.ID, m.Kind, weight, m.Text, line)
}

// look counts the marks that lines state, and lists the facts that they do not and the
// traps that they do.
func look(lines []marks.Line, all []marks.Mark, session, where string) (t Tally, misses []Miss) {
	for _, mark := range all {
		m := mark.Find(lines)
		t.add(mark.Weight, m.States)
		if fact := mark.Weight > 0; fact != m.States {
			misses = append(misses, Miss{session, where, mark, m})
		}
	}
	return t, misses
}

// Memory is what a tool made of a project's sessions.
type Memory struct {
	Raw      map[string]string // raw memories by the session's name
	MemoryMD string
	Summary  string
	Skills   []string // SKILL.md of each
}

// The columns of a score.
const (
	inRaw          = "raw"     // facts of sessions, each in its own raw memory
	inFiles        = "files"   // facts of projects in their files
	carried        = "carried" // facts of sessions in their projects' files
	trapsRaw       = "traps raw"
	trapsFiles     = "traps files"
	contradictions = "contradictions" // those of the traps in files that were true once
	planted        = "secrets"        // planted ones that stand in some file
)

var columns = []string{inRaw, inFiles, carried, trapsRaw, trapsFiles, contradictions, planted}

// Counts is what is counted over one project, or over all.
type Counts struct {
	Name        string
	Sessions    int
	Tallies     map[string]Tally // by the column
	Tokens      int              // of all raw memories, 4 bytes each
	Largest     int              // raw memory, tokens
	MemoryBytes int
	Skills      int
}

func (c *Counts) count(column string, t Tally) {
	t.merge(c.Tallies[column])
	c.Tallies[column] = t
}

func (c *Counts) merge(other Counts) {
	c.Sessions += other.Sessions
	c.Tokens += other.Tokens
	c.Largest = max(c.Largest, other.Largest)
	c.MemoryBytes += other.MemoryBytes
	c.Skills += other.Skills
	for column, t := range other.Tallies {
		c.count(column, t)
	}
}

// Report is the score of a tool.
type Report struct {
	Projects []Counts
	Total    Counts
	Misses   []Miss
	Millis   int64
}

// add scores one project; secrets counts the planted ones that were found.
func (r *Report) add(p scenario.Project, m Memory, secrets Tally) {
	c := Counts{Name: p.Name, Sessions: len(p.Sessions), Tallies: map[string]Tally{planted: secrets},
		MemoryBytes: len(m.MemoryMD), Skills: len(m.Skills)}
	files := append(marks.Lines(m.MemoryMD), marks.Lines(m.Summary)...)
	for _, skill := range m.Skills {
		files = append(files, marks.Whole(skill))
	}
	count := func(column string, lines []marks.Line, all []marks.Mark, session string) {
		t, misses := look(lines, all, session, column)
		c.count(column, t)
		if column != carried && column != contradictions { // a session's facts need not be in the files
			r.Misses = append(r.Misses, misses...)
		}
	}
	inAllFiles := func(column, session string, m marks.Marks) {
		count(column, files, m.Facts, session)
		count(trapsFiles, files, m.Traps, session)
		count(contradictions, files, slices.DeleteFunc(slices.Clone(m.Traps), func(trap marks.Mark) bool {
			return trap.Kind != marks.Superseded
		}), session)
	}
	for _, s := range p.Sessions {
		raw, session := m.Raw[s.Name], p.Name+"/"+s.Name
		c.Tokens += memoir.Tokens(raw)
		c.Largest = max(c.Largest, memoir.Tokens(raw))
		count(inRaw, marks.Lines(raw), s.Facts, session)
		count(trapsRaw, marks.Lines(raw), s.Traps, session)
		inAllFiles(carried, session, s.Marks)
	}
	inAllFiles(inFiles, p.Name, p.Marks)
	r.Projects = append(r.Projects, c)
	r.Total.merge(c)
}

// print prints a score for a person.
func (r *Report) print(out io.Writer) {
	lines := []string{"project\tsessions\t" + strings.Join(columns, "\t") + "\ttokens avg\tlargest\tMEMORY.md\tskills"}
	for _, c := range append(r.Projects, r.Total) {
		line := fmt.Sprintf("%s\t%d", c.Name, c.Sessions)
		for _, column := range columns {
			line += "\t" + c.Tallies[column].String()
		}
		lines = append(lines, fmt.Sprintf("%s\t%.0f\t%d\t%d\t%d", line, float64(c.Tokens)/float64(max(c.Sessions, 1)),
			c.Largest, c.MemoryBytes, c.Skills))
	}
	table(out, lines)
	fmt.Fprintf(out, `
raw, files, carried: share of the weight of the facts that is stated (facts stated/facts); raw: a session's
facts in its raw memory, files: a project's in MEMORY.md, memory_summary.md and skills, carried: the sessions' there.
%d ms, %.1f ms a session
`, r.Millis, float64(r.Millis)/float64(max(r.Total.Sessions, 1)))
}
