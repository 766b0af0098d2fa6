package rollout

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
)

// Qwen reads the sessions of Qwen Code, which derives from Gemini CLI: one file for each session, one record in
// each line, linked by parentUuid as in Claude Code, with messages of Gemini's API.
type Qwen struct{}

// Roots are the directories projects below ~/.qwen ($QWEN_HOME), and below $QWEN_RUNTIME_DIR or the directory in
// Qwen's settings.
func (Qwen) Roots(env Env) []Root {
	home := env.dir("QWEN_HOME", ".qwen")
	other := env.configured("QWEN_RUNTIME_DIR", home, "advanced", "runtimeOutputDir")
	return append(rootIn(home, "projects", isQwenSession), rootIn(other, "projects", isQwenSession)...)
}

// isQwenSession accepts <project>/chats/<id>.jsonl, its archive, and the transcripts of subagents.
func isQwenSession(path string) bool {
	return isJSONL(path) && !strings.HasSuffix(path, ".ledger.jsonl") &&
		(strings.Contains(path, "/chats/") || strings.Contains(path, "/subagents/"))
}

// Recognises looks for Claude Code's envelope around a message of Gemini's API, or
// for records that only Qwen Code writes.
func (Qwen) Recognises(_ string, head [][]byte) bool {
	return slices.ContainsFunc(opening(head), func(raw []byte) bool {
		kind := getText(raw, "type")
		return isString(get(raw, "uuid")) && isString(get(raw, "sessionId")) && (kind == "tool_result" ||
			(kind == "user" || kind == "assistant") && isArray(get(raw, "message", "parts")) ||
			kind == "system" && isObject(get(raw, "systemPayload")))
	})
}

// Head reads who, where and when, and the last title. A session whose source is not a person is automation.
// A subagent's lines have its parent's session id.
func (Qwen) Head(h *Head, path string, head, tail [][]byte) {
	agent, sidechain := "", strings.Contains(filepath.ToSlash(path), "/subagents/")
	for _, raw := range slices.Concat(head, tail) {
		h.ID = cmp.Or(h.ID, getText(raw, "sessionId"))
		payload, parent := get(raw, "systemPayload"), getText(raw, "forkedFrom", "sessionId")
		if h.CWD == "" {
			h.CWD, h.Branch = getText(raw, "cwd"), getText(raw, "gitBranch")
		}
		agent = cmp.Or(agent, getText(raw, "agentId"))
		sidechain = sidechain || isTrue(get(raw, "isSidechain"))
		switch getText(raw, "subtype") {
		case "custom_title":
			h.Title = getText(payload, "customTitle")
		case "parent_session":
			parent = getText(payload, "parentSessionId")
		case "session_source":
			// A run of a schedule has the type of a person's session.
			if foreign(get(payload, "sourceType"), "default qwen-live") ||
				strings.HasPrefix(getText(payload, "sourceId"), "scheduled_task") {
				h.Kind = memoir.KindAutomation
			}
		}
		h.ParentID = cmp.Or(h.ParentID, parent)
	}
	if sidechain {
		h.subagent(path, h.ID, agent)
	}
}

// Read emits a session: the path from the last record to the root, without records that a fork copied. A rewind
// leaves undone records on another branch.
func (Qwen) Read(ctx context.Context, t *tape, e *emitter) error {
	head := t.parts[0].Head
	r := qwenReader{e: e, seen: map[uint64]bool{}}
	r.w.cwd, r.w.branch = head.CWD, head.Branch
	b := branching{fragments: true, plan: planQwen, keys: qwenKeys, file: qwenFile}
	return b.read(ctx, t, e, r.record)
}

// qwenBeside are the beginnings of subtypes of records beside the conversation. Such a record has a parent in it,
// but cannot be its last record.
var qwenBeside = []string{"session_artifact_", "managed_session_", "session_sources_"}

func planQwen(p *branchPlan, index int, raw []byte) {
	for response := range parts(get(raw, "message", "parts"), "functionResponse") {
		p.results[textHash(getText(response, "id"))] = true
	}
	p.parent = cmp.Or(p.parent, getText(raw, "forkedFrom", "sessionId"))
	if id := getText(raw, "uuid"); id != "" {
		p.add(index, id, get(raw, "parentUuid"), !hasAnyPrefix(getText(raw, "subtype"), qwenBeside))
	}
}

// qwenKeys are equal for a record and its copy in a fork.
func qwenKeys(raw []byte) []uint64 {
	id := cmp.Or(getText(raw, "forkedFrom", "messageUuid"), getText(raw, "uuid"))
	if id == "" {
		return nil
	}
	return []uint64{textHash(id)}
}

