package score

import (
	"memoir"
	"memoir/bench/memory/marks"
	"memoir/bench/memory/scenario"
)

// Memory is what a tool made of a project's sessions.
type Memory struct {
	Raw     map[string]string // raw memories by the session's name; nil if the tool has none
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

// all are the lines of everything.
func (m Memory) all(p scenario.Project) []marks.Line {
	lines := m.files()
	for _, s := range p.Sessions {
		lines = append(lines, marks.Lines(m.Raw[s.Name])...)
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
	Gone           Fallen `json:"gone"`           // withdrawn facts that are still there
	Stood          int    `json:"stood"`          // of them, those that were there before
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
	c.Gone.Merge(other.Gone)
	c.Stood += other.Stood
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

// KindRecall is what was found of one kind of facts.
type KindRecall struct {
	Raw     Recall `json:"raw"`
	Files   Recall `json:"files"`
	Carried Recall `json:"carried"`
}

// KindTraps is what was fallen into of one kind of traps.
type KindTraps struct {
	Raw   Fallen `json:"raw"`
	Files Fallen `json:"files"`
}

// Report is the score of a tool.
type Report struct {
	Projects []Project         `json:"projects"`
	Total    Counts            `json:"total"`
	Facts    Kinds[KindRecall] `json:"facts"`
	Traps    Kinds[KindTraps]  `json:"traps"`
	Misses   []Miss            `json:"misses,omitempty"`
	Millis   int64             `json:"duration_ms"`
}

// PerSession is the milliseconds a session, 0 where no time was taken.
func (r *Report) PerSession() float64 {
	if r.Total.Sessions == 0 {
		return 0
	}
	return float64(r.Millis) / float64(r.Total.Sessions)
}

// NewReport is empty.
func NewReport() *Report { return &Report{Facts: Kinds[KindRecall]{}, Traps: Kinds[KindTraps]{}} }

// Add scores one project. After is the memory without the withdrawn sessions, nil
// where none was made; leaked are the planted secrets that were found.
func (r *Report) Add(p scenario.Project, m Memory, after *Memory, planted, leaked int) {
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
				r.Facts.Of(f.Kind).Files.Add(f, match.States)
			} else {
				c.Carried.Add(f, match.States)
				r.Facts.Of(f.Kind).Carried.Add(f, match.States)
			}
			if own && !match.States {
				r.Misses = append(r.Misses, here.fact(f, match))
			}
		}
		for _, t := range traps {
			match := marks.Find(files, t.Needs, t.Unless)
			c.TrapsFiles.Add(match.States)
			r.Traps.Of(t.Kind).Files.Add(match.States)
			if t.Kind == marks.Superseded {
				c.Contradictions.Add(match.States)
			}
			if match.States {
				r.Misses = append(r.Misses, here.trap(t, match))
			}
		}
	}
	for _, s := range p.Sessions {
		if m.Raw != nil {
			c.raw(r, s, m.Raw[s.Name], p.Name)
		}
		carry(s.Name, s.Facts, s.Traps)
	}
	carry("", p.Facts, p.Traps)
	if after != nil {
		c.gone(r, p, m, *after)
	}
	r.Projects = append(r.Projects, Project{p.Name, c})
	r.Total.merge(c)
}

// raw scores the raw memory of one session.
func (c *Counts) raw(r *Report, s scenario.Session, text, project string) {
	one := OfSession(marks.Lines(text), s.Facts, s.Traps, Miss{Project: project, Session: s.Name, Where: InRaw})
	c.Raw.Merge(one.Recall)
	c.TrapsRaw.Merge(one.Traps)
	c.Size.Add(memoir.Tokens(text))
	for _, kind := range one.Kinds.Names() {
		r.Facts.Of(kind).Raw.Merge(*one.Kinds[kind])
	}
	fell := map[string]bool{}
	for _, miss := range one.Misses {
		fell[miss.ID] = fell[miss.ID] || miss.Trap
	}
	for _, t := range s.Traps {
		r.Traps.Of(t.Kind).Raw.Add(fell[t.ID])
	}
	r.Misses = append(r.Misses, one.Misses...)
}

// gone counts what is still stated though what it rested on was withdrawn.
func (c *Counts) gone(r *Report, p scenario.Project, before, after Memory) {
	then, now := before.all(p), after.all(p)
	for _, g := range p.Gone {
		if marks.Find(then, g.Needs, g.Unless).States {
			c.Stood++
		}
		match := marks.Find(now, g.Needs, g.Unless)
		c.Gone.Add(match.States)
		if match.States {
			where := Miss{Project: p.Name, Where: InGone}
			r.Misses = append(r.Misses, where.trap(marks.Trap{ID: g.ID, Kind: "gone", Text: g.Text, Needs: g.Needs}, match))
		}
	}
}
