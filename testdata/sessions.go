package testdata

import (
	"cmp"
	"time"

	"memoir"
)

// Expected lists every session in Sessions, in the order of its story.
var Expected = filled([]Session{
	{
		Name:   "bare",
		About:  "Bare lines of 2025: no envelope, no times, the directory only in <environment_context>.",
		Source: memoir.SourceCodex, ID: "01993cfd-14f8-7d03-91fd-65cef85f202f",
		Files: []string{
			"codex/sessions/2025/09/12/rollout-2025-09-12T08-14-03-01993cfd-14f8-7d03-91fd-65cef85f202f.jsonl",
		},
		Project: Lanternd,
		Reason:  memoir.ReasonTooOld,
		Updated: moment("2025-09-12T08:14:03Z"),
		Prompts: []string{
			"Set up the skeleton of lanternd: it reads lanternd.toml and keeps the state of every lamp. Use the standard library flag package, no cobra.",
			"Where do you keep the lamp state?",
		},
		Facts: []string{"state.json"},
	},
	{
		Name:   "fade",
		About:  "Enveloped, exec_command with exit codes: a correction, two failures and their fixes, a decision with its reason.",
		Source: memoir.SourceCodex, ID: "019df239-3e38-79af-ad38-8241b04bb246",
		Files: []string{
			"codex/sessions/2026/05/04/rollout-2026-05-04T09-02-11-019df239-3e38-79af-ad38-8241b04bb246.jsonl",
		},
		Project: Lanternd,
		Updated: moment("2026-05-04T09:05:04.150Z"),
		Prompts: []string{
			"Add a Fade RPC to the lantern service: target brightness and a duration in milliseconds. Start with the API, then the fade loop.",
			"Stop. Never edit generated files under gen/, change the .proto and run make gen instead.",
			"Why is the fade computed in the daemon and not sent to the bulb?",
			"Good. Always use time.Duration in Go code and milliseconds only on the wire.",
		},
		Facts: []string{
			"generated files under gen/",
			"make tools",
			"time.Duration",
		},
	},
	{
		Name:   "fade-worker",
		About:  `Thread that the session "fade" spawned: never extracted.`,
		Source: memoir.SourceCodex, ID: "019df23a-99e0-79f8-be24-9d844a3c2096",
		Files: []string{
			"codex/sessions/2026/05/04/rollout-2026-05-04T09-03-40-019df23a-99e0-79f8-be24-9d844a3c2096.jsonl",
		},
		Project: Lanternd,
		Reason:  memoir.ReasonSubagent,
		Updated: moment("2026-05-04T09:04:08.610Z"),
		Traps:   []string{"call sites of SetBrightness"},
	},
	{
		Name:   "power",
		About:  "Qwen Code: a tree whose rewind left a turn behind, a failure and its fix, an auto title.",
		Source: memoir.SourceQwen, ID: "c4133480-c7af-43fc-8770-cfb40db8ad16",
		Files:   []string{"qwen/projects/-home-mira-src-lanternd/chats/c4133480-c7af-43fc-8770-cfb40db8ad16.jsonl"},
		Project: Lanternd,
		Updated: moment("2026-05-06T16:02:08Z"),
		Prompts: []string{
			"Lamps come back at full brightness after a power cut. Restore the last brightness on start.",
			"A power cut leaves state.json empty. Never write state.json in place: write a temporary file, sync it and rename it.",
		},
		Facts: []string{"Never write state.json in place"},
		Traps: []string{"Redis"},
	},
	{
		Name:   "release-4",
		About:  "The release procedure, first time; a lint failure on the way.",
		Source: memoir.SourceCodex, ID: "019e07f5-a680-7426-a3ab-62d64d528110",
		Files: []string{
			"codex/sessions/2026/05/08/rollout-2026-05-08T14-20-00-019e07f5-a680-7426-a3ab-62d64d528110.jsonl",
		},
		Project: Lanternd,
		Updated: moment("2026-05-08T14:21:56.620Z"),
		Prompts: []string{
			"Release 0.4.0. The steps are lint, test, dist, then the tag.",
			"Next time write the CHANGELOG.md entry before tagging, and always sign tags with git tag -s.",
		},
		Facts: []string{
			"make dist",
			"Next time write the CHANGELOG.md entry before tagging",
			"always sign tags with git tag -s",
		},
	},
	{
		Name:   "release-41",
		About:  "The release procedure, second time, without a hitch.",
		Source: memoir.SourceCodex, ID: "019e0c12-81c0-7037-97cb-6ba0576f623d",
		Files: []string{
			"codex/sessions/2026/05/09/rollout-2026-05-09T09-30-00-019e0c12-81c0-7037-97cb-6ba0576f623d.jsonl",
		},
		Project: Lanternd,
		Updated: moment("2026-05-09T09:31:18.510Z"),
		Prompts: []string{"Release 0.4.1 with the fix for fading groups."},
		Facts:   []string{"make dist"},
	},
	{
		Name:   "scenes",
		About:  "Paginated, two segments in a worktree; the second reverts the last turn of the first.",
		Source: memoir.SourceCodex, ID: "019e1154-5500-7f77-811d-f643e57a500c",
		Files: []string{
			"codex/sessions/2026/05/10/rollout-2026-05-10T10-00-00-019e1154-5500-7f77-811d-f643e57a500c.jsonl",
			"codex/sessions/2026/05/10/rollout-2026-05-10T10-40-00-019e1154-5500-7f77-811d-f643e57a500c_019e1178-f400-7c69-a598-0414d3647ddb.jsonl",
		},
		Project: Lanternd,
		Updated: moment("2026-05-10T10:40:34.310Z"),
		Prompts: []string{
			"Scenes should be saved to disk. Propose a format and implement load and save in scene/.",
			"Stay with TOML. Scene names may only have lower-case letters, digits and dashes; reject everything else.",
		},
		Traps: []string{
			"scenes.bin",
			"gob blob",
		},
	},
	{
		Name:   "nightly",
		About:  "codex exec, started by a timer: not a person's session.",
		Source: memoir.SourceCodex, ID: "019e14c3-3d00-7770-970b-8cf74114bef2",
		Files: []string{
			"codex/sessions/2026/05/11/rollout-2026-05-11T02-00-00-019e14c3-3d00-7770-970b-8cf74114bef2.jsonl",
		},
		Project: Lanternd,
		Reason:  memoir.ReasonAutomation,
		Updated: moment("2026-05-11T02:00:40.210Z"),
		Traps:   []string{"no reachable vulnerability"},
	},
	{
		Name:   "mqtt",
		About:  "Queued prompt, rejection with a correction, slash command, compaction summary, a shell command of the person, two JSON values on one line.",
		Source: memoir.SourceClaude, ID: "05385f90-94a9-4ab3-be04-361e93b5119c",
		Files:   []string{"claude/projects/-home-mira-src-lanternd/05385f90-94a9-4ab3-be04-361e93b5119c.jsonl"},
		Project: Lanternd,
		Updated: moment("2026-05-12T13:13:29Z"),
		Prompts: []string{
			"lanternd loses its MQTT connection every few minutes on the test rig. Find out why.",
			"Don't mock the broker in tests, use the real mosquitto from docker compose.",
			"no random ids, use hostname and pid so that the broker log stays readable",
			"/compact keep the root cause",
			"Go on and write a test for it.",
			"git status --short",
		},
		Facts: []string{
			"mosquitto from docker compose",
			"hostname and pid",
		},
	},
	{
		Name:   "mqtt-agent",
		About:  `Sidechain of the session "mqtt" in its own file.`,
		Source: memoir.SourceClaude, ID: "agent-6c0e69b",
		Files: []string{
			"claude/projects/-home-mira-src-lanternd/05385f90-94a9-4ab3-be04-361e93b5119c/subagents/agent-6c0e69b.jsonl",
		},
		Project: Lanternd,
		Reason:  memoir.ReasonSubagent,
		Updated: moment("2026-05-12T13:06:46Z"),
		Traps:   []string{"back off by four seconds"},
	},
	{
		Name:   "release-5",
		About:  "The release procedure, third time, by another agent; an unsigned tag is rejected.",
		Source: memoir.SourceClaude, ID: "2b9ad815-6574-4c4b-abfe-3b8dd71bbe39",
		Files:   []string{"claude/projects/-home-mira-src-lanternd/2b9ad815-6574-4c4b-abfe-3b8dd71bbe39.jsonl"},
		Project: Lanternd,
		Updated: moment("2026-05-15T16:01:10Z"),
		Prompts: []string{
			"Release 0.5.0, the same way as 0.4.0.",
			"Put the date into the CHANGELOG.md heading, in ISO form.",
			"use git tag -s, the mirror refuses unsigned tags",
		},
		Facts: []string{
			"make dist",
			"mirror refuses unsigned tags",
		},
	},
	{
		Name:   "groups",
		About:  "Exported by OpenCode: a failure and its fix, a rejection with a correction, a shell command of the person; the last turn was reverted.",
		Source: memoir.SourceOpenCode, ID: "ses_1b6f0c3d2ffeR7vQm4Kp8sXeTa",
		Files:   []string{"opencode/ses_1b6f0c3d2ffeR7vQm4Kp8sXeTa.json"},
		Project: Lanternd,
		Updated: moment("2026-05-17T15:02:11Z"),
		Prompts: []string{
			"Lamps of a group flicker one after the other. They must change together; see @group/send.go",
			"Always publish retained group commands with QoS 1, a lamp that reconnects must catch up.",
			"never push from an agent session, I do that myself",
			"git diff --stat",
		},
		Facts: []string{
			"QoS 1",
			"never push from an agent session",
		},
		Traps: []string{
			"groups.etcd",
			"etcd",
		},
	},
	{
		Name:   "loglevel",
		About:  "Ended five and a half hours before Now.",
		Source: memoir.SourceCodex, ID: "019e440f-1660-7740-9d0a-fbcb9ef12a82",
		Files: []string{
			"codex/sessions/2026/05/20/rollout-2026-05-20T06-25-00-019e440f-1660-7740-9d0a-fbcb9ef12a82.jsonl",
		},
		Project: Lanternd,
		Reason:  memoir.ReasonTooRecent,
		Updated: moment("2026-05-20T06:25:32.010Z"),
		Prompts: []string{"How do I see what the daemon sends to a lamp?"},
		Facts:   []string{"LANTERND_LOG=debug"},
	},
	{
		Name:   "curves",
		About:  "Its last record is at Now.",
		Source: memoir.SourceClaude, ID: "eb57d500-fc3e-44fa-a012-d45fcd264c92",
		Files:   []string{"claude/projects/-home-mira-src-lanternd/eb57d500-fc3e-44fa-a012-d45fcd264c92.jsonl"},
		Project: Lanternd,
		Reason:  memoir.ReasonActive,
		Updated: moment("2026-05-20T12:00:00Z"),
		Prompts: []string{"Add dimmer curves: linear and logarithmic, chosen per lamp in lanternd.toml."},
	},
	{
		Name:   "ocr",
		About:  "Code mode: commands inside JavaScript, no exit status of their own; an scp-style remote.",
		Source: memoir.SourceCodex, ID: "019df742-2340-700d-9192-d4b97838ab4e",
		Files: []string{
			"codex/sessions/2026/05/05/rollout-2026-05-05T08-30-00-019df742-2340-700d-9192-d4b97838ab4e.jsonl",
		},
		Project: Papertrail,
		Updated: moment("2026-05-05T08:31:17.430Z"),
		Prompts: []string{
			"OCR of German receipts returns garbage for umlauts. Fix it and add a test.",
			"From now on use uv for everything, never pip install.",
		},
		Facts: []string{"never pip install"},
	},
	{
		Name:   "dates",
		About:  "pi version 1: linear entries without ids; exit status only in the text.",
		Source: memoir.SourcePi, ID: "30ff8cdf-0cb8-4eca-8c89-302ef96edc3b",
		Files: []string{
			"pi/agent/sessions/--home-mira-src-papertrail--/2026-05-07T09-10-00-000Z_30ff8cdf-0cb8-4eca-8c89-302ef96edc3b.jsonl",
		},
		Project: Papertrail,
		Updated: moment("2026-05-07T09:10:56.500Z"),
		Prompts: []string{
			"Dates like 03.04.2026 are parsed as March 4th. Our receipts are European. Keep the function signatures in dates.py as they are.",
		},
		Facts: []string{"uv run pytest"},
	},
	{
		Name:   "json",
		About:  "Copilot CLI: a call that was refused with a reason, a prompt typed meanwhile, a failure and its fix.",
		Source: memoir.SourceCopilot, ID: "d458f320-66e5-4a71-8bc3-16068cbe9615",
		Files:   []string{"copilot/session-state/d458f320-66e5-4a71-8bc3-16068cbe9615/events.jsonl"},
		Project: Papertrail,
		Updated: moment("2026-05-12T07:01:45Z"),
		Prompts: []string{
			"Give papertrail search a --json flag, one object a line.",
			"Do not install jq, use the json module of the standard library.",
			"Always write warnings to stderr, stdout is for results only.",
		},
		Facts: []string{
			"write warnings to stderr",
			"Do not install jq",
		},
	},
	{
		Name:   "reindex",
		About:  "pi version 3: a tree with an abandoned branch; the rebuild procedure, first time.",
		Source: memoir.SourcePi, ID: "785e4ad9-4031-403c-9c20-f10eb3e3e1c4",
		Files: []string{
			"pi/agent/sessions/--home-mira-src-papertrail--/2026-05-13T18-00-00-000Z_785e4ad9-4031-403c-9c20-f10eb3e3e1c4.jsonl",
		},
		Project: Papertrail,
		Updated: moment("2026-05-13T18:02:06Z"),
		Prompts: []string{
			"Search misses receipts whose file was renamed. What is wrong with the index?",
			"The index is keyed by path, so a rename loses the receipt. Key it by content hash and rebuild it. We stay with SQLite FTS5, no server.",
			"ls -l var",
		},
		Facts: []string{"papertrail reindex"},
		Traps: []string{
			"MongoDB",
			"pymongo",
		},
	},
	{
		Name:   "trigram",
		About:  "oh-my-pi with a title slot before the header; the rebuild procedure again, with a failure in the middle.",
		Source: memoir.SourceOMP, ID: "3fba1cd1-1789-4ec3-b38d-78dc45f0c9b8",
		Files: []string{
			"omp/agent/sessions/home-papertrail-9c1d60eba975286b060fe9f584b87a72532fb48f89a8606465afa6a55859446c/2026-05-17T11-00-00-000Z_3fba1cd1-1789-4ec3-b38d-78dc45f0c9b8.jsonl",
		},
		Project: Papertrail,
		Updated: moment("2026-05-17T11:01:43.500Z"),
		Prompts: []string{
			"Searching for part of a word finds nothing. Use the trigram tokenizer and rebuild the index.",
			"Always export before you delete the index.",
		},
		Facts: []string{"export before you delete the index"},
	},
	{
		Name:   "sync",
		About:  "Secrets in the remote, a prompt, a command, tool output and an answer.",
		Source: memoir.SourceCodex, ID: "019e2572-2c60-77cc-9fda-a6de3aba15db",
		Files: []string{
			"codex/sessions/2026/05/14/rollout-2026-05-14T07-45-00-019e2572-2c60-77cc-9fda-a6de3aba15db.jsonl",
		},
		Project: Papertrail,
		Updated: moment("2026-05-14T07:46:07.420Z"),
		Prompts: []string{
			"Make papertrail sync upload the originals to the test bucket. Use this key for it: @@SECRET:aws-access-token@@",
			"Do not print tokens or keys again, read them from the environment.",
		},
		Facts: []string{
			"AWS_REGION",
			"Do not print tokens or keys again",
		},
	},
	{
		Name:   "disk",
		About:  "The rebuild procedure, third time, without a hitch.",
		Source: memoir.SourceClaude, ID: "1935dff3-0098-4f08-b8f7-5d0bc18ccec3",
		Files:   []string{"claude/projects/-home-mira-src-papertrail/1935dff3-0098-4f08-b8f7-5d0bc18ccec3.jsonl"},
		Project: Papertrail,
		Updated: moment("2026-05-19T15:00:54Z"),
		Prompts: []string{"The disk with the index was replaced. Rebuild the index and check it."},
		Facts:   []string{"papertrail verify"},
	},
	{
		Name:   "hello",
		About:  "Nothing worth keeping.",
		Source: memoir.SourceClaude, ID: "b34b1b55-186c-445a-b850-29842e6c24e5",
		Files:   []string{"claude/projects/-home-mira-src-papertrail/b34b1b55-186c-445a-b850-29842e6c24e5.jsonl"},
		Project: Papertrail,
		Updated: moment("2026-05-09T20:00:56Z"),
		Prompts: []string{
			"hi",
			"never mind, thanks",
		},
		Traps: []string{"never mind"},
	},
	{
		Name:   "exitcode",
		About:  "Damaged: a line cut and continued by another, prose, a run of NULs, the last line cut. What is whole is read.",
		Source: memoir.SourceCodex, ID: "019e3048-38a0-7b27-ac39-4933dd5ceff7",
		Files: []string{
			"codex/sessions/2026/05/16/rollout-2026-05-16T10-15-00-019e3048-38a0-7b27-ac39-4933dd5ceff7.jsonl",
		},
		Project: Papertrail,
		Updated: moment("2026-05-16T10:16:05.810Z"),
		Prompts: []string{
			"papertrail search must exit with code 3 when nothing was found, so that scripts can tell.",
			"Document it in the README too.",
		},
	},
	{
		Name:   "binary",
		About:  "Random bytes under a session's name.",
		Source: memoir.SourceUnknown,
		Files: []string{
			"codex/sessions/2026/05/18/rollout-2026-05-18T05-00-00-019e3974-8c80-7f0b-a81b-57a9e2e71752.jsonl",
		},
		Reason:  memoir.ReasonUnreadable,
		Updated: moment("2026-05-18T05:00:00Z"),
	},
	{
		Name:   "empty",
		About:  "An empty file under a session's name.",
		Source: memoir.SourceUnknown,
		Files: []string{
			"codex/sessions/2026/05/18/rollout-2026-05-18T05-01-00-019e3975-76e0-7c7d-a1a7-e981b9ee33c4.jsonl",
		},
		Reason:  memoir.ReasonUnreadable,
		Updated: moment("2026-05-18T05:01:00Z"),
	},
	{
		Name:   "scratch",
		About:  "Asked in /tmp, which is never a project.",
		Source: memoir.SourceClaude, ID: "26a50b9b-f963-4b45-b8c4-9d4473ec4d07",
		Files:   []string{"claude/projects/-tmp/26a50b9b-f963-4b45-b8c4-9d4473ec4d07.jsonl"},
		Reason:  memoir.ReasonNoProject,
		Updated: moment("2026-05-18T19:30:28Z"),
		Prompts: []string{
			"Which of these two regular expressions is faster, ^a+$ or ^(a+)+$? Only answer, no files.",
		},
		Traps: []string{"nested quantifier"},
	},
})

// filled adds what the table leaves out: that a session is eligible, and the kind that follows
// from its reason.
func filled(sessions []Session) []Session {
	kinds := map[memoir.Reason]memoir.SessionKind{memoir.ReasonSubagent: memoir.KindSubagent,
		memoir.ReasonAutomation: memoir.KindAutomation, memoir.ReasonUnreadable: ""}
	for i := range sessions {
		s := &sessions[i]
		s.Reason = cmp.Or(s.Reason, memoir.ReasonEligible)
		var special bool
		if s.Kind, special = kinds[s.Reason]; !special {
			s.Kind = memoir.KindMain
		}
	}
	return sessions
}

// moment reads a time of the table.
func moment(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return at
}
