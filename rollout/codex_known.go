package rollout

import "strings"

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
