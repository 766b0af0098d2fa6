package rollout

import (
	"cmp"
	"context"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"memoir"
)

// claudePlan is the result of the first pass over a session, for the second.
type claudePlan struct {
	subagent bool
	nodes    []claudeNode
	byUUID   map[uint64]int32  // by hashed uuid: index in nodes of the first line; later ones are copies
	leaf     int32             // index in nodes of the last entry of the conversation; -1: none
	queue    []*queuedPrompt   // in the order in which they were typed
	unsent   map[int]string    // queued prompts without a line, by the index of the line that took or queued them
	results  map[uint64]bool   // hashed ids of calls with a result
	copies   []map[uint64]bool // by part: hashed uuids of entries that belong to another session
}

// claudeNode is an entry in the tree of a conversation.
type claudeNode struct {
	record int32 // in the tape
	up     int32 // index of the parent; -1: missing
	near   int32 // index of the nearest ancestor that is a prompt or speech, else of the topmost; -1 without a parent
	prompt bool  // text of a person
	speech bool  // text of the agent, or a tool's result
	live   bool  // on the path to the last entry
	gone   bool  // on an abandoned branch
}

func planClaude(ctx context.Context, t *tape, subagent bool) (*claudePlan, error) {
	p := &claudePlan{subagent: subagent, byUUID: map[uint64]int32{}, leaf: -1, unsent: map[int]string{},
		results: map[uint64]bool{}, copies: make([]map[uint64]bool, len(t.parts))}
	for i, part := range t.parts {
		if t.heads != nil || subagent || part.Whole {
			break
		}
		var err error
		if p.copies[i], err = claudeCopies(ctx, part.Path); err != nil {
			return nil, err
		}
	}
	err := t.each(ctx, false, func(at place, raw []byte) error {
		p.line(at.index, parseClaudeLine(raw))
		return nil
	})
	p.findAbandoned()
	for _, q := range p.queue { // commands of the agent's interface have other records
		if !q.sent && !strings.HasPrefix(q.text, "/") && !strings.HasPrefix(q.text, "<") {
			p.unsent[q.at] = q.text
		}
	}
	return p, err
}

func (p *claudePlan) line(at int, l claudeLine) {
	if l.sidechain && !p.subagent {
		return
	}
	texts, speaks := l.userTexts()
	words, prompt := "", false
	if speaks && !l.compact {
		words = strings.TrimSpace(strings.Join(texts, "\n"))
		origin, _ := splitClaudeUser(words)
		prompt = !untyped(l.raw) && origin != memoir.OriginInjected && !strings.HasPrefix(words, "<bash-")
	}
	if l.uuid != "" && !p.add(at, l, prompt, l.kind == "assistant" || l.kind == "user" && !speaks) {
		return
	}
	if queued, _, _ := l.queuedCommand(); queued != "" {
		words = strings.TrimSpace(queued)
	}
	if l.kind == "queue-operation" {
		p.operation(at, l.raw)
	} else if words != "" {
		p.send(words)
	}
}

// add adds a line as an entry of the conversation. It returns false for a copy of an earlier one.
func (p *claudePlan) add(at int, l claudeLine, prompt, speech bool) bool {
	h := textHash(l.uuid)
	if _, ok := p.byUUID[h]; ok {
		return false
	}
	n := claudeNode{record: int32(at), up: -1, near: -1, prompt: prompt, speech: speech}
	if up, ok := p.byUUID[textHash(l.parent)]; ok && l.parent != "" {
		n.up, n.near = up, up
		if above := p.nodes[up]; !above.prompt && !above.speech && above.near >= 0 {
			n.near = above.near
		}
	}
	p.byUUID[h] = int32(len(p.nodes))
	if l.kind == "user" || l.kind == "assistant" {
		p.leaf = int32(len(p.nodes))
	}
	p.nodes = append(p.nodes, n)
	if speech && l.kind == "user" {
		for block := range elements(get(l.message, "content")) {
			p.results[textHash(getText(block, "tool_use_id"))] = true
		}
	}
	return true
}

