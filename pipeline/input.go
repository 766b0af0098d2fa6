package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/store"
)

// inputs selects what Phase 2 works from.
func (r *run) inputs(ctx context.Context, project store.ProjectRow, live memory.Snapshot) (consolidate.Input, error) {
	extractions, others, err := r.store.Selected(ctx, project.ID, r.opts.Settings.Memories.MaxRawMemoriesForGlobal)
	if err != nil {
		return consolidate.Input{}, fmt.Errorf("read extractions: %w", err)
	}
	extractions, aside := withoutAside(extractions, live.Manifest.SetAside)
	others = append(others, aside...) // what cites them, and stands in the memory all the same, may stay
	last, err := r.store.LastInputs(ctx, project.ID)
	if err != nil {
		return consolidate.Input{}, fmt.Errorf("read the last inputs: %w", err)
	}
	notes, err := r.store.Notes(ctx, project.ID)
	if err != nil {
		return consolidate.Input{}, fmt.Errorf("read notes: %w", err)
	}
	settings, err := r.settingsOf(project.Project)
	if err != nil {
		return consolidate.Input{}, err
	}
	current, err := r.currentOf(project.ID, live)
	if err != nil {
		return consolidate.Input{}, err
	}
	in := consolidate.Input{
		Project:        project.Project,
		Extractions:    extractions,
		Changed:        map[string]bool{},
		Known:          others,
		Notes:          notes,
		SummaryTokens:  settings.Memories.SummaryInjectionTokenLimit,
		MaxMemoryBytes: settings.Memories.MaxMemorySize,
		Current:        current,
	}
	for _, e := range extractions {
		if last[e.SessionKey] != e.ContentHash {
			in.Changed[e.SessionKey] = true
		}
		delete(last, e.SessionKey)
	}
	for _, key := range others {
		delete(last, key)
	}
	if in.Withdrawn, err = r.withdrawn(ctx, project, last); err != nil {
		return consolidate.Input{}, err
	}
	if r.forgetting != nil {
		r.forgetting.restrict(&in, live)
	}
	return in, nil
}

// currentOf is the live memory as a consolidation reads it: without secrets that people typed into it.
// What was published has none.
func (r *run) currentOf(projectID string, live memory.Snapshot) (*memoir.Consolidation, error) {
	if len(live.Edited) > 0 {
		files, _, err := r.cleanFiles(projectID, live.Files)
		if err != nil {
			return nil, fmt.Errorf("redact the live memory: %w", err)
		}
		live.Files = files
	}
	return live.Consolidation(), nil
}

// withoutAside leaves out the extractions that a restoring set aside. A session
// that went on since is an input again.
func withoutAside(extractions []memoir.Extraction, aside []memory.Input) (left []memoir.Extraction, keys []string) {
	for _, e := range extractions {
		if slices.Contains(aside, memory.Input{Session: e.SessionKey, Hash: e.ContentHash}) {
			keys = append(keys, e.SessionKey)
		} else {
			left = append(left, e)
		}
	}
	return left, keys
}

// stillAside are the sessions set aside that are no inputs now. One that was
// withdrawn is named no more, which is worth a generation.
func stillAside(aside []memory.Input, in consolidate.Input) (left []memory.Input, withdrawn bool) {
	for _, input := range aside {
		switch {
		case slices.Contains(in.Withdrawn, input.Session):
			withdrawn = true
		case !slices.ContainsFunc(in.Extractions, func(e memoir.Extraction) bool { return e.SessionKey == input.Session }):
			left = append(left, input)
		}
	}
	return left, withdrawn
}

// withdrawn lists the sessions that must leave no trace: those that were taken out by a
// person or a setting, and missing, the last inputs that are none any more.
func (r *run) withdrawn(ctx context.Context, project store.ProjectRow, missing map[string]string) ([]string, error) {
	withdrawn := slices.Collect(maps.Keys(missing))
	sessions, err := r.store.Sessions(ctx, store.Filter{Project: project.ID, Reason: memoir.ReasonDisabled})
	if err != nil {
		return nil, fmt.Errorf("list withdrawn sessions: %w", err)
	}
	for _, s := range sessions {
		withdrawn = append(withdrawn, s.Key())
	}
	forgotten, err := r.store.ForgottenOf(ctx, project.ID)
	if err != nil {
		return nil, err
	}
	withdrawn = append(withdrawn, forgotten...)
	slices.Sort(withdrawn)
	return slices.Compact(withdrawn), nil
}

// restingOn are the sessions that a generation is made from.
func restingOn(in consolidate.Input) []memory.Input {
	inputs := make([]memory.Input, 0, len(in.Extractions))
	for _, e := range in.Extractions {
		inputs = append(inputs, memory.Input{Session: e.SessionKey, Hash: e.ContentHash})
	}
	return inputs
}

const (
	summariesDir    = "rollout_summaries/"
	skillsDir       = "skills/"
	rawMemoriesFile = "raw_memories.md"
)

