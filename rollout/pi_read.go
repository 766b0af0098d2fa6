package rollout

import (
	"context"
	"strings"

	"memoir"
)

// Read emits a session: of a tree, the path from the last entry to the root. The
// entries of version 1 have no ids and are a line.
func (Pi) Read(ctx context.Context, t *tape, e *emitter) error {
	plan, err := planPi(ctx, t)
	if err != nil {
		return err
	}
	e.results = plan.results
	r := piReader{e: e}
	r.w.cwd = t.parts[0].Head.CWD
	return t.each(ctx, true, func(at place, raw []byte) error {
		if t := instant(get(raw, "timestamp")); !t.IsZero() {
			r.w.at = t
		}
		if plan.dead(at.index) {
			if role := word(get(raw, "message", "role")); role == "user" || role == "assistant" {
				e.stats.Undone++
			}
			return nil
		}
		r.entry(raw)
		return e.err
	})
}

// piPlan says which entries are the living conversation.
type piPlan struct {
	live  map[int]bool // nil: all are
	from  int          // entries before this one have unknown relations, and stay
	reset int          // entries before the last reset are no longer the conversation
	known map[int]bool // entries with an id

	results map[uint64]bool // hashes of the ids of calls that were answered
}

func planPi(ctx context.Context, t *tape) (*piPlan, error) {
	p := &piPlan{reset: -1, results: map[uint64]bool{}}
	byID := map[string]int{}
	parents := map[int]string{}
	last := -1
	var resets []int
	err := t.each(ctx, false, func(at place, raw []byte) error {
		kind, id, parent := "", "", ""
		if call := getText(raw, "message", "toolCallId"); call != "" {
			p.results[textHash(call)] = true
		}
		each(raw, func(key, value []byte) bool {
			switch string(key) {
			case "type":
				kind = word(value)
			case "id":
				id = text(value)
			case "parentId":
				parent = text(value)
			}
			return kind == "" || id == "" || parent == ""
		})
		if kind == "reset_boundary" {
			resets = append(resets, at.index)
		}
		if id == "" || kind == "session" || kind == "title" {
			return nil
		}
		byID[id], parents[at.index], last = at.index, parent, at.index
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(byID) > 0 {
		p.live, p.known = map[int]bool{}, map[int]bool{}
		for _, i := range byID {
			p.known[i] = true
		}
		for i := last; !p.live[i]; {
			p.live[i] = true
			parent := parents[i]
			if parent == "" {
				break
			}
			up, ok := byID[parent]
			if !ok {
				p.from = i // the parent was lost: what stands before is kept
				break
			}
			i = up
		}
	}
	for _, i := range resets {
		if p.live == nil || p.live[i] || !p.known[i] {
			p.reset = i
		}
	}
	return p, nil
}

func (p *piPlan) dead(i int) bool {
	return i < p.reset || p.live != nil && p.known[i] && i >= p.from && !p.live[i]
}

type piReader struct {
	e *emitter
	w where
}

func (r *piReader) entry(raw []byte) {
	switch kind := word(get(raw, "type")); kind {
	case "message":
		r.message(get(raw, "message"))
	case "compaction", "branch_summary":
		r.e.summary(getText(raw, "summary"), r.w)
	case "custom_message":
		r.e.hear(contentText(get(raw, "content")))
		r.e.injected()
	case "session":
		if cwd := getText(raw, "cwd"); cwd != "" {
			r.w.cwd = cwd
		}
	case "title", "title_change", "model_change", "thinking_level_change", "custom", "label", "session_info", "session_init",
		"service_tier_change", "reset_boundary", "ttsr_injection", "credential_pin", "mode_change", "mcp_tool_selection":
	default:
		r.e.stats.unknown(kind)
	}
}

func (r *piReader) message(m []byte) {
	content := get(m, "content")
	switch role := word(get(m, "role")); role {
	case "user":
		r.user(m, contentText(content))
	case "assistant":
		r.e.assistant(piText(content), getText(m, "stopReason") == "stop", r.w)
		elements(content, func(block []byte) bool {
			if getText(block, "type") != "toolCall" {
				return true
			}
			tool, arguments := getText(block, "name"), get(block, "arguments")
			input := string(arguments)
			if command := get(arguments, "command"); tool == "bash" && isString(command) {
				input = text(command)
			}
			r.e.call(getText(block, "id"), tool, input, r.w)
			return true
		})
	case "toolResult":
		o := outcome{output: contentText(content), failed: isTrue(get(m, "isError")), tool: getText(m, "toolName")}
		if o.exit = piExit(o.output, get(m, "details")); o.tool != "bash" {
			o.exit = nil
		}
		r.e.result(getText(m, "toolCallId"), o, r.w)
	case "bashExecution", "pythonExecution":
		o := outcome{output: getText(m, "output"), failed: isTrue(get(m, "cancelled"))}
		if code, ok := integer(get(m, "exitCode")); ok {
			n := int(code)
			o.exit = &n
		}
		command := getText(m, "command")
		if command == "" {
			command = getText(m, "code")
		}
		r.e.shell(command, o, r.w)
	case "branchSummary", "compactionSummary":
		s := getText(m, "summary")
		if s == "" {
			s = contentText(content)
		}
		r.e.summary(s, r.w)
	default: // custom, hookMessage, developer, fileMention and what else agents put in
		r.e.injected()
	}
}

// piText joins the text blocks of an answer, without its thinking.
func piText(content []byte) string {
	if isString(content) {
		return text(content)
	}
	var texts []string
	elements(content, func(block []byte) bool {
		if s := getText(block, "text"); getText(block, "type") == "text" && strings.TrimSpace(s) != "" {
			texts = append(texts, s)
		}
		return true
	})
	return strings.Join(texts, "\n\n")
}

// user takes files and skills that the agent expanded off what a person typed.
func (r *piReader) user(m []byte, full string) {
	r.e.hear(full)
	if isTrue(get(m, "synthetic")) || getText(m, "attribution") == "agent" && r.e.kind != memoir.KindSubagent {
		r.e.injected()
		return
	}
	own, n := cutElements(stripOwn(full), []string{"system-reminder", "file", "attached_files", "context"})
	for range n {
		r.e.injected()
	}
	if attributes, after, ok := strings.Cut(own, ">"); ok && strings.HasPrefix(attributes, "<skill name=\"") {
		name, _, _ := strings.Cut(strings.TrimPrefix(attributes, "<skill name=\""), "\"")
		if _, rest, ok := strings.Cut(after, "</skill>"); ok {
			r.e.user(memoir.OriginSlashCommand, strings.TrimSpace("/skill:"+name+" "+strings.TrimSpace(rest)), r.w)
			return
		}
	}
	if strings.TrimSpace(own) == "" {
		if n == 0 {
			r.e.injected()
		}
		return
	}
	r.e.user(memoir.OriginTyped, own, r.w)
}

// piExit reads the exit status that the bash tool appends to its output.
func piExit(output string, details []byte) *int {
	if code, ok := integer(get(details, "exitCode")); ok {
		n := int(code)
		return &n
	}
	i := strings.LastIndex(output, "Command exited with code ")
	if i < 0 || len(output)-i > 40 {
		return nil
	}
	if n, ok := leadingInt(output[i+len("Command exited with code "):]); ok {
		return &n
	}
	return nil
}
