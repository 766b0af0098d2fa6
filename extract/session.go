package extract

import (
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
)

// A session is a memoir.Session with its items arranged for the signals.
type session struct {
	memoir.Session
	root      string // the directory that paths are made relative to; may be empty
	turns     []*turn
	calls     []*call
	runs      []*run             // of all calls
	edits     []int              // items that changed a file, ascending
	texts     map[string]written // written by the session, by path relative to root
	posts     []post             // commits, pull requests and approved plans, in order
	worktrees map[string]bool    // directories of working trees that commands in the project added
	named     map[string]string  // command -> the instruction file, read by the session, that names it
	gone      map[string]int     // path -> the item that removed or restored the file
	left      map[string]int     // word of code -> the item of the edit that removed it last
	items     []memoir.Item
}

// A turn is a person's message with all that the agent did until the next one. If a session
// begins with the agent, the ask of its first turn has no item.
type turn struct {
	ask    ask
	runs   []*run
	says   []say
	final  say // the agent's closing answer, with no call after it; item 0 if there is none
	tools  int
	before *memoir.Item // the last call before it
	next   *memoir.Item // its first call
	posted bool         // the agent posted something
	edited bool         // and edited a file
}

type say struct {
	item int
	text string
}

// maxMessage bounds, in bytes, the text that is read of one message. Of a longer one, which
// contains data, the beginning and the end are read.
const maxMessage = 64 << 10

func arrange(in Input) *session {
	s := &session{Session: in.Session, items: in.Items, root: strings.TrimSuffix(in.Session.CWD, "/"),
		texts: map[string]written{}, worktrees: map[string]bool{}, gone: map[string]int{}, left: map[string]int{},
		named: map[string]string{}}
	parser := newShellParser()
	t := &turn{}
	var last *memoir.Item // call
	for i := range in.Items {
		it := &in.Items[i]
		switch {
		case it.Origin == memoir.OriginShell || it.Shell():
			s.tool(t, it, parser)
			last = it
		case it.Kind == memoir.ItemMessage && (it.Origin.ByPerson() || it.Origin == memoir.OriginPlanHandover):
			t = s.next(t)
			t.ask = readAsk(it)
			t.before = last
			if it.Origin == memoir.OriginPlanHandover {
				s.plan(it.N, it.Text)
			}
		case it.Kind == memoir.ItemMessage && it.Origin == memoir.OriginAgent:
			t.says = append(t.says, say{it.N, straight.Replace(clean(withoutMiddle(it.Text)))})
			t.final = t.says[len(t.says)-1]
		case it.Kind == memoir.ItemTool:
			s.tool(t, it, parser)
			last = it
		}
	}
	s.next(t)
	return s
}

func (s *session) next(t *turn) *turn {
	if t.ask.item == 0 && len(t.says) == 0 && t.tools == 0 {
		return t
	}
	s.turns = append(s.turns, t)
	return &turn{}
}

// tool records a tool call.
func (s *session) tool(t *turn, it *memoir.Item, parser *shellParser) {
	t.final = say{}
	if t.tools++; t.next == nil {
		t.next = it
	}
	if it.Shell() || it.Origin == memoir.OriginShell {
		s.shell(t, it, parser)
	}
	if it.Failed || it.Shell() {
		return
	}
	s.learn(it, nil)
	if diff, ok := EditOf(it); ok {
		s.change(it, diff)
		t.edited = true
		return
	}
	n := len(s.posts)
	s.postTool(it, strings.ToLower(it.Tool))
	t.posted = t.posted || len(s.posts) > n
}

// change records the files of an edit: its diff names each on a line of its own.
func (s *session) change(it *memoir.Item, diff string) {
	for _, part := range strings.Split("\n"+diff, "\n*** ")[1:] {
		head, lines, _ := strings.Cut(part, "\n")
		verb, name, _ := strings.Cut("*** "+head, ": ")
		name = join(it.CWD, name)
		var gone, came []string
		for line := range strings.SplitSeq(lines, "\n") {
			switch {
			case strings.HasPrefix(line, "-"):
				gone = append(gone, identifiers(line)...)
			case strings.HasPrefix(line, "+"):
				came = append(came, identifiers(line)...)
			}
		}
		for _, w := range gone {
			s.left[w] = it.N
		}
		for _, w := range came {
			delete(s.left, w)
		}
		switch verb + ": " {
		case addFile:
			s.write(it.N, name, strings.ReplaceAll(strings.TrimPrefix(lines, "+"), "\n+", "\n"))
			s.edits = append(s.edits, it.N)
		case updateFile:
			s.edits = append(s.edits, it.N)
		case deleteFile:
			s.gone[s.relative(name)] = it.N
		}
	}
}

func (s *session) shell(t *turn, it *memoir.Item, parser *shellParser) {
	c := &call{output: it.Output, status: ended(it, s.Source)}
	runs, wrote := parser.parse(clean(it.Input), it.CWD)
	for _, r := range runs {
		r.item, r.call, r.dir = it.N, c, s.relative(r.dir)
	}
	c.runs = runs
	judge(c, it.Exit == nil && !marksFailures(s.Source))
	s.calls = append(s.calls, c)
	s.runs = append(s.runs, runs...)
	t.runs = append(t.runs, runs...)
	t.posted = t.posted || slices.ContainsFunc(runs, (*run).posts)
	if c.status == statusFailed {
		return
	}
	for _, w := range wrote {
		s.write(it.N, w.path, w.text)
	}
	s.learn(it, runs)
	s.post(c)
	for _, r := range runs {
		names, _ := r.removes()
		for _, name := range names {
			s.gone[path.Join(r.dir, name)] = r.item
		}
		if (r.program == "sed" || r.program == "perl") && len(r.args) > 1 && slices.ContainsFunc(r.args,
			inPlace) && !r.dynamic {
			s.edits = append(s.edits, it.N)
		}
	}
}

