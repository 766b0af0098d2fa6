package score

import (
	"memoir"
	"memoir/bench/memory/marks"
	"memoir/bench/memory/scenario"
)

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
	carry := func(session string, facts []marks.Fact, traps []marks.Trap) {
		here := Miss{Project: p.Name, Session: session, Where: InFiles}
		own := session == ""
		for _, f := range facts {
			match := marks.Find(files, f.Needs, nil)
			if own {
				c.Files.Add(f, match.States)
			} else {
				c.Carried.Add(f, match.States)
			}
			if own && !match.States {
				r.Misses = append(r.Misses, here.fact(f, match))
			}
		}
		for _, t := range traps {
			match := marks.Find(files, t.Needs, t.Unless)
			c.TrapsFiles.Add(match.States)
			if t.Kind == marks.Superseded {
				c.Contradictions.Add(match.States)
			}
			if match.States {
				r.Misses = append(r.Misses, here.trap(t, match))
			}
		}
	}
	for _, s := range p.Sessions {
		c.raw(r, s, m.Raw[s.Name], p.Name)
		carry(s.Name, s.Facts, s.Traps)
	}
	carry("", p.Facts, p.Traps)
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
