package rollout

import (
	"cmp"
	"context"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Read emits a session. Events of sub-agents stand among those of the session; what
// they come to is the result of the call that started them.
func (Copilot) Read(ctx context.Context, t *tape, e *emitter) error {
	r := copilotReader{e: e, results: map[uint64]bool{}, byPerson: map[string]bool{}, asked: map[string]string{},
		words: map[string]string{}}
	head := t.parts[0].Head
	r.w.cwd, r.w.branch = head.CWD, head.Branch
	undone, err := r.plan(ctx, t)
	if err != nil {
		return err
	}
	e.results = r.results
	return t.each(ctx, true, func(at place, raw []byte) error {
		kind, data := getText(raw, "type"), get(raw, "data")
		switch {
		case getText(raw, "agentId") != "" || getText(data, "parentToolCallId") != "":
		case undone[at.index]:
			if kind == "user.message" || kind == "assistant.message" {
				e.stats.Undone++
			}
		default:
			if t := instant(get(raw, "timestamp")); !t.IsZero() {
				r.w.at = t
			}
			r.event(kind, data)
		}
		return e.err
	})
}

type copilotReader struct {
	e        *emitter
	w        where
	results  map[uint64]bool   // hashes of the ids of calls that were answered
	byPerson map[string]bool   // ids of the calls that the person asked for
	asked    map[string]string // ids of the calls that permission was asked for, by request
	words    map[string]string // what the person said when refusing a call, by its id
}

// plan finds the events that a rewind took back, and the calls that have results.
func (r *copilotReader) plan(ctx context.Context, t *tape) (map[int]bool, error) {
	undone, byID := map[int]bool{}, map[string]int{}
	err := t.each(ctx, false, func(at place, raw []byte) error {
		data := get(raw, "data")
		switch getText(raw, "type") {
		case "tool.execution_complete":
			r.results[textHash(getText(data, "toolCallId"))] = true
		case "session.snapshot_rewind":
			listed := false
			elements(get(data, "eventIds"), func(id []byte) bool {
				listed = true
				if i, ok := byID[text(id)]; ok {
					undone[i] = true
				}
				return true
			})
			if first, ok := byID[getText(data, "upToEventId")]; ok && !listed {
				for i := first; i < at.index; i++ {
					undone[i] = true
				}
			}
		}
		if id := getText(raw, "id"); id != "" {
			byID[id] = at.index
		}
		return nil
	})
	return undone, err
}

func (r *copilotReader) event(kind string, data []byte) {
	switch kind {
	case "user.message":
		r.user(data)
	case "assistant.message":
		r.assistant(data)
	case "tool.execution_start":
		r.call(data, "toolName")
	case "tool.user_requested":
		r.call(data, "toolName")
		r.byPerson[getText(data, "toolCallId")] = true
	case "tool.execution_complete":
		r.result(data)
	case "permission.requested":
		r.asked[getText(data, "requestId")] = getText(data, "permissionRequest", "toolCallId")
	case "permission.completed":
		r.denied(data)
	case "exit_plan_mode.completed":
		if said := getText(data, "feedback"); said != "" && !isTrue(get(data, "approved")) {
			r.e.user(memoir.OriginRejection, said, r.w)
		}
	case "session.compaction_complete":
		if get(data, "success") == nil || isTrue(get(data, "success")) {
			r.e.summary(cmp.Or(getText(data, "summaryContent"), getText(data, "summary")), r.w)
		}
	case "session.handoff":
		r.e.summary(getText(data, "summary"), r.w)
	case "session.start", "session.resume":
		r.move(get(data, "context"))
	case "session.context_changed":
		r.move(data)
	case "system.message", "system.notification", "skill.invoked":
		r.e.hear(getText(data, "content"))
		r.e.injected()
	default: // of the client, but for a new form of what a person says
		if strings.HasPrefix(kind, "user.") {
			r.e.stats.unknown(kind)
		}
	}
}

// denied gives what a person said when refusing a call.
func (r *copilotReader) denied(data []byte) {
	said := getText(data, "result", "feedback")
	if said == "" || !strings.HasPrefix(getText(data, "result", "kind"), "denied-interactively") {
		return
	}
	id := getText(data, "toolCallId")
	if id == "" {
		id = r.asked[getText(data, "requestId")]
	}
	r.refused(id, said)
}

func (r *copilotReader) move(context []byte) {
	if cwd := getText(context, "cwd"); cwd != "" {
		r.w.cwd, r.w.branch = cwd, getText(context, "branch")
	}
}

// copilotSources begin the sources of messages that no person wrote.
var copilotSources = []string{"skill", "agent", "system", "schedule", "autopilot", "hook", "jit", "instruction",
	"sidekick", "notification", "workflow", "task"}

// copilotEnvelopes are the elements that stand before, or instead of, what a person
// typed.
var copilotEnvelopes = []string{"skill-context", "system_reminder", "system-reminder", "system_notification",
	"current_datetime", "reminder"}

func (r *copilotReader) user(data []byte) {
	full := contentText(get(data, "content"))
	r.e.hear(full)
	r.e.hear(getText(data, "transformedContent"))
	r.w.turn = getText(data, "interactionId")
	if isTrue(get(data, "isAutopilotContinuation")) || hasAnyPrefix(getText(data, "source"), copilotSources) {
		r.e.injected()
		return
	}
	own, n := cutElements(stripOwn(full), copilotEnvelopes)
	if strings.HasPrefix(own, "<skill-context") { // its end was cut off
		own, n = "", n+1
	}
	for range n {
		r.e.injected()
	}
	switch delivery := getText(data, "delivery"); {
	case strings.TrimSpace(own) == "" && n > 0:
	case delivery == "queued" || delivery == "steering":
		r.e.user(memoir.OriginQueued, own, r.w)
	case plainCommand.MatchString(strings.TrimSpace(own)):
		r.e.user(memoir.OriginSlashCommand, own, r.w)
	default:
		r.e.user(memoir.OriginTyped, own, r.w)
	}
}

// assistant emits an answer, which is the closing one if it asks for no tool, and
// the calls it asks for.
func (r *copilotReader) assistant(data []byte) {
	calls := 0
	elements(get(data, "toolRequests"), func([]byte) bool {
		calls++
		return true
	})
	chunk, _ := integer(get(data, "chunkIndex"))
	chunks, _ := integer(get(data, "chunkCount"))
	r.e.assistant(contentText(get(data, "content")), calls == 0 && chunk >= chunks-1, r.w)
	elements(get(data, "toolRequests"), func(call []byte) bool {
		if isObject(call) {
			r.call(call, "name")
		}
		return true
	})
}

// copilotShells are the tools whose argument is a command line.
var copilotShells = map[string]bool{"bash": true, "powershell": true, "local_shell": true, "shell": true}

// call notes a call, whose tool's name is in a member that differs. Its input is the
// command line of a shell tool, else the arguments.
func (r *copilotReader) call(call []byte, name string) {
	tool, arguments := getText(call, name), get(call, "arguments")
	if inner := []byte(text(arguments)); isObject(inner) && gjson.ValidBytes(inner) {
		arguments = inner
	}
	input := ""
	switch command := get(arguments, "command"); {
	case isString(arguments):
		input = text(arguments)
	case copilotShells[tool] && isString(command):
		input = text(command)
	case isObject(arguments), isArray(arguments):
		input = compact(arguments)
	}
	r.e.call(getText(call, "toolCallId"), tool, input, r.w)
}

// shellExit is what the shell tools write below the output of a command.
var shellExit = lazyregexp.New(`\n?<[^<>\n]*exit(?:ed with exit| code|ed with| with)? code (-?\d+)>\s*$`)

func (r *copilotReader) result(data []byte) {
	id := getText(data, "toolCallId")
	result, failed := get(data, "result"), get(data, "error")
	o := outcome{output: text(result), tool: getText(data, "toolName")}
	for _, member := range []string{"content", "detailedContent"} {
		if o.output == "" {
			o.output = contentText(get(result, member))
		}
	}
	if failure := text(failed) + getText(failed, "message"); failure != "" {
		o.output = strings.TrimPrefix(o.output+"\n"+failure, "\n")
	}
	if success := get(data, "success"); success != nil {
		o.failed = !isTrue(success)
	}
	if m := shellExit.FindStringSubmatchIndex(o.output); m != nil {
		if n, ok := leadingInt(o.output[m[2]:m[3]]); ok {
			o.exit, o.output = &n, o.output[:m[0]]
		}
	}
	if code, ok := integer(get(data, "shellExecution", "exitCode")); ok {
		n := int(code)
		o.exit = &n
	}
	if call := r.e.waiting(id); call != nil && copilotShells[call.Tool] &&
		(r.byPerson[id] || isTrue(get(data, "isUserRequested"))) {
		call.Tool, call.Role, call.Origin = "user_shell", memoir.RoleUser, memoir.OriginShell
	}
	r.e.result(id, o, r.w)
	if said, ok := r.words[id]; ok {
		delete(r.words, id)
		r.e.user(memoir.OriginRejection, said, r.w)
	}
}

// refused keeps what a person said to a call until the call is given.
func (r *copilotReader) refused(id, said string) {
	if id != "" && r.results[textHash(id)] {
		r.words[id] = said
		return
	}
	r.e.user(memoir.OriginRejection, said, r.w)
}
