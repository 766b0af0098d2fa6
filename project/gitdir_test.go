package project

import (
	"os"
	"path/filepath"
	"testing"
)

func TestARepositoryThatMovedIsTheSameByItsRemote(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.repo("app", "https://example.com/team/app")
	before, _ := g.resolver().Identify(g.path("app"), "")
	if err := os.Rename(g.path("app"), g.path("elsewhere")); err != nil {
		t.Fatal(err)
	}
	after, _ := g.resolver().Identify(g.path("elsewhere"), "")
	if before.ID != after.ID || before.Aliases[0] != g.path("app") || after.Aliases[0] != g.path("elsewhere") {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

func TestARecordedRemoteTellsWhatTheDirectoryWasKnownAs(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.repo("now", "https://example.com/team/another")
	g.dir("plain")
	for cwd, want := range map[string]int{"gone": 1, "plain": 1, "now": 0, "temp/x": 0} {
		p, _ := g.resolver().Identify(g.path(cwd), "https://example.com/team/app")
		if len(p.Aliases) != want || want > 0 && p.Aliases[0] != g.path(cwd) {
			t.Errorf("%s: aliases %q", cwd, p.Aliases)
		}
	}
}

func TestTheRemoteOfAConfiguration(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		"[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@h:a/b.git\n\tfetch = +refs/*:refs/*\n": "git@h:a/b.git",
		"[remote \"up\"]\nurl=u\n[remote \"origin\"]\nurl=o\n":                                           "o",
		"[remote \"o\"]\npushurl = p\nurl = a\nurl = b\n[REMOTE \"x\"]\nURL = y\n":                       "a",
		"[remote \"o\"]\nurl = \"a\" ; d\n#url = z\n":                                                    "a",
		"\ufeff[remote \"o\"]\r\nurl = x\r\n":                                                            "x",
		"[remote \"o\"]\nurl =\nurl\n":                                                                   "",
		"[url \"https://h/\"]\ninsteadOf = h:\n[remote \"o\"]\nurl = h:x\n":                              "h:x",
		"url = x\n[remote]\nurl = y\n[branch \"m\"]\nurl = z\n[remote \"o\nurl = x\n[":                   "",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := (repository{common: dir}).remotes()[0]; got != want {
			t.Errorf("%q: got %q, want %q", config, got, want)
		}
	}
}
