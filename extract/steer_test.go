package extract_test

import (
	"strings"
	"testing"

	"memoir"
)

func (t *talk) refusedEdit(path string) *talk {
	return t.add(memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "Edit", Input: `{"file_path": "` + path + `"}`,
		Output: "The user doesn't want to proceed with this tool use. The tool use was rejected.", Failed: true})
}

func TestWordsTypedAfterARefusedCallAreKept(t *testing.T) {
	t.Parallel()
	said := "could we list the colours one by one in the switch, so that a new one is noticed"
	got := of(work().refusedEdit("/src/app/colour.go").says(said).edits("/src/app/colour.go").answers("Listed.").extract(t), memoir.StatementDecision)
	if !holds(got, "the user: “"+said+"”") || !holds(got, "refusing an edit of `colour.go`") {
		t.Errorf("got %q", got)
	}
	for _, said := range []string{"continue", "ok go ahead", "wait"} {
		if got := of(work().refusedEdit("/src/app/colour.go").says(said).edits("/src/app/colour.go").answers("Listed.").extract(t), memoir.StatementDecision); holds(got, "the user: ") {
			t.Errorf("%q says nothing: %q", said, got)
		}
	}
}

func TestAnObjectionThatTheAgentGrantsIsADecision(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ said, answer, want string }{
		{"why does the importer keep its own copy of the rates? the ledger has them already, no?", "You're right - the ledger is the one place that holds the rates. Let me remove the copy.", "ledger is the one place that holds the rates"},
		{"shouldn't the lock be taken before the index is opened?", "Good catch. Opening `index.db` without the lock races with the compactor. I'll fix that.", "races with the compactor"},
		{"hm, none of the exported names carries the date in front", "You're absolutely right! The exporter writes plain UUIDs as names.", "The exporter writes plain UUIDs as names"},
		{"warum liegt die Prüfung im Handler? das Modell prüft doch schon alles", "Du hast recht: das Modell prüft jede Eingabe bereits beim Laden. Ich entferne die Prüfung.", "Modell prüft jede Eingabe"},
	} {
		got := of(work().answers("The importer is done.").says(test.said).narrates(test.answer).edits("/src/app/a.go").answers("Changed.").extract(t), memoir.StatementDecision)
		if !holds(got, test.said[:20]) || !holds(got, test.want) {
			t.Errorf("%q: got %q", test.said, got)
		}
	}
	for said, answer := range map[string]string{
		"why does the importer keep its own copy of the rates?": "Because the ledger is offline at night.",
		"now write the changelog entry for the importer":        "Good idea. The changelog entry goes under Unreleased.",
		"wait, what does the importer do on empty files?":       "Let me check `importer.go` first.",
	} {
		if got := of(work().answers("The importer is done.").says(said).narrates(answer).edits("/src/app/a.go").answers("Changed.").extract(t), memoir.StatementDecision); holds(got, "the user: ") {
			t.Errorf("%q was not granted: %q", said, got)
		}
	}
}

func TestAnObjectionThatWasItselfOverturnedIsLeftOut(t *testing.T) {
	t.Parallel()
	s := work().answers("Rows go through `appendRow`.").says("why do we use appendRow and not insertRow for the totals?").narrates("You're right. Let me look at `insertRow` again.").edits("/src/app/a.go").answers("Uses `insertRow` now.").
		says("wait, that looks wrong, an insert moves every row behind it, and an append is all that the totals need").narrates("You're absolutely right. Totals always stand last in the sheet.").edits("/src/app/a.go").answers("Back to appending.")
	got := of(s.extract(t), memoir.StatementDecision)
	if holds(got, "why do we use appendRow") || !holds(got, "an append is all that the totals need") {
		t.Errorf("got %q", got)
	}
}

func TestAShortAnswerIsKeptWithItsQuestion(t *testing.T) {
	t.Parallel()
	options := "There are two ways:\n\n1. Store the index in SQLite\n2. Store the index in flat files\n\nWhich one do you want?"
	for said, want := range map[string]string{
		"2":               "the user chose: “Store the index in flat files”",
		"the first one":   "the user chose: “Store the index in SQLite”",
		"option 2 please": "the user chose: “Store the index in flat files”",
		"flat files":      "the user chose: “flat files”",
	} {
		if got := of(work().answers(options).says(said).edits("/src/app/a.go").answers("Done so.").extract(t), memoir.StatementDecision); !holds(got, want) {
			t.Errorf("%q: got %q, want %q", said, got, want)
		}
	}
	for _, said := range []string{"yes", "ok", "5", "/exit", "what is the difference?"} {
		if got := of(work().answers(options).says(said).edits("/src/app/a.go").answers("Done so.").extract(t), memoir.StatementDecision); holds(got, "the user chose") {
			t.Errorf("%q chooses nothing: %q", said, got)
		}
	}
	got := of(work().answers("Committed. The linter warns of an unused import but passes. Shall I clean that up?").says("yes, it has to be fully clean").edits("/src/app/a.go").answers("Clean.").extract(t), memoir.StatementPreference)
	if !holds(got, "fully clean") || !holds(got, "unused import") {
		t.Errorf("the answer cannot be understood: %q", got)
	}
}

func TestWhatAPersonPointsAtIsNamed(t *testing.T) {
	t.Parallel()
	got := of(work().answers("The preview goes into `Sidebar.tsx`. It opens when a draft is selected.").says("no, we want it below the draft so that the sidebar stays free for the outline").edits("/src/app/a.go").answers("Moved.").extract(t), memoir.StatementDecision)
	if !holds(got, "below the draft") || !holds(got, "(about: `Sidebar.tsx`)") {
		t.Errorf("got %q", got)
	}
}

