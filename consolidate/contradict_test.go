package consolidate_test

import (
	"strings"
	"testing"
)

func TestALaterPreferenceOnTheSameThingWinsAndNamesTheOlder(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ older, newer string }{
		{"“run npm test before every commit”", "“use bun now, we moved off npm”"},
		{"“always run npm ci first”", "“we switched from npm to bun, so bun install from now on”"},
		{"“use yarn for the frontend”", "“don't use yarn anymore, pnpm is what we have now”"},
		{"“use tabs for indentation”", "“use spaces for indentation from now on”"},
		{"“keep lines below 100 columns”", "“keep lines below 120 columns”"},
		{"“use jest for unit tests”", "“use vitest for unit tests”"},
		{"“always squash commits before merging”", "“never squash commits before merging”"},
		{"“use make”", "“use ninja instead of make”"},
		{"“verwende npm”", "“verwende pnpm statt npm”"},
		{"“utilise npm”", "“utilise pnpm au lieu de npm”"},
	} {
		lines := under(build(t, input(session(0, id(1), "Preferences: "+test.older), session(3, id(2), "Preferences: "+test.newer))).MemoryMD, "## User preferences")
		if len(lines) != 1 || !strings.HasPrefix(lines[0], "- "+test.newer) || !strings.Contains(lines[0], "(until 2026-07-01: "+strings.Trim(test.older, "“”")+")") {
			t.Errorf("%s after %s: got %q", test.newer, test.older, lines)
		}
		back := under(build(t, input(session(3, id(1), "Preferences: "+test.older), session(0, id(2), "Preferences: "+test.newer))).MemoryMD, "## User preferences")
		if len(back) != 1 || !strings.HasPrefix(back[0], "- "+test.older) {
			t.Errorf("%s after %s: got %q", test.older, test.newer, back)
		}
	}
}

func TestPreferencesOnDifferentThingsStandSideBySide(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"“use tabs for Makefiles”", "“use spaces for Python”"},
		{"“run npm test before every commit”", "“we moved off travis”"},
		{"“never push to main”", "“always rebase before pushing”"},
		{"“keep lines below 100 columns”", "“keep commit subjects below 50 letters”"},
		{"“use uv for everything”", "“use pytest for unit tests”"},
	} {
		lines := under(build(t, input(session(0, id(1), "Preferences: "+pair[0]), session(3, id(2), "Preferences: "+pair[1]))).MemoryMD, "## User preferences")
		if len(lines) != 2 || strings.Contains(strings.Join(lines, ""), "until") {
			t.Errorf("%q: got %q", pair, lines)
		}
	}
}
