package extract

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// What a posting is.
const (
	postCommit  = "commit"
	postPull    = "pull request"
	postComment = "comment"
	postRelease = "release"
	postIssue   = "issue"
)

// A posting is a text that the agent wrote for people: the message of a commit,
// the description of a pull request, a comment, the notes of a release.
type posting struct {
	item   int
	kind   string
	target string // the number of the pull request, the tag of the release; may be empty
	link   string // the address of the pull request, as the command printed it
	branch string // that the pull request is to be merged from, where the command names it; that the commit is on
	commit string // the commit's abbreviated name, where an output has it
	place  string // the other repository that it is about, empty for the session's own
	title  string
	body   string
	opened bool // in the session
	edits  bool // it takes the place of an earlier text
	closes bool // it came with the closing of its target
	merged bool
	moved  bool // the commit was made anew, or is on no branch any more
	void   bool // edited, closed or undone later
}

// maxLetterLine bounds, in bytes, the command lines that are searched for texts for people.
const maxLetterLine = 64 << 10

// posted returns the texts for people that a command line sends. Texts that it writes into
// files are added to files, for later commands that send those.
func posted(line string, files *textFiles) []posting {
	if len(line) > maxLetterLine {
		return nil
	}
	line, heres := hereDocuments(line)
	for _, m := range written.FindAllStringSubmatch(line, -1) {
		k, _ := strconv.Atoi(m[2])
		if name := m[1] + m[3]; name != "" && k < len(heres) {
			files.write(unquote(name), heres[k])
		}
	}
	if !strings.Contains(line, "git") && !strings.Contains(line, "gh") && !strings.Contains(line, "glab") {
		return nil
	}
	var out []posting
	for _, s := range splitShell(line) {
		c := sending{files: files}
		for _, w := range s.words {
			if k, ok := mark(w); ok && k < len(heres) && strings.HasPrefix(w, "\x01") {
				c.stdin = heres[k]
			} else if ok && k < len(heres) {
				head, _, _ := strings.Cut(shellWord(w), "$(")
				if i := strings.IndexByte(head, '\x01'); i >= 0 {
					head = head[:i]
				}
				c.words = append(c.words, head+heres[k])
			} else {
				c.words = append(c.words, shellWord(w))
			}
		}
		if l, ok := c.posting(); ok {
			out = append(out, l)
		}
	}
	return out
}

// written matches a here document's mark together with the file that takes it.
var written = newPattern(`(?:cat|tee)\s*(?:>?\s*([^\s>\x01]+)\s+)?(?:>\s*/dev/null\s+)?\x01(\d+)\x01(?:\s*>\s*(\S+))?`)

// maxHeres is how many here documents of one command line are read.
const maxHeres = 100

