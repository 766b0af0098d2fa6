package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
)

const (
	summariesDir    = "rollout_summaries/"
	skillsDir       = "skills/"
	rawMemoriesFile = "raw_memories.md"
)

// beside are the files that a consolidation has no place for: the companions,
// as people rewrote them, and what people put there themselves; none with a line that
// rests on withdrawn sessions alone. Of sessions that are lost, what is there stays.
func (r *run) beside(in consolidate.Input, live memory.Snapshot) memory.Files {
	files := companions(in.Extractions)
	for _, section := range sections(string(live.Files[rawMemoriesFile])) {
		if _, after, _ := strings.Cut(section, "\n\n"); isAbout(after, in.Lost) {
			files[rawMemoriesFile] = append(files[rawMemoriesFile], "\n"+strings.TrimSpace(section)+"\n"...)
		}
	}
	for path, content := range live.Files {
		if strings.HasPrefix(path, summariesDir) && isAbout(string(content), in.Lost) {
			files[path] = content
		}
	}
	for path, content := range live.Files.Extra() {
		if path != rawMemoriesFile && !strings.HasPrefix(path, summariesDir) {
			files[path] = []byte(r.clean(string(content), in))
		}
	}
	theirs := putThere(in.Notes, live.Files)
	for _, note := range in.Notes {
		_, ours := files[note.File]
		if note.Action == memoir.NoteFile && (ours || theirs[note.File]) {
			files[note.File] = []byte(r.clean(note.Text, in))
		}
	}
	return files
}

// putThere tells which of the files that people wrote only they can have put there: those
// that neither a consolidation nor a companion has a place for. They come from the live
// files as a rule, but from the notes alone when projects were merged.
func putThere(notes []memoir.Note, live memory.Files) map[string]bool {
	all := memory.Files{} // a part of a skill is told from another file by the skill's other files
	maps.Copy(all, live)
	for _, n := range notes {
		if n.Action == memoir.NoteFile {
			all[n.File] = nil
		}
	}
	theirs := map[string]bool{}
	for path := range all.Extra() {
		theirs[path] = path != rawMemoriesFile && !strings.HasPrefix(path, summariesDir) && memory.CheckPath(path) == nil
	}
	return theirs
}

// companions are the files beside a consolidation that lead from its citations
// back to the sessions: a summary of each session, and what was extracted from
// all of them, newest first.
func companions(extractions []memoir.Extraction) memory.Files {
	short := consolidate.ShortIDs(extractions)
	files := memory.Files{}
	for _, e := range extractions {
		name := consolidate.SummaryFileName(e, short[e.SessionKey])
		files[name] = []byte(header(e) + passive(e.RolloutSummary) + "\n")
	}

	newestFirst := slices.Clone(extractions)
	slices.SortStableFunc(newestFirst, func(a, b memoir.Extraction) int { return b.EndedAt.Compare(a.EndedAt) })
	var raw strings.Builder
	raw.WriteString("# Raw memories\n\nWhat was extracted from each session, newest first; numbers in brackets are items of that session.\n")
	for _, e := range newestFirst {
		fmt.Fprintf(&raw, "\n# %s %s\n\n%s%s\n", short[e.SessionKey], passive(oneLine(e.Title)), header(e), passive(e.RawMemory))
	}
	files[rawMemoriesFile] = []byte(raw.String())
	return files
}

// passive is a text that may stand in a file of a memory: it steers, hides and loads nothing.
func passive(text string) string {
	return consolidate.Passive(strings.TrimSpace(memory.Neutralise(text)))
}

// header says which session a text is about.
func header(e memoir.Extraction) string {
	source, id := memoir.SplitKey(e.SessionKey)
	var b strings.Builder
	fmt.Fprintf(&b, "session: %s\nagent: %s\nended: %s\n", oneLine(id), source, e.EndedAt.UTC().Format(time.RFC3339))
	if e.CWD != "" {
		fmt.Fprintf(&b, "cwd: %s\n", passive(oneLine(e.CWD)))
	}
	if e.Branch != "" {
		fmt.Fprintf(&b, "branch: %s\n", passive(oneLine(e.Branch)))
	}
	return b.String() + "\n"
}

// oneLine keeps a recorded value from beginning a line of its own.
func oneLine(text string) string {
	return strings.Join(strings.Fields(memory.Neutralise(text)), " ")
}
