package rollout

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Claude reads the transcripts of Claude Code: one file for each session, one entry in each line, linked by parentUuid.
//
// See claude_line.go for lines and the authors of their texts, claude_plan.go for undone and copied entries,
// claude_read.go for items.
type Claude struct{}

// Roots are the directories projects below those in $CLAUDE_CONFIG_DIR, else below ~/.claude and ~/.config/claude.
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

// Recognises looks for a type of line together with a key that only Claude Code uses with it.
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

// Head reads who, where and when. A session is automation if a schedule began it, or no line was driven by a person.
// The directory of a worktree that the agent made is replaced by the one that it was made from. The id is the file's
// name if a line has it, else that of the last line: the file of a resumed session begins with lines of the old id.
func (Claude) Head(h *Head, path string, head, tail [][]byte) {
	s := claudeHead{Head: h, ids: map[string]bool{}}
	for _, raw := range slices.Concat(head, tail) {
		s.line(parseClaudeLine(raw))
	}
	if s.scheduled || s.scripted && !s.driven || s.sent && !s.typed {
		h.Kind = memoir.KindAutomation
	}
	if s.worktree != "" && strings.HasPrefix(h.CWD+"/", s.worktree+"/") {
		h.CWD = s.began
	}
	summary := ""
	for _, of := range s.summaries {
		if s.ids[getText(of, "leafUuid")] { // otherwise it is the title of another session
			summary = getText(of, "summary")
		}
	}
	h.Title = cmp.Or(s.custom, s.given, summary)
	name := stem(path)
	if h.ID = s.last; s.ids[name] {
		h.ID = name
	}
	if s.first != nil && (s.first.sidechain || strings.Contains(filepath.ToSlash(path), "/subagents/")) {
		h.subagent(path, s.first.session, getText(s.first.raw, "agentId"))
	}
}

// claudeEntrypoints are those at which a person types.
const claudeEntrypoints = "cli claude-vscode claude-jetbrains claude-desktop claude-desktop-3p local-agent remote" +
	" remote_mobile remote_desktop remote_cowork"

// scripted reports whether a script drove a line: its entrypoint or the kind of its session is not a person's.
func scripted(raw []byte) bool {
	return foreign(get(raw, "entrypoint"), claudeEntrypoints) || foreign(get(raw, "sessionKind"), "interactive bg")
}

// claudeHead collects the content of the first and last lines of a file.
type claudeHead struct {
	*Head
	ids              map[string]bool // of sessions and entries
	first            *claudeLine     // of the conversation
	last             string          // session id of the last line that has one
	custom, given    string          // the person's title, the agent's title
	summaries        [][]byte        // each names its entry
	worktree, began  string          // the agent's worktree, and the directory that it was made from
	scheduled        bool            // a schedule wrote the first line
	scripted, driven bool            // a line has an entrypoint that is not a person's, one that is
	sent, typed      bool            // a program wrote a line, a person
}

func (s *claudeHead) line(l claudeLine) {
	s.ids[l.uuid], s.ids[l.session] = l.uuid != "", l.session != ""
	s.last = cmp.Or(l.session, s.last)
	s.CWD, s.Branch = cmp.Or(s.CWD, l.cwd), cmp.Or(s.Branch, l.branch)
	switch l.kind {
	case "worktree-state":
		if at := get(l.raw, "worktreeSession"); getText(at, "originalCwd") != "" {
			s.worktree, s.began = getText(at, "worktreePath"), getText(at, "originalCwd")
		}
	case "user", "assistant":
		if s.first == nil {
			s.first, s.scheduled = &l, foreign(get(l.raw, "scheduledTaskId"), "")
		}
		s.ParentID = cmp.Or(s.ParentID, l.forkedFrom())
		program := scripted(l.raw)
		s.scripted, s.driven = s.scripted || program, s.driven || !program && getText(l.raw, "entrypoint") != ""
		if _, speaks := l.userTexts(); speaks && !l.compact && !isTrue(get(l.raw, "isMeta")) {
			program = untyped(l.raw)
			s.sent, s.typed = s.sent || program, s.typed || !program
		}
	case "custom-title":
		s.custom = getText(l.raw, "customTitle")
	case "ai-title":
		s.given = cmp.Or(getText(l.raw, "aiTitle"), s.given)
	case "summary":
		s.summaries = append(s.summaries, l.raw)
	}
}

// result reads a tool's result, and a person's text in it: the reason of a refusal, or the answer to a question.
func (r *claudeReader) result(block []byte, l claudeLine) {
	id, tool := getText(block, "tool_use_id"), ""
	if call := r.e.waiting(id); call != nil {
		tool = call.Tool
	}
	failed, output := isTrue(get(block, "is_error")), claudeOutput(contentText(get(block, "content")))
	o := outcome{output: output, failed: failed, lost: isTrue(get(l.raw, "toolUseResult", "interrupted"))}
	if code, ok := strings.CutPrefix(output, "Exit code "); ok && failed {
		if n, ok := leadingInt(code); ok {
			_, rest, _ := strings.Cut(output, "\n")
			o.exit, o.output = &n, rest
		}
	}
	if inner, rest, ok := cutElement(o.output, "tool_use_error"); ok {
		o.output, o.failed = strings.TrimSpace(inner+"\n"+rest), true
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

// reachesOut reports whether a third party controls a tool's output and may imitate a refusal: a tool of an
// MCP server or of the web, or one whose call is not in the file. In a real refusal toolUseResult is a
// string; otherwise it is missing or an object.
func reachesOut(tool string) bool {
	return tool == "" || strings.HasPrefix(tool, "mcp__") || tool == "WebFetch" || tool == "WebSearch"
}

// refusal matches the beginning of the result of a call that a person refused or stopped. reasonLabel precedes
// their words in it; the agent's additions for the model follow.
var (
	refusal = lazyregexp.New(`^(?:The user doesn't want to|Permission for this tool use was denied|` +
		`The agent proposed a plan that was rejected by the user)`)
	reasonLabel = lazyregexp.New(`(?:[Tt]he user said:|reason for the rejection:|` +
		`[Tt]he user provided the following (?:feedback|reason)[^:\n]*:)\s*`)
	clarified = lazyregexp.New(`(?m)^\s*(?:Answer|User notes): (.*)$`)
)

// rejection returns what a person wrote when they refused a call, "" if the result is not a refusal.
func rejection(output string) string {
	output, _, _ = strings.Cut(output, "\nRejected plan:") // the agent's words
	label := reasonLabel.FindStringIndex(output)
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

// claudeAnswers returns a person's answers to the questions of a call, one in each line; "" if a timeout chose them.
func claudeAnswers(structured []byte) string {
	if get(structured, "afkTimeoutMs") != nil {
		return ""
	}
	var given []string
	add := func(raw []byte) {
		if s := strings.TrimSpace(text(raw)); s != "" {
			given = append(given, s)
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
	return strings.Join(given, "\n")
}

// claudeOutput removes the agent's additions from a tool's result.
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
