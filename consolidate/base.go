package consolidate

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"memoir"
	"memoir/extract"
)

// A Base is the memory that a hub made for all machines of a team. Its lines are the same on each of them. A machine
// decides which of its statements hold there: what it does not have was withdrawn, or a person forgot it.
type Base struct {
	Memory   memoir.Consolidation // as the hub published it: MEMORY.md, skills and Citations
	Sessions []memoir.Extraction  // by their keys at the hub, with the statements that this machine has, too
	Gone     []memoir.Extraction  // the same with those that it does not have
	Texts    []string             // that were forgotten
	Covers   map[[2]string]string // sessions at the hub, without numbers, by session and statement here
	Member   string               // this person's name at the hub

	Generation int                      // its number at the hub
	Relative   func(text string) string // what leaves of a text in an edit, as it comes back; nil: the same
}

func (in Input) baseSessions() []memoir.Extraction {
	if in.Base == nil {
		return nil
	}
	return slices.Clone(in.Base.Sessions)
}

// Left returns the memory without the lines that rest on what is gone alone.
func (b *Base) Left(project memoir.Project) memoir.Consolidation { return b.renewal(project).present }

// Without returns the memory without the lines that say what is gone, or rest on it alone, as it is published.
func (b *Base) Without(project memoir.Project) memoir.Consolidation {
	r := b.renewal(project)
	return r.finish(readPage(r.present.MemoryMD), r.present.Skills, r.present.Citations)
}

// renewal prepares the memory as what a language model wrote: of that, lines are removed.
func (b *Base) renewal(project memoir.Project) *renewal {
	in, sessions := Input{Project: project, Extractions: b.Sessions, Current: &b.Memory}, arrange(b.Sessions)
	if len(b.Gone)+len(b.Texts) == 0 {
		return newRenewal(in, sessions, nil)
	}
	there := map[string]bool{} // by line
	for i, e := range append(slices.Clone(b.Gone), b.Sessions...) {
		for _, st := range e.Statements {
			for _, line := range linesOf(st) {
				there[line] = i >= len(b.Gone)
			}
		}
	}
	g := Forgotten{Extractions: b.Gone, Texts: b.Texts}.in(in)
	return newRenewal(in, sessions, func(line string) bool {
		holds, known := there[untold(line)]
		return known && !holds || g.holds(line) || !holds && g.alone(line)
	})
}

// linesOf returns the forms in which MEMORY.md may have a statement.
func linesOf(st memoir.Statement) []string {
	_, work := workOf(st)
	return []string{LineOf(st), shortened(commandLine(st)), shortened(work)}
}

// untold returns the words of a line, without its citation and whose it is.
func untold(line string) string { return memoir.WithoutTeam(memoir.LineText(line)) }

// based returns MEMORY.md and the skills of a project with a base: in each section the lines of the base, then what its
// statements lack. The base says nothing of what a person wants, and each line of others says whose it is. accepted has
// also what this person's own sessions say. An own failure that the base has in others' words only follows in its own,
// and their own custom before a commit one of others.
// So does an own line that another member changed or removed, unless the person kept the changed one and it stands.
func (in Input) based(name string, limit, most int) (out memoir.Consolidation, accepted map[string]int64) {
	accepted = map[string]int64{}
	maps.Copy(accepted, in.Accepted)
	mine, extractions := map[string]bool{}, without(in.Extractions, in.Withdrawn)
	commits := commitsOf(arrange(extractions))
	for _, e := range extractions {
		for _, st := range e.Statements {
			for _, line := range linesOf(st) {
				if memoir.MemberOf(e.SessionKey) == "" && (st.Purpose != extract.ForCommit || commits[commandLine(st)] > 1) {
					accepted[memoir.LineKey(line)], mine[line] = 1, true
				}
			}
		}
	}
	r, lists, has := in.Base.renewal(in.Project), map[string][]string{}, map[string]bool{}
	base, kept := r.sections(lists, in.Base.Member), map[string]bool{} // accepted lines of the base
	// Lines that a person added or removed in a form of this machine, which is another one.
	edited := map[string]bool{}
	var own []memoir.Words
	for _, n := range in.HandEdits {
		if text := untold(n.Text); n.Action == memoir.EditAdded || n.Action == memoir.EditRemoved && n.Others == 0 {
			edited[asHubs(text, in.Base.Relative)] = asHubs(text, in.Base.Relative) != text
		}
	}
	for _, s := range base {
		for _, line := range s.lines {
			key := memoir.LineKey(untold(line))
			kept[key] = in.Accepted[key] > 0
		}
		s.lines = slices.DeleteFunc(s.lines, func(line string) bool { return edited[untold(line)] })
		for _, line := range s.lines {
			text := untold(line)
			has[text] = true
			if mine[text] || r.own(s.heading, line, lists, in.Base.Member) {
				accepted[memoir.LineKey(line)], own = 1, append(own, memoir.WordsOf(text))
			} else if slices.Contains(editorsOf(line), in.Base.Member) {
				own = append(own, memoir.WordsOf(text))
			}
		}
	}
	left, all := in.lacking(mine, kept, has, own)
	limit = max(min(limit, most-len(r.present.MemoryMD)), limit/4)
	out = memoryOf(name, arrange(all), learn(arrange(left)), limit, most)
	maps.Copy(out.Citations, lists)
	p := readPage(out.MemoryMD)
	for _, s := range p.sections[1:] {
		s.lines = slices.DeleteFunc(s.lines, func(line string) bool {
			return has[untold(line)] && !strings.Contains(line, " ["+string(memoir.EntryNote)+"-")
		})
	}
	p.sections = slices.Insert(p.sections, 1, base...)
	p.order()
	p.shrink(most, func(line string) bool { return untold(line) == memoir.LineText(line) }) // own ones stay
	p.shrink(most, func(string) bool { return false })
	out.MemoryMD = p.String()
	r.in.Accepted, r.edits = accepted, LiveHandEdits(in.HandEdits, in)
	out.Skills = r.acceptedSkills()
	return out, accepted
}

