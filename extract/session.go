package extract

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"memoir"
)

// A reading is a session arranged for the rules: turns, runs of commands, edits.
type reading struct {
	root       string         // the repository's directory, as far as the session says
	names      []string       // what checkouts of the repository are called
	abroad     map[string]int // directories of other repositories that commands ran in, in order
	git        bool           // the session's directory is known to be in a repository
	told       bool           // the format marks every call that failed
	turns      []*turn
	runs       []*run
	edits      []edit         // in order
	edited     map[string]int // path -> item of its last edit
	editedBase map[string]int // base name of a path -> item of the last edit
	changed    map[string]int // path -> index of the last turn that changed it; nil until asked for
	lost       map[string]int // see lostLines; nil until asked for
	firstEdit  map[string]int // base name of a path -> index of its first edit
	reads      []edit
	says       []said // of all turns
	files      fileLedger
	ledger     ledger
	revisions  revisions
	last       map[command]int // see lastRun; nil until asked for
	lexicon    lexicon
	made       map[string]string // file -> the header of the program that writes it
	objecting  []int             // by turn: the item of the first objection from there on, 0 if there is none; nil until asked for
	void       map[int]bool      // items of answers that a later turn made void
	listed     []said            // what the agent listed as wrong
	closed     []said            // what it found mended already; nil until asked for
	granted    []said            // objections of a person that the agent granted; nil until asked for
	settled    []found           // what a person settled; nil until asked for
	overtaken  []found           // findings that a later edit or request made untrue
	returns    []said            // where a person asks for a former state; nil until asked for
	answers    map[int]bool      // items of closing answers; nil until asked for
	back       map[int]bool      // items of requests that the person took back; nil until asked for
}

// idle reports whether the agent looked at nothing and changed nothing: what it
// answers then is what anybody knows, not what the project taught.
func (r *reading) idle() bool { return len(r.runs)+len(r.edits)+len(r.reads) == 0 }

// A turn begins with what a person said and holds all that the agent did then.
// The first turn of a session that begins with the agent has no ask.
type turn struct {
	ask    *memoir.Item // nil if the session began without a person
	said   ask
	says   []said
	runs   []*run
	edits  int
	files  []string       // changed, by their paths
	tools  int            // calls of tools
	acts   int            // other calls that change something
	last   bool           // nothing follows
	denied bool           // the next thing that the person said refuses what the agent said last
	closed bool           // the agent gave an answer after its last action
	places map[string]int // actions by the repository that they were in

	grant    *granted  // what grants read; nil until asked for
	concedes *conceded // what concession read; nil until asked for

	refused string // what the call did that the person refused just before they said this
}

// said is one text of the agent.
type said struct {
	item  int
	text  string
	final bool
}

// An edit is one file changed or read at one item.
type edit struct {
	item int
	path string // relative to the repository where it lies in it
}

// read arranges the items of a session.
func read(in Input) *reading {
	r := &reading{root: in.Session.CWD, names: []string{path.Base(in.Session.CWD)}, told: reliable(in.Session.Source), git: in.Session.Branch != "" || in.Session.Remote != "", ledger: newLedger()}
	if name := strings.TrimSuffix(path.Base(in.Session.Remote), ".git"); name != "." && name != "/" && !slices.Contains(r.names, name) {
		r.names = append(r.names, name)
	}
	t := &turn{}
	open := false
	refused := ""
	add := func() {
		if open {
			r.turns = append(r.turns, t)
		}
	}
	for i := range in.Items {
		it := &in.Items[i]
		root := r.checkout(it.CWD)
		switch {
		case it.Origin == memoir.OriginShell || it.Shell() && it.Origin.ByPerson():
			open = true
			r.shell(t, it, it.Input, root)
		case it.Kind == memoir.ItemMessage && it.Origin.ByPerson(), it.Origin == memoir.OriginPlanHandover:
			said := personal(*it)
			if it.Origin == memoir.OriginPlanHandover && len(r.turns) == 0 && t.ask == nil {
				said.document = true
			}
			add()
			t = &turn{ask: it, said: said, refused: refused}
			open, refused = true, ""
		case it.Kind == memoir.ItemMessage && it.Origin == memoir.OriginAgent:
			open, refused = true, ""
			t.says = append(t.says, said{item: it.N, text: clean(withoutMiddle(it.Text)), final: it.Final})
			t.closed = true
		case it.Kind == memoir.ItemTool:
			open = true
			t.tools++
			t.closed = false
			refused = refusedCall(it, root)
			r.tool(t, it, root)
			r.ledger.enter(it)
		}
	}
	add()
	for i, t := range r.turns {
		r.says = append(r.says, t.says...)
		if n := len(t.says); n > 0 && t.closed {
			t.says[n-1].final = true
		}
		if i+1 < len(r.turns) {
			t.denied = r.turns[i+1].said.denies
		} else {
			t.last = true
		}
	}
	r.overrule()
	return r
}

// maxMessage is how many bytes of one message are read: its beginning and, a
// quarter of it, its end. What is longer holds data, not prose.
const maxMessage = 64 << 10

// withoutMiddle cuts whole lines out of the middle of a text that is too long.
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

// checkout returns the directory that paths of an item are relative to: the
// session's own, or another checkout of the same repository that the item ran in,
// as worktrees are, told by the directory's name.
func (r *reading) checkout(cwd string) string {
	session := r.root
	if cwd == "" || session == "" || cwd == session || strings.HasPrefix(cwd, session+"/") {
		return cmp.Or(session, cwd)
	}
	if strings.HasPrefix(session, cwd+"/") && slices.Contains(r.names, path.Base(cwd)) {
		return cwd
	}
	for _, name := range r.names {
		if i := strings.LastIndex(cwd+"/", "/"+name+"/"); i >= 0 && name != "/" {
			return cwd[:i+1+len(name)]
		}
	}
	return session
}

