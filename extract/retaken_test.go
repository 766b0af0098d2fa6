package extract_test

import (
	"testing"

	"memoir"
)

func TestARequestSaidAgainTakesThePlaceOfTheFirst(t *testing.T) {
	t.Parallel()
	s := new(talk).says("the exporter writes to `out/log`, put that into the ignore file").answers("It is in the ignore file already.").
		says("sorry, my point is: the installer writes its own ignore file, and that one lacks the log folder right now").edits("/src/app/install.go").answers("Done: the installer writes the folder as well.")
	e := s.extract(t)
	got := of(e, memoir.StatementTask)
	if holds(got, "put that into") || !holds(got, "my point is: the installer writes its own") {
		t.Errorf("got %q", got)
	}
	kept := work().answers("Done.").says("i meant what i said about the importer, and the exporter needs its retries just as much").edits("/src/app/a.go").answers("Done.")
	if got := of(kept.extract(t), memoir.StatementTask); !holds(got, "add retries to the uploader") {
		t.Errorf("the first was worked on: %q", got)
	}
}

func TestWhatWasTakenBackIsNoTask(t *testing.T) {
	t.Parallel()
	old, fresh := "  render(theme, frame)\n", "  later(() => render(theme, frame))\n"
	s := work().answers("Done.").says("the picker needs to render in the next tick, or else we get artifacts").narrates("You're right! The picker renders while the frame is drawn.").
		rewrites("/src/app/picker.ts", old, fresh).answers("Rendering waits for the next tick now.").
		says("yeah you can undo that, it was actually the console output in frame.ts that broke the picture").rewrites("/src/app/picker.ts", fresh, old).answers("Done, it is back.")
	e := s.extract(t)
	if holds(of(e, memoir.StatementTask), "next tick") || holds(of(e, memoir.StatementDecision), "next tick, or else") {
		t.Errorf("got\n%s", e.RawMemory)
	}
	if !holds(of(e, memoir.StatementDecision), "it was actually the console output in frame.ts") {
		t.Errorf("the cause is lost:\n%s", e.RawMemory)
	}
}

func TestAReportIsNotFixedWhileChecksFail(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]bool{`[{"bucket":"fail","name":"nightly"}]`: false, `[{"bucket":"pending","name":"nightly"}]`: false, `{"pending":[],"passed":23}`: true} {
		got := of(work().answers("Opened.").says("address the failing checks of the branch").edits("/src/app/a.go").runs("gh pr checks 7 --json name,bucket", 0, output).answers("Fixed the checks.").extract(t), memoir.StatementTask)
		if holds(got, "(fixed in the session)") != want {
			t.Errorf("%s: got %q", output, got)
		}
	}
}
