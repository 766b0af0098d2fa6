package rollout

import (
	"strings"
	"testing"
)

func cxKinds(words, kinds string) string {
	return `response_item {"type":"message","role":"user","content":[{"type":"input_text","text":` + q(words) +
		`}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":[` + kinds + `]}}`
}

func cxItem(turn, words string) string {
	return `event_msg {"type":"item_completed","turn_id":"` + turn + `","item":{"type":"UserMessage","id":"i","content":[{"type":"text","text":` + q(words) + `}]}}`
}

func TestCodexTellsAPersonsWordsFromOthers(t *testing.T) {
	t.Parallel()
	goal := func(objective, status string) string {
		return `event_msg {"type":"thread_goal_updated","goal":{"objective":` + q(objective) + `,"status":"` + status + `"}}`
	}
	play(t, "x.jsonl", cxSession, []scene{
		{"a prompt in a running turn steers it", []string{cxTurn("1"), cxUser("a"), cxAgent("working"), cxUser("not that"), `event_msg {"type":"task_complete","turn_id":"1"}`, cxTurn("2"), cxUser("b")},
			[]string{"typed: a", "agent: working", "queued: not that", "typed: b"}},
		{"two prompts before the agent does anything", []string{cxTurn("1"), cxUser("a"), cxUser("and b"), cxAgent("ok")},
			[]string{"typed: a", "typed: and b", "agent: ok"}},
		{"a prompt after an interruption", []string{cxTurn("1"), cxUser("a"), cxAgent("working"), `event_msg {"type":"turn_aborted","reason":"interrupted"}`, cxUser("b")},
			[]string{"typed: a", "agent: working", "typed: b"}},
		{"steering in a paginated file", []string{cxTurn("1"), cxItem("1", "a"), cxKinds("a", `"user.text"`), cxAgent("working"), cxKinds("no", `"user.text"`), cxItem("1", "no")},
			[]string{"typed: a", "agent: working", "queued: no"}},
		{"the same words in two turns of a paginated file", []string{cxTurn("1"), cxKinds("go on", `"user.text"`), cxItem("1", "go on"), cxAgent("x"), cxTurn("2"), cxKinds("go on", `"user.text"`), cxItem("2", "go on")},
			[]string{"typed: go on", "agent: x", "typed: go on"}},
		{"the same words twice in one turn", []string{cxTurn("1"), cxKinds("more", `"user.text"`), cxItem("1", "more"), cxAgent("x"), cxKinds("more", `"user.text"`), cxItem("1", "more")},
			[]string{"typed: more", "agent: x", "queued: more"}},
		{"a scheduled heartbeat, which has an event too", []string{cxTurn("1"), cxItem("1", "a"), cxTurn("2"), cxKinds("check the build", `"user.heartbeat"`), cxItem("2", "check the build")},
			[]string{"typed: a"}},
		{"marked blocks beside each other", []string{`response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"notes"},{"type":"input_text","text":"do it"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["additional_content.x","user.text"]}}`},
			[]string{"typed: do it"}},
		{"a goal that the person set", []string{goal("ship it", "active"), cxAgent("on it"), goal("ship it", "complete")},
			[]string{"slash_command: /goal ship it", "agent: on it"}},
		{"a goal that the agent set", []string{cxUser("a"), cxCall("1", "create_goal", `{"objective":"ship it"}`), goal("ship it", "active"), cxOutput("1", q("ok"))},
			[]string{"typed: a", `create_goal({"objective":"ship it"}) = ok`}},
		{"a goal that the agent set in code mode", []string{cxUser("a"), cxCustom("1", `await tools.create_goal({objective:"ship it"})`), goal("ship it", "active"), cxCell("1", "Script completed", "ok")},
			[]string{"typed: a", `create_goal({"objective":"ship it"}) = ok`}},
		{"a goal that is a prompt too", []string{cxUser("ship it"), goal("ship it", "active")}, []string{"typed: ship it"}},
	})
}

func TestACompactionsSummaryIsGivenOnce(t *testing.T) {
	t.Parallel()
	lines := cx(cxMeta(""), cxUser("a"), cxAgent("so far\nwe did"),
		`compacted {"message":`+q(summaryHeading+". Use it. Here is the summary:\nso far\nwe did")+`,"replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}]}`,
		cxUser("b"), `compacted {"message":"of 2025"}`)
	lines[2] = strings.TrimSuffix(lines[2], "}") + `,"metadata":{"compaction_output":true}}`
	items, _ := read(t, write(t, "x.jsonl", lines...))
	expect(t, items, "typed: a", "compaction_summary: so far\nwe did", "typed: b", "compaction_summary: of 2025")
}

