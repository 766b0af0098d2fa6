package rollout

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Read emits a session without undone entries and without those that a fork copied.
func (Pi) Read(ctx context.Context, t *tape, e *emitter) error {
	r := piReader{e: e}
	r.w.cwd = t.parts[0].Head.CWD
	return branching{plan: planPi, keys: piKeys, file: piFile}.read(ctx, t, e, r.entry)
}

type piReader struct {
	e *emitter
	w where
}

func (r *piReader) entry(raw []byte) {
	r.w.when(get(raw, "timestamp"))
	switch kind := getText(raw, "type"); kind {
	case "message":
		r.message(get(raw, "message"))
	case "compaction", "branch_summary":
		r.e.summary(getText(raw, "summary"), r.w)
	case "custom_message":
		r.custom(raw)
	case "session":
		r.w.move(getText(raw, "cwd"), "")
	case "title", "title_change", "model_change", "thinking_level_change", "custom", "label", "session_info",
		"session_init", "service_tier_change", "reset_boundary", "ttsr_injection", "credential_pin",
		"mode_change", "mcp_tool_selection",
		"usage", "model_usage", "context_edit":
	default:
		r.e.stats.unknown(kind)
	}
}

func (r *piReader) message(m []byte) {
	content := get(m, "content")
	switch role := getText(m, "role"); role {
	case "user":
		r.user(m, contentText(content))
	case "assistant":
		texts := textsOf(content, func(block []byte) bool { return getText(block, "type") == "text" })
		r.e.assistant(strings.Join(texts, "\n\n"), getText(m, "stopReason") == "stop", r.w)
		for block := range elements(content) {
			if tool := getText(block, "name"); getText(block, "type") == "toolCall" {
				r.e.call(getText(block, "id"), tool, callInput(tool == "bash", get(block, "arguments")), r.w)
			}
		}
	case "toolResult":
		o := outcome{output: contentText(content), failed: isTrue(get(m, "isError")), tool: getText(m, "toolName")}
		if o.tool == "bash" {
			o.exit, o.output = piExit(o.output, get(m, "details"))
		}
		if r.nested(get(m, "nestedCalls", "calls")) { // memory is not made of memory
			o.output = ""
		}
		r.e.result(getText(m, "toolCallId"), o, r.w)
	case "bashExecution", "pythonExecution":
		o := outcome{output: getText(m, "output"), failed: isTrue(get(m, "cancelled")),
			exit: exitStatus(get(m, "exitCode"))}
		r.e.shell(cmp.Or(getText(m, "command"), getText(m, "code")), o, r.w)
	case "branchSummary", "compactionSummary":
		r.e.summary(cmp.Or(getText(m, "summary"), contentText(content)), r.w)
	case "custom", "hookMessage":
		r.custom(m)
	} // others, such as system, developer and fileMention, are injected
}

// nested emits the calls that a script of the codemode tool made, and reports whether one was of memoir's server. Of
// what a call printed a record has only the beginning, and only if it failed.
func (r *piReader) nested(calls []byte) (own bool) {
	for call := range elements(calls) {
		o := outcome{output: getText(call, "error"), tool: cmp.Or(getText(call, "name"), "unknown")}
		o.failed, o.lost = getText(call, "status") == "error", getText(call, "status") == "unfinished"
		if o.tool == "bash" && getText(call, "status") == "ok" {
			o.exit = new(int)
		} else if o.tool == "bash" {
			o.exit, o.output = piExit(o.output, nil)
		}
		r.e.lone(o.tool, callInput(o.tool == "bash", get(call, "arguments")), o, r.w)
		own = own || ownTool.MatchString(o.tool)
	}
	return own
}

// custom handles messages of extensions. Two kinds in oh-my-pi are a person's: a skill that they called, whose text
// follows, and a message of a guest in a shared session.
func (r *piReader) custom(m []byte) {
	full := contentText(get(m, "content"))
	r.e.findOwnRun(full)
	if getText(m, "attribution") != "user" {
		return
	}
	switch details := get(m, "details"); getText(m, "customType") {
	case "skill-prompt":
		typed := getText(details, "prompt")
		if name := getText(details, "name"); typed == "" && name != "" {
			typed = "/skill:" + name + " " + getText(details, "args")
		}
		r.e.user(memoir.OriginSlashCommand, typed, r.w)
	case "collab-prompt":
		r.e.user(memoir.OriginTyped, full, r.w)
	}
}

