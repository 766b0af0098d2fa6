package rollout

import (
	"context"
	"time"
)

// codexPlan is what the first play of a thread finds out for the second.
type codexPlan struct {
	id        string        // of the thread
	own       int           // records before this index, other than metas, are a fork's replay of its parent
	undone    []span        // rolled back, ascending and apart
	closing   map[int]bool  // indexes of the last words before a task was complete
	parts     []codexVoices // which copies of utterances each part holds
	baseEnd   []int64       // a part's records from this ordinal on were reverted by the next; -1: none
	startOrd  int64         // records with a smaller ordinal are the parent's; -1: none
	userTurns map[string]bool
	userTexts map[uint64]bool // hashes of what user events say
	results   map[uint64]bool // hashes of the ids of calls that were answered
	until     map[uint64]int  // by the hash of a call's id: index of the last record that tells how what it started went on
}

type span struct{ from, to int }

// codexVoices says which copies of utterances a file has: newer versions write
// each as a response item and as an event.
type codexVoices struct {
	userItems, userEvents   bool
	messages, items, events bool // assistant
}

func planCodex(ctx context.Context, t *tape) (*codexPlan, error) {
	p := &codexPlan{startOrd: -1, parts: make([]codexVoices, len(t.parts)), baseEnd: make([]int64, len(t.parts)),
		closing: map[int]bool{}, userTurns: map[string]bool{}, userTexts: map[uint64]bool{}, results: map[uint64]bool{},
		until: map[uint64]int{}}
	for i := range t.parts {
		p.baseEnd[i] = -1
		if i+1 < len(t.parts) && t.parts[i+1].Head.BaseID != "" {
			p.baseEnd[i] = t.parts[i+1].Head.BaseEnd
		}
	}
	s := codexPlanner{codexPlan: p, lastMessage: -1, lastEvent: -1, left: map[uint64]int{}}
	err := t.each(ctx, false, func(at place, raw []byte) error {
		s.line(at, parseCodexLine(raw))
		return nil
	})
	p.own = s.fork.ownFrom()
	return p, err
}

