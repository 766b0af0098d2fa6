package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"memoir"
)

func testApp() *cli.App { return newApp(newProgram([]string{"HOME=/nonexistent"})) }

func TestFlagsMayStandAnywhere(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ given, want string }{
		{"run", "run"},
		{"run --all", "run --all"},
		{"--all run", "run --all"},
		{"--home /h run", "--home=/h run"},
		{"run --home /h", "--home=/h run"},
		{"run --home=/h --all", "--home=/h run --all"},
		{"show abc --json", "show --json -- abc"},
		{"show --json abc", "show --json -- abc"},
		{"--json show abc --budget 12", "show --json --budget=12 -- abc"},
		{"show abc -q", "-q show -- abc"},
		{"show -qv abc", "-q -v show -- abc"},
		{"sessions disable abc", "sessions disable -- abc"},
		{"sessions --home /h disable abc", "--home=/h sessions disable -- abc"},
		{"sessions disable abc --home /h", "--home=/h sessions disable -- abc"},
		{"reset --yes --all", "clear --yes --all"},
		{"clear -y", "clear -y"},
		{"scan -", "scan -- -"},
		{"scan -- --json", "scan -- --json"},
		{"show -- -odd", "show -- -odd"},
		{"run --limit 3 --limit 4", "run --limit=3 --limit=4"},
		{"retry --all", "retry --all"},
		{"show run", "show -- run"},
		{"help run", "run --help"},
		{"help sessions disable", "sessions disable --help"},
		{"help", "--help"},
		{"run --help", "run --help"},
		{"-h run", "run -h"},
		{"--help", "--help"},
	} {
		line, err := arrange(testApp(), strings.Fields(test.given))
		if err != nil {
			t.Errorf("%s: %v", test.given, err)
			continue
		}
		if got := strings.Join(line.args, " "); got != test.want {
			t.Errorf("%s: got %s, want %s", test.given, got, test.want)
		}
	}
}

func TestAValueMayLookLikeAFlag(t *testing.T) {
	t.Parallel()
	line, err := arrange(testApp(), []string{"run", "--home", "--odd", "--now", ""})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"--home=--odd", "run", "--now="}; !slices.Equal(line.args, want) {
		t.Errorf("got %q, want %q", line.args, want)
	}
}

func TestVersionIsFoundAnywhere(t *testing.T) {
	t.Parallel()
	for _, given := range []string{"--version", "run --version", "--version show"} {
		if line, err := arrange(testApp(), strings.Fields(given)); err != nil || !line.version {
			t.Errorf("%s: version %v, error %v", given, line.version, err)
		}
	}
}

func TestNoSlipLeadsToACommandThatDestroys(t *testing.T) {
	t.Parallel()
	for _, given := range []string{"resett", "rset", "reste", "claer", "clea", "clears", "remove", "delete"} {
		_, err := arrange(testApp(), strings.Fields(given))
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
		{"version", `unknown command "version"`, "did you mean `memoir --version`?"},
		{"xyzzy", `unknown command "xyzzy"`, "`memoir help` lists the commands"},
		{"run --jsno", "run has no flag --jsno", "did you mean --json?"},
		{"run --limt=3", "run has no flag --limt", "did you mean --limit?"},
		{"sessions --hom /h", "sessions has no flag --hom", "did you mean --home?"},
		{"view --json", "view has no flag --json", "`memoir help view` lists the flags"},
		{"run --xyzzy", "run has no flag --xyzzy", "`memoir help run` lists the flags"},
		{"-x run", "run has no flag -x", "`memoir help run` lists the flags"},
		{"sessions disabel abc", `unexpected argument "disabel" of sessions`, "did you mean `memoir sessions disable`?"},
		{"run now", `unexpected argument "now" of run`, "`memoir help run` shows the usage"},
		{"run --limit", "flag --limit needs a value", ""},
		{"help stauts", `unknown command "stauts"`, "did you mean `memoir status`?"},
	} {
		_, err := arrange(testApp(), strings.Fields(test.given))
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

// arrange reads a flag before it knows the command, so a name must take a value
// everywhere or nowhere.
func TestAFlagTakesAValueInEveryCommandOrInNone(t *testing.T) {
	t.Parallel()
	app := testApp()
	takes := map[string]bool{}
	look := func(command string, flags []cli.Flag) {
		for _, f := range flags {
			value := f.(cli.DocGenerationFlag).TakesValue()
			for _, name := range f.Names() {
				if before, seen := takes[name]; seen && before != value {
					t.Errorf("--%s of %s takes a value in one command and not in another", name, command)
				}
				takes[name] = value
			}
		}
	}
	look("memoir", app.Flags)
	for c := range everyCommand(app.Commands) {
		look(c.Name, c.Flags)
	}
}

func TestEveryCommandSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	for c := range everyCommand(testApp().Commands) {
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
		line, err := arrange(app, args)
		if err != nil {
			if exitCode(err) != exitUsage {
				t.Errorf("%q: exit code %d for %v", args, exitCode(err), err)
			}
			return
		}
		again, err := arrange(app, line.args)
		if err != nil || !slices.Equal(again.args, line.args) {
			t.Errorf("%q: arranged again %q becomes %q, %v", args, line.args, again.args, err)
		}
	})
}
