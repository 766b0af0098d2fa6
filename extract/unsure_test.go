package extract_test

import (
	"testing"

	"memoir"
)

// noted are the decisions and outcomes of a session.
func noted(e memoir.Extraction) []string {
	return append(of(e, memoir.StatementDecision), of(e, memoir.StatementOutcome)...)
}

func TestWhatIsSupposedAskedForOrOfferedIsNotKnown(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		said string
		kept string // a part that stays; empty if nothing does
	}{
		{"`Mixer.flush` drops the last frame because `drain` returns early.", "drops the last frame"},
		{"`Mixer.flush` probably drops the last frame because `drain` returns early.", ""},
		{"I suspect that `Mixer.flush` drops the last frame because `drain` returns early.", ""},
		{"`Mixer.flush` verliert wahrscheinlich das letzte Bild, weil `drain` zu früh endet.", ""},
		{"`Mixer.flush` perd sans doute la dernière image, parce que `drain` finit trop tôt.", ""},
		{"`Mixer.flush` pierde el último cuadro, creo que porque `drain` termina antes.", ""},
		{"`drain` が先に戻るのが原因で `Mixer.flush` の最後のフレームが消えると思います。", ""},
		{"可能是因为 `drain` 提前返回，所以 `Mixer.flush` 丢失最后一帧。", ""},

		{"The compiler says that `Mixer.flush` must be `const` because `Mixer` is.", "must be `const`"},
		{"The installer's banner says that `node-18` is deprecated and asks to move to `node-22` instead of it.", ""},
		{"The page also recommends `--force-reinstall`, because `pip` never replaces `wheel` itself.", ""},

		{"To shrink the archive I could also switch `tar` to `zstd`, because it packs twice as well.", ""},
		{"Alternatively `tar` runs with `zstd`, because it packs twice as well.", ""},
		{"If you want, `tar` gets `zstd` as its default, because it packs twice as well.", ""},
	} {
		for name, s := range map[string]*talk{
			"alone":   work().answers(test.said),
			"on edit": work().edits("/src/app/mixer.go").answers("All good here. " + test.said),
		} {
			got := noted(s.says("thanks, now lint").runs("make lint", 0, "ok").answers("Done.").extract(t))
			if test.kept != "" && !holds(got, test.kept) || test.kept == "" && (holds(got, "`drain`") || holds(got, "`node-22`") || holds(got, "wheel") || holds(got, "zstd")) {
				t.Errorf("%s: %q: got %q, want %q", name, test.said, got, test.kept)
			}
		}
	}
}

func TestCommonKnowledgeIsNoFinding(t *testing.T) {
	t.Parallel()
	answer := "`Array.at` never throws, because it returns `undefined` beyond the end."
	for _, asked := range []string{"does Array.at throw beyond the end", "Wirft Array.at hinter dem Ende?"} {
		if got := of(new(talk).says(asked).answers(answer).says("thx").answers("Welcome!").extract(t), memoir.StatementDecision); len(got) > 0 {
			t.Errorf("%q: got %q", asked, got)
		}
	}
	if got := of(new(talk).says("does Array.at throw in our shim?").runs("cat shim.js", 0, "x").answers(answer).extract(t), memoir.StatementDecision); !holds(got, "never throws") {
		t.Errorf("it was looked up in the project: %q", got)
	}
}

func TestWhatIsLeftToBeDoneIsSaidInPassing(t *testing.T) {
	t.Parallel()
	got := of(work().answers("`Store.Load` is still called by `cmd/export`, because it must read old files; moving `cmd/export` to `Open` is the next step.").extract(t), memoir.StatementDecision)
	if len(got) != 1 || !holds(got, "is the next step. (in passing)") {
		t.Errorf("got %q", got)
	}
}