// Alone returns the memory of a home that has nothing else: the lines of the base are told, and skills stay away, since
// nobody there accepts any. Nor is told what agents wrote of their work: git has it, and they may have listened to
// strangers; nor a command with an address; nor what fixed a failure in one session, which chance or an attacker may
// have brought there.
func (b *Base) Alone(project memoir.Project) memoir.Consolidation {
	in := Input{Project: project, Base: b, Accepted: map[string]int64{}}
	out, _ := in.based(projectName(project), memoryBudget, DefaultMemoryBytes)
	untellable, first := map[string]bool{}, map[string]string{} // lines; of a fix, what its session is counted as
	for _, e := range b.Sessions {
		for _, st := range e.Statements {
			line, as := LineOf(st), memoir.CountedAs(e.SessionKey)
			first[line] = cmp.Or(first[line], as)
			was, seen := untellable[line]
			untellable[line] = extract.Posted(st.Signal) || extract.Fetches(st) ||
				st.Fix != "" && (!seen || was && first[line] == as)
		}
	}
	told := readPage(out.MemoryMD)
	told.drop(headRecent)
	for line := range strings.Lines(out.MemoryMD) {
		if !untellable[untold(line)] {
			in.Accepted[memoir.LineKey(line)] = 1
		}
	}
	out.MemorySummary, out.Skills = summarise(in, told, nil, summaryBudget), nil
	return WithOrigins(out, in)
}

// Shown returns the statements of a base that the lines of a memory of it show: those that they were made from and, of
// lines in other words, those that are alike and whose fix is there.
func (b *Base) Shown(c memoir.Consolidation) (out []memoir.Extraction) {
	made, reworded := map[string]bool{}, map[string]memoir.Words{}
	for line := range strings.Lines(c.MemoryMD) {
		ids := c.Lines[memoir.LineKey(line)].Statements
		for _, id := range ids {
			made[id] = true
		}
		if len(ids) == 0 && isEntry(line) {
			reworded[line] = memoir.WordsOf(untold(line))
		}
	}
	for _, e := range b.Sessions {
		e.Statements = slices.DeleteFunc(slices.Clone(e.Statements), func(st memoir.Statement) bool {
			_, edited := b.Edit(st)
			shown := made[st.ID]
			for line, words := range reworded {
				shown = shown || words.Alike(memoir.WordsOf(st.Text)) >= 0.5 &&
					(st.Fix == "" || strings.Contains(line, memoir.CodeSpan(st.Fix)))
			}
			return !shown || edited
		})
		if len(e.Statements) > 0 {
			out = append(out, e)
		}
	}
	return out
}

// lacking returns what a base lacks of the statements here, and all sessions, each once. mine are the lines of this
// person, kept those of the base that they accepted, by key, has all of it, and own the words of theirs there, also as
// they changed them.
func (in Input) lacking(mine, kept, has map[string]bool, own []memoir.Words) (left, all []memoir.Extraction) {
	all = in.baseSessions()
	for _, e := range without(in.Extractions, in.Withdrawn) {
		statements, covered := e.Statements, false
		e.Statements = nil
		for _, st := range statements {
			_, covers := in.Base.Covers[[2]string{e.SessionKey, st.ID}]
			covered = covered || covers
			told := func(line memoir.Words) bool { return line.Alike(memoir.WordsOf(st.Text)) >= 0.5 }
			edit, edited := in.Base.Edit(st)
			lost := st.Kind == memoir.StatementFailure && !slices.ContainsFunc(own, told) ||
				st.Purpose == extract.ForCommit && !has[shortened(commandLine(st))]
			if edited {
				lost = edit.By != in.Base.Member && !kept[edit.Became]
			}
			if !covers || lost && mine[LineOf(st)] {
				e.Statements = append(e.Statements, st)
			}
		}
		if len(e.Statements) > 0 {
			left = append(left, e)
		}
		if !covered {
			all = append(all, e)
		}
	}
	return left, all
}

