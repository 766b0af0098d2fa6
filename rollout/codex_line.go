package rollout

import (
	"math"
	"time"

	"memoir"
)

// codexLine is a line without its envelope, not decoded further.
type codexLine struct {
	kind    string // the envelope's type
	sub     string // the payload's type
	time    []byte // raw timestamp
	ordinal int64  // -1 without
	payload []byte
	meta    []byte // metadata beside the payload; nil in most lines
	bare    bool   // without envelope
}

func (l codexLine) at() time.Time { return instant(l.time) }

// parseCodexLine parses the envelope of a line. Lines of early 2025, which have none, get the types that they
// would have today.
func parseCodexLine(raw []byte) codexLine {
	l := codexLine{ordinal: -1}
	var id, record bool
	for key, value := range members(raw) {
		switch string(key) {
		case "timestamp":
			l.time = value
		case "ordinal":
			if n, ok := integer(value); ok {
				l.ordinal = n
			}
		case "type":
			l.kind = text(value)
		case "payload":
			l.payload = value
		case "metadata":
			l.meta = value
		case "id":
			id = true
		case "record_type":
			record = true
		}
	}
	switch {
	case l.payload != nil:
		l.sub = getText(l.payload, "type")
	case l.kind != "" && !codexTypes[l.kind]:
		l.bare, l.payload, l.sub, l.kind = true, raw, l.kind, "response_item"
	case l.kind == "" && !record && id && l.time != nil:
		l.bare, l.payload, l.kind = true, raw, "session_meta"
	}
	return l
}

// turnID returns the turn that a line names, or "".
func (l codexLine) turnID() string {
	switch {
	case l.kind == "turn_context", l.kind == "event_msg" && (l.opensTurn() || codexTurns[l.sub]):
		return getText(l.payload, "turn_id")
	case l.kind == "response_item" && l.sub == "message":
		return getText(l.payload, "internal_chat_message_metadata_passthrough", "turn_id")
	}
	return ""
}

// codexTurns are the events, besides those that open a turn, that name it.
var codexTurns = memoir.SetOf("task_complete turn_complete item_completed item_started")

// opensTurn reports whether the line is the first of a turn.
func (l codexLine) opensTurn() bool {
	return l.kind == "event_msg" && (l.sub == "task_started" || l.sub == "turn_started")
}

// codexCalls are the types of calls with a result, codexOutputs those of results.
var (
	codexCalls   = memoir.SetOf("function_call custom_tool_call local_shell_call tool_search_call")
	codexOutputs = memoir.SetOf("function_call_output custom_tool_call_output local_shell_call_output tool_search_output" +
		" tool_search_call_output")
)

// utterance classifies a line that is one copy of a message or call.
type utterance int

const (
	saysNothing      utterance = iota
	userResponse               // response_item, role user
	userEvent                  // event_msg user_message
	userItem                   // event_msg item_completed UserMessage
	assistantMessage           // response_item, role assistant
	assistantEvent             // event_msg agent_message
	assistantItem              // event_msg item_completed AgentMessage
	toolCall                   // response_item with a call
)

// utterances are the messages by the type of the envelope and the payload, and by role or the item's type.
var utterances = map[[3]string]utterance{
	{"response_item", "message", "user"}: userResponse, {"response_item", "message", "assistant"}: assistantMessage,
	{"event_msg", "user_message"}: userEvent, {"event_msg", "agent_message"}: assistantEvent,
	{"event_msg", "item_completed", "UserMessage"}:  userItem,
	{"event_msg", "item_completed", "AgentMessage"}: assistantItem,
}

func (l codexLine) utterance() utterance {
	by := ""
	switch {
	case l.kind == "response_item" && (codexCalls[l.sub] || l.sub == "web_search_call"):
		return toolCall
	case l.sub == "message":
		by = getText(l.payload, "role")
	case l.sub == "item_completed":
		by = getText(l.payload, "item", "type")
	}
	return utterances[[3]string{l.kind, l.sub, by}]
}

// codexTypes are the known types of envelopes. Others, and unknown response items, are counted as unknown.
// Unknown events are skipped, since every version adds some.
var codexTypes = memoir.SetOf("session_meta response_item event_msg turn_context compacted world_state" +
	" inter_agent_communication" +
	" inter_agent_communication_metadata token_usage_record rollout_reference retained_context" +
	" security_risk_score realtime_item")

// codexFork finds where the own history of a forked or spawned thread begins. Its file repeats the parent's
// records with new timestamps but the old turn ids, which are version 7 UUIDs: a turn older than the thread
// is the parent's. If ids have no time, all records are the thread's own.
type codexFork struct {
	possible bool      // the thread has a parent
	born     time.Time // from the thread's id
	sawOld   bool      // a turn older than the thread, or another thread's session_meta
	dated    bool      // turn ids have a time
	ownStart int       // index of the first own record, 0: not found
}

// line processes a record. opening is the index at which its turn began; opened reports whether an event marks it.
func (f *codexFork) line(at place, l codexLine, opening int, opened bool) {
	if !f.possible || f.born.IsZero() || f.ownStart > 0 || !l.opensTurn() && l.kind != "turn_context" {
		return
	}
	t, ok := uuidTime(l.turnID())
	switch {
	case !ok:
		return
	case t.Before(f.born):
		f.sawOld = true
	case opened:
		f.ownStart = at.index
	default:
		f.ownStart = opening
	}
	f.dated = true
}

// ownFrom returns the index of the first record that is the thread's own.
func (f *codexFork) ownFrom() int {
	switch {
	case !f.dated || !f.sawOld:
		return 0
	case f.ownStart > 0:
		return f.ownStart
	}
	return math.MaxInt
}
