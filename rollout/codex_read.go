package rollout

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"memoir"
)

// Read emits a thread. Messages of people are read from events, messages and calls of the agent from response
// items. If a file lacks one copy, the other is used.
func (Codex) Read(ctx context.Context, t *tape, e *emitter) error {
	plan, err := planCodex(ctx, t)
	if err != nil {
		return err
	}
	e.results = plan.results
	r := codexReader{plan: plan, e: e, typed: map[uint64][2]int{}, goals: map[uint64]bool{},
		running: newCodexRunning()}
	r.w.cwd, r.w.branch = t.parts[0].Head.CWD, t.parts[0].Head.Branch
	return t.each(ctx, true, func(at place, raw []byte) error {
		r.line(at, parseCodexLine(raw))
		return e.err
	})
}

type codexReader struct {
	plan  *codexPlan
	e     *emitter
	w     where
	typed map[uint64][2]int // user texts of the current turn, by hash: number of events and items

	lead   string          // the parent's last request, while a fork's copies are read
	turnID string          // of the current turn
	turn   codexTurn       // the current turn
	goals  map[uint64]bool // hashes of goals that were set
	summed uint64          // hash of the last compaction's summary

	running codexRunning
	cells   codexCells
}

func (r *codexReader) line(at place, l codexLine) {
	spoken := l.utterance()
	if l.kind != "session_meta" {
		switch undone, replayed := r.plan.skip(at, l); {
		case undone:
			if spoken != saysNothing {
				r.e.stats.Undone++
			}
			return
		case replayed:
			r.e.stats.Copied++
			r.follow(l, spoken)
			return
		}
		r.leadIn()
	}
	r.w.at = l.at()
	r.turn.acted = r.turn.acted || spoken >= assistantMessage
	if id := l.turnID(); id != "" && id != r.turnID {
		r.turnID = id
		clear(r.typed)
	}
	switch l.kind {
	case "session_meta":
		r.meta(l)
	case "turn_context":
		r.w.move(codexDir(l.payload), r.w.branch)
	case "response_item":
		r.item(at, l, spoken)
	case "event_msg":
		r.event(at, l, spoken)
	case "compacted":
		r.summary(getText(l.payload, "message"))
	default:
		if l.payload != nil && !codexTypes[l.kind] {
			r.e.stats.unknown(l.kind)
		}
	}
}

// summary emits a compaction summary once: newer versions record it as the answer of one model and as the
// prompt of the next.
func (r *codexReader) summary(message string) {
	summary := compactionSummary(message)
	if h := textHash(strings.TrimSpace(summary)); summary != "" && h != r.summed {
		r.summed = h
		r.e.summary(summary, r.w)
	}
}

// follow keeps the last request of the history that a fork copies, since the fork's first message may refer to
// it. It is emitted as context and not as a request.
func (r *codexReader) follow(l codexLine, spoken utterance) {
	if r.e.kind != memoir.KindMain || spoken != userEvent && spoken != userItem {
		return
	}
	if _, own := splitCodex(rawCodexUserText(l, spoken), true); own != "" {
		r.lead = own
	}
}

func (r *codexReader) leadIn() {
	if r.lead != "" {
		r.e.summary("Forked from another session, whose last request was:\n\n"+r.lead, r.w)
		r.lead = ""
	}
}

func (r *codexReader) meta(l codexLine) {
	meta := l.payload
	if id := getText(meta, "id"); id != r.plan.id && id != "" && r.plan.id != "" {
		return
	}
	r.w.move(codexDir(meta), r.w.branch)
	if git := get(meta, "git"); isObject(git) {
		r.w.branch = getText(git, "branch")
	}
}

func (r *codexReader) item(at place, l codexLine, spoken utterance) {
	p := l.payload
	voices := r.plan.parts[at.part]
	switch {
	case codexCalls[l.sub]:
		r.call(l)
		return
	case codexOutputs[l.sub]:
		r.result(at, l)
		return
	}
	switch l.sub {
	case "message":
		switch spoken {
		case userResponse:
			r.userResponse(l, voices)
		case assistantMessage:
			if isTrue(get(l.meta, "compaction_output")) {
				r.summary(contentText(get(p, "content")))
				return
			}
			r.assistant(at, contentText(get(p, "content")), getText(p, "phase"))
		}
	case "web_search_call":
		if input := cmp.Or(getText(p, "action", "query"), source(get(p, "action"))); input != "" {
			r.e.lone("web_search_call", input, outcome{}, r.w)
		}
	case "reasoning", "agent_message", "ghost_snapshot", "compaction", "context_compaction", "compaction_summary",
		"additional_tools", "image_generation_call", "compaction_trigger", "configuration_update", "other", "":
	default:
		r.e.stats.unknown(l.kind + "/" + l.sub)
	}
}