// Edit returns what members made of the line of a statement.
func (b *Base) Edit(st memoir.Statement) (edit memoir.LineEdit, edited bool) {
	for _, line := range linesOf(st) {
		if edit, edited = b.Memory.Edited[memoir.LineKey(asHubs(line, b.Relative))]; edited {
			break
		}
	}
	return edit, edited
}

// Edited returns what members made of the lines of statements, by the ids of these.
func (in Input) Edited() map[string]memoir.LineEdit {
	out := map[string]memoir.LineEdit{}
	if in.Base == nil {
		return out
	}
	for _, e := range in.Extractions {
		for _, st := range e.Statements {
			if edit, edited := in.Base.Edit(st); edited {
				out[st.ID] = edit
			}
		}
	}
	return out
}

// editorsOf returns the members who are said to have changed a line.
func editorsOf(line string) []string {
	_, editors := memoir.TeamOf(memoir.LineText(line))
	return editors
}

// own reports whether a member's sessions alone back a line of a base, which cites them and names nobody else.
func (r *renewal) own(heading, line string, lists map[string][]string, member string) bool {
	members, editors := memoir.TeamOf(memoir.LineText(line))
	if slices.ContainsFunc(append(members, editors...), func(name string) bool { return name != member }) {
		return false
	}
	entries := slices.DeleteFunc(r.inputsOf(line, lists), func(e entry) bool { return memoir.MemberOf(e.key) != member })
	return len(entries) > 0 && r.supportOf(entries).backs(heading, "- "+untold(line), true)
}

// sections returns the sections of a base with the lines that cite a session, and adds the lists of sessions to lists.
// What has another heading comes under what is known. A line that only sessions of member say and support names nobody.
func (r *renewal) sections(lists map[string][]string, member string) (out []*section) {
	p, heading := readPage(r.present.MemoryMD), ""
	p.order()
	for _, s := range p.sections[1:] {
		if level(s.heading) == 2 {
			heading = s.heading
		}
		if !slices.Contains(memoryHeads, heading) {
			heading = headKnown
		}
		if heading == headPreferences || heading == headOnce || heading == headNotes {
			continue
		}
		one := &section{heading: heading}
		for _, line := range s.lines {
			entries := r.inputsOf(line, r.present.Citations)
			if !isEntry(strings.TrimSpace(line)) || len(entries) == 0 {
				continue
			}
			editors := r.editors(line, r.present.Citations)
			line = r.wordedBy(withoutBracket(r.line(line)), entries, editors)
			if !slices.ContainsFunc(entries, func(e entry) bool { return memoir.MemberOf(e.key) != member }) {
				line = strings.TrimSuffix(line, memoir.FromTeam([]string{member}))
			}
			line = withCitation(line, entries, lists)
			if one.lines = append(one.lines, line); len(entries) == 1 { // `memoir why` shows the whole key
				lists[lineKey(line)] = []string{entries[0].key + " " + entries[0].date}
			}
		}
		out = append(out, one)
	}
	return out
}

// editors returns the members that are said to have changed a line of a base. Hubs of earlier releases name them among
// those that it cites.
func (r *renewal) editors(line string, lists map[string][]string) []string {
	entries := r.entries(line, lists)
	members, editors := memoir.TeamOf(memoir.LineText(line))
	return distinct(append(editors, slices.DeleteFunc(members, func(name string) bool {
		return slices.ContainsFunc(entries, func(e entry) bool { return memoir.MemberOf(e.key) == name })
	})...))
}

// wordedBy ends a line of a base with the members whose statements here say it in these words, perhaps cut, of the
// sessions that it cites. Else it says who changed it, by the hub, or that the words are the hub's: its model, or who
// has its database, words lines freely.
func (r *renewal) wordedBy(line string, entries []entry, editors []string) string {
	text, cites, says := untold(line), []string{}, []string{}
	kept, shorter := strings.CutSuffix(text, "…")
	for _, e := range entries {
		cites = append(cites, memoir.MemberOf(e.key))
		if one := r.by[e.key]; one != nil && slices.ContainsFunc(one.Statements, func(st memoir.Statement) bool {
			return slices.Contains(linesOf(st), text) ||
				shorter && st.Fix == "" && strings.HasPrefix(oneLine(st.Text), kept)
		}) {
			says = append(says, memoir.MemberOf(e.key))
		}
	}
	if len(says) == 0 {
		return memoir.WithoutTeam(line) + memoir.HubsWords(distinct(cites), editors)
	}
	return memoir.WithoutTeam(line) + memoir.FromTeam(distinct(says))
}

// acceptedSkills returns the skills of a base as if a language model had written them now: without the lines that
// nothing supports that the person accepted or did.
func (r *renewal) acceptedSkills() (skills []memoir.Skill) {
	all := r.present.Skills
	r.present.Skills, r.lines = nil, nil
	for _, s := range all[:min(len(all), maxAnsweredSkills)] {
		taken, _ := r.skillsOf(answer{Skills: &[]answeredSkill{{Skill: s}}}, nil)
		skills = append(skills, taken...)
	}
	return skills
}
