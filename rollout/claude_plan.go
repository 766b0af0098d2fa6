package rollout

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// claudePlan is what the first play of a session finds out for the second.
type claudePlan struct {
	first     map[uint64]int32 // index of the first line of each uuid: later ones are copies
	abandoned map[int]bool     // indexes of lines on a branch that was edited away
	late      map[int][]string // queued prompts that no line holds, by the index of the line that took them
	atEnd     []string         // those that nothing took
	results   map[uint64]bool  // hashes of the ids of calls that were answered
	elsewhere map[uint64]bool  // hashes of the uuids of lines that another session had first
}

// Flags of a node.
const (
	nodeUser      = 1 << iota // user or assistant line: can be the leaf
	nodePrompt                // words of a person
	nodeSidechain             // of a sub-agent
	nodeSpeech                // what the agent said or a tool answered
)

type claudePlanner struct {
	*claudePlan
	index   []int32 // of each node in the tape
	parents []uint64
	flags   []uint8
	queue   []*queuedPrompt
}

func planClaude(ctx context.Context, t *tape, subagent bool) (*claudePlan, error) {
	p := &claudePlan{first: map[uint64]int32{}, late: map[int][]string{},
		results: map[uint64]bool{}}
	s := claudePlanner{claudePlan: p}
	if t.heads == nil && !subagent {
		for _, part := range t.parts {
			theirs, err := claudeCopies(ctx, part.Path)
			if err != nil {
				return nil, err
			}
			if p.elsewhere == nil {
				p.elsewhere = theirs
				continue
			}
			p.elsewhere = maps.Clone(p.elsewhere) // the map is shared by all readers
			maps.Copy(p.elsewhere, theirs)
		}
	}
	err := t.each(ctx, false, func(at place, raw []byte) error {
		s.line(at.index, parseClaudeLine(raw))
		return nil
	})
	s.findAbandoned(subagent)
	s.settleQueue()
	return p, err
}

func (s *claudePlanner) line(at int, l claudeLine) {
	spoken, speaks := l.spoken()
	if l.uuid != "" && !s.node(at, l, spoken, speaks) {
		return
	}
	switch {
	case l.kind == "queue-operation":
		s.operation(at, l)
	case speaks && !l.injected():
		s.send(spoken)
	default:
		if prompt, _, ok := l.queuedCommand(); ok {
			s.send(prompt)
		}
	}
}

// node takes a line in as an entry of the conversation. It reports false for a copy of
// an earlier one.
func (s *claudePlanner) node(at int, l claudeLine, spoken string, speaks bool) bool {
	h := textHash(l.uuid)
	if _, ok := s.first[h]; ok {
		return false
	}
	s.first[h] = int32(at)
	var flags uint8
	switch l.kind {
	case "user":
		flags = nodeUser
		if !speaks {
			flags |= nodeSpeech
			s.noteResults(l)
		} else if !l.injected() && !l.compact && isPrompt(spoken) {
			flags |= nodePrompt
		}
	case "assistant":
		flags = nodeUser | nodeSpeech
	}
	if l.sidechain {
		flags |= nodeSidechain
	}
	s.index = append(s.index, int32(at))
	s.flags = append(s.flags, flags)
	var parent uint64
	if l.parent != "" {
		parent = textHash(l.parent)
	}
	s.parents = append(s.parents, parent)
	return true
}

func (s *claudePlanner) noteResults(l claudeLine) {
	elements(get(l.message, "content"), func(block []byte) bool {
		if id := getText(block, "tool_use_id"); id != "" {
			s.results[textHash(id)] = true
		}
		return true
	})
}

// isPrompt tells a person's words from the lines that stand for what happened.
func isPrompt(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && !hasAnyPrefix(text, []string{"[Request interrupted", "<local-command", "<bash-",
		"<task-notification", "<system-reminder", "Caveat:"})
}

