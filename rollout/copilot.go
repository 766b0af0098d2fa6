package rollout

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v3"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Copilot reads the sessions of GitHub Copilot CLI. Each session is a directory with a file of events, one in
// each line, {"type":…,"data":{…},"id":…,"timestamp":…,"parentId":…}, and workspace.yaml with its context.
type Copilot struct{}

// Roots is session-state below $COPILOT_HOME (~/.copilot). Early versions wrote the
// events into a file of the session's id instead of a directory.
func (Copilot) Roots(env Env) []Root {
	return rootIn(env.dir("COPILOT_HOME", ".copilot"), "session-state", func(path string) bool {
		dir, name, nested := strings.Cut(path, "/")
		return nested && name == "events.jsonl" && dir != "" || !nested && isJSONL(path)
	})
}

// Recognises looks for an event whose type only Copilot CLI has.
func (Copilot) Recognises(_ string, head [][]byte) bool {
	return slices.ContainsFunc(opening(head), func(raw []byte) bool {
		switch getText(raw, "type") {
		case "session.start", "session.resume", "user.message", "assistant.message", "assistant.turn_start",
			"tool.execution_start", "tool.execution_complete":
			return isObject(get(raw, "data"))
		}
		return false
	})
}

// copilotHeadless is a part of the system prompt of a run without a person.
const copilotHeadless = "You are running in non-interactive mode"

// Head reads the start of the session, and workspace.yaml for missing values.
func (Copilot) Head(h *Head, path string, head, tail [][]byte) {
	var place copilotContext
	seen := map[string]bool{} // types of events
	for _, raw := range slices.Concat(head, tail) {
		kind, data := getText(raw, "type"), get(raw, "data")
		switch kind {
		case "session.start":
			h.ID = cmp.Or(h.ID, getText(data, "sessionId"))
			h.CreatedAt = instant(get(data, "startTime"))
			// A run that another session started in the background.
			if parent := getText(data, "detachedFromSpawningParentSessionId"); legalID.MatchString(parent) {
				h.Kind, h.ParentID = memoir.KindSubagent, parent
			}
			place.fill(get(data, "context"))
		case "session.resume":
			place.fill(get(data, "context"))
		case "session.context_changed":
			place.fill(data)
		case "session.title_changed":
			h.Title = getText(data, "title")
		}
		if !seen[kind] && h.Kind == memoir.KindMain && copilotScripted(kind, data) {
			h.Kind = memoir.KindAutomation
		}
		seen[kind] = true
	}
	if filepath.Base(path) == "events.jsonl" {
		if !legalID.MatchString(h.ID) {
			h.ID = filepath.Base(filepath.Dir(path)) // all sessions' files have the same name
		}
		place = h.beside(filepath.Dir(path), place)
	}
	h.CWD, h.Branch = place.CWD, place.Branch
	if ownerAndName.MatchString(place.Repository) && (place.HostType == "" || place.HostType == "github") {
		h.Remote = "https://" + cmp.Or(place.Host, "github.com") + "/" + place.Repository
	}
}

// copilotScripted reports whether the first event of its type shows that no person began the session.
func copilotScripted(kind string, data []byte) bool {
	by := get(data, "source") // a person may begin with a skill
	return kind == "user.message" && foreign(by, "user") && !strings.HasPrefix(text(by), "skill-") ||
		kind == "system.message" && strings.Contains(getText(data, "content"), copilotHeadless)
}

// beside reads values that the events lack from workspace.yaml.
func (h *Head) beside(dir string, place copilotContext) copilotContext {
	var w copilotContext
	if yaml.Unmarshal(smallFile(filepath.Join(dir, "workspace.yaml")), &w) != nil {
		return place
	}
	if h.Title = cmp.Or(h.Title, w.Name); place.CWD == "" {
		return w
	}
	return place
}

// ownerAndName is the form of a repository's name on GitHub.
var ownerAndName = lazyregexp.New(`^[\w.-]+/[\w.-]+$`)

// copilotContext is the directory and repository of a session, from an event or workspace.yaml.
type copilotContext struct {
	CWD, Branch, Repository, Name string
	HostType                      string `yaml:"host_type"`
	Host                          string `yaml:"-"`
}

// fill sets the context if none is known yet.
func (c *copilotContext) fill(context []byte) {
	if cwd := getText(context, "cwd"); cwd != "" && c.CWD == "" {
		*c = copilotContext{CWD: cwd, Branch: getText(context, "branch"), Repository: getText(context, "repository"),
			HostType: getText(context, "hostType"), Host: getText(context, "repositoryHost")}
	}
}

// Read emits a session. Events of subagents are left out: their result is that of the call that started them.
func (Copilot) Read(ctx context.Context, t *tape, e *emitter) error {
	r := copilotReader{e: e, results: map[uint64]bool{}, asked: map[string]string{}, refused: map[string]string{}}
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
			e.stats.Undone++
		default:
			r.w.when(get(raw, "timestamp"))
			r.event(kind, data)
		}
		return e.err
	})
}

type copilotReader struct {
	e       *emitter
	w       where
	results map[uint64]bool   // hashed ids of calls with a result
	asked   map[string]string // by request for permission: id of the call
	refused map[string]string // by call: what the person wrote when they refused it
}

