package extract_test

import (
	"encoding/json"
	"testing"

	"memoir"
)

// rewrites edits a file, putting one text in the place of another.
func (t *talk) rewrites(path, old, fresh string) *talk {
	input, _ := json.Marshal(map[string]string{"file_path": path, "old_string": old, "new_string": fresh})
	return t.add(memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "Edit", Input: string(input), Output: "ok"})
}

func TestAConcededObjectionIsADecision(t *testing.T) {
	t.Parallel()
	claim := "`Store.Sync` drops its listeners on close, because `reset` requires a clean `Store.Sync`."
	for _, test := range []struct{ typed, answer, want string }{
		{"why does Store.Sync drop the listeners? whoever set them expects them to survive a reset, no?", "You're right - listeners belong to the caller of `Store`. Let me fix that.", "whoever set them expects them to survive a reset, no?” — the agent agreed: “Listeners belong to the caller of `Store`.”"},
		{"none of the files here has a prefix, I checked", "You're absolutely right. The names are plain numbers. Let me look.", "the agent agreed: “The names are plain numbers.”"},
		{"warum löscht Store.Sync die Zuhörer beim Schließen? das erwartet doch niemand von dieser Funktion hier, oder nicht?", "Du hast recht - die Zuhörer gehören dem Aufrufer von `Store`.", "the agent agreed: “Die Zuhörer gehören dem Aufrufer von `Store`.”"},
	} {
		got := of(work().answers(claim).says(test.typed).narrates(test.answer).edits("/src/app/store.go").answers("Done.").extract(t), memoir.StatementDecision)
		if !holds(got, test.want) {
			t.Errorf("%q: got %q, want %q", test.typed, got, test.want)
		}
	}
	got := of(work().answers(claim).says("why does Store.Sync drop the listeners? whoever set them expects them to survive, no?").
		narrates("You're right, `Store.Sync` should leave them. Let me fix that.").edits("/src/app/store.go").answers("Done.").extract(t), memoir.StatementDecision)
	if holds(got, "requires a clean") {
		t.Errorf("the claim that was objected to stays: %q", got)
	}
	if got := of(work().answers("Done.").says("please add a flag for the volume").narrates("Right. Adding it.").edits("/src/app/a.go").answers("Done.").extract(t), memoir.StatementDecision); len(got) > 0 {
		t.Errorf("nobody objected: %q", got)
	}
}

func TestWhatWasRemovedIsNotKnown(t *testing.T) {
	t.Parallel()
	claim := "`legacy-player.ts` must hold the queue, because `LegacyPlayer` draws it."
	for name, s := range map[string]*talk{
		"rm":     work().answers(claim).says("remove it").runs("rm src/legacy-player.ts", 0, ""),
		"git mv": work().answers(claim).says("rename it").runs("git mv src/legacy-player.ts src/player.ts", 0, ""),
		"commit": work().answers(claim).says("commit").runs("git commit -m x", 0, "[main abc1234] x\n delete mode 100644 src/legacy-player.ts\n"),
	} {
		for _, text := range of(s.answers("Done.").extract(t), memoir.StatementDecision) {
			if !holds([]string{text}, "(before this session; since changed") {
				t.Errorf("%s: told as if it held: %q", name, text)
			}
		}
	}
	if got := of(work().answers(claim).says("thanks, and lint?").runs("rm src/other.ts", 0, "").answers("Done.").extract(t), memoir.StatementDecision); !holds(got, claim[:40]) || holds(got, "(before") {
		t.Errorf("another file was removed: %q", got)
	}
}

func TestAMendedStateIsToldWithItsMend(t *testing.T) {
	t.Parallel()
	got := of(work().answers("`Queue.next` returns stale buffers, because `readAhead` keeps the first one.").says("fix it").
		rewrites("/src/app/queue.go", "buf := readAhead(first)", "buf := fetch(at)").
		answers("Fixed `Queue.next`: it asks for buffers at its own position, so none is stale.").extract(t), memoir.StatementDecision)
	want := "`Queue.next` returns stale buffers, because `readAhead` keeps the first one. (before this session; since changed: Fixed `Queue.next`: it asks for buffers at its own position, so none is stale)"
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %q", got)
	}
}

func TestFilesFollowRenamesAndRemovals(t *testing.T) {
	t.Parallel()
	got := of(work().edits("/src/app/utils/conf.go").edits("/src/app/draft.go").
		runs("git mv utils/conf.go conf.go && rm draft.go", 0, "").answers("Done.").extract(t), memoir.StatementFile)
	if !holds(got, "`conf.go` — changed") || holds(got, "utils/conf.go") || holds(got, "draft.go") {
		t.Errorf("got %q", got)
	}
}

func TestAnAnswerWhoseEditsWereRewrittenAfterAnObjectionIsVoid(t *testing.T) {
	t.Parallel()
	s := work().rewrites("/src/app/mix.go", "old()", "switch kind { default: mixAll(kind) }").
		answers("Done. The `default` case now handles all other kinds in `mixAll`.").
		says("no, name all kinds").
		rewrites("/src/app/mix.go", "switch kind { default: mixAll(kind) }", "switch kind { case stereo, mono: mixAll(kind) }").
		answers("Done. Each kind has its own case now, so a new kind is noticed by `exhaustive`.")
	e := s.extract(t)
	if got := append(of(e, memoir.StatementDecision), of(e, memoir.StatementOutcome)...); holds(got, "`default` case now handles") {
		t.Errorf("got %q", got)
	}
}

func TestWhatTurnedOutToBeMendedAlreadySaysSo(t *testing.T) {
	t.Parallel()
	got := of(work().answers("Problems:\n\n- `parseKeys` ignores the `strict` flag, so wrong keys pass.\n- `parseKeys` never reads the `strict` flag twice.").says("yes").
		narrates("Looking at main:\n\n1. `parseKeys` and the `strict` flag - already fixed\n2. `openFile` - still open").edits("/src/app/open.go").answers("Done.").extract(t), memoir.StatementDecision)
	if want := "so wrong keys pass. (before this session; since changed: `parseKeys` and the `strict` flag - already fixed)"; len(got) != 1 || !holds(got, want) {
		t.Errorf("the cause is told as past, what is no cause not at all: %q", got)
	}
}

func TestOptionsAreNoFacts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"**Option A**\n\n- `Queue` must be locked by its reader, because two threads use it.",
		"## Option B: locks\n\n- `Queue` must be locked by its reader, because two threads use it.",
		"- **Option C**: `Queue` must be locked by its reader, because two threads use it.",
		"## Implementation plan\n\n- `Queue` must be locked by its reader, because two threads use it.",
	} {
		if got := of(work().answers(text).says("hm, what else?").answers("Nothing more comes to mind.").extract(t), memoir.StatementDecision); holds(got, "must be locked") {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

func TestAProposalThatTheEditsDidNotTakeUpIsNoRule(t *testing.T) {
	t.Parallel()
	proposal := "- Retry `Upload` only for `TooManyRequests`, because others cannot pass.\n- Treat `NotFound` as success, because others cannot have it."
	got := of(work().answers(proposal).says("ok do it").rewrites("/src/app/up.go", "send()", "retry(Upload, TooManyRequests)").answers("Done.").extract(t), memoir.StatementDecision)
	if !holds(got, "TooManyRequests") || holds(got, "NotFound") {
		t.Errorf("got %q", got)
	}
}