// findAbandoned marks the branches that a person abandoned by editing a prompt: the live path, that of the
// last entry, continues from the same point with a later prompt. A side branch alone is not abandoned, since
// parallel tool calls make many. An entry without a parent is kept.
func (p *claudePlan) findAbandoned() {
	next := map[int32]int{} // live prompt by its node.near
	for i := p.leaf; i >= 0; i = p.nodes[i].up {
		n := &p.nodes[i]
		if n.live = true; n.prompt {
			next[n.near] = int(i)
		}
	}
	for i := range p.nodes {
		n := &p.nodes[i]
		n.gone = !n.live && n.up >= 0 && (p.nodes[n.up].gone || n.prompt && next[n.near] > i)
	}
}

// node returns the entry with a uuid, or nil.
func (p *claudePlan) node(uuid string) *claudeNode {
	if i, ok := p.byUUID[textHash(uuid)]; ok && uuid != "" {
		return &p.nodes[i]
	}
	return nil
}

// queuedPrompt is a prompt that was typed while the agent was busy.
type queuedPrompt struct {
	at    int // index of the line that took it out of the queue, or queued it
	text  string
	taken bool // out of the queue
	sent  bool // a line has it, or no person typed it
}

// operation tracks the queue of prompts. Headless runs queue every prompt. A prompt that is returned to the
// input field was never sent.
func (p *claudePlan) operation(at int, raw []byte) {
	content := strings.TrimSpace(getText(raw, "content"))
	switch getText(raw, "operation") {
	case "enqueue":
		if len(p.queue) < 10000 && content != "" {
			p.queue = append(p.queue, &queuedPrompt{at: at, text: content, sent: untyped(raw)})
		}
	case "dequeue", "remove":
		waits := func(q *queuedPrompt) bool { return !q.taken }
		i := slices.IndexFunc(p.queue, func(q *queuedPrompt) bool { return waits(q) && q.text == content })
		if i < 0 {
			i = slices.IndexFunc(p.queue, waits)
		}
		if i >= 0 {
			p.queue[i].taken, p.queue[i].at = true, at
		}
	case "popAll":
		p.queue = slices.DeleteFunc(p.queue, func(q *queuedPrompt) bool { return !q.taken })
	}
}

// send matches a line of the conversation with the prompts queued before it; several may be sent as one.
func (p *claudePlan) send(words string) {
	if command, ok := slashCommand(words); ok {
		words = command
	}
	for _, q := range p.queue {
		if !q.sent && strings.Contains("\n"+words+"\n", "\n"+q.text+"\n") {
			if q.sent = true; q.text == words {
				return
			}
		}
	}
}

// Claude Code writes a new file when a session is forked (old versions also when it is resumed), and copies the
// entries of the old file into it. Files of one directory with the same first entry are a family. An entry
// belongs to the oldest file of the family that has it.

// claudeEntry returns the hash of a line's uuid and a hash that its copies share: of the original uuid, the
// time and the content. Both are 0 if the line is not an entry. Forks do not copy subagents' entries.
func claudeEntry(l claudeLine) (own, original uint64) {
	switch l.kind {
	case "user", "assistant", "system", "attachment":
		if l.uuid != "" && !l.sidechain {
			original = textHash(cmp.Or(getText(l.raw, "forkedFrom", "messageUuid"), l.uuid))
			original ^= maphash.Bytes(hashSeed, get(l.message, "content")) ^ uint64(instant(l.time).UnixNano())
			return textHash(l.uuid), original
		}
	}
	return 0, 0
}

// claudeDir lists the first entries of the files of a directory.
type claudeDir struct {
	mu      sync.Mutex
	modTime time.Time // of the directory when it was listed
	settled bool      // no file can have been added since with the same modification time
	first   map[string]uint64
	byFirst map[uint64][]string
	copies  map[string]map[uint64]bool // by path, of the families that were read
}

// claudeDirs caches the listed directories: *claudeDir by path.
var claudeDirs sync.Map

// claudeCopies returns the hashed uuids of the entries in a session's file that belong to an older file beside
// it, nil if there are none. Unreadable files are ignored. The map is shared and must not be changed.
func claudeCopies(ctx context.Context, path string) (map[uint64]bool, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, nil
	}
	known, _ := claudeDirs.LoadOrStore(filepath.Dir(path), &claudeDir{})
	dir := known.(*claudeDir)
	dir.mu.Lock()
	defer dir.mu.Unlock()
	dir.list(filepath.Dir(path))
	family := dir.byFirst[dir.first[path]]
	if _, known := dir.copies[path]; len(family) > 1 && !known {
		err = dir.readFamily(ctx, family)
	}
	return dir.copies[path], err
}