func TestTheConstraintsOfASpecificationAreKept(t *testing.T) {
	t.Parallel()
	spec := "Build a queue server\n\n## Motivation\nThe old one is slow.\n\n## Constraints\n- **No broker**: the queue lives in one process\n- Secure by default, with no insecure mode\n- Works on Windows (paths, locks)\n\n## Notes\nThe name `queue.lock` must never change. Have fun.\n\n## Non-goals\n- Clustering\n- A web interface\n"
	attached := new(talk).says("do this in ~/src/queue").runs("cat /home/ann/.agent/attachments/7/pasted-text.txt", 0, spec).edits("/src/app/a.go").answers("Built.").says("ok, a web interface would be welcome after all").answers("Noted.")
	pasted := new(talk).says("Implement the following plan:\n\n# Queue\n\n" + spec).edits("/src/app/a.go").answers("Built.")
	for name, s := range map[string]*talk{"attached": attached, "pasted": pasted} {
		e := s.extract(t)
		got := of(e, memoir.StatementDecision)
		if !holds(got, "Constraints: No broker: the queue lives in one process; Secure by default, with no insecure mode; Works on Windows") || !holds(got, "`queue.lock` must never change") || holds(got, "slow") {
			t.Errorf("%s: got %q", name, got)
		}
		if holds(got, "web interface") != (name == "pasted") {
			t.Errorf("%s: what the person reopened later: %q", name, got)
		}
		if p := of(e, memoir.StatementPreference); len(p) > 0 {
			t.Errorf("%s: preferences %q", name, p)
		}
	}
	for name, s := range map[string]*talk{
		"a directory of that name":    new(talk).says("look around").runs("cat uploads/pasted-text.txt docs/attachments/a.md", 0, spec).edits("/src/app/a.go").answers("Built."),
		"a hidden one of the project": new(talk).says("look around").runs("cat /src/app/.agent/attachments/pasted-text.txt", 0, spec).edits("/src/app/a.go").answers("Built."),
		"a page that was fetched":     new(talk).says("look around").runs("curl -s https://example.com/.x/attachments/pasted-text.txt", 0, spec).edits("/src/app/a.go").answers("Built."),
		"a file of the project":       new(talk).says("look around").runs("cat docs/design.md", 0, spec).edits("/src/app/a.go").answers("Built."),
		"instructions":                new(talk).says("look around").runs("cat AGENTS.md", 0, spec).edits("/src/app/a.go").answers("Built."),
	} {
		if got := of(s.extract(t), memoir.StatementDecision); holds(got, "specification") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestWhatTheProjectRequiresIsKeptOnce(t *testing.T) {
	t.Parallel()
	s := work().narrates("I'll open the pull request, then post a reply with the required sign-off note.").runs("gh pr create --title 'fix(upload): retry' --body x", 0, "ok").
		narrates("Committing with the repo’s conventional commit style.").runs(`git commit -m "test(upload): cover retries"`, 0, "ok").answers("Posted the reply with the required sign-off note.")
	got := of(s.extract(t), memoir.StatementDecision)
	if n := strings.Count(strings.Join(got, "\n"), "sign-off note"); n != 1 || holds(got, "convention: Commit") {
		t.Errorf("got %q", got)
	}
	if !holds(got, "`fix(upload): …`, `test(upload): …`") {
		t.Errorf("the titles have one form: %q", got)
	}
	s.runs("git commit -m 'oops'", 0, "ok")
	if got := of(s.extract(t), memoir.StatementDecision); holds(got, "follow the conventional") {
		t.Errorf("one title is in another form: %q", got)
	}
	if got := of(work().answers("I'll merge once every required check is green, and the required fields are set.").extract(t), memoir.StatementDecision); holds(got, "required in this project") {
		t.Errorf("got %q", got)
	}
}

func TestARequestMadeAgainIsAPreference(t *testing.T) {
	t.Parallel()
	s := work().answers("Fine.")
	for _, said := range []string{"address the review comments on https://example.com/pull/7", "address the review comments", "ok, address review comments again"} {
		s.says(said).edits("/src/app/a.go").runs("go test ./...", 0, "ok").runs("git push", 0, "ok").answers("Addressed.")
	}
	got := of(s.extract(t), memoir.StatementPreference)
	if !holds(got, "asked for 3 times: ") || !holds(got, "`go test`, `git push`") {
		t.Errorf("got %q", got)
	}
	once := work().says("address the review comments").answers("Addressed.").says("write the release notes").answers("Written.")
	if got := of(once.extract(t), memoir.StatementPreference); len(got) > 0 {
		t.Errorf("each was asked for once: %q", got)
	}
}

func TestWhatIsTypedBehindPastedCodeIsThePersons(t *testing.T) {
	t.Parallel()
	got := of(work().answers("Fine.").says("change the greeting. This used to be the message:\n    var m = \"Hello, \" + name + \". You have \" + n + \" unread messages in your inbox, and \" + k + \" drafts.\";\n    send(m);\n\nI just want to tell people how many messages are unread, so that they open the inbox.").
		edits("/src/app/a.go").answers("Changed.").extract(t), memoir.StatementDecision)
	if !holds(got, "how many messages are unread") || holds(got, "drafts") {
		t.Errorf("got %q", got)
	}
}
