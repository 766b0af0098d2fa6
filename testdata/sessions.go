package testdata

import (
	"cmp"
	"path"
	"strings"
	"sync"
	"time"

	"memoir"
)

// Expected lists every session in Sessions, in the order of its story. The program holds the fixtures, and most
// commands do not need them.
var Expected = sync.OnceValue(func() []Session { return filled(sessions) })

var sessions = []Session{
	{
		Name:   "bare",
		Source: memoir.SourceCodex, ID: "01993cfd-14f8-7d03-91fd-65cef85f202f",
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
		Source: memoir.SourceCodex, ID: "019df239-3e38-79af-ad38-8241b04bb246",
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
		Source: memoir.SourceCodex, ID: "019df23a-99e0-79f8-be24-9d844a3c2096",
		Project: Lanternd,
		Reason:  memoir.ReasonSubagent,
		Updated: moment("2026-05-04T09:04:08.610Z"),
		Traps:   []string{"call sites of SetBrightness"},
	},
	{
		Name:   "power",
		Source: memoir.SourceQwen, ID: "c4133480-c7af-43fc-8770-cfb40db8ad16",
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
		Source: memoir.SourceCodex, ID: "019e07f5-a680-7426-a3ab-62d64d528110",
		Project: Lanternd,
		Updated: moment("2026-05-08T14:21:56.620Z"),
		Prompts: []string{
			"Release 0.4.0. The steps are lint, test, dist, then the tag.",
			"Next time write the CHANGELOG.md entry before tagging, and always sign tags with git tag -s.",
		},
		Facts: []string{
			"Next time write the CHANGELOG.md entry before tagging",
			"always sign tags with git tag -s",
		},
	},
	{
		Name:   "release-41",
		Source: memoir.SourceCodex, ID: "019e0c12-81c0-7037-97cb-6ba0576f623d",
		Project: Lanternd,
		Updated: moment("2026-05-09T09:31:18.510Z"),
		Prompts: []string{"Release 0.4.1 with the fix for fading groups."},
	},
	{
		Name:   "scenes",
		Source: memoir.SourceCodex, ID: "019e1154-5500-7f77-811d-f643e57a500c",
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
		Source: memoir.SourceCodex, ID: "019e14c3-3d00-7770-970b-8cf74114bef2",
		Project: Lanternd,
		Reason:  memoir.ReasonAutomation,
		Updated: moment("2026-05-11T02:00:40.210Z"),
		Traps:   []string{"no reachable vulnerability"},
	},
	{
		Name:   "mqtt",
		Source: memoir.SourceClaude, ID: "05385f90-94a9-4ab3-be04-361e93b5119c",
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
		Facts: []string{"hostname and pid"},
	},
	{
		Name:   "mqtt-agent",
		Source: memoir.SourceClaude, ID: "agent-6c0e69b",
		Project: Lanternd,
		Reason:  memoir.ReasonSubagent,
		Updated: moment("2026-05-12T13:06:46Z"),
		Traps:   []string{"back off by four seconds"},
	},
	{
		Name:   "release-5",
		Source: memoir.SourceClaude, ID: "2b9ad815-6574-4c4b-abfe-3b8dd71bbe39",
		Project: Lanternd,
		Updated: moment("2026-05-15T16:01:10Z"),
		Prompts: []string{
			"Release 0.5.0, the same way as 0.4.0.",
			"Put the date into the CHANGELOG.md heading, in ISO form.",
			"use git tag -s, the mirror refuses unsigned tags",
		},
	},
	{
		Name:   "groups",
		Source: memoir.SourceOpenCode, ID: "ses_1b6f0c3d2ffeR7vQm4Kp8sXeTa",
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
		},
		Traps: []string{
			"groups.etcd",
			"etcd",
		},
	},
	{
		Name:   "loglevel",
		Source: memoir.SourceCodex, ID: "019e440f-1660-7740-9d0a-fbcb9ef12a82",
		Project: Lanternd,
		Reason:  memoir.ReasonTooRecent,
		Updated: moment("2026-05-20T06:25:32.010Z"),
		Prompts: []string{"How do I see what the daemon sends to a lamp?"},
	},
	{
		Name:   "curves",
		Source: memoir.SourceClaude, ID: "eb57d500-fc3e-44fa-a012-d45fcd264c92",
		Project: Lanternd,
		Reason:  memoir.ReasonActive,
		Updated: moment("2026-05-20T12:00:00Z"),
		Prompts: []string{"Add dimmer curves: linear and logarithmic, chosen per lamp in lanternd.toml."},
	},
	{
		Name:   "ocr",
		Source: memoir.SourceCodex, ID: "019df742-2340-700d-9192-d4b97838ab4e",
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
		Source: memoir.SourcePi, ID: "30ff8cdf-0cb8-4eca-8c89-302ef96edc3b",
		Project: Papertrail,
		Updated: moment("2026-05-07T09:10:56.500Z"),
		Prompts: []string{
			"Dates like 03.04.2026 are parsed as March 4th. Our receipts are European. Keep the function signatures in dates.py as they are.",
		},
		Facts: []string{"uv run pytest"},
	},
	{
		Name:   "json",
		Source: memoir.SourceCopilot, ID: "d458f320-66e5-4a71-8bc3-16068cbe9615",
		Project: Papertrail,
		Updated: moment("2026-05-12T07:01:45Z"),
		Prompts: []string{
			"Give papertrail search a --json flag, one object a line.",
			"Do not install jq, use the json module of the standard library.",
			"Always write warnings to stderr, stdout is for results only.",
		},
		Facts: []string{
			"write warnings to stderr",
		},
	},
	{
		Name:   "reindex",
		Source: memoir.SourcePi, ID: "785e4ad9-4031-403c-9c20-f10eb3e3e1c4",
		Project: Papertrail,
		Updated: moment("2026-05-13T18:02:06Z"),
		Prompts: []string{
			"Search misses receipts whose file was renamed. What is wrong with the index?",
			"The index is keyed by path, so a rename loses the receipt. Key it by content hash and rebuild it. We stay with SQLite FTS5, no server.",
			"ls -l var",
		},
		Traps: []string{
			"MongoDB",
			"pymongo",
		},
	},
	{
		Name:   "trigram",
		Source: memoir.SourceOMP, ID: "3fba1cd1-1789-4ec3-b38d-78dc45f0c9b8",
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
		Source: memoir.SourceCodex, ID: "019e2572-2c60-77cc-9fda-a6de3aba15db",
		Project: Papertrail,
		Updated: moment("2026-05-14T07:46:07.420Z"),
		Prompts: []string{
			"Make papertrail sync upload the originals to the test bucket. Use this key for it: @@SECRET:aws-access-token@@",
			"Do not print tokens or keys again, read them from the environment.",
		},
		Facts: []string{
			"AWS_REGION",
		},
	},
	{
		Name:   "disk",
		Source: memoir.SourceClaude, ID: "1935dff3-0098-4f08-b8f7-5d0bc18ccec3",
		Project: Papertrail,
		Updated: moment("2026-05-19T15:00:54Z"),
		Prompts: []string{"The disk with the index was replaced. Rebuild the index and check it."},
	},
	{
		Name:   "hello",
		Source: memoir.SourceClaude, ID: "b34b1b55-186c-445a-b850-29842e6c24e5",
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
		Source: memoir.SourceCodex, ID: "019e3048-38a0-7b27-ac39-4933dd5ceff7",
		Project: Papertrail,
		Updated: moment("2026-05-16T10:16:05.810Z"),
		Prompts: []string{
			"papertrail search must exit with code 3 when nothing was found, so that scripts can tell.",
			"Document it in the README too.",
		},
	},
	{
		Name:   "binary",
		Source: memoir.SourceUnknown,
		Files: []string{
			"codex/sessions/2026/05/18/rollout-2026-05-18T05-00-00-019e3974-8c80-7f0b-a81b-57a9e2e71752.jsonl",
		},
		Reason:  memoir.ReasonUnreadable,
		Updated: moment("2026-05-18T05:00:00Z"),
	},
	{
		Name:   "empty",
		Source: memoir.SourceUnknown,
		Files: []string{
			"codex/sessions/2026/05/18/rollout-2026-05-18T05-01-00-019e3975-76e0-7c7d-a1a7-e981b9ee33c4.jsonl",
		},
		Reason:  memoir.ReasonUnreadable,
		Updated: moment("2026-05-18T05:01:00Z"),
	},
	{
		Name:   "scratch",
		Source: memoir.SourceClaude, ID: "26a50b9b-f963-4b45-b8c4-9d4473ec4d07",
		Reason:  memoir.ReasonNoProject,
		Updated: moment("2026-05-18T19:30:28Z"),
		Prompts: []string{
			"Which of these two regular expressions is faster, ^a+$ or ^(a+)+$? Only answer, no files.",
		},
		Traps: []string{"nested quantifier"},
	},
}

// filled adds what the table leaves out: the files that bear an id, that a session is eligible,
// and the kind that follows from its reason.
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
		for _, name := range names() {
			if s.ID != "" && (strings.Contains(path.Base(name), s.ID) || path.Base(path.Dir(name)) == s.ID) {
				s.Files = append(s.Files, name)
			}
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
