package consolidate

import (
	"path"
	"slices"
	"strings"

	"memoir"
)

// shownMemory is MEMORY.md as a model sees it: without what the program writes.
func (r *renewal) shownMemory() string {
	if r.present.MemoryMD == "" {
		return ""
	}
	p := readPage(r.present.MemoryMD)
	p.drop(headSessions)
	return p.String()
}

func (r *renewal) shownSummary() string {
	if r.present.MemorySummary == "" {
		return ""
	}
	p := readPage(r.present.MemorySummary)
	p.drop(headMap)
	return p.String()
}

// shownSkills are the present skills, whole if they take at most a quarter of a
// question, else with their descriptions alone.
func (r *renewal) shownSkills(input int) string {
	var whole, short strings.Builder
	for _, s := range r.present.Skills {
		short.WriteString("skills/" + s.Name + ": " + describe(s) + "\n")
		files := open(memoir.Consolidation{Skills: []memoir.Skill{s}})
		for _, name := range slices.Sorted(mapKeys(files.text)) {
			if name != memoryFile && name != summaryFile {
				whole.WriteString("=== " + name + "\n" + strings.TrimRight(files.text[name], "\n") + "\n\n")
			}
		}
	}
	if memoir.Tokens(whole.String()) > input/4 {
		return short.String()
	}
	return whole.String()
}

// withdrawn lists the sessions that the memory was just rid of, as they were cited.
func (r *renewal) withdrawn() []string { return slices.Sorted(mapKeys(r.forgot)) }

// maxEdits bounds, in bytes, what is told of hand edits; they are applied by the
// program in any case.
const maxEdits = 16 << 10

// edits tells what people changed by hand, the newest last.
func edits(notes []memoir.Note) string {
	var out []string
	told := map[int64]bool{}
	for _, n := range notes {
		if told[n.ID] && n.ID != 0 {
			continue // what the briefing repeats
		}
		told[n.ID] = true
		name := path.Clean(n.File)
		text := strings.TrimSpace(n.Text)
		switch n.Action {
		case memoir.NoteAdded:
			if text == "" {
				continue
			}
			where := "added to " + name
			if n.Section != "" {
				where += " under " + n.Section
			}
			out = append(out, where+": "+text)
		case memoir.NoteRemoved:
			if text != "" {
				out = append(out, "removed from "+name+": "+text)
			}
		case memoir.NoteFile:
			out = append(out, "wrote the file "+name)
		case memoir.NoteDeleted:
			out = append(out, "deleted the file "+name)
		}
	}
	size := 0
	for i := len(out) - 1; i >= 0; i-- {
		if size += len(out[i]) + 1; size > maxEdits {
			out = out[i+1:]
			break
		}
	}
	return strings.Join(out, "\n")
}