// hereDocuments takes the here documents out of a command line and leaves in the
// place of each a mark with its number.
func hereDocuments(line string) (string, []string) {
	if !strings.Contains(line, "<<") {
		return line, nil
	}
	var heres []string
	for from := 0; ; {
		i := strings.Index(line[from:], "<<")
		if i < 0 {
			return line, heres
		}
		i += from
		from = i + 2
		rest := strings.TrimLeft(strings.TrimPrefix(line[i+2:], "-"), " ")
		name := strings.TrimLeft(rest, `'"\`)
		if len(heres) == maxHeres {
			return line, heres
		}
		n := 0
		for n < len(name) && (nameByte(name[n]) || n > 0 && name[n] >= '0' && name[n] <= '9') {
			n++
		}
		eol := strings.IndexByte(name, '\n')
		if n == 0 || eol < n {
			continue
		}
		word := name[:n]
		after := strings.TrimLeft(name[n:eol], `'"`)
		body, at := name[eol+1:], 0
		end := -1
		for at <= len(body) {
			stop := len(body)
			if k := strings.IndexByte(body[at:], '\n'); k >= 0 {
				stop = at + k
			}
			if strings.TrimSpace(body[at:stop]) == word {
				end = at
				break
			}
			at = stop + 1
		}
		if end < 0 {
			continue
		}
		tail := strings.TrimPrefix(strings.TrimLeft(body[end:], " \t"), word)
		line = line[:i] + "\x01" + strconv.Itoa(len(heres)) + "\x01" + after + tail
		heres = append(heres, strings.TrimSpace(body[:end]))
	}
}

func nameByte(c byte) bool { return letter(c) || c == '_' }

// mark returns the number of the here document that a word stands for or holds.
func mark(w string) (int, bool) {
	_, rest, ok := strings.Cut(w, "\x01")
	if !ok {
		return 0, false
	}
	num, _, _ := strings.Cut(rest, "\x01")
	k, err := strconv.Atoi(num)
	return k, err == nil
}

// shellWord is what a word of a command line stands for once quoting is undone.
func shellWord(w string) string {
	if !strings.ContainsAny(w, `'"\`) {
		return w
	}
	var b strings.Builder
	for i := 0; i < len(w); {
		switch c := w[i]; {
		case c == '\'':
			end := quoteEnd(w, i)
			text := strings.TrimSuffix(w[i+1:end], "'")
			if escaping(w, i) {
				text = escapes.Replace(text)
				head := strings.TrimSuffix(b.String(), "$")
				b.Reset()
				b.WriteString(head)
			}
			b.WriteString(text)
			i = end
		case c == '"':
			for i++; i < len(w) && w[i] != '"'; i++ {
				if w[i] == '\\' && i+1 < len(w) && strings.IndexByte("\\\"$`\n", w[i+1]) >= 0 {
					i++
				}
				b.WriteByte(w[i])
			}
			i++
		case c == '\\' && i+1 < len(w):
			b.WriteByte(w[i+1])
			i += 2
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

var escapes = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\'`, "'", `\"`, `"`, `\\`, `\`)

// A sending is one simple command that may send a text.
type sending struct {
	words []string
	stdin string
	files *textFiles
}

// posting reads the command.
func (c sending) posting() (posting, bool) {
	if len(c.words) < 3 {
		return posting{}, false
	}
	switch path.Base(c.words[0]) {
	case "git":
		return c.commit()
	case "gh":
		return c.hub()
	case "glab":
		return c.lab()
	}
	return posting{}, false
}

func (c sending) commit() (posting, bool) {
	at := slices.Index(c.words, "commit")
	if at < 0 || at > 5 {
		return posting{}, false
	}
	text := strings.Join(c.values("-m", "--message", "-am", "-sm", "-asm"), "\n\n")
	if text == "" {
		text = c.file("-F", "--file")
	}
	l := posting{kind: postCommit, edits: slices.Contains(c.words, "--amend")}
	l.title, l.body, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return l, l.title != "" || l.edits
}

func (c sending) hub() (posting, bool) {
	what, verb := c.words[1], c.words[2]
	l := posting{kind: postComment, place: path.Base("/" + first(c.values("--repo", "-R")))}
	l.body = strings.Join(c.values("--body", "-b", "--comment", "-c"), "\n\n")
	if l.body == "" {
		l.body = c.file("--body-file", "-F")
	}
	if len(c.words) > 3 && !strings.HasPrefix(c.words[3], "-") {
		l.target = number(c.words[3])
	}
	switch what + " " + verb {
	case "pr create", "pr new", "pr edit":
		l.kind, l.edits = postPull, verb == "edit"
		l.title, l.branch = first(c.values("--title", "-t")), first(c.values("--head", "-H"))
	case "pr close":
		l.closes = true
		return l, true
	case "pr merge":
		l.kind, l.merged = postPull, true
		return l, true
	case "issue create", "issue new", "issue edit":
		l.kind, l.edits, l.title = postIssue, verb == "edit", first(c.values("--title", "-t"))
	case "pr comment", "pr review", "issue comment", "issue close", "discussion comment", "discussion create":
	case "release create", "release edit":
		l.kind, l.title, l.target = postRelease, first(c.values("--title", "-t")), ""
		if len(c.words) > 3 && !strings.HasPrefix(c.words[3], "-") {
			l.target = c.words[3]
		}
		if l.body = strings.Join(c.values("--notes", "-n"), "\n\n"); l.body == "" {
			l.body = c.file("--notes-file", "-F")
		}
	default:
		if what != "api" {
			return posting{}, false
		}
		l.target, l.body, l.place = "", "", repository(c.words)
		for _, v := range c.values("-f", "-F", "--field", "--raw-field") {
			if text, ok := strings.CutPrefix(v, "body="); ok {
				if name, ok := strings.CutPrefix(text, "@"); ok {
					text = c.read(name)
				}
				l.body = text
			}
		}
	}
	return l, l.body != "" || l.title != ""
}

// repository is the name of the repository that a call of the forge's API is about.
func repository(words []string) string {
	for _, w := range words {
		if _, rest, ok := strings.Cut(w, "repos/"); ok {
			if parts := strings.Split(rest, "/"); len(parts) > 1 && !strings.ContainsAny(parts[1], "{}$:") {
				return parts[1]
			}
		}
	}
	return ""
}

func (c sending) lab() (posting, bool) {
	l := posting{kind: postComment, place: path.Base("/" + first(c.values("--repo", "-R"))), body: strings.Join(c.values("--message", "-m"), "\n\n")}
	if len(c.words) > 3 {
		l.target = number(c.words[3])
	}
	switch c.words[1] + " " + c.words[2] {
	case "mr create", "mr update":
		l.kind, l.edits = postPull, c.words[2] == "update"
		l.title, l.body, l.branch = first(c.values("--title", "-t")), first(c.values("--description", "-d")), first(c.values("--source-branch", "-s"))
	case "mr note", "issue note":
	case "mr close":
		l.closes = true
		return l, true
	case "mr merge":
		l.kind, l.merged = postPull, true
		return l, true
	default:
		return posting{}, false
	}
	return l, l.body != "" || l.title != ""
}

// values returns the arguments of a flag, by any of its names.
func (c sending) values(names ...string) []string {
	var out []string
	for i, w := range c.words {
		if slices.Contains(names, w) && i+1 < len(c.words) {
			out = append(out, c.words[i+1])
			continue
		}
		if name, value, ok := strings.Cut(w, "="); ok && strings.HasPrefix(name, "--") && slices.Contains(names, name) {
			out = append(out, value)
		}
	}
	return out
}

// file returns the text of the file that a flag names; "-" is standard input.
func (c sending) file(names ...string) string {
	at := -1
	for i, w := range c.words {
		if slices.Contains(names, w) {
			at = i
		}
	}
	name := first(c.values(names...))
	if name == "" && at == len(c.words)-1 {
		name = "-" // its value was the mark of a here document
	}
	return c.read(name)
}

// read returns the text of a file that was written before.
func (c sending) read(name string) string {
	switch {
	case name == "":
		return ""
	case name == "-":
		return c.stdin
	}
	return c.files.read(name)
}

// textFiles are the texts that a session wrote into files.
type textFiles struct {
	texts map[string]string // by path
	paths map[string]string // base name -> the first of its paths in the order of the alphabet
}

func (t *textFiles) write(p, text string) {
	if t.texts == nil {
		t.texts, t.paths = map[string]string{}, map[string]string{}
	}
	t.texts[p] = text
	if known, ok := t.paths[path.Base(p)]; !ok || p < known {
		t.paths[path.Base(p)] = p
	}
}

// read returns the text of a file, or of one of the same name.
func (t *textFiles) read(p string) string {
	if text, ok := t.texts[p]; ok {
		return text
	}
	return t.texts[t.paths[path.Base(p)]]
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// number is the number at the end of an address or reference of a pull request.
func number(ref string) string {
	ref = strings.TrimLeft(ref[strings.LastIndexByte(strings.TrimRight(ref, "/"), '/')+1:], "#!")
	if ref == "" || strings.Trim(strings.TrimRight(ref, "/"), "0123456789") != "" {
		return ""
	}
	return strings.TrimRight(ref, "/")
}
