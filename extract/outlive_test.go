package extract_test

import (
	"testing"

	"memoir"
)

func TestAStateThatAnEditReworkedIsNotTold(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		said  string
		stays bool
	}{
		{"`startNote` takes `voices_lock`, which isn't free on the `render` thread.", false},
		{"`startNote` must not take `voices_lock`, since the `render` thread calls it.", true},
		{"`tuneAll` reads the `pitch` table, which isn't there on the `render` thread.", true},
	} {
		got := noted(work().answers(test.said+" Shall I mend that?").says("yes, mend it").
			rewrites("/src/app/voice.cc", "Guard guard(voices_lock);\n++count;", "count.fetch_add(1);").answers("Mended. The counter is atomic.").extract(t))
		if holds(got, test.said[:20]) != test.stays {
			t.Errorf("%q: got %q, want it kept: %v", test.said, got, test.stays)
		}
	}
}

func TestADefectToldBeforeItsMendIsNotTold(t *testing.T) {
	t.Parallel()
	defect := "`Graph.close` had reported loose ends, but `Graph.solve` doesn't check them. I'm adding that check to it."
	if got := noted(work().narrates(defect).edits("/src/app/graph.go").answers("Done.").extract(t)); holds(got, "doesn't check") {
		t.Errorf("mended since: %q", got)
	}
	if got := noted(work().narrates(defect).runs("make check", 0, "ok").answers("Done.").extract(t)); !holds(got, "doesn't check") {
		t.Errorf("nothing was edited: %q", got)
	}
}

func TestAnAnnouncedDesignThatDidNotLastIsNoDecision(t *testing.T) {
	t.Parallel()
	step := "I'll make the reader of profiles ask the daemon for each key rather than load the whole file, with a fallback to the file."
	s := work().narrates(step).rewrites("/src/app/read.go", "return loadFile(path)", "return askDaemon(key, path)")
	if got := of(s.narrates("That is built.").answers("Done.").extract(t), memoir.StatementDecision); !holds(got, "ask the daemon") {
		t.Errorf("the design lasted, yet is lost: %q", got)
	}
	s = work().narrates(step).rewrites("/src/app/read.go", "return loadFile(path)", "return askDaemon(key, path)").narrates("That is built.").
		rewrites("/src/app/read.go", "return askDaemon(key, path)", "return cached(path).value(key)")
	if got := of(s.answers("Done.").extract(t), memoir.StatementDecision); holds(got, "ask the daemon") {
		t.Errorf("another design took its place: %q", got)
	}
}

func TestWhatAPersonAskedBackIsNotKnown(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		asked string
		back  bool
	}{
		{"please set minify back to true, the kiosk needs it", true},
		{"revert the minify change, the kiosk needs it", true},
		{"minify vuelve a true, el quiosco lo necesita", true},
		{"stell minify bitte zurück, der Kiosk braucht es", true},
		{"is minify back to normal now?", false},
		{"go back to the list and take the next point", false},
	} {
		got := noted(work().edits("/src/app/build.toml").answers("`build.enableMinify` is `false` now: no gain in time, but `kiosk` must not depend on it.").
			says(test.asked).edits("/src/app/other.toml").answers("Done.").extract(t))
		if holds(got, "no gain in time") == test.back {
			t.Errorf("%q: got %q", test.asked, got)
		}
	}
}
