package rollout

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Claude reads the transcripts of Claude Code: one file a session, one line an
// entry, entries linked by parentUuid.
//
// See claude_line.go for a line and whose words it holds, claude_plan.go for what of a
// file stands and is not another session's, claude_read.go for items.
type Claude struct{}

// Source is memoir.SourceClaude.
func (Claude) Source() memoir.Source { return memoir.SourceClaude }

// Roots are the projects below $CLAUDE_CONFIG_DIR, which may list several, else
// below ~/.claude and ~/.config/claude.
func (Claude) Roots(env Env) []Root {
	dirs := []string{env.home(".claude"), env.home(".config", "claude")}
	if set := env.get("CLAUDE_CONFIG_DIR"); set != "" {
		dirs = strings.Split(set, ",")
	}
	var roots []Root
	for _, dir := range dirs {
		if dir = strings.TrimSpace(dir); dir != "" {
			roots = append(roots, Root{filepath.Join(dir, "projects"), func(path string) bool {
				return isJSONL(path) && !strings.HasSuffix("/"+path, "/journal.jsonl")
			}})
		}
	}
	return roots
}

// Recognises looks for a type of line together with a key that only Claude Code
// gives to it.
func (Claude) Recognises(_ string, head [][]byte) bool {
	return slices.ContainsFunc(opening(head), func(raw []byte) bool {
		l := parseClaudeLine(raw)
		switch l.kind {
		case "user", "assistant", "system", "progress", "attachment":
			return l.uuid != "" && l.session != ""
		case "queue-operation", "custom-title", "ai-title", "last-prompt", "mode", "permission-mode",
			"agent-name", "agent-setting":
			return l.session != ""
		case "summary":
			return get(raw, "leafUuid") != nil
		case "file-history-snapshot":
			return get(raw, "messageId") != nil
		}
		return false
	})
}

// Head calls a session automation if all that is seen of it was driven by a script,
// and takes the directory of a worktree that the agent made to be that which it was
// made from. It takes the session's id from the file's name where its lines agree, else
// from the last line: a resumed session's file begins with lines of the old id.
func (Claude) Head(h *Head, path string, head, tail [][]byte) {
	s := claudeHead{Head: h, ids: map[string]bool{}}
	for i, raw := range slices.Concat(head, tail) {
		l := parseClaudeLine(raw)
		s.line(l)
		if i < len(head) {
			s.opening(l)
		}
	}
	if s.scripted && !s.driven {
		h.Kind = memoir.KindAutomation
	}
	if s.worktree != "" && strings.HasPrefix(h.CWD+"/", s.worktree+"/") {
		h.CWD = s.began
	}
	summary := ""
	for _, of := range s.summaries {
		if s.ids[getText(of, "leafUuid")] { // else it is the title of another conversation
			summary = getText(of, "summary")
		}
	}
	h.Title, h.Named = cmp.Or(s.custom, s.given, summary), s.custom != ""
	name := stem(path)
	if h.ID = s.last; s.ids[name] {
		h.ID = name
	}
	if s.first != nil && (s.first.sidechain || strings.Contains(filepath.ToSlash(path), "/subagents/")) {
		h.subagent(path, s.first.session, getText(s.first.raw, "agentId"))
	}
}

// claudeHead is what the first and last lines of a file say.
type claudeHead struct {
	*Head
	ids              map[string]bool // of sessions and entries
	first            *claudeLine     // of the conversation
	last             string          // session id of the last line that has one
	custom, given    string          // the title that a person chose, that the agent gave
	summaries        [][]byte        // each names the entry that it is of
	worktree, began  string          // directory that the agent made, and that it made it from
	scripted, driven bool            // a script's entrypoint was seen, a person's
}

func (s *claudeHead) line(l claudeLine) {
	s.ids[l.uuid], s.ids[l.session] = l.uuid != "", l.session != ""
	s.last = cmp.Or(l.session, s.last)
	switch l.kind {
	case "worktree-state":
		if at := get(l.raw, "worktreeSession"); getText(at, "originalCwd") != "" {
			s.worktree, s.began = getText(at, "worktreePath"), getText(at, "originalCwd")
		}
	case "user", "assistant":
		if s.first == nil {
			s.first = &l
		}
		s.ParentID = cmp.Or(s.ParentID, l.forkedFrom())
		if by := getText(l.raw, "entrypoint"); by != "" {
			script := by == "mcp" || by == "claude-code-github-action" || strings.HasPrefix(by, "sdk-")
			s.scripted, s.driven = s.scripted || script, s.driven || !script
		}
	case "custom-title":
		s.custom = getText(l.raw, "customTitle")
	case "ai-title":
		s.given = cmp.Or(getText(l.raw, "aiTitle"), s.given)
	case "summary":
		s.summaries = append(s.summaries, l.raw)
	}
}