func inPlace(w string) bool { return strings.HasPrefix(w, "-i") || strings.HasPrefix(w, "-pi") }

// removes returns the files that a command removes, restores or moves, with the target of a move.
func (r *run) removes() (names []string, to string) {
	words := r.words()
	git := r.program == "git" && len(words) > 2
	if git {
		words = words[1:]
	}
	_, staged := r.option("--staged")
	switch last, end := len(words)-1, slices.Index(r.args, "--"); {
	case r.status == statusFailed || r.dynamic:
	case words[0] == "rm" || git && words[0] == "restore" && !staged:
		return words[1:], ""
	case words[0] == "mv" && last > 1:
		return words[1:last], words[last]
	case git && words[0] == "checkout" && end >= 0:
		return r.args[end+1:], ""
	}
	return nil, ""
}

// maxTexts bounds the files whose texts are kept, for commits that read their message from one.
const maxTexts = 50

// written is a text with the item that wrote it.
type written struct {
	item int
	text string
}

func (s *session) write(item int, name, text string) {
	if text != "" && len(text) <= maxMessage && len(s.texts) < maxTexts {
		s.texts[s.relative(name)] = written{item, text}
	}
}

// relative returns a path relative to the session's root if it is below it, else unchanged.
func (s *session) relative(p string) string {
	switch {
	case s.root == "" || p == "":
		return p
	case p == s.root:
		return ""
	case strings.HasPrefix(p, s.root+"/"):
		return p[len(s.root)+1:]
	}
	return p
}

// withoutMiddle removes whole lines from the middle of a text longer than maxMessage.
func withoutMiddle(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	head, tail := text[:maxMessage*3/4], text[len(text)-maxMessage/4:]
	if end := strings.LastIndexByte(head, '\n'); end >= 0 {
		head = head[:end]
	}
	if _, rest, ok := strings.Cut(tail, "\n"); ok {
		tail = rest
	}
	return strings.ToValidUTF8(head+"\n"+tail, "")
}

// The first lines of a patch, and of the diff of a file.
const (
	beginPatch = "*** Begin Patch"
	addFile    = "*** Add File: "
	updateFile = "*** Update File: "
	deleteFile = "*** Delete File: "
)

func isDiff(input string) bool {
	return strings.Contains(input, addFile) || strings.Contains(input, updateFile) || strings.Contains(input, deleteFile)
}

// EditOf returns the changed lines of a call that edits files, in the patch format of Codex without context. The input
// is a patch, has one as an argument, or has the edit in arguments. ok is false for other calls.
func EditOf(it *memoir.Item) (diff string, ok bool) {
	args := gjson.Result{}
	if strings.HasPrefix(it.Input, "{") && !it.Shell() && gjson.Valid(it.Input) {
		args = gjson.Parse(it.Input)
	}
	patch := it.Input
	args.ForEach(func(_, arg gjson.Result) bool {
		if strings.Contains(arg.Str, beginPatch) {
			patch = arg.Str
		}
		return true
	})
	if strings.Contains(patch, beginPatch) {
		return strings.Join(slices.DeleteFunc(strings.Split(patch, "\n"), func(line string) bool {
			return line == "" || line[0] == ' ' || line == beginPatch || line == "*** End Patch"
		}), "\n"), true
	}
	name := firstText(args, pathArguments...)
	if name == "" {
		return "", false
	}
	if content := firstText(args, "content", "file_text", "contents", "new_source"); content != "" {
		return addFile + name + signed("+", strings.Split(content, "\n")), true
	}
	diff = updateFile + name
	for _, one := range append(args.Get("edits").Array(), args) {
		before := firstText(one, "old_string", "oldText", "oldString", "old_str")
		after := firstText(one, "new_string", "newText", "newString", "new_str")
		if before != "" || after != "" {
			old, fresh := strings.Split(before, "\n"), strings.Split(after, "\n")
			diff += "\n@@" + signed("-", without(old, fresh)) + signed("+", without(fresh, old))
			ok = true
		}
	}
	return diff, ok
}

// pathArguments name the file that a call reads or edits.
var pathArguments = []string{"file_path", "path", "filePath", "absolute_path", "file", "notebook_path"}

func firstText(args gjson.Result, names ...string) string {
	for _, name := range names {
		if text := args.Get(name); text.Type == gjson.String && text.Str != "" {
			return text.Str
		}
	}
	return ""
}

// without returns the lines that are neither empty nor among others, ignoring indentation.
func without(lines, others []string) []string {
	known := memoir.Set(memoir.Map(others, strings.TrimSpace))
	known[""] = true
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return known[strings.TrimSpace(line)] })
}

// signed joins lines, each after a line break and a sign.
func signed(sign string, lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("\n" + sign + line)
	}
	return b.String()
}
