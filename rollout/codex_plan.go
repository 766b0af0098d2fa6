package rollout

import (
	"context"
	"slices"
)

// codexPlan is the result of the first pass over a thread, for the second.
type codexPlan struct {
	id        string        // of the thread
	own       int           // records before this index, other than metas, are copies of a fork's parent
	undone    []span        // rolled back, ascending, not overlapping
	closing   map[int]bool  // indexes of the last messages before a task was complete
	parts     []codexVoices // by part: which copies of messages it has
	ends      []int64       // by part: records from this ordinal on were reverted; -1: none
	startOrd  int64         // records with a smaller ordinal are the parent's; -1: none
	userTurns map[string]bool
	userTexts map[uint64]bool // hashes of the texts of user events
	added     map[uint64]bool // by hash of a marked user text: it is not a person's
	results   map[uint64]bool // hashed ids of calls with a result
	until     map[uint64]int  // by the hash of a call's id: index of the last record about its command
}

type span struct{ from, to int }

// codexVoices says which copies of messages a file has: newer versions write each as a response item and as an event.
type codexVoices struct {
	userItems, userEvents bool
	messages, items       bool // assistant
}

// void reports whether a record was reverted: it is after the point at which the next file continues.
func (p *codexPlan) void(at place, l codexLine) bool {
	end := p.ends[at.part]
	return end >= 0 && l.ordinal >= end
}

func planCodex(ctx context.Context, t *tape) (*codexPlan, error) {
	p := &codexPlan{startOrd: -1, parts: make([]codexVoices, len(t.parts)), ends: make([]int64, len(t.parts)),
		closing: map[int]bool{}, userTurns: map[string]bool{}, userTexts: map[uint64]bool{},
		added: map[uint64]bool{}, results: map[uint64]bool{}, until: map[uint64]int{}}
	for i := range t.parts {
		p.ends[i] = -1
		if i+1 < len(t.parts) && t.parts[i+1].Head.BaseID != "" {
			p.ends[i] = t.parts[i+1].Head.BaseEnd
		}
	}
	s := codexPlanner{codexPlan: p, lastMessage: -1, lastEvent: -1, running: newCodexRunning()}
	err := t.each(ctx, false, func(at place, raw []byte) error {
		s.line(at, parseCodexLine(raw))
		return nil
	})
	p.own = s.fork.ownFrom()
	return p, err
}

// skip reports whether a record was undone or is a copy of the parent's.
func (p *codexPlan) skip(at place, l codexLine) (undone, replayed bool) {
	switch {
	case p.void(at, l):
		return true, false
	case isTrue(get(l.meta, "inherited_user_message")), l.ordinal >= 0 && l.ordinal < p.startOrd, at.index < p.own:
		return false, true
	}
	for len(p.undone) > 0 && at.index >= p.undone[0].to {
		p.undone = p.undone[1:]
	}
	return len(p.undone) > 0 && at.index >= p.undone[0].from, false
}

type codexPlanner struct {
	*codexPlan
	fork        codexFork
	turns       []int // index at which each turn with a user message began
	opening     int   // index at which the current turn began
	opened      bool  // by a task_started
	agentSpoke  bool  // since opening: the next user message begins a turn
	counted     bool  // the current turn is in turns
	countedBy   utterance
	lastMessage int // index of the last assistant response item, -1: none in this turn
	lastEvent   int
	turn        string
	running     codexRunning
}

func (s *codexPlanner) line(at place, l codexLine) {
	if l.kind == "session_meta" {
		s.meta(at, l)
		return
	}
	if s.void(at, l) {
		return
	}
	spoken := l.utterance()
	s.boundaries(at, l, spoken)
	s.fork.line(at, l, s.opening, s.opened)
	if id := l.turnID(); id != "" {
		s.turn = id
	}
	s.noteMessage(at, l, spoken)
	if l.kind == "event_msg" {
		s.event(at, l)
	} else {
		s.follow(at, l)
	}
}

