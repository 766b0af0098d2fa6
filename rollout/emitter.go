package rollout

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/internal/lazyregexp"
)

const (
	maxText    = 4 << 20   // bytes of one text of an item
	maxPending = 16 << 20  // bytes of calls that wait for their results
	maxWaiting = 4096      // number of such calls
	maxJoined  = 256 << 10 // bytes of an output in several pieces, without the last one
)

type where struct {
	at     time.Time
	cwd    string
	branch string
}

// when sets the time from a raw value, if it has one.
func (w *where) when(raw []byte) {
	if t := instant(raw); !t.IsZero() {
		w.at = t
	}
}

// move sets the directory and its branch, if cwd is not empty.
func (w *where) move(cwd, branch string) {
	if cwd != "" {
		w.cwd, w.branch = cwd, branch
	}
}

func (w where) item(kind, role string, origin memoir.Origin) memoir.Item {
	return memoir.Item{Kind: kind, Role: role, Origin: origin, At: w.at, CWD: w.cwd, Branch: w.branch}
}

type outcome struct {
	output string
	exit   *int
	failed bool
	lost   bool   // it was interrupted
	tool   string // the tool's name, if the result has it
	goesOn string // the handle of the command if it is still running, else ""
}

// emitter numbers and emits items, and joins calls to results. All agents use it, so that the rules of the
// stream are the same: a call is emitted with its result; a call without a result is emitted at the next
// message of a person, or at the end; a second result of a call is dropped.
type emitter struct {
	fn      func(memoir.Item) error
	stats   *Stats
	kind    memoir.SessionKind
	err     error
	n       int
	pending []*memoir.Item      // calls without result, oldest first; TurnID etc. set
	ids     []string            // of pending
	held    int                 // bytes of pending
	done    map[uint64]struct{} // hashed ids of emitted calls
	results map[uint64]bool     // hashed ids of calls that have a result later
	started bool                // a user message was emitted
}

func newEmitter(fn func(memoir.Item) error, stats *Stats, kind memoir.SessionKind) *emitter {
	return &emitter{fn: fn, stats: stats, kind: kind, done: map[uint64]struct{}{}}
}

func (e *emitter) emit(it memoir.Item) {
	if e.err != nil {
		return
	}
	e.n++
	it.N = e.n
	e.stats.Items++
	e.err = e.fn(it)
}

// user emits a message of the user's role, unless it is injected.
func (e *emitter) user(origin memoir.Origin, text string, w where) {
	it := w.item(memoir.ItemMessage, memoir.RoleUser, origin)
	if it.Text = clean(text); it.Text == "" || origin == memoir.OriginInjected {
		return
	}
	if e.kind == memoir.KindSubagent && origin == memoir.OriginTyped {
		it.Origin = memoir.OriginSubagentTask
	}
	e.flushLost()
	e.started = true
	e.emit(it)
}

// findOwnRun looks for memoir's marker in the first user texts of a session, up to the first that is not injected. An
// agent calls it before user.
func (e *emitter) findOwnRun(raw string) {
	if !e.started && strings.Contains(raw, memoir.OwnRunMarker) {
		e.stats.OwnRun = true
	}
}

func (e *emitter) assistant(text string, final bool, w where) {
	it := w.item(memoir.ItemMessage, memoir.RoleAssistant, memoir.OriginAgent)
	if it.Text, it.Final = clean(text), final; it.Text != "" {
		e.emit(it)
	}
}

func (e *emitter) summary(text string, w where) {
	it := w.item(memoir.ItemSummary, memoir.RoleAssistant, memoir.OriginCompactionSummary)
	if it.Text = clean(text); it.Text != "" {
		e.emit(it)
	}
}

// shell emits a command that the person ran in the agent's prompt.
func (e *emitter) shell(command string, o outcome, w where) {
	e.flushLost()
	it := toolItem("user_shell", command, w)
	it.Role, it.Origin = memoir.RoleUser, memoir.OriginShell
	e.settle(it, o)
}

func toolItem(tool, input string, w where) *memoir.Item {
	it := w.item(memoir.ItemTool, memoir.RoleTool, memoir.OriginTool)
	it.Tool, it.Input = tool, clip(withoutData(stripOwn(input)))
	return &it
}

// call adds a tool call. A call with a known id is a repetition, or adds the input that an earlier snapshot lacks.
func (e *emitter) call(id, tool, input string, w where) {
	if _, ok := e.done[textHash(id)]; ok && id != "" {
		return
	}
	it := toolItem(tool, input, w)
	if known := e.waiting(id); known == nil || id == "" {
		e.pending, e.ids = append(e.pending, it), append(e.ids, id)
	} else if known.Input == "" {
		known.Input = it.Input
	} else {
		return
	}
	e.held += len(it.Input)
	e.bound()
}

// callInput returns the input of a call: the command line of a shell tool, else the arguments.
func callInput(shell bool, arguments []byte) string {
	if command := get(arguments, "command"); shell && isString(command) {
		return text(command)
	}
	return source(arguments)
}

