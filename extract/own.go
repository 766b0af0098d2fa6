package extract

import (
	"maps"
	"path"
	"slices"
	"strings"

	"memoir"
)

// Own is what a project says itself, in its instruction and build files.
type Own struct {
	Dir   string            // of the session, relative to the top, as are the directories in lines to it
	Files map[string]string // texts by paths that are relative to the top
}

// OwnFiles are the names of instruction and build files.
var OwnFiles = strings.Fields("CLAUDE.md CLAUDE.local.md AGENTS.md GEMINI.md CONTRIBUTING.md README.md README " +
	"README.rst " + programsOf.ReplaceAllString(buildFiles, ""))

// OwnFile reports whether a path is that of such a file, in any directory.
func OwnFile(name string) bool {
	return slices.Contains(OwnFiles, path.Base(name)) || strings.HasSuffix(name, ".cargo/config.toml")
}

// MaxOwnFile bounds such a file, in bytes.
const MaxOwnFile = 256 << 10

// In returns the first file that says a statement, "" if none does. None says a failure, or what a person wants.
func (o Own) In(st memoir.Statement) string {
	if st.Kind == memoir.StatementFailure || st.Kind == memoir.StatementPreference {
		return ""
	}
	return o.Says(st.Text)
}

// Says returns the first file that says a line of a memory: its command, if it has no other text, or its sentence.
func (o Own) Says(line string) string {
	text := memoir.LineText(line)
	runs, behind := commandIn(text)
	words := strings.FieldsFunc(text, apart)
	for _, name := range slices.Sorted(maps.Keys(o.Files)) {
		lacks := func(r *run) bool { return !r.filter && !o.names(name, r) }
		if runs == nil && len(words) > 2 && saysSentence(o.Files[name], text, words) ||
			runs != nil && strings.TrimSuffix(behind, ", also with other arguments") == "" && !slices.ContainsFunc(runs, lacks) {
			return name
		}
	}
	return ""
}

// names reports whether a file, at the top or where a command runs, has the command, perhaps with placeholders for its
// last words. A build file of the program also has it if it has all of its words.
func (o Own) names(name string, r *run) bool {
	text, args := o.Files[name], r.args
	at := path.Dir(strings.TrimSuffix(name, ".cargo/config.toml"))
	if at != path.Join(".", o.Dir, r.dir) && (at != "." || r.dir != "") {
		return false
	}
	words := strings.Split(r.text, " ")
	found := false
	for n := len(words); strings.Contains(text, strings.Join(words[:min(n, 2)], " ")) && !found && n > 0; n-- {
		found = n == len(words) && standsAlone(text, r.text, "\n\"'`;&|)#<[{") ||
			n > 1 && standsAlone(text, strings.Join(words[:n], " "), "<[{")
	}
	if found || !builds(strings.TrimPrefix(name, at+"/"), text, path.Base(r.program)) {
		return found
	}
	program, g := grammarOf(r.program, append(args, "")[0])
	if len(args) > 0 && (g == bySubcommand || strings.Contains(program, " ")) { // the program's own word
		args = args[1:]
	}
	return !slices.ContainsFunc(args, func(w string) bool {
		_, stands := memoir.Token(text, w, 0)
		return !stands && w != "." && w != "./..."
	})
}

// standsAlone reports whether a command is in a text as code, and before one of some characters or at the end.
func standsAlone(text, command, ends string) bool {
	at, ok := memoir.Token(text, command, 0)
	for ; ok; at, ok = memoir.Token(text, command, at+1) {
		before, behind := strings.TrimRight(text[:at], " \t"), strings.TrimLeft(text[at+len(command):], " \t")
		if (before == "" || strings.IndexByte("\n\"'`;&|($@=:-[,", before[len(before)-1]) >= 0) &&
			(behind == "" || strings.IndexByte(ends, behind[0]) >= 0) {
			return true
		}
	}
	return false
}

// saysSentence reports whether a text has a sentence, of which some are the words.
func saysSentence(text, sentence string, words []string) bool {
	longest := slices.MaxFunc(words, func(a, b string) int { return len(a) - len(b) })
	return strings.Contains(text, longest) && slices.ContainsFunc(paragraphs(text), func(p paragraph) bool {
		return strings.Contains(p.text, longest) && slices.ContainsFunc(append(sentences(p.text), p.text),
			func(s string) bool { // marks are few, so the lengths tell most of them apart
				return len(s) < 2*len(sentence) && len(sentence) < 2*len(s) && memoir.RuleKey(s) == memoir.RuleKey(sentence)
			})
	})
}