func TestCodexNotesInResponsesAreInjected(t *testing.T) {
	t.Parallel()
	for _, added := range []string{
		"<external_notes>x</external_notes>", "<external_a-b kind=\"x\">\ny\n</external_a-b>", "<hook_prompt hook_run_id=\"1\">go on</hook_prompt>",
		"<codex_internal_context source=\"goal\">\nx\n</codex_internal_context>", "<subagent_notification>\n{}\n</subagent_notification>",
		"<turn_aborted>\nThe user interrupted\n</turn_aborted>", "<user_action>\nreview\n</user_action>", "<skill>\n<name>x</name>\n</skill>",
		"Warning: The maximum number of unified exec processes you can keep open is 60", "Here is a list of plugins that are available but not installed.\n- x",
		"Another language model started to solve this problem and produced a summary of its thinking process. x",
	} {
		if _, own := splitCodex(added, false); own != "" {
			t.Errorf("%q: own words %q", added, own)
		}
		if strings.HasPrefix(added, "<") {
			if _, own := splitCodex(added+"\n\nfix it", false); own != "fix it" {
				t.Errorf("%q and words: %q", added, own)
			}
		}
	}
	for _, own := range []string{"<externals>x</externals> is wrong", "<external_x> is never closed", "Warning: it fails"} {
		if _, got := splitCodex(own, false); got != own {
			t.Errorf("%q became %q", own, got)
		}
	}
}

func TestUnknownRecordsAreCountedAndEventsAreNot(t *testing.T) {
	t.Parallel()
	_, stats := read(t, write(t, "x.jsonl", cx(cxMeta(""), cxUser("a"),
		`retained_context {"x":1}`, `security_risk_score {"score":1}`, `realtime_item {"x":1}`, `token_usage_record {"usage":{}}`, `world_state {"full":true}`,
		`event_msg {"type":"token_count"}`, `event_msg {"type":"hook_completed"}`, `event_msg {"type":"item_completed","item":{"type":"Sleep","id":"1"}}`, `response_item {"type":"configuration_update"}`,
		`future_record {"x":1}`, `event_msg {"type":"future_event"}`, `event_msg {"type":"item_completed","item":{"type":"Future"}}`, `response_item {"type":"future_item"}`)...))
	want := map[string]int{"future_record": 1, "response_item/future_item": 1}
	if len(stats.Unknown) != len(want) {
		t.Errorf("unknown %v", stats.Unknown)
	}
	for kind, n := range want {
		if stats.Unknown[kind] != n {
			t.Errorf("%s is counted %d times", kind, stats.Unknown[kind])
		}
	}
}

func TestCodexSkipsWhatMemoirInjected(t *testing.T) {
	t.Parallel()
	const block = "<memoir-context project=\"x\">\nuse tabs\n</memoir-context>"
	lines := cx(cxMeta(""),
		`response_item {"type":"message","role":"developer","content":[{"type":"input_text","text":`+q("<hook_context>"+block+"</hook_context>")+`}]}`,
		cxInput("<hook_context>\n"+block+"\n</hook_context>"), cxInput(block), cxInput(block+"\n\nfix it"), cxUser(block+"\n\nfix it"),
		cxCall("1", "exec_command", `{"cmd":"memoir inject"}`), cxExits("1", 0, block+"\nend"))
	items, _ := read(t, write(t, "x.jsonl", lines...))
	expect(t, items, "typed: fix it", "exec_command(memoir inject) =0 \nend")
}

// The project's instructions are no item, but what they say is known.
func TestCodexGivesTheInstructionsOfTheProject(t *testing.T) {
	t.Parallel()
	for _, added := range []string{"# AGENTS.md instructions for /w/app\n\n<INSTRUCTIONS>\nRun `make tide`.\n</INSTRUCTIONS>",
		"<user_instructions>\nRun `make tide`.\n</user_instructions>"} {
		items, stats := read(t, write(t, "x.jsonl", cx(cxMeta(""), cxInput(added), cxInput("fix it"), cxUser("fix it"))...))
		expect(t, items, "typed: fix it")
		if strings.TrimSpace(stats.Instructions) != "Run `make tide`." {
			t.Errorf("of %q: %q", added, stats.Instructions)
		}
	}
}