// blocks collects the texts of a record that become one text of an item. Texts beyond the bound of an item are
// dropped, so that large records are not copied.
type blocks struct {
	texts []string
	size  int
}

func (b *blocks) add(s string) {
	if b.size <= maxText {
		b.texts, b.size = append(b.texts, s), b.size+len(s)
	}
}

// textsOf returns the texts of a message's content that are not blank: of a string or a block, or of the blocks of an
// array that are wanted.
func textsOf(content []byte, wanted func(block []byte) bool) []string {
	var said blocks
	if !isArray(content) {
		said.add(contentText(content))
	}
	for block := range elements(content) {
		if s := contentText(block); strings.TrimSpace(s) != "" && wanted(block) {
			said.add(s)
		}
	}
	return said.texts
}

// source returns a raw value, cut to the bound of an item's text.
func source(raw []byte) string { return string(raw[:min(len(raw), maxText+1)]) }

// bound emits the oldest calls without a result if too many wait.
func (e *emitter) bound() {
	for (e.held > maxPending || len(e.pending) > maxWaiting) && len(e.pending) > 1 {
		e.lose(0)
	}
}

// lone emits a call with its result at once.
func (e *emitter) lone(tool, input string, o outcome, w where) { e.settle(toolItem(tool, input, w), o) }

// waiting returns the call of an id that has no result yet, or nil.
func (e *emitter) waiting(id string) *memoir.Item {
	if i := slices.Index(e.ids, id); i >= 0 {
		return e.pending[i]
	}
	return nil
}

// result joins a result to its call and emits both. A result whose call is missing, for instance in a damaged
// line, is emitted alone.
func (e *emitter) result(id string, o outcome, w where) {
	if i := slices.Index(e.ids, id); i >= 0 {
		e.settle(e.removeAt(i), o)
		return
	}
	if _, ok := e.done[textHash(id)]; ok {
		return
	}
	if id != "" {
		e.done[textHash(id)] = struct{}{}
	}
	e.settle(toolItem(cmp.Or(o.tool, "unknown"), "", w), o)
}

// more adds to the output of a waiting call; pieces beyond maxJoined are left out and counted.
func (e *emitter) more(id string, o outcome) {
	it := e.waiting(id)
	if it == nil {
		return
	}
	if it.Output != "" && len(it.Output)+len(o.output) > maxJoined {
		e.stats.Elided++
		o.output = ""
	}
	before := len(it.Output)
	it.Output = clip(appended(it.Output, o.output))
	e.held += len(it.Output) - before
	if o.exit != nil {
		it.Exit = o.exit
	}
	it.Failed = it.Failed || o.failed
	e.bound()
}

func appended(first, more string) string {
	if first != "" && more != "" && !strings.HasSuffix(first, "\n") {
		first += "\n"
	}
	return first + more
}

// forget drops a call that is not an item of its own.
func (e *emitter) forget(id string) {
	if i := slices.Index(e.ids, id); i >= 0 {
		e.removeAt(i)
	}
}

// lose emits a call without a result.
func (e *emitter) lose(i int) {
	it := e.removeAt(i)
	e.settle(it, outcome{lost: it.Output == ""})
}

func (e *emitter) removeAt(i int) *memoir.Item {
	it, id := e.pending[i], e.ids[i]
	e.pending, e.ids = slices.Delete(e.pending, i, i+1), slices.Delete(e.ids, i, i+1)
	e.held -= len(it.Input) + len(it.Output)
	if id != "" {
		e.done[textHash(id)] = struct{}{}
	}
	return it
}

// ownTool matches the tools of memoir's own server, by the names that agents give them.
var ownTool = lazyregexp.New(`^(?:mcp_{1,2}(?:plugin_\w+_)?)?memoir(?:_{1,2}|-)[a-z]|` +
	`^memory_(?:search|get|remember|messages|patch|forget)$`)

func (e *emitter) settle(it *memoir.Item, o outcome) {
	if ownTool.MatchString(it.Tool) { // memory is not made of memory
		it.Output, o.output = "", ""
	}
	it.Output = clip(strings.TrimRight(withoutData(stripOwn(appended(it.Output, o.output))), " \t\r\n"))
	if o.exit != nil {
		it.Exit = o.exit
	}
	it.Failed = it.Failed || o.failed || it.Exit != nil && *it.Exit != 0
	it.Lost = o.lost && it.Exit == nil
	e.emit(*it)
}

// flushLost emits the waiting calls that have no result later. Others may still run when a person writes.
func (e *emitter) flushLost() {
	for i := 0; i < len(e.pending); {
		if e.results[textHash(e.ids[i])] {
			i++
		} else {
			e.lose(i)
		}
	}
}

func (e *emitter) finish() {
	for len(e.pending) > 0 {
		e.lose(0)
	}
}

// clean removes memoir's blocks, data and outer white space from a text.
func clean(text string) string { return clip(strings.TrimSpace(withoutData(stripOwn(text)))) }

// clip cuts a text to maxText bytes at white space.
func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	text = text[:maxText]
	if i := strings.LastIndexAny(text, " \t\r\n"); i >= 0 {
		return text[:i]
	}
	return ""
}