// plan finds the events that a rewind undid, and the calls with results.
func (r *copilotReader) plan(ctx context.Context, t *tape) (map[int]bool, error) {
	undone, byID := map[int]bool{}, map[string]int{}
	err := t.each(ctx, false, func(at place, raw []byte) error {
		data := get(raw, "data")
		switch getText(raw, "type") {
		case "tool.execution_complete":
			r.results[textHash(getText(data, "toolCallId"))] = true
		case "session.snapshot_rewind":
			listed := false
			for id := range elements(get(data, "eventIds")) {
				listed = true
				if i, ok := byID[text(id)]; ok {
					undone[i] = true
				}
			}
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
		r.byPerson(getText(data, "toolCallId"))
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
		r.e.findOwnRun(getText(data, "content"))
	default: // the client's events; only unknown events of the user are counted
		if strings.HasPrefix(kind, "user.") {
			r.e.stats.unknown(kind)
		}
	}
}

// denied keeps a person's reason for refusing a call until the call is emitted.
func (r *copilotReader) denied(data []byte) {
	said := getText(data, "result", "feedback")
	if said == "" || !strings.HasPrefix(getText(data, "result", "kind"), "denied-interactively") {
		return
	}
	id := cmp.Or(getText(data, "toolCallId"), r.asked[getText(data, "requestId")])
	if id != "" && r.results[textHash(id)] {
		r.refused[id] = said
	} else {
		r.e.user(memoir.OriginRejection, said, r.w)
	}
}

func (r *copilotReader) move(context []byte) {
	r.w.move(getText(context, "cwd"), getText(context, "branch"))
}

// copilotEnvelopes are the elements that Copilot adds before a typed text, or writes instead of one.
var copilotEnvelopes = []string{"skill-context", "system_reminder", "system_notification", "current_datetime",
	"reminder"}

func (r *copilotReader) user(data []byte) {
	full := contentText(get(data, "content"))
	r.e.findOwnRun(full)
	r.e.findOwnRun(getText(data, "transformedContent"))
	if foreign(get(data, "source"), "user") || isTrue(get(data, "isAutopilotContinuation")) {
		return
	}
	origin := memoir.OriginTyped
	if delivery := getText(data, "delivery"); delivery == "queued" || delivery == "steering" {
		origin = memoir.OriginQueued
	}
	r.e.words(origin, full, copilotEnvelopes, r.w)
}

// assistant emits an answer and its calls. The answer is final if it has no calls.
func (r *copilotReader) assistant(data []byte) {
	calls := slices.Collect(elements(get(data, "toolRequests")))
	chunk, _ := integer(get(data, "chunkIndex"))
	chunks, _ := integer(get(data, "chunkCount"))
	r.e.assistant(contentText(get(data, "content")), len(calls) == 0 && chunk >= chunks-1, r.w)
	for _, call := range calls {
		if isObject(call) {
			r.call(call, "name")
		}
	}
}

// copilotShells are the tools whose argument is a command line.
var copilotShells = map[string]bool{"bash": true, "powershell": true, "local_shell": true, "shell": true}

// call emits a call; name is the member with the tool's name. The input is the command line of a shell tool,
// else the arguments.
func (r *copilotReader) call(call []byte, name string) {
	tool, arguments := getText(call, name), get(call, "arguments")
	if inner := []byte(text(arguments)); isObject(inner) && gjson.ValidBytes(inner) {
		arguments = inner
	}
	input := text(arguments)
	if isObject(arguments) || isArray(arguments) {
		input = callInput(copilotShells[tool], []byte(compact(arguments)))
	}
	r.e.call(getText(call, "toolCallId"), tool, input, r.w)
}

// shellExit matches the line that the shell tools write after the output of a command.
var shellExit = lazyregexp.New(`\n?<[^<>\n]*exit(?:ed with exit| code|ed with| with)? code (-?\d+)>\s*$`)

func (r *copilotReader) result(data []byte) {
	id := getText(data, "toolCallId")
	result, failure := get(data, "result"), get(data, "error")
	o := outcome{tool: getText(data, "toolName"), failed: string(get(data, "success")) == "false"}
	o.output = cmp.Or(text(result), contentText(get(result, "content")), contentText(get(result, "detailedContent")))
	o.output = appended(o.output, cmp.Or(text(failure), getText(failure, "message")))
	if m := shellExit.FindStringSubmatchIndex(o.output); m != nil {
		o.exit, o.output = exitStatus([]byte(o.output[m[2]:m[3]])), o.output[:m[0]]
	}
	o.exit = cmp.Or(exitStatus(get(data, "shellExecution", "exitCode")), o.exit)
	if isTrue(get(data, "isUserRequested")) {
		r.byPerson(id)
	}
	r.e.result(id, o, r.w)
	if said, ok := r.refused[id]; ok {
		delete(r.refused, id)
		r.e.user(memoir.OriginRejection, said, r.w)
	}
}

func (r *copilotReader) byPerson(id string) {
	if call := r.e.waiting(id); call != nil && copilotShells[call.Tool] {
		call.Tool, call.Role, call.Origin = "user_shell", memoir.RoleUser, memoir.OriginShell
	}
}
