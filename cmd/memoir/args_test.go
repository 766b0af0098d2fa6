package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/internal/commandline"
)

func testApp() *cli.App { return newApp(newProgram([]string{"HOME=/nonexistent"})) }

func TestFlagsMayStandAnywhere(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ given, want string }{
		{"run", "run"},
		{"--all run", "run --all"},
		{"--home /h run", "run --home=/h"},
		{"run --home=/h --all", "run --home=/h --all"},
		{"show abc --json", "show --json -- abc"},
		{"--json show abc --budget 12", "show --json --budget=12 -- abc"},
		{"show -qv abc", "show -qv -- abc"},
		{"sessions --home /h disable abc", "sessions disable --home=/h -- abc"},
		{"sessions disable abc --home /h", "sessions disable --home=/h -- abc"},
		{"reset --yes --all", "clear --yes --all"},
		{"scan -", "scan -- -"},
		{"scan -- --json", "scan -- --json"},
		{"run --home --odd", "run --home=--odd"},
		{"config set limits.costPerDay -5", "config set -- limits.costPerDay -5"},
		{"config set -q providers.mine.command ask --json -- -v", "config set -q -- providers.mine.command ask --json -- -v"},
		{"config set providers.mine.command -q ask --home /h", "config set -q -- providers.mine.command ask --home /h"},
		{"config set memories.enabled true --home /h -q", "config set --home=/h -q -- memories.enabled true"},
		{"show run", "show -- run"},
		{"help run", "run --help"},
		{"help sessions disable", "sessions disable --help"},
		{"help", "--help"},
		{"help -h run", "run --help"},
		{"-h run", "run -h"},
		{"xyzzy run", "-- xyzzy run"},
	} {
		line, _ := commandline.Arrange(testApp(), strings.Fields(test.given), config.IsList)
		if got := strings.Join(line, " "); got != test.want {
			t.Errorf("%s: got %s, want %s", test.given, got, test.want)
		}
	}
}

func TestNoSlipLeadsToACommandThatDestroys(t *testing.T) {
	t.Parallel()
	for _, given := range []string{"resett", "rset", "reste", "claer", "clea", "clears", "remove", "delete"} {
		err := newProgram([]string{"HOME=/nonexistent"}).execute(t.Context(), []string{given})
		if err == nil {
			t.Errorf("%s: no error", given)
		} else if hint := memoir.HintOf(err); strings.Contains(hint, "clear") || strings.Contains(hint, "reset") {
			t.Errorf("%s: hint %q", given, hint)
		}
	}
}

func TestASlipIsAnsweredWithWhatWasMeant(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ given, message, hint string }{
		{"stauts", `unknown command "stauts"`, "did you mean `memoir status`?"},
		{"sesions --json", `unknown command "sesions"`, "did you mean `memoir sessions`?"},
		{"restor 7", `unknown command "restor"`, "did you mean `memoir restore`?"},
		{"xyzzy", `unknown command "xyzzy"`, ""},
		{"run --jsno", "run has no flag --jsno", "did you mean --json?"},
		{"sessions --hom /h", "sessions has no flag --hom", "did you mean --home?"},
		{"search --all-projects x", "search has no flag --all-projects", "did you mean --all?"},
		{"search cargo test --lib", "search has no flag --lib", "`memoir search --help` lists the flags; text with dashes, such as a command, is put in quotes"},
		{"view --limit 3", "view has no flag --limit", "`memoir view --help` lists the flags"},
		{"-x run", "run has no flag -x", "`memoir run --help` lists the flags"},
		{"--nosuch", "memoir has no flag --nosuch", "`memoir --help` lists the flags"},
		{"sessions disabel abc", `unexpected argument "disabel" of sessions`, "did you mean `memoir sessions disable`?"},
		{"run now", `unexpected argument "now" of run`, ""},
		{"help stauts", `unknown command "stauts"`, "did you mean `memoir status`?"},
	} {
		err := newProgram([]string{"HOME=/nonexistent"}).execute(t.Context(), strings.Fields(test.given))
		if err == nil {
			t.Errorf("%s: no error", test.given)
			continue
		}
		if err.Error() != test.message || memoir.HintOf(err) != test.hint {
			t.Errorf("%s: got %q, hint %q; want %q, hint %q", test.given, err, memoir.HintOf(err), test.message, test.hint)
		}
		if code := exitCode(err); code != exitUsage {
			t.Errorf("%s: exit code %d", test.given, code)
		}
	}
}

// commandline.Arrange parses flags before the command is known, so a flag must take a value in all commands or in none.
func TestAFlagTakesAValueInEveryCommandOrInNone(t *testing.T) {
	t.Parallel()
	app := testApp()
	takes := map[string]bool{}
	for c := range commandline.Every(app.Commands) {
		for _, f := range c.Flags {
			value := f.(cli.DocGenerationFlag).TakesValue()
			for _, name := range f.Names() {
				if before, seen := takes[name]; seen && before != value {
					t.Errorf("--%s of %s takes a value in one command and not in another", name, c.Name)
				}
				takes[name] = value
			}
		}
	}
}

func TestEveryCommandSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	for c := range commandline.Every(testApp().Commands) {
		if c.Usage == "" || !strings.Contains(c.Description, "Examples:\n  ") || !strings.Contains(c.Description, "memoir ") {
			t.Errorf("%s: usage, description or example is missing", c.Name)
		}
	}
}

func FuzzArrange(f *testing.F) {
	for _, seed := range []string{"run --all", "--", "-", "show -- --json", "--=", "-=x run", "help help", "run --home"} {
		f.Add(seed)
	}
	app := testApp()
	f.Fuzz(func(t *testing.T, text string) {
		args := strings.Split(text, " ")
		line, _ := commandline.Arrange(app, args, config.IsList)
		if again, _ := commandline.Arrange(app, line, config.IsList); !slices.Equal(again, line) {
			t.Errorf("%q: arranged again %q becomes %q", args, line, again)
		}
	})
}
