package prompts

import (
	"slices"
	"strings"
)

// steering lists the tags by which agents mark text as not the user's: a memory
// that holds one must not be taken for its author.
var steering = []string{
	"system-reminder", "system", "developer", "instructions", "user-instructions", "environment-context",
	"session-start-hook", "user-prompt-submit-hook", "hook-context", "function-calls", "function-results",
	"tool-use", "tool-result", "command-name", "command-message", "local-command-stdout", "permissions",

	"system-prompt", "system-message", "system-notification", "system-instruction", "system-instructions",
	"developer-instructions",
	"user-query", "user-message", "user-memory-input", "user-rules", "important-instructions", "extremely-important",
	"session-context", "ide-context",
	"goal-context", "codex-internal-context", "collaboration-mode", "turn-aborted", "subagent-notification",
	"task-notification", "teammate-message",
	"cross-session-message", "agent-notification", "local-command-caveat", "local-command-stderr", "command-args",
	"command-contents", "bash-input", "bash-stdout", "bash-stderr",
	"user-shell-command", "ide-selection", "ide-opened-file", "post-tool-use-hook", "pre-tool-use-hook", "hook-output",
	"hook-prompt", "skill-context",
	"persisted-output", "untrusted-context", "user-prompt-submit-context", "additional-context", "function-call",
	"function-response", "tool-call", "tool-calls", "tool-response",
	"tool-results", "invoke", "antml", "start-of-turn", "end-of-turn",
}

// Steers reports whether a tag of a name, in lower case, is one by which agents are told
// whose word a text is. '_' counts as '-'.
func Steers(name string) bool {
	name = strings.ReplaceAll(name, "_", "-")
	return slices.Contains(steering, name) || strings.HasPrefix(name, "memoir-")
}