// findAbandoned marks the branches that a person edited away: a prompt is
// abandoned if the live path, that of the last entry, goes on from the same point
// of the conversation with a later prompt. A side path alone means nothing, for
// parallel tool calls make many; and where parents are missing, nothing is lost.
func (s *claudePlanner) findAbandoned(subagent bool) {
	n := len(s.index)
	up, leaf := s.parentNodes(subagent)
	// next[i] of a live node is the prompt that the live path holds next below it,
	// with nothing said in between; -1 if something was.
	next := make([]int32, n)
	live := make([]bool, n)
	below := int32(-1)
	for i, steps := leaf, 0; i >= 0 && steps <= n; i, steps = int(up[i]), steps+1 {
		live[i], next[i] = true, below
		switch {
		case s.flags[i]&nodePrompt != 0:
			below = int32(i)
		case s.flags[i]&nodeSpeech != 0:
			below = -1
		}
	}
	gone := make([]bool, n)
	s.abandoned = map[int]bool{}
	for i := range n {
		if live[i] || s.flags[i]&nodeSidechain != 0 && !subagent {
			continue
		}
		if p := up[i]; p >= 0 && int(p) < i && gone[p] {
			gone[i] = true
		} else if s.flags[i]&nodePrompt != 0 {
			p := up[i]
			for steps := 0; p >= 0 && !live[p] && s.flags[p]&(nodeSpeech|nodePrompt) == 0 && steps <= n; steps++ {
				p = up[p]
			}
			gone[i] = p >= 0 && live[p] && next[p] > int32(i)
		}
		if gone[i] {
			s.abandoned[int(s.index[i])] = true
		}
	}
}

type queuedPrompt struct {
	text   string
	taken  int // index of the operation that took it, -1
	sent   bool
	popped bool // taken back into the prompt to be edited
}

// operation follows the queue of prompts typed while the agent was busy. Headless
// runs put every prompt through it.
func (s *claudePlanner) operation(at int, l claudeLine) {
	content := strings.TrimSpace(text(l.content))
	switch l.operation {
	case "enqueue":
		if len(s.queue) < 10000 && content != "" {
			s.queue = append(s.queue, &queuedPrompt{text: content, taken: -1})
		}
	case "dequeue", "remove":
		var next *queuedPrompt
		for _, q := range s.queue {
			if q.taken >= 0 || q.popped {
				continue
			}
			if q.text == content {
				next = q
				break
			}
			if next == nil {
				next = q
			}
		}
		if next != nil {
			next.taken = at
		}
	case "popAll":
		for _, q := range s.queue {
			if q.taken < 0 {
				q.popped = true
			}
		}
	}
}

// send matches a line of the conversation with the prompts that were queued
// before it, of which several may have been sent as one.
func (s *claudePlanner) send(spoken string) {
	if len(s.queue) == 0 {
		return
	}
	spoken = strings.TrimSpace(spoken)
	if command, ok := slashCommand(spoken); ok {
		spoken = command
	}
	for _, q := range s.queue {
		if q.sent {
			continue
		}
		if q.text == spoken || strings.Contains("\n"+spoken+"\n", "\n"+q.text+"\n") {
			q.sent = true
		}
		if q.text == spoken {
			break
		}
	}
}

// settleQueue finds the queued prompts that appear nowhere else. Those taken back
// were never said, and a command of the agent's own interface leaves its trace
// elsewhere.
func (s *claudePlanner) settleQueue() {
	for _, q := range s.queue {
		if q.sent || q.popped || strings.HasPrefix(q.text, "/") || strings.HasPrefix(q.text, "<") {
			continue
		}
		if q.taken >= 0 {
			s.late[q.taken] = append(s.late[q.taken], q.text)
		} else {
			s.atEnd = append(s.atEnd, q.text)
		}
	}
}

// parentNodes returns the parent of each node, -1 where it is missing, and the last node
// of the conversation.
func (s *claudePlanner) parentNodes(subagent bool) (up []int32, leaf int) {
	n := len(s.index)
	up = make([]int32, n)
	for i := range up {
		up[i] = -1
		if s.parents[i] == 0 {
			continue
		}
		if at, ok := s.first[s.parents[i]]; ok {
			node, _ := slices.BinarySearch(s.index, at) // they ascend
			up[i] = int32(node)
		}
	}
	leaf = -1
	for i := n - 1; i >= 0; i-- {
		if s.flags[i]&nodeUser != 0 && (subagent || s.flags[i]&nodeSidechain == 0) {
			leaf = i
			break
		}
	}
	return up, leaf
}