func callID(p []byte) string {
	return cmp.Or(getText(p, "call_id"), getText(p, "id"))
}

// userResponse reads a user message from a response item if no event has it, and the working directory and
// shell commands, which only such items have.
func (r *codexReader) userResponse(l codexLine, voices codexVoices) {
	p := l.payload
	r.w.move(environmentCWD(p), r.w.branch)
	full := contentText(get(p, "content"))
	r.e.findOwnRun(full)
	r.e.stats.Instructions = cmp.Or(r.e.stats.Instructions, agentsText(full))
	if command, o, ok := userShell(full); ok {
		r.e.shell(command, o, r.w)
		return
	}
	kinds, typed := contentKinds(p)
	switch {
	case typed:
		full = joinBlocks(get(p, "content"), kinds)
	case kinds != nil && !slices.Contains(kinds, "unknown"):
		return
	}
	origin, own := splitCodex(full, typed)
	if own == "" {
		return
	}
	// Otherwise an event has it, or nothing confirms that it was typed.
	if !voices.userItems && !voices.userEvents ||
		typed && !r.plan.userTexts[textHash(own)] && !r.plan.userTurns[r.turnID] {
		r.e.user(r.turn.originOf(origin, r.e.kind), own, r.w)
	}
}

func (r *codexReader) event(at place, l codexLine, spoken utterance) {
	voices := r.plan.parts[at.part]
	switch spoken {
	case userItem, userEvent:
		r.userEvent(l, spoken)
		return
	case assistantItem:
		if !voices.messages {
			r.assistant(at, contentText(get(l.payload, "item", "content")), getText(l.payload, "item", "phase"))
		}
		return
	case assistantEvent:
		if !voices.messages && !voices.items {
			r.assistant(at, getText(l.payload, "message"), getText(l.payload, "phase"))
		}
		return
	}
	r.turn.event(l)
	if l.sub == "thread_goal_updated" {
		r.goal(l)
		return
	}
	if id, end := codexEnd(l); end != nil {
		r.callEnd(at, id, end)
	}
}

// goal emits a goal that the person set with /goal, once: each change of its state repeats it. The messages
// about it to the agent are injected.
func (r *codexReader) goal(l codexLine) {
	objective := strings.TrimSpace(getText(l.payload, "goal", "objective"))
	h := textHash(objective)
	if objective == "" || r.goals[h] || len(r.goals) >= maxHandles {
		return
	}
	r.goals[h] = true
	if !r.plan.userTexts[h] { // otherwise it was typed as a prompt as well
		r.e.user(memoir.OriginSlashCommand, "/goal "+objective, r.w)
	}
}

func (r *codexReader) userEvent(l codexLine, spoken utterance) {
	if kind := getText(l.payload, "kind"); spoken == userEvent && kind != "" && kind != "plain" {
		return
	}
	full := rawCodexUserText(l, spoken)
	r.e.findOwnRun(full)
	origin, own := splitCodex(full, true)
	// A file may have both kinds of event for one message.
	h, this, other := textHash(own), 0, 1
	if own == "" || r.plan.added[h] {
		return
	}
	if spoken == userItem {
		this, other = 1, 0
	}
	count := r.typed[h]
	count[this]++
	r.typed[h] = count
	if count[this] <= count[other] {
		return
	}
	r.e.user(r.turn.originOf(origin, r.e.kind), own, r.w)
}

// codexTurn says whether a person's message starts a turn or is queued in the running one.
type codexTurn struct {
	open, spoke, acted bool // it is running; the person has written in it; the agent has acted in it
}

func (t *codexTurn) event(l codexLine) {
	switch {
	case l.opensTurn():
		*t = codexTurn{open: true}
	case l.sub == "task_complete" || l.sub == "turn_complete" || l.sub == "turn_aborted":
		*t = codexTurn{}
	}
}

// originOf returns the origin of a user message in this turn.
func (t *codexTurn) originOf(origin memoir.Origin, kind memoir.SessionKind) memoir.Origin {
	if origin == memoir.OriginTyped && t.open && t.spoke && t.acted && kind != memoir.KindSubagent {
		origin = memoir.OriginQueued
	}
	t.spoke = true
	return origin
}

func (r *codexReader) assistant(at place, text, phase string) {
	final := phase == "final_answer" || phase == "" && r.plan.closing[at.index]
	r.e.assistant(text, final, r.w)
}

// codexWords returns the hash of the typed part of a user text.
func codexWords(full string, typed bool) uint64 {
	_, own := splitCodex(full, typed)
	return textHash(own)
}

func rawCodexUserText(l codexLine, spoken utterance) string {
	if spoken == userItem {
		return contentText(get(l.payload, "item", "content"))
	}
	return getText(l.payload, "message")
}