// locate expresses a path that an item names relative to its repository.
func locate(p, cwd, root string) string {
	if p != "" && !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~") && strings.HasPrefix(cwd, "/") {
		p = path.Join(cwd, p)
	}
	return relative(p, root)
}

func (r *reading) tool(t *turn, it *memoir.Item, root string) {
	if it.Shell() {
		if !it.Failed {
			r.patch(t, it, root)
		}
		r.shell(t, it, it.Input, root)
		return
	}
	if lines := scripted(it.Input); len(lines) > 0 {
		for _, line := range lines {
			one := *it
			at := root
			if len(lines) > 1 { // cannot be told apart
				if one.Exit == nil && looksFailed(one.Output) {
					continue
				}
				one.Output = ""
			}
			if line.dir != "" {
				one.CWD, at = line.dir, r.checkout(line.dir)
			}
			r.shell(t, &one, line.text, at)
		}
	}
	if it.Failed {
		return
	}
	r.patch(t, it, root)
	name := strings.ToLower(it.Tool)
	if actsOutside(name) {
		t.acts++
	}
	switch {
	case writes(name):
		if p := argument(it.Input); p != "" {
			at := r.checkout(cmp.Or(directory(p), it.CWD))
			r.edit(t, it.N, locate(p, it.CWD, at))
			for _, c := range changesOf(it.Input) {
				p := locate(c.path, it.CWD, at)
				r.files.note(p, c.before, c.after)
				r.revisions.note(it.N, p, c.before, c.after)
			}
		}
	case name == "read" || name == "read_file" || name == "view" || name == "readfile":
		if p := argument(it.Input); p != "" {
			r.read(it, locate(p, it.CWD, r.checkout(cmp.Or(directory(p), it.CWD))))
		}
	}
}

// generator notes the header of a generated file that was read.
func (r *reading) generator(p, output string) {
	if by := generatedBy(output); by != "" {
		if r.made == nil {
			r.made = map[string]string{}
		}
		r.made[p] = by
	}
}

// directory is the directory of an absolute path, empty for any other.
func directory(p string) string {
	if !strings.HasPrefix(p, "/") {
		return ""
	}
	return path.Dir(p)
}

// patch enters the files that a patch in a call's arguments changes, adds, removes or moves.
func (r *reading) patch(t *turn, it *memoir.Item, root string) {
	paths := patched(it.Input)
	if len(paths) == 0 {
		return
	}
	for _, p := range paths {
		r.edit(t, it.N, locate(p, it.CWD, root))
	}
	for _, c := range changesOf(it.Input) {
		p := locate(c.path, it.CWD, root)
		r.files.note(p, c.before, c.after)
		r.revisions.note(it.N, p, c.before, c.after)
	}
	from := ""
	for line := range strings.Lines(strings.ReplaceAll(it.Input, `\n`, "\n")) {
		line = strings.TrimSpace(line)
		if p, ok := strings.CutPrefix(line, "*** Delete File: "); ok {
			r.files.remove(locate(p, it.CWD, root), it.N)
		} else if p, ok := strings.CutPrefix(line, "*** Update File: "); ok {
			from = p
		} else if p, ok := strings.CutPrefix(line, "*** Move to: "); ok {
			r.files.move(locate(from, it.CWD, root), locate(p, it.CWD, root))
		}
	}
}

// read enters a file that was read.
func (r *reading) read(it *memoir.Item, p string) {
	r.reads = append(r.reads, edit{it.N, p})
	r.generator(p, it.Output)
}

func (r *reading) edit(t *turn, item int, p string) {
	if n := len(r.edits); n > 0 && r.edits[n-1] == (edit{item, p}) {
		return
	}
	t.edits++
	t.files = append(t.files, p)
	t.visit(r.place(path.Dir(p), r.root))
	r.edits = append(r.edits, edit{item, p})
	if r.edited == nil {
		r.edited, r.editedBase, r.firstEdit = map[string]int{}, map[string]int{}, map[string]int{}
	}
	base := path.Base(p)
	if _, ok := r.firstEdit[base]; !ok {
		r.firstEdit[base] = len(r.edits) - 1
	}
	r.edited[p], r.editedBase[base] = item, item
}

// editsAfter are the edits behind an item.
func (r *reading) editsAfter(item int) []edit {
	from, _ := slices.BinarySearchFunc(r.edits, item+1, func(e edit, item int) int { return e.item - item })
	return r.edits[from:]
}

// writes reports whether a tool of that name changes the file that it names.
func writes(tool string) bool {
	switch tool {
	case "edit", "write", "multiedit", "multi_edit", "write_file", "edit_file", "replace", "create", "create_file",
		"str_replace", "str_replace_editor", "str_replace_based_edit_tool", "notebookedit", "apply_diff", "insert":
		return true
	}
	return false
}

// looksLikeFile reports whether a word is a path to a file with an extension or
// below a directory, and no pattern or option.
func looksLikeFile(w string) bool {
	if w == "" || strings.ContainsAny(w, "*?$|<>{}'\" ") || strings.HasPrefix(w, "-") {
		return false
	}
	return strings.Contains(w, "/") || strings.Contains(w, ".") && !strings.HasPrefix(w, ".")
}