// skip says whether a record is not this thread's living history, and why.
func (p *codexPlan) skip(at place, l codexLine) (undone, replayed bool) {
	switch {
	case p.baseEnd[at.part] >= 0 && l.ordinal >= p.baseEnd[at.part]:
		return true, false
	case p.startOrd >= 0 && l.ordinal >= 0 && l.ordinal < p.startOrd:
		return false, true
	case at.index < p.own:
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
	turns       []int // where each turn with words of the user began
	opening     int   // where the turn in hand began
	opened      bool  // by a task_started
	agentSpoke  bool  // since opening: the next words of the user begin a turn
	counted     bool  // the turn in hand is in turns
	lastMessage int   // index of the last assistant response item, -1: none in this turn
	lastEvent   int
	turn        string
	running     codexRunning
	left        map[uint64]int // by the hash of a call's id: index of the result that left its command running
	spoke       int            // index of the user's last words
}

func (s *codexPlanner) line(at place, l codexLine) {
	if l.kind == "session_meta" {
		s.meta(at, l)
		return
	}
	if s.baseEnd[at.part] >= 0 && l.ordinal >= s.baseEnd[at.part] {
		return
	}
	said := l.utterance()
	s.boundaries(at, l, said)
	s.fork.line(at, l, said, s.opening, s.opened)
	if id := l.turnID(); id != "" {
		s.turn = id
	}
	voices := &s.parts[at.part]
	switch said {
	case userItem, userEvent:
		if said == userItem {
			voices.userItems = true
		} else {
			voices.userEvents = true
		}
		s.spoke = at.index
		s.userTurns[s.turn] = true
		s.userTexts[textHash(codexUserText(l, said))] = true
		if !s.counted {
			s.turns, s.counted = append(s.turns, s.opening), true
		}
	case assistantMessage:
		voices.messages, s.lastMessage = true, at.index
	case assistantEvent:
		voices.events, s.lastEvent = true, at.index
	case assistantItem:
		voices.items, s.lastEvent = true, at.index
	}
	if l.kind != "event_msg" {
		s.follow(at, l)
		return
	}
	if id, end := codexEnd(l); end != nil {
		if _, running := s.left[textHash(id)]; running {
			s.until[textHash(id)] = at.index
		}
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

// follow notes answers, and how commands go on that outlive theirs. A command that
// is not seen to end belongs to the turn: when the user speaks, it is given.
func (s *codexPlanner) follow(at place, l codexLine) {
	id := callID(l.payload)
	switch {
	case isCodexCall(l.sub):
		s.running.call(l.sub, id, l.payload)
		return
	case !isCodexOutput(l.sub):
		return
	}
	s.results[textHash(id)] = true
	if s.running.asks[id] == "" && !mayGoOn(l.payload) {
		return
	}
	goesOn := codexOutput(l.payload, nil).goesOn
	start := s.running.result(id, goesOn)
	h := textHash(start)
	switch {
	case start == id && goesOn != "" && len(s.left) < maxHandles:
		s.left[h] = at.index
	case start != id && (goesOn == "" || s.spoke < s.left[h]):
		s.until[h] = at.index
	}
}

// boundaries keeps track of where the turn in hand began: at task_started, else
// at the first user text after the agent's last.
func (s *codexPlanner) boundaries(at place, l codexLine, said utterance) {
	switch {
	case l.opensTurn():
		s.opening, s.opened, s.agentSpoke, s.counted = at.index, true, false, false
		s.lastMessage, s.lastEvent = -1, -1
	case said == userResponse || said == userEvent || said == userItem || l.kind == "turn_context":
		if s.agentSpoke && !s.opened {
			s.opening, s.agentSpoke, s.counted = at.index, false, false
		}
	case said == assistantMessage || said == assistantEvent || said == assistantItem || said == toolCall:
		s.agentSpoke = true
	case l.sub == "task_complete" || l.sub == "turn_complete" || l.sub == "turn_aborted":
		s.opened, s.agentSpoke = false, true
	}
}

// rollBack undoes the last n turns in which the user spoke.
func (s *codexPlanner) rollBack(n, here int) {
	if len(s.turns) == 0 {
		return
	}
	n = min(n, len(s.turns))
	from := s.turns[len(s.turns)-n]
	s.turns = s.turns[:len(s.turns)-n]
	for len(s.undone) > 0 && s.undone[len(s.undone)-1].from >= from {
		s.undone = s.undone[:len(s.undone)-1]
	}
	s.undone = append(s.undone, span{from, here})
	s.opening, s.opened, s.agentSpoke, s.counted = here+1, false, true, false
}

func (s *codexPlanner) meta(at place, l codexLine) {
	id := getText(l.payload, "id")
	if s.id == "" {
		s.id = id
		if n, ok := integer(get(l.payload, "subagent_history_start_ordinal")); ok {
			s.startOrd = n
		}
		s.fork = newCodexFork(id, l)
		return
	}
	if id != s.id {
		s.fork.foreign(at)
	}
}

// codexFork finds where a forked or spawned thread's own history begins. Its file
// repeats the parent's, with new timestamps but the old turn ids, and those are
// version 7 UUIDs: a turn older than the thread is the parent's. Where ids tell
// nothing, the replay is recognised as one burst of writing.
type codexFork struct {
	possible bool      // the thread has a parent
	based    bool      // it continues another file instead of repeating it
	born     time.Time // from the thread's id
	written  time.Time // of the first line
	sawOld   bool      // a turn older than the thread, or a foreign session_meta
	dated    bool      // turn ids tell their time
	ownStart int       // index of the first own record by turn ids, 0: not found
	burst    int       // index of the first own record by time, 0: not found
	alien    bool
	last     int
}

func newCodexFork(id string, l codexLine) codexFork {
	f := codexFork{written: l.at()}
	f.born, _ = uuidTime(id)
	f.based = isObject(get(l.payload, "history_base"))
	f.possible = getText(l.payload, "forked_from_id") != "" || getText(l.payload, "parent_thread_id") != ""
	return f
}

func (f *codexFork) foreign(at place) {
	if at.index <= 3 {
		f.possible, f.alien, f.sawOld = true, true, true
	}
	f.last = at.index
}

func (f *codexFork) line(at place, l codexLine, said utterance, opening int, opened bool) {
	if !f.possible {
		return
	}
	f.last = at.index
	boundary := l.opensTurn() || l.kind == "turn_context"
	if f.ownStart == 0 && boundary && !f.born.IsZero() {
		if t, ok := uuidTime(l.turnID()); ok {
			f.dated = true
			if t.Before(f.born) {
				f.sawOld = true
			} else {
				f.ownStart = at.index
				if !opened {
					f.ownStart = opening
				}
			}
		}
	}
	if f.burst == 0 && (boundary || said == userResponse || said == userEvent || said == userItem) {
		if t := l.at(); !t.IsZero() && t.Sub(f.written) >= time.Second {
			f.burst = at.index
		}
	}
}

// ownFrom returns the index of the first record that is the thread's own.
func (f *codexFork) ownFrom() int {
	switch {
	case !f.possible:
		return 0
	case f.dated && !f.sawOld:
		return 0
	case f.dated && f.ownStart > 0:
		return f.ownStart
	case f.dated:
		return f.last + 1
	case f.based || !f.alien:
		return 0
	case f.burst > 0:
		return f.burst
	}
	return f.last + 1
}