// qwenFile finds the file of another session of the same project.
func qwenFile(path, session string) string {
	if path == "" || !legalID.MatchString(session) || session == stem(path) {
		return ""
	}
	for _, place := range []string{"", "archive", ".."} {
		file := filepath.Join(filepath.Dir(path), place, session+".jsonl")
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}

type qwenReader struct {
	e        *emitter
	w        where
	seen     map[uint64]bool // fragments of records
	expanded bool            // the next user message is the expansion of a command
}

func (r *qwenReader) record(raw []byte) {
	r.w.when(get(raw, "timestamp"))
	r.w.move(getText(raw, "cwd"), getText(raw, "gitBranch"))
	switch kind := getText(raw, "type"); kind {
	case "user", "assistant", "tool_result":
		id, message := getText(raw, "uuid"), get(raw, "message")
		fragment := textHash(id + string(message))
		if id != "" && r.seen[fragment] {
			return // written twice
		}
		r.seen[fragment] = true
		content := get(message, "parts")
		switch answers := r.results(raw, content); {
		case kind == "assistant":
			final := true
			for range parts(content, "functionCall") {
				final = false
			}
			r.e.assistant(geminiText(content), final, r.w)
			geminiCalls(r.e, content, r.w)
		case kind == "user" && !answers:
			r.user(raw, content)
		}
	case "system":
		r.system(raw)
	default:
		r.e.stats.unknown(kind)
	}
}

// user emits a person's message. Notifications, schedules and goals, which have the same role, are left out.
func (r *qwenReader) user(raw, content []byte) {
	full, origin := qwenText(content), memoir.OriginTyped
	r.e.findOwnRun(full)
	if foreign(get(raw, "provenance"), "real_user") {
		return
	}
	switch getText(raw, "subtype") {
	case "mid_turn_user_message":
		origin = memoir.OriginQueued
	case "":
		if r.expanded {
			r.expanded = false
			return
		}
	default:
		return
	}
	if command, o, ok := geminiUserShell(full); ok {
		r.e.shell(command, o, r.w)
		return
	}
	shown := getText(raw, "systemPayload", "displayText") // without insertions
	geminiWords(r.e, origin, cmp.Or(shown, full), r.w)
}

// results joins the results in a record to their calls, and reports whether there are any. toolCallResult has the
// displayed form of one of them.
func (r *qwenReader) results(raw, content []byte) (any bool) {
	shown := get(raw, "toolCallResult")
	for response := range parts(content, "functionResponse") {
		any = true
		id := getText(response, "id")
		o := geminiResponse(getText(response, "name"), response)
		if getText(shown, "callId") == id {
			status := getText(shown, "status")
			o.failed = o.failed || status == "error" || status == "cancelled"
			o.exit = cmp.Or(exitStatus(get(shown, "resultDisplay", "exitCode")), o.exit)
		}
		r.e.result(id, o, r.w)
	}
	return any
}

func (r *qwenReader) system(raw []byte) {
	payload := get(raw, "systemPayload")
	switch getText(raw, "subtype") {
	case "slash_command":
		if getText(payload, "phase") != "invocation" || isTrue(get(payload, "hiddenInvocation")) {
			return
		}
		r.expanded = isTrue(get(payload, "sentToModel"))
		r.e.user(memoir.OriginSlashCommand, getText(payload, "rawCommand"), r.w)
	case "chat_compression":
		r.e.summary(qwenSummary(get(payload, "compressedHistory")), r.w)
	}
}

// qwenSummary finds the summary in a compressed history: the user message before the client's fixed answer to it.
func qwenSummary(history []byte) string {
	said := ""
	for content := range elements(history) {
		s := qwenText(get(content, "parts"))
		if getText(content, "role") == "user" {
			said = s
		} else if strings.HasPrefix(s, "Got it. Thanks for the additional context!") && said != "" {
			summary, _, _ := strings.Cut(said, "\n\nResume the prior task using the summary above.")
			return summary
		}
	}
	return ""
}

// qwenContext is the element of a hook's addition at the end of a prompt.
const qwenContext = "qwen:user-prompt-submit-context"

// qwenText is geminiText without a hook's addition.
func qwenText(content []byte) string {
	s := geminiText(content)
	own, _, ok := strings.Cut(s, "<"+qwenContext+">")
	if ok && strings.HasSuffix(strings.TrimSpace(s), "</"+qwenContext+">") {
		return own
	}
	return s
}
