package rollout

import (
	"path/filepath"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Claude reads the transcripts of Claude Code: one file a session, one line an
// entry, entries linked by parentUuid.
//
// See claude_line.go for a line and whose words it holds, claude_plan.go for abandoned
// branches and queued prompts, claude_read.go for items.
type Claude struct{}

var _ Agent = Claude{}

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
			roots = append(roots, Root{filepath.Join(dir, "projects"), isTranscriptName})
		}
	}
	return roots
}

func isTranscriptName(path string) bool {
	return strings.HasSuffix(path, ".jsonl") && path[strings.LastIndexByte(path, '/')+1:] != "journal.jsonl"
}

// Recognises looks for a type of line together with a key that only Claude Code
// gives to it.
func (Claude) Recognises(_ string, head [][]byte) bool {
	for _, raw := range head[:min(len(head), 20)] {
		l := parseClaudeLine(raw)
		switch l.kind {
		case "user", "assistant", "system", "progress", "attachment":
			if l.uuid != "" && l.session != "" {
				return true
			}
		case "queue-operation", "custom-title", "ai-title", "last-prompt", "mode", "permission-mode",
			"agent-name", "agent-setting":
			if l.session != "" {
				return true
			}
		case "summary":
			if get(raw, "leafUuid") != nil {
				return true
			}
		case "file-history-snapshot":
			if get(raw, "messageId") != nil {
				return true
			}
		}
	}
	return false
}

// Head calls a session automation if all that is seen of it was driven by a script,
// and takes the directory of a worktree that the agent made to be that which it was
// made from. It takes the session's id from the file's name where its lines agree, else
// from the last line: a resumed session's file begins with lines of the old id.
func (Claude) Head(h *Head, path string, head, tail [][]byte) {
	s := claudeHead{Head: h, sessions: map[string]bool{}, uuids: map[string]bool{}}
	for i, raw := range append(head[:len(head):len(head)], tail...) {
		l := parseClaudeLine(raw)
		s.line(l)
		if i < len(head) {
			s.opening(l)
		}
	}
	if s.scripted && !s.driven {
		h.Kind = memoir.KindAutomation
	}
	if inDir(h.CWD, s.worktree) {
		h.CWD = s.began
	}
	if h.Title == "" {
		h.Title = lastTitle(head, tail)
	}
	if h.Title == "" && s.uuids[s.leaf] { // else it is the title of another conversation
		h.Title = s.summary
	}
	h.UpdatedAt = latest(tail, "timestamp")
	name := stem(path)
	if h.ID = s.last; s.sessions[name] {
		h.ID = name
	}
	inSubagents := strings.Contains(filepath.ToSlash(path), "/subagents/")
	if s.first == nil || !s.first.sidechain && !inSubagents {
		return
	}
	h.Kind, h.ParentID = memoir.KindSubagent, s.first.session
	if h.ID = name; s.first.agent != "" {
		h.ID = "agent-" + s.first.agent
	}
}

// claudeHead is what the first and last lines of a file say.
type claudeHead struct {
	*Head
	sessions, uuids  map[string]bool
	first            *claudeLine // of the conversation
	last             string      // session id of the last line that has one
	leaf, summary    string      // uuid of the line that a summary is of
	worktree, began  string      // directory that the agent made, and that it made it from
	scripted, driven bool        // a script's entrypoint was seen, a person's
}

func (s *claudeHead) line(l claudeLine) {
	if l.uuid != "" {
		s.uuids[l.uuid] = true
	}
	if l.session != "" {
		s.sessions[l.session], s.last = true, l.session
	}
	if l.entrypoint != "" {
		s.scripted, s.driven = s.scripted || byScript(l.entrypoint), s.driven || !byScript(l.entrypoint)
	}
	switch l.kind {
	case "worktree-state":
		if at := get(l.raw, "worktreeSession"); getText(at, "originalCwd") != "" {
			s.worktree, s.began = getText(at, "worktreePath"), getText(at, "originalCwd")
		}
	case "user", "assistant":
		if s.first == nil {
			s.first = &l
		}
		if of := l.forkedFrom(); of != "" && s.ParentID == "" {
			s.ParentID = of
		}
	case "custom-title":
		s.Title = getText(l.raw, "customTitle")
		s.Named = s.Title != ""
	case "summary":
		if s.leaf == "" || s.uuids[getText(l.raw, "leafUuid")] {
			s.leaf, s.summary = getText(l.raw, "leafUuid"), getText(l.raw, "summary")
		}
	}
}

// opening takes what counts as it was when the session began.
func (s *claudeHead) opening(l claudeLine) {
	if t := instant(l.time); s.CreatedAt.IsZero() && !t.IsZero() && l.kind != "file-history-snapshot" {
		s.CreatedAt = t
	}
	if s.CWD == "" {
		s.CWD = l.cwd
	}
	if s.Branch == "" {
		s.Branch = l.branch()
	}
}

// byScript reports whether what started a session is no person at a prompt.
func byScript(entrypoint string) bool {
	switch entrypoint {
	case "claude-code-github-action", "mcp", "bench", "remote_trigger", "remote_cowork_trigger":
		return true
	}
	return strings.HasPrefix(entrypoint, "sdk-")
}

