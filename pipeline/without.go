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
	"memoir/store"
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

// withoutForgotten takes the lines that were forgotten out of files. A file beside a skill
// goes whole, as half a script is none, and so does what has such a path. It returns
// how many lines went.
func withoutForgotten(files memory.Files, forgotten store.Hashes) (memory.Files, int) {
	if !tells(files, forgotten) {
		return files, 0
	}
	out, left := memory.Files{}, 0
	for _, at := range files.Paths() {
		var kept strings.Builder
		for line := range strings.Lines(string(files[at])) {
			if !forgotten.Has(strings.TrimSpace(line)) {
				kept.WriteString(line)
			}
		}
		whole := forgotten.Has(at) || strings.HasPrefix(at, skillsDir) && kept.Len() < len(files[at]) &&
			(path.Base(at) != memory.SkillFile || !strings.HasPrefix(kept.String(), skillHead(string(files[at]))))
		left += lines(string(files[at]))
		if !whole {
			left -= lines(kept.String())
			out[at] = []byte(kept.String())
		}
	}
	for _, at := range out.Paths() { // a skill without its page is none
		if dir, ok := skillDir(at); ok && files[dir+memory.SkillFile] != nil && out[dir+memory.SkillFile] == nil {
			left += lines(string(out[at]))
			delete(out, at)
		}
	}
	return out, left
}

// skillDir is the folder of the skill that a path belongs to.
func skillDir(at string) (dir string, ok bool) {
	rest, ok := strings.CutPrefix(at, skillsDir)
	name, _, inside := strings.Cut(rest, "/")
	return skillsDir + name + "/", ok && inside
}

// skillHead is what a SKILL.md says of itself before its text.
func skillHead(text string) string {
	if end := strings.Index(text, "\n---\n"); strings.HasPrefix(text, "---\n") && end > 0 {
		return text[:end]
	}
	return ""
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
		if header, ok := strings.CutPrefix(after, "\n"); ok && strings.HasPrefix(heading, "# ") && strings.HasPrefix(header, "session: ") {
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
		return bytes.Contains(text, []byte("["+id[:min(short, len(id))])) || bytes.Contains(text, []byte(", "+id[:min(short, len(id))]))
	})
}
