package extract_test

import (
	"strings"
	"testing"

	"memoir"
	"memoir/extract"
)

// What stands in an instruction or build file is said there; a part of a sentence or of a command is not.
func TestTheProjectsOwnFilesSayALine(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"CONTRIBUTING.md": "# Working here\n\nGenerated files are never edited by hand. Releases need two reviews, " +
			"which the bot\ncounts.\n\n- Run `just probe [NAME]` for one probe, or `just probes`.\n\n" +
			"```sh\n$ ./tools/check.sh --deep  # slow\nyarn storybook\n```\n\nDo not sweep dust alone.\n",
		"package.json":     `{"scripts": {"tidy": "biome format .", "e2e:ci": "playwright test"}}`,
		"Cargo.toml":       "[package]\nname = \"ferry\"\n",
		"web/package.json": `{"scripts": {"preview": "vite preview"}}`,
	}
	for line, want := range map[string]string{
		"- Generated files are never edited by hand [0a1b2c3d 2026-05-01]": "CONTRIBUTING.md",
		"Releases need two reviews, which the bot counts.":                 "CONTRIBUTING.md",
		"Releases need two reviews":                                        "",
		"edited by hand":                                                   "",
		"Generated files are never edited by hand. They are large.":        "",
		"check: `./tools/check.sh --deep`":                                 "CONTRIBUTING.md",
		"check: `./tools/check.sh --deep --all`":                           "",
		"check: `./tools/check.sh`":                                        "",
		"run: `just probe tides`, also with other arguments":               "CONTRIBUTING.md",
		"run: `just probes`":                                               "CONTRIBUTING.md",
		"run: `just probes` takes an hour without the cache":               "",
		"run: `yarn storybook`":                                            "CONTRIBUTING.md",
		"run: `yarn storybook` in `web`":                                   "",
		"run: `npm run preview` in `web`":                                  "web/package.json",
		"run: `npm run preview`":                                           "",
		"format: `npm run tidy`":                                           "package.json",
		"test: `npm run e2e:ci`":                                           "package.json",
		"format: `npm run tidy -- --changed`":                              "",
		"format: `biome format .`":                                         "package.json",
		"test: `cargo test`":                                               "Cargo.toml",
		"test: `cargo test --features tide`":                               "",
		"run: `sweep dust`":                                                "",
		"before a commit: `npm run tidy` && `cargo test`":                  "",
	} {
		own := extract.Own{Files: files}
		if got := own.Says(line); got != want {
			t.Errorf("%q is said by %q, not by %q", line, got, want)
		}
	}
}

// A session marks what it read in such a file, unless it changed the file since.
func TestAStatementIsMarkedIfTheSessionReadItInAFileOfTheProject(t *testing.T) {
	t.Parallel()
	guide := "Guide\n\n- `task sail` sails.\n- `task moor` moors.\n"
	read := memoir.Item{N: 1, Kind: memoir.ItemTool, Tool: "Read", Input: `{"file_path":"/w/app/AGENTS.md"}`,
		Output: "     1\t" + strings.ReplaceAll(guide, "\n", "\n     2\t"), CWD: "/w/app"}
	cat := memoir.Item{N: 1, Kind: memoir.ItemTool, Tool: "bash", Input: "cat AGENTS.md", Output: guide, CWD: "/w/app"}
	edit := memoir.Item{N: 2, Kind: memoir.ItemTool, Tool: "Edit", CWD: "/w/app",
		Input: `{"file_path":"/w/app/AGENTS.md","old_string":"- ` + "`task sail`" + ` sails.","new_string":"- Sail."}`}
	for what, test := range map[string]struct {
		items []memoir.Item
		want  string
	}{
		"read":    {[]memoir.Item{read}, "AGENTS.md"},
		"printed": {[]memoir.Item{cat}, "AGENTS.md"},
		"edited":  {[]memoir.Item{read, edit}, ""},
		"unread":  {nil, ""},
	} {
		e := memoir.Extraction{CWD: "/w/app", Statements: []memoir.Statement{
			{Kind: memoir.StatementCommand, Text: "run: `task sail`", Items: []int{1}},
			{Kind: memoir.StatementFailure, Text: "`task sail`", Items: []int{1}},
		}}
		extract.Anchors(e, "/w/app", test.items, nil)
		if got := e.Statements; got[0].Stands != test.want || got[1].Stands != "" {
			t.Errorf("%s: the command stands in %q, the failure in %q", what, got[0].Stands, got[1].Stands)
		}
	}
}
