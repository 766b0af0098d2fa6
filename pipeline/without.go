package pipeline

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
)

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
			if bytes.Equal(files[at], live[at]) || path.Base(at) == memory.SkillFile && citesOne(files[at], in) {
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
		if path.Base(at) != memory.SkillFile || bytes.Equal(before[at], after[at]) || citesOne(after[at], in) {
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