// list lists the directory again if files may have been added or replaced; files that grow keep their first
// entry. A directory's time is trusted once it is older than the resolution of file times.
func (d *claudeDir) list(path string) {
	info, err := os.Stat(path)
	if err != nil || d.settled && info.ModTime().Equal(d.modTime) {
		return
	}
	d.modTime, d.settled = info.ModTime(), time.Since(info.ModTime()) > 2*time.Second
	d.first, d.byFirst, d.copies = map[string]uint64{}, map[uint64][]string{}, map[string]map[uint64]bool{}
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if file := filepath.Join(path, e.Name()); isJSONL(file) {
			if first := firstClaudeEntry(file); first != 0 {
				d.first[file], d.byFirst[first] = first, append(d.byFirst[first], file)
			}
		}
	}
}

// firstClaudeEntry searches the first 512 KiB of a file for its first entry, 16 KiB at a time.
func firstClaudeEntry(path string) uint64 {
	file, err := openFile(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	r := &Reader{src: io.LimitReader(file, 512<<10), in: make([]byte, 16<<10), known: true, brief: true}
	for {
		raw, err := r.Next()
		if err != nil {
			return 0
		}
		if _, id := claudeEntry(parseClaudeLine(raw)); id != 0 {
			return id
		}
	}
}

// relative is a file of a family.
type relative struct {
	Part
	names   map[string]bool // ids of the sessions of its lines, or of those that they were copied from
	entries [][2]uint64     // see claudeEntry
	above   int             // files of the family that its lines name, or more than all if no person speaks in it
}

// maxFamily bounds the entries that are kept of one family. In a larger one no entry counts as a copy.
const maxFamily = 512 << 10

// readFamily reads files with the same first entry and finds the entries that each copied from older ones.
func (d *claudeDir) readFamily(ctx context.Context, paths []string) error {
	var family []*relative
	total := 0
	for _, path := range paths {
		h, err := Probe(Entry{File: memoir.File{Path: path}})
		if err != nil || h.Kind == memoir.KindSubagent {
			continue
		}
		f := &relative{Part: Part{Path: path, Head: h}, names: map[string]bool{}}
		t := &tape{parts: []Part{f.Part}, stats: &Stats{}}
		err = t.each(ctx, false, func(_ place, raw []byte) error {
			l := parseClaudeLine(raw)
			if own, original := claudeEntry(l); original != 0 && total < maxFamily {
				total++
				f.names[cmp.Or(l.forkedFrom(), l.session)] = true
				f.entries = append(f.entries, [2]uint64{own, original})
			}
			return nil
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			family = append(family, f)
		}
	}
	for _, path := range paths {
		d.copies[path] = nil
	}
	if total == maxFamily {
		return nil
	}
	sortFamily(family)
	owners := map[uint64]string{} // by entry: the session that has it first
	for _, f := range family {
		copies := map[uint64]bool{}
		for _, e := range f.entries {
			// Copies between files of one session are left to Assemble.
			if owners[e[1]] = cmp.Or(owners[e[1]], f.Head.ID); owners[e[1]] != f.Head.ID {
				copies[e[0]] = true
			}
		}
		d.copies[f.Path] = copies
	}
	return nil
}

// sortFamily puts the oldest file first. Sessions without a person come last, since people's messages must
// count for a main session. Then the origins that files name count, then their length.
func sortFamily(family []*relative) {
	for _, f := range family {
		if f.Head.Kind != memoir.KindMain {
			f.above = len(family)
		}
		for _, other := range family {
			if other.Head.ID != f.Head.ID && f.names[other.Head.ID] {
				f.above++
			}
		}
	}
	slices.SortFunc(family, func(a, b *relative) int {
		return cmp.Or(cmp.Compare(a.above, b.above), cmp.Compare(len(a.entries), len(b.entries)),
			cmp.Compare(a.Head.ID, b.Head.ID))
	})
}