// user emits a person's message without the files and skills that the agent expanded.
func (r *piReader) user(m []byte, full string) {
	r.e.findOwnRun(full)
	if isTrue(get(m, "synthetic")) || foreign(get(m, "attribution"), "user") && r.e.kind != memoir.KindSubagent {
		return
	}
	own := stripAdded(full, []string{"file", "attached_files", "context"})
	if attributes, after, ok := strings.Cut(own, ">"); ok && strings.HasPrefix(attributes, "<skill name=\"") {
		name, _, _ := strings.Cut(strings.TrimPrefix(attributes, "<skill name=\""), "\"")
		if end := strings.LastIndex(after, "</skill>"); end >= 0 { // the skill's text may contain one as well
			rest := after[end+len("</skill>"):]
			r.e.user(memoir.OriginSlashCommand, strings.TrimSpace("/skill:"+name+" "+strings.TrimSpace(rest)), r.w)
			return
		}
	}
	origin := memoir.OriginTyped
	if isTrue(get(m, "steering")) {
		origin = memoir.OriginQueued
	}
	r.e.words(origin, own, nil, r.w)
}

// wallTime matches the line that oh-my-pi writes after the output of a command.
var wallTime = lazyregexp.New(`\n+Wall time: [0-9.]+ seconds\s*$`)

// piExit reads the exit status that the bash tool appends to its output if it is not 0, and removes it.
func piExit(output string, details []byte) (*int, string) {
	const notice = "Command exited with code "
	exit := exitStatus(get(details, "exitCode"))
	if i := strings.LastIndex(output, notice); i == 0 || i > 0 && output[i-1] == '\n' {
		n, ok := leadingInt(output[i+len(notice):])
		if ok && strings.TrimSpace(strings.TrimLeft(output[i+len(notice):], "-0123456789")) == "" {
			exit, output = &n, strings.TrimRight(output[:i], "\r\n")
		}
	}
	return exit, wallTime.ReplaceAllString(output, "")
}

// planPi adds a record to the plan. Live entries are those on the path from the last one to the root, after the
// last reset on it. The entries of version 1 have no ids and are all live.
func planPi(p *branchPlan, index int, raw []byte) {
	kind, id, parent := "", "", []byte(nil)
	for key, value := range members(raw) {
		switch string(key) {
		case "type":
			kind = text(value)
		case "id":
			id = text(value)
		case "parentId":
			parent = value
		case "message":
			if call := getText(value, "toolCallId"); call != "" {
				p.results[textHash(call)] = true
			}
		}
	}
	switch kind {
	case "session":
		p.parent = cmp.Or(p.parent, piParent(raw))
		return
	case "title":
		return
	case "reset_boundary":
		p.resets = append(p.resets, index)
	}
	if id != "" {
		// model_usage refers to the entry of its call, which may not be on the live path.
		p.add(index, id, parent, kind != "model_usage")
	}
}

// piKeys are equal for an entry and its copy in a fork: by id and time, and by id and content, since short ids
// are only unique in one file. Entries of version 1 have no ids and are copied byte by byte.
func piKeys(raw []byte) []uint64 {
	id := getText(raw, "id")
	switch {
	case getText(raw, "type") == "session":
		return nil
	case id == "":
		return []uint64{textHash("as\x00" + string(raw))}
	}
	content := get(raw, "message", "content")
	for _, key := range []string{"summary", "content"} {
		if content == nil {
			content = get(raw, key)
		}
	}
	keys := []uint64{textHash("at\x00" + id + "\x00" + string(get(raw, "timestamp")))}
	if content != nil {
		keys = append(keys, textHash("in\x00"+id+"\x00"+string(content)))
	}
	return keys
}

// piFile finds the file of a session, named by a path or an id, in the directory of another file; "" if there is
// none. Of a path only the file name is used.
func piFile(path, session string) string {
	id := piSessionID(session)
	if path == "" || id == "" {
		return ""
	}
	dir := filepath.Dir(path)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		stem, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if file := filepath.Join(dir, e.Name()); ok && file != path && (stem == id || strings.HasSuffix(stem, "_"+id)) &&
			getText(piHeaderOf(file), "id") == id {
			return file
		}
	}
	return ""
}