// inDir reports whether a path is a directory or lies in it.
func inDir(path, dir string) bool {
	return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
}

// lastTitle is the title that the agent itself gave last.
func lastTitle(head, tail [][]byte) string {
	title := ""
	for _, records := range [][][]byte{head, tail} {
		for _, raw := range records {
			if getText(raw, "type") != "ai-title" {
				continue
			}
			for _, key := range []string{"aiTitle", "title"} {
				if s := getText(raw, key); s != "" {
					title = s
				}
			}
		}
	}
	return title
}

// reachesOut reports whether somebody else chooses what a tool prints, so that its
// failure may imitate a refusal: a tool of an MCP server or of the web, or one whose call
// is not in the file. A real refusal also has a string for toolUseResult, where a result
// that only contains its words has none or an object.
func reachesOut(tool string) bool {
	return tool == "" || strings.HasPrefix(tool, "mcp__") || tool == "WebFetch" || tool == "WebSearch"
}

// result takes a tool's result in; structured is the copy of it that the agent
// keeps for itself.
func (r *claudeReader) result(block, structured []byte) {
	id := getText(block, "tool_use_id")
	tool := ""
	if call := r.e.waiting(id); call != nil {
		tool = call.Tool
	}
	output := claudeOutput(r.persisted(contentText(get(block, "content"))))
	o := outcome{output: output, failed: isTrue(get(block, "is_error"))}
	if code, ok := strings.CutPrefix(output, "Exit code "); ok && o.failed {
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
		r.e.injected()
	}
	words := ""
	if isTrue(get(block, "is_error")) && isString(structured) && !reachesOut(tool) {
		words, _ = rejection(output)
	}
	r.e.result(id, o, r.w)
	if words != "" {
		r.e.user(memoir.OriginRejection, words, r.w)
	}
	if tool == "AskUserQuestion" && !o.failed {
		if words := claudeAnswers(structured); words != "" {
			r.e.user(memoir.OriginAnswer, words, r.w)
		}
	}
}

// What a person says to a tool stands in its result: why they refused a call, what
// they answered to a question.

// refusals begin the results of calls that a person refused or stopped.
var refusals = []string{
	"The user doesn't want to", "Permission for this tool use was denied",
	"The agent proposed a plan that was rejected by the user",
	"User rejected", "User denied", "User aborted",
}

// saidLabel stands before what a person said when refusing a call.
var saidLabel = lazyregexp.New(`(?:[Tt]he user said:|reason for the rejection:|` +
	`[Tt]he user provided the following (?:feedback|reason)[^:\n]*:)\s*`)

// refusalNote is what the agent adds for the model after it.
var refusalNote = lazyregexp.New(`\n\nNote: The user's next message may contain`)

// rejection reports whether a result says that the person refused the call, and
// what they said to it.
func rejection(output string) (words string, ok bool) {
	if !hasAnyPrefix(output, refusals) {
		return "", false
	}
	output, _, _ = strings.Cut(output, "\nRejected plan:") // the agent's words, whatever they say of the person's
	label := saidLabel.FindStringIndex(output)
	if label == nil {
		return "", true
	}
	words = output[label[1]:]
	if note := refusalNote.FindStringIndex(words); note != nil {
		words = words[:note[0]]
	}
	if strings.HasPrefix(words, "The user wants to clarify these questions") {
		words = clarification(words)
	}
	return strings.TrimSpace(words), true
}

// clarification takes what a person filled in out of the form in which questions
// that they would rather talk about are sent back.
func clarification(form string) string {
	var said []string
	for line := range strings.Lines(form) {
		line = strings.TrimSpace(line)
		for _, label := range []string{"Answer: ", "User notes: "} {
			if words, ok := strings.CutPrefix(line, label); ok {
				said = append(said, words)
			}
		}
	}
	return strings.Join(said, "\n")
}

// claudeAnswers returns what a person answered to the questions of a call, a line an
// answer. What time chose for them is not theirs.
func claudeAnswers(structured []byte) string {
	if get(structured, "afkTimeoutMs") != nil {
		return ""
	}
	var said []string
	add := func(raw []byte) bool {
		if s := strings.TrimSpace(text(raw)); s != "" {
			said = append(said, s)
		}
		return true
	}
	notes := get(structured, "annotations")
	each(get(structured, "answers"), func(question, value []byte) bool {
		add(value)
		elements(value, add)
		return add(get(notes, string(question), "notes"))
	})
	add(get(structured, "response"))
	return strings.Join(said, "\n")
}

// ownTool are the tools of memoir's own server, whatever it is registered by.
var ownTool = lazyregexp.New(`^mcp__(?:plugin_\w+_)?memoir__`)

// claudeOutput takes the agent's notes off a tool's result.
func claudeOutput(s string) string {
	if strings.Contains(s, "<system-reminder>") {
		s = removeReminders(s)
	}
	s = strings.TrimSpace(s)
	if inner, rest, ok := cutElement(s, "persisted-output"); ok {
		s = strings.TrimSpace(inner) + rest
	}
	if inner, rest, ok := cutElement(s, "truncated-output"); ok {
		s = strings.TrimSpace(inner) + rest
	}
	if s == "[Old tool result content cleared]" {
		return ""
	}
	return s
}