// opening takes what counts as it was when the session began.
func (s *claudeHead) opening(l claudeLine) {
	if s.CreatedAt.IsZero() && l.kind != "file-history-snapshot" {
		s.CreatedAt = instant(l.time)
	}
	s.CWD, s.Branch = cmp.Or(s.CWD, l.cwd), cmp.Or(s.Branch, l.branch)
}

// ownTool are the tools of memoir's own server, whatever it is registered by.
var ownTool = lazyregexp.New(`^mcp__(?:plugin_\w+_)?memoir__`)

// result takes a tool's result in, and what a person says in it: why they refused the
// call, what they answered to a question.
func (r *claudeReader) result(block []byte, l claudeLine) {
	id, tool := getText(block, "tool_use_id"), ""
	if call := r.e.waiting(id); call != nil {
		tool = call.Tool
	}
	failed, output := isTrue(get(block, "is_error")), claudeOutput(contentText(get(block, "content")))
	o := outcome{output: output, failed: failed}
	if code, ok := strings.CutPrefix(output, "Exit code "); ok && failed {
		if n, ok := leadingInt(code); ok {
			_, rest, _ := strings.Cut(output, "\n")
			o.exit, o.output = &n, rest
		}
	}
	if inner, rest, ok := cutElement(o.output, "tool_use_error"); ok {
		o.output, o.failed = strings.TrimSpace(inner+"\n"+rest), true
	}
	if ownTool.MatchString(tool) {
		o.output = "" // memory is not made of memory
	}
	r.e.result(id, o, r.w)
	origin, words := memoir.OriginAnswer, ""
	switch { // the agent keeps a copy of the result for itself
	case failed && !reachesOut(tool) && isString(get(l.raw, "toolUseResult")):
		origin, words = memoir.OriginRejection, rejection(output)
	case !o.failed && tool == "AskUserQuestion":
		words = claudeAnswers(get(l.raw, "toolUseResult"))
	}
	if words != "" {
		r.e.user(origin, words, r.w)
	}
}

// reachesOut reports whether somebody else chooses what a tool prints, so that its
// failure may imitate a refusal: a tool of an MCP server or of the web, or one whose call
// is not in the file. A real refusal also has a string for toolUseResult, where a result
// that only contains its words has none or an object.
func reachesOut(tool string) bool {
	return tool == "" || strings.HasPrefix(tool, "mcp__") || tool == "WebFetch" || tool == "WebSearch"
}

// refusal begins the result of a call that a person refused or stopped, and saidLabel stands
// before their words in it. What the agent adds for the model comes after them.
var (
	refusal = lazyregexp.New(`^(?:The user doesn't want to|Permission for this tool use was denied|` +
		`The agent proposed a plan that was rejected by the user)`)
	saidLabel = lazyregexp.New(`(?:[Tt]he user said:|reason for the rejection:|` +
		`[Tt]he user provided the following (?:feedback|reason)[^:\n]*:)\s*`)
	clarified = lazyregexp.New(`(?m)^\s*(?:Answer|User notes): (.*)$`)
)

// rejection is what a person said when they refused a call, "" if a result is no refusal.
func rejection(output string) string {
	output, _, _ = strings.Cut(output, "\nRejected plan:") // the agent's words, whatever they say of the person's
	label := saidLabel.FindStringIndex(output)
	if label == nil || !refusal.MatchString(output) {
		return ""
	}
	words, _, _ := strings.Cut(output[label[1]:], "\n\nNote: The user's next message may contain")
	if strings.HasPrefix(words, "The user wants to clarify these questions") { // a form that they filled in
		filled := clarified.FindAllStringSubmatch(words, -1)
		words = ""
		for _, line := range filled {
			words += line[1] + "\n"
		}
	}
	return strings.TrimSpace(words)
}

// claudeAnswers returns what a person answered to the questions of a call, a line an
// answer. What time chose for them is not theirs.
func claudeAnswers(structured []byte) string {
	if get(structured, "afkTimeoutMs") != nil {
		return ""
	}
	var said []string
	add := func(raw []byte) {
		if s := strings.TrimSpace(text(raw)); s != "" {
			said = append(said, s)
		}
	}
	for question, value := range members(get(structured, "answers")) {
		add(value)
		for one := range elements(value) {
			add(one)
		}
		add(get(structured, "annotations", string(question), "notes"))
	}
	add(get(structured, "response"))
	return strings.Join(said, "\n")
}

// claudeOutput takes the agent's notes off a tool's result.
func claudeOutput(s string) string {
	s = strings.TrimSpace(removeReminders(s))
	for _, frame := range []string{"persisted-output", "truncated-output"} {
		if inner, rest, ok := cutElement(s, frame); ok {
			s = strings.TrimSpace(inner) + rest
		}
	}
	if s == "[Old tool result content cleared]" {
		return ""
	}
	return s
}
