package rollout

import (
	"strings"
	"time"
)

// codexLine is a line with its envelope taken off, nothing in it decoded.
type codexLine struct {
	kind    string // the envelope's type
	sub     string // the payload's type
	time    []byte // raw timestamp
	ordinal int64  // -1 without
	payload []byte
	meta    []byte // what Codex notes beside the payload; nil in most lines
	bare    bool   // without envelope
}

func (l codexLine) at() time.Time { return instant(l.time) }

// parseCodexLine peeks at a line. Lines without an envelope, of early 2025, are
// given the one that they would have today.
func parseCodexLine(raw []byte) codexLine {
	l := codexLine{ordinal: -1}
	var id, record bool
	each(raw, func(key, value []byte) bool {
		switch string(key) {
		case "timestamp":
			l.time = value
		case "ordinal":
			if n, ok := integer(value); ok {
				l.ordinal = n
			}
		case "type":
			l.kind = word(value)
		case "payload":
			l.payload = value
		case "metadata":
			l.meta = value
		case "id":
			id = true
		case "record_type":
			record = true
		}
		return true
	})
	switch {
	case l.payload != nil:
		l.sub = word(get(l.payload, "type"))
	case l.kind != "" && !codexTypes[l.kind]:
		l.bare, l.payload, l.sub, l.kind = true, raw, l.kind, "response_item"
	case l.kind == "" && !record && (id && l.time != nil || isTypeScriptMeta(raw)):
		l.bare, l.payload, l.kind = true, raw, "session_meta"
	}
	return l
}

// word decodes a raw string that is a name from a small set, without allocating
// for the common ones.
func word(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	switch s := raw[1 : len(raw)-1]; string(s) {
	case "response_item":
		return "response_item"
	case "event_msg":
		return "event_msg"
	case "message":
		return "message"
	case "token_count":
		return "token_count"
	case "reasoning":
		return "reasoning"
	case "function_call":
		return "function_call"
	case "function_call_output":
		return "function_call_output"
	case "agent_message":
		return "agent_message"
	case "custom_tool_call":
		return "custom_tool_call"
	case "custom_tool_call_output":
		return "custom_tool_call_output"
	case "assistant":
		return "assistant"
	case "user":
		return "user"
	case "progress":
		return "progress"
	case "toolResult":
		return "toolResult"
	}
	return text(raw)
}

// turnID is the turn that a line names, "" if it names none.
func (l codexLine) turnID() string {
	switch l.kind {
	case "turn_context":
		return getText(l.payload, "turn_id")
	case "event_msg":
		switch l.sub {
		case "task_started", "turn_started", "task_complete", "turn_complete", "item_completed", "item_started":
			return getText(l.payload, "turn_id")
		}
	case "response_item":
		if l.sub == "message" {
			return getText(l.payload, "internal_chat_message_metadata_passthrough", "turn_id")
		}
	}
	return ""
}

// opensTurn reports whether the line is the first of a turn.
func (l codexLine) opensTurn() bool {
	return l.kind == "event_msg" && (l.sub == "task_started" || l.sub == "turn_started")
}

// isCodexCall reports whether a payload's type is that of a call that gets a result.
func isCodexCall(sub string) bool {
	switch sub {
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call":
		return true
	}
	return false
}

// isCodexOutput reports whether a payload's type is that of a call's result.
func isCodexOutput(sub string) bool {
	switch sub {
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output", "tool_search_call_output":
		return true
	}
	return false
}

// utterance classifies a line that is one copy of what someone said.
type utterance int

const (
	saysNothing      utterance = iota
	userResponse               // response_item, role user
	userEvent                  // event_msg user_message
	userItem                   // event_msg item_completed UserMessage
	assistantMessage           // response_item, role assistant
	assistantEvent             // event_msg agent_message
	assistantItem              // event_msg item_completed AgentMessage
	toolCall                   // response_item with a call
)

func (l codexLine) utterance() utterance {
	switch l.kind {
	case "response_item":
		switch l.sub {
		case "message":
			switch word(get(l.payload, "role")) {
			case "user":
				return userResponse
			case "assistant":
				return assistantMessage
			}
		case "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call":
			return toolCall
		}
	case "event_msg":
		switch l.sub {
		case "user_message":
			return userEvent
		case "agent_message":
			return assistantEvent
		case "item_completed":
			switch getText(l.payload, "item", "type") {
			case "UserMessage":
				return userItem
			case "AgentMessage":
				return assistantItem
			}
		}
	}
	return saysNothing
}

// What a rollout may hold that says nothing worth keeping, as the versions up to
// autumn 2026 write it. Anything else is counted as unknown, so that a change of
// the format shows.

// codexTypes are the types of an enveloped line.
var codexTypes = wordSet("session_meta response_item event_msg turn_context compacted world_state inter_agent_communication" +
	" inter_agent_communication_metadata token_usage_record rollout_reference retained_context security_risk_score realtime_item")

// codexEvents are the events; those that are read are among them.
var codexEvents = wordSet("agent_message agent_message_content_delta agent_message_delta agent_reasoning agent_reasoning_delta" +
	" agent_reasoning_raw_content agent_reasoning_raw_content_delta agent_reasoning_section_break apply_patch_approval_request" +
	" auth_recovery_completed auth_recovery_started background_event collab_agent_interaction_begin collab_agent_interaction_end" +
	" collab_agent_spawn_begin collab_agent_spawn_end collab_close_begin collab_close_end collab_resume_begin collab_resume_end" +
	" collab_waiting_begin collab_waiting_end context_compacted conversation_path deprecation_notice dynamic_tool_call_request" +
	" dynamic_tool_call_response elicitation_request entered_review_mode environment_connected environment_disconnected error" +
	" exec_approval_request exec_command_begin exec_command_end exec_command_output_delta exited_review_mode guardian_assessment" +
	" guardian_warning hook_completed hook_started image_generation_begin image_generation_end item_completed item_started" +
	" mcp_startup_complete mcp_startup_update mcp_tool_call_begin mcp_tool_call_end model_reroute model_verification" +
	" patch_apply_begin patch_apply_end patch_apply_updated plan_delta plan_update raw_response_completed raw_response_item" +
	" realtime_conversation_closed realtime_conversation_list_voices_response realtime_conversation_realtime" +
	" realtime_conversation_sdp realtime_conversation_started reasoning_content_delta reasoning_raw_content_delta" +
	" request_permissions request_user_input safety_buffering session_configured shutdown_complete skills_update_available" +
	" stream_error sub_agent_activity task_complete task_started terminal_interaction thread_context_usage_updated" +
	" thread_goal_updated thread_name_updated thread_queue_changed thread_rolled_back thread_settings_applied" +
	" thread_skills_updated token_count turn_aborted turn_complete turn_diff turn_moderation_metadata turn_started" +
	" undo_completed undo_started user_message view_image_tool_call warning web_search_begin web_search_end")

// codexItems are the items of which item_completed tells.
var codexItems = wordSet("AgentMessage CollabAgentToolCall CommandExecution ContextCompaction DynamicToolCall EnteredReviewMode" +
	" ExitedReviewMode Extension FileChange FunctionCallOutput HookPrompt ImageGeneration ImageView McpToolCall Plan Reasoning" +
	" Sleep SubAgentActivity UserMessage WebSearch")

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}
