package rollout

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"memoir"
)

// codexEnvelopes are the elements that Codex adds before a typed text, or writes instead of one.
var codexEnvelopes = []string{
	"environment_context", "user_instructions", "INSTRUCTIONS", "recommended_plugins", "turn_aborted", "skill",
	"subagent_notification", "goal_context", "codex_internal_context", "heartbeat", "permissions instructions",
	"collaboration_mode", "app-context", "skills_instructions", "plugins_instructions", "apps_instructions",
	"multi_agent_mode", "model_switch", "personality_spec", "hook_prompt", "hook_context", "user_action",
	"realtime_conversation", "codex_delegation",
	"additional_context", "token_budget", "context_window", "plan_mode", "subagent_runtime_identity", "mcp_instructions",
	"environments_instructions", "turn_context", "user_instructions_update", "environment_context_delta",
	"browser_snapshot", "realtime_delegation", "current_time_reminder", "exec_completion",
}

// codexPlainEnvelopes adds elements whose names a person may choose for the parts of a prompt. They are only
// removed from texts that are not known to be typed.
var codexPlainEnvelopes = append([]string{"instructions", "goal", "memory", "plugins", "skills", "personality"},
	codexEnvelopes...)

// codexNotes are the beginnings of Codex's texts without an element.
var codexNotes = []string{
	"Warning: The maximum number of unified exec processes you can keep open is ",
	"Warning: apply_patch was requested via ",
	"Warning: Your account was flagged for potentially high-risk cyber activity",
	"Here is a list of plugins that are available but not installed.",
	summaryHeading,
	"You are performing a CONTEXT CHECKPOINT COMPACTION.",
}

// summaryHeading is the beginning of a compaction summary for the next model.
const summaryHeading = "Another language model started to solve this problem " +
	"and produced a summary of its thinking process"

// compactionSummary removes that beginning.
func compactionSummary(message string) string {
	if !strings.HasPrefix(message, summaryHeading) {
		return message
	}
	_, summary, ok := strings.Cut(message, ":\n")
	if !ok {
		return message
	}
	return strings.TrimSpace(summary)
}

// agentsHeading is the beginning of the contents of AGENTS.md files.
const agentsHeading = "# AGENTS.md instructions"

// agentsText returns the contents of AGENTS.md files in a user text, "" if it has none.
func agentsText(full string) string {
	text, _ := element(full, "user_instructions")
	if _, rest, ok := strings.Cut(full, agentsHeading); ok {
		text, _ = element(rest, "INSTRUCTIONS")
	}
	return text
}

// ideHeadings are the beginnings of an editor's context before the request.
var ideHeadings = []string{
	"# Context from my IDE setup", "# Files mentioned by the user", "# In app browser", "# Selected text",
	"# Applications mentioned by the user", "# Browser comments", "# Review findings", "# Diff comments", "# Side chat",
}

// ideRequest precedes the user's text in such a message.
const ideRequest = "## My request for Codex:"

// splitCodex removes Codex's additions from a user text. typed says that a person is known to have typed it. own
// is the typed text, "" if there is none.
func splitCodex(full string, typed bool) (origin memoir.Origin, own string) {
	envelopes := codexPlainEnvelopes
	if typed {
		envelopes = codexEnvelopes
	}
	own, origin = strings.TrimSpace(full), memoir.OriginTyped
	for {
		before := own
		own = cutExternal(stripAdded(own, envelopes))
		if strings.HasPrefix(own, agentsHeading) {
			_, rest, ok := strings.Cut(own, "<INSTRUCTIONS>")
			end := strings.LastIndex(rest, "</INSTRUCTIONS>") // the file may write one too
			if !ok || end < 0 {
				return origin, ""
			}
			own = strings.TrimSpace(rest[end+len("</INSTRUCTIONS>"):])
		}
		if own == before {
			break
		}
	}
	if hasAnyPrefix(own, codexNotes) {
		return origin, ""
	}
	if hasAnyPrefix(own, ideHeadings) {
		begin := strings.LastIndex(own, ideRequest) // selected text may contain it as well
		if begin < 0 {
			return origin, ""
		}
		own = strings.TrimSpace(own[begin+len(ideRequest):])
	}
	switch {
	case strings.HasPrefix(own, "PLEASE IMPLEMENT THIS PLAN:"),
		strings.HasPrefix(own, "Implement the following plan:"),
		strings.HasPrefix(own, "A previous agent produced the plan below"):
		origin = memoir.OriginPlanHandover
	case strings.HasPrefix(own, "## User Input\n"):
		if arguments, ok := templateArguments(own); ok {
			origin, own = memoir.OriginSlashCommand, arguments
		}
	}
	return origin, own
}

// cutExternal removes a client's addition, an element <external_NAME> at the beginning of a text.
func cutExternal(text string) (rest string) {
	end := strings.IndexAny(text, "> \n")
	if !strings.HasPrefix(text, "<external_") || end < 0 {
		return text
	}
	rest, _ = cutEnvelope(text, text[1:end])
	return strings.TrimLeft(rest, " \t\r\n")
}

// templateArguments returns the typed text in an expanded slash prompt, which quotes it in a fence under "User Input".
func templateArguments(own string) (string, bool) {
	rest := strings.TrimLeft(strings.TrimPrefix(own, "## User Input"), "\n")
	rest, ok := strings.CutPrefix(rest, "```text\n")
	if !ok {
		return "", false
	}
	arguments, _, ok := strings.Cut(rest, "\n```")
	return strings.TrimSpace(arguments), ok
}

// userShell reads Codex's record of a command that a person ran with "!".
func userShell(full string) (command string, o outcome, ok bool) {
	inner, ok := element(strings.TrimSpace(full), "user_shell_command")
	if !ok || !strings.HasPrefix(strings.TrimSpace(full), "<user_shell_command") {
		return "", o, false
	}
	command, _ = element(inner, "command")
	result, _ := element(inner, "result")
	o = framedOutput(strings.TrimSpace(result))
	return strings.TrimSpace(command), o, true
}

// isImageTag reports whether a text block is only the tag of an image.
func isImageTag(s string) bool {
	s = strings.TrimSpace(s)
	return s == "</image>" || strings.HasPrefix(s, "<image") && strings.HasSuffix(s, ">") &&
		!strings.Contains(s, "\n") && len(s) < 300
}

// contentText joins the texts of a message's content, which is a string, a block or
// an array of them. Images and other data are left out.
func contentText(content []byte) string {
	return joinBlocks(content, nil)
}

// joinBlocks is contentText of the blocks that kinds marks as the user's; of all if kinds is nil.
func joinBlocks(content []byte, kinds []string) string {
	switch {
	case isString(content):
		return text(content)
	case isObject(content):
		return getText(content, "text")
	}
	var said blocks
	i := -1
	for block := range elements(content) {
		s := cmp.Or(text(block), getText(block, "text"))
		i++
		added := i < len(kinds) && kinds[i] != "user.text" && kinds[i] != "unknown"
		if s != "" && !added && !(isObject(block) && isImageTag(s)) {
			said.add(s)
		}
	}
	return strings.Join(said.texts, "\n")
}

// contentKinds returns the kind of each block of a message (Codex 0.142 and later), nil if it has none, and
// whether the user typed any block.
func contentKinds(p []byte) (kinds []string, typed bool) {
	for v := range elements(get(p, "internal_chat_message_metadata_passthrough", "content_item_kinds")) {
		kinds = append(kinds, text(v))
	}
	return kinds, slices.Contains(kinds, "user.text")
}

var hashSeed = maphash.MakeSeed()

func textHash(s string) uint64 { return maphash.String(hashSeed, s) }
