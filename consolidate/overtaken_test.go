package consolidate_test

import (
	"strings"
	"testing"
)

func TestWhatALaterSessionRemovedIsGone(t *testing.T) {
	t.Parallel()
	c := build(t, input(
		session(0, id(1), "Files: `pkg/tui/render.go` — changed 3 times", "Files: `pkg/tui/keep.go` — changed 3 times", "Files: `pkg/old.go` — changed", "Files: `main.go` — changed",
			"Decisions: `pkg/tui/render.go` must flush before it returns", "Decisions: the user: “`pkg/tui/render.go` belongs to Ann”"),
		session(1, id(2), "Outcome: done — Cleaned up: Removed `tui/render.go`, `main.go` (old); Renamed `new.go` → `main.go`; Moved `pkg/old.go` to `pkg/core/now.go`", "Outcome: Removed `keep.go` imports from the loader."),
	))
	files := under(c.MemoryMD, "## Files that matter")
	if contains(files, "render.go") || !contains(files, "keep.go") || !contains(files, "`main.go`") || contains(files, "pkg/old.go") || !contains(files, "`pkg/core/now.go` — changed") {
		t.Errorf("got %q", files)
	}
	if known := under(c.MemoryMD, "## What is known"); contains(known, "must flush") || !contains(known, "belongs to Ann") {
		t.Errorf("got %q", known)
	}
}

func TestOfValuesTheNewestStays(t *testing.T) {
	t.Parallel()
	c := build(t, input(
		session(0, id(1), "Environment: node 20.1.0 on linux-x64 (2026-01-02)", "Decisions: The cache keeps 200 entries of a tenant"),
		session(1, id(2), "Environment: node 22.4.1 on linux-x64 (2026-05-02)", "Decisions: The cache keeps 5000 entries of a tenant",
			"Outcome: done — Rewrote the palette of the terminal in `theme.go`.", "Outcome: Changed `dim` from `#444444` to `#585858` in the dark palette of the terminal.", "Outcome: Set the colors of the markdown view: `dim`: `#8abeb7`; `link`: `#00d7ff`."),
	))
	for _, old := range []string{"20.1.0", "200 entries", "#585858"} {
		if strings.Contains(c.MemoryMD, old) {
			t.Errorf("%q is of the past:\n%s", old, c.MemoryMD)
		}
	}
	for _, now := range []string{"22.4.1", "5000 entries", "#8abeb7"} {
		if !strings.Contains(c.MemoryMD, now) {
			t.Errorf("%q is missing:\n%s", now, c.MemoryMD)
		}
	}
}