// noteMessage records a message, and which copies of messages the part has.
func (s *codexPlanner) noteMessage(at place, l codexLine, spoken utterance) {
	voices := &s.parts[at.part]
	switch spoken {
	case userItem, userEvent:
		voices.userItems = voices.userItems || spoken == userItem
		voices.userEvents = voices.userEvents || spoken == userEvent
		s.userTurns[s.turn] = true
		s.userTexts[codexWords(rawCodexUserText(l, spoken), true)] = true
		if !s.counted {
			s.turns, s.counted, s.countedBy = append(s.turns, s.opening), true, spoken
		}
	case userResponse:
		content := get(l.payload, "content")
		switch kinds, typed := contentKinds(l.payload); {
		case typed:
			s.added[codexWords(joinBlocks(content, kinds), true)] = false
		case kinds != nil && !slices.Contains(kinds, "unknown"):
			h := codexWords(contentText(content), false)
			if _, marked := s.added[h]; !marked { // not as a person's
				s.added[h] = true
			}
		}
	case assistantMessage:
		voices.messages, s.lastMessage = true, at.index
	case assistantEvent:
		s.lastEvent = at.index
	case assistantItem:
		voices.items, s.lastEvent = true, at.index
	}
}

// event processes the end of a call or a turn, and rollbacks.
func (s *codexPlanner) event(at place, l codexLine) {
	if id, end := codexEnd(l); end != nil && s.running.has(id) {
		s.until[textHash(id)] = at.index
	}
	switch l.sub {
	case "task_complete", "turn_complete":
		for _, i := range []int{s.lastMessage, s.lastEvent} {
			if i >= 0 && isString(get(l.payload, "last_agent_message")) {
				s.closing[i] = true
			}
		}
		s.lastMessage, s.lastEvent = -1, -1
	case "thread_rolled_back":
		if n, ok := integer(get(l.payload, "num_turns")); ok && n > 0 {
			s.rollBack(int(n), at.index)
		}
	}
}

// follow records results, and the last one about a command that outlives its call.
func (s *codexPlanner) follow(at place, l codexLine) {
	id := callID(l.payload)
	switch {
	case codexCalls[l.sub]:
		s.running.call(l.sub, id, l.payload)
	case codexOutputs[l.sub]:
		s.results[textHash(id)] = true
		if s.running.asks[id] == "" && !mayGoOn(l.payload) {
			return
		}
		if start := s.running.result(id, codexOutput(l.payload, nil).goesOn); start != id {
			s.until[textHash(start)] = at.index
		}
	}
}

// boundaries tracks where the current turn began: at task_started, else at the first user text after the agent's last.
func (s *codexPlanner) boundaries(at place, l codexLine, spoken utterance) {
	switch {
	case l.opensTurn():
		s.begin(at.index, true)
		s.lastMessage, s.lastEvent = -1, -1
	case spoken > saysNothing && spoken < assistantMessage || l.kind == "turn_context":
		if !s.opened && (s.agentSpoke || s.counted && s.countedBy == spoken) { // or the agent has not answered
			s.begin(at.index, false)
		}
	case spoken >= assistantMessage:
		s.agentSpoke = true
	case l.sub == "task_complete" || l.sub == "turn_complete" || l.sub == "turn_aborted":
		s.opened, s.agentSpoke = false, true
	}
}

func (s *codexPlanner) begin(at int, opened bool) {
	s.opening, s.opened, s.agentSpoke, s.counted = at, opened, false, false
}

func (s *codexPlanner) rollBack(n, here int) {
	if len(s.turns) == 0 {
		return
	}
	kept := max(0, len(s.turns)-n)
	from := s.turns[kept]
	s.turns = s.turns[:kept]
	for len(s.undone) > 0 && s.undone[len(s.undone)-1].from >= from {
		s.undone = s.undone[:len(s.undone)-1]
	}
	s.undone = append(s.undone, span{from, here})
	s.begin(here+1, false)
	s.agentSpoke = true
}

func (s *codexPlanner) meta(at place, l codexLine) {
	id := getText(l.payload, "id")
	if s.id == "" {
		s.id = id
		if n, ok := integer(get(l.payload, "subagent_history_start_ordinal")); ok {
			s.startOrd = n
		}
		s.fork.born, _ = uuidTime(id)
		s.fork.possible = getText(l.payload, "forked_from_id") != "" || getText(l.payload, "parent_thread_id") != ""
	} else if id != s.id && at.index <= 3 {
		s.fork.possible, s.fork.sawOld = true, true
	}
}