// beside are the files that a consolidation has no place for: the companions,
// as people rewrote them, and what people put there themselves; none with a line that
// rests on withdrawn sessions alone.
func (r *run) beside(in consolidate.Input, live memory.Snapshot) memory.Files {
	files := companions(in.Extractions)
	for path, content := range live.Files.Extra() {
		if path != rawMemoriesFile && !strings.HasPrefix(path, summariesDir) {
			files[path] = []byte(r.clean(string(content), in))
		}
	}
	for _, note := range in.Notes {
		if _, known := files[note.File]; known && note.Action == memoir.NoteFile {
			files[note.File] = []byte(r.clean(note.Text, in))
		}
	}
	return files
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
	raw.WriteString(
		"# Raw memories\n\nWhat was extracted from each session, newest first; " +
			"numbers in brackets are items of that session.\n",
	)
	for _, e := range newestFirst {
		fmt.Fprintf(&raw, "\n# %s %s\n\n%s%s\n", short[e.SessionKey], passive(oneLine(e.Title)), header(e),
			passive(e.RawMemory))
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

// without takes what rests on some sessions alone out of the files of a generation:
// lines that cite no other, lines that name one of them, their summaries and raw
// memories, skills that cite nothing else. It returns how many lines went.
func without(files memory.Files, inputs []memory.Input, gone []string) (memory.Files, int) {
	if len(gone) == 0 {
		return files, 0
	}
	in := consolidate.Input{Withdrawn: gone}
	for _, input := range inputs {
		if !slices.Contains(gone, input.Session) {
			in.Extractions = append(in.Extractions, memoir.Extraction{SessionKey: input.Session})
		}
	}
	out, left := memory.Files{}, 0
	for _, at := range files.Paths() {
		text := string(files[at])
		if !utf8.ValidString(text) {
			out[at] = files[at]
			continue
		}
		switch {
		case strings.HasPrefix(at, summariesDir) && isAbout(text, gone):
			left += lines(text)
			continue
		case at == rawMemoriesFile:
			text = withoutSections(text, gone)
		}
		clean := ""
		for _, note := range consolidate.LiveNotes([]memoir.Note{{File: at, Action: memoir.NoteFile, Text: text}}, in) {
			clean += note.Text
		}
		out[at] = []byte(clean)
		left += lines(string(files[at])) - lines(clean)
	}
	return dropSkills(files, out, in), left
}

// withoutSessions is without for a generation that is to be restored. A line that cites
// nobody, or cited a session that is gone together with others, or only counts the others
// that it rests on, may rest on what is gone: it comes back only if the live memory has it. So
// does a file of a skill, but for a SKILL.md that cites a session that stays.
func withoutSessions(published, live memory.Files, inputs []memory.Input, gone []string) (memory.Files, int) {
	files, left := without(published, inputs, gone)
	if len(gone) == 0 {
		return files, left
	}
	var in consolidate.Input
	for _, input := range inputs {
		if !slices.Contains(gone, input.Session) {
			in.Extractions = append(in.Extractions, memoir.Extraction{SessionKey: input.Session})
		}
	}
	out := memory.Files{}
	for _, at := range files.Paths() {
		switch {
		case at == rawMemoriesFile, strings.HasPrefix(at, summariesDir): // of sessions that stay
			out[at] = files[at]
		case strings.HasPrefix(at, skillsDir):
			if bytes.Equal(files[at], live[at]) || path.Base(at) == memoir.SkillMD && citesOne(files[at], in) {
				out[at] = files[at]
			} else {
				left += lines(string(files[at]))
			}
		default:
			present := map[string]string{} // lines of the live file, by their words
			for line := range strings.Lines(string(live[at])) {
				present[uncited(line)] = line
			}
			before := map[string]bool{}
			for line := range strings.Lines(string(published[at])) {
				before[line] = true
			}
			var kept strings.Builder
			for line := range strings.Lines(string(files[at])) {
				if now, ok := present[uncited(line)]; ok { // with the citations that are left
					kept.WriteString(now)
				} else if before[line] && citesOne([]byte(line), in) && !strings.Contains(line, ", +") {
					kept.WriteString(line)
				} else {
					left++
				}
			}
			out[at] = []byte(kept.String())
		}
	}
	return out, left
}

// uncited is a line without the citation at its end.
func uncited(line string) string {
	line = strings.TrimSpace(line)
	if at := strings.LastIndex(line, " ["); at >= 0 && strings.HasSuffix(line, "]") {
		return line[:at]
	}
	return line
}

func lines(text string) int { return strings.Count(text, "\n") }

// isAbout reports whether a text begins with the header of one of some sessions.
func isAbout(text string, keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		source, id := memoir.SplitKey(key)
		return strings.HasPrefix(text, "session: "+oneLine(id)+"\nagent: "+string(source)+"\n")
	})
}

// withoutSections leaves the sections about some sessions out of raw_memories.md.
// Each begins with a heading, a blank line and a session's header.
func withoutSections(text string, keys []string) string {
	var b strings.Builder
	rest, skip := text, false
	for rest != "" {
		heading, after, _ := strings.Cut(rest, "\n")
		if header, ok := strings.CutPrefix(after, "\n"); ok && strings.HasPrefix(heading, "# ") &&
			strings.HasPrefix(header, "session: ") {
			skip = isAbout(header, keys)
		}
		if !skip {
			b.WriteString(rest[:len(rest)-len(after)])
		}
		rest = after
	}
	return b.String()
}

// dropSkills removes the skills that lost lines and cite no session any more.
func dropSkills(before, after memory.Files, in consolidate.Input) memory.Files {
	for _, at := range after.Paths() {
		if path.Base(at) != memoir.SkillMD || bytes.Equal(before[at], after[at]) || citesOne(after[at], in) {
			continue
		}
		dir := path.Dir(at) + "/"
		for _, other := range after.Paths() {
			if strings.HasPrefix(other, dir) {
				delete(after, other)
			}
		}
	}
	return after
}

// citesOne reports whether a text cites a session of the input.
func citesOne(text []byte, in consolidate.Input) bool {
	const short = 8 // the least that a citation has of an id
	return slices.ContainsFunc(in.Extractions, func(e memoir.Extraction) bool {
		_, id := memoir.SplitKey(e.SessionKey)
		return bytes.Contains(text, []byte("["+id[:min(short, len(id))])) ||
			bytes.Contains(text, []byte(", "+id[:min(short, len(id))]))
	})
}
