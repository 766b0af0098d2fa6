package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"memoir"
	"memoir/hub/hubtest"
	"memoir/search"
	"memoir/store"
	"memoir/testdata"
)

func TestMain(m *testing.M) {
	if book := os.Getenv(scribeVariable); book != "" {
		if answerAsScribe(book) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(peakVariable) != "" {
		os.Exit(startAndSayPeak())
	}
	testscript.Main(tidied{m}, map[string]func(){"memoir": main})
}

// tidied removes the shared files after all tests.
type tidied struct{ *testing.M }

var sharedRoot string

func (m tidied) Run() int {
	var err error
	if sharedRoot, err = os.MkdirTemp("", "memoir-tests-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(sharedRoot)
	defer hubtest.Stop()
	time.Local = time.UTC
	return m.M.Run()
}

// sharedDir returns a new directory that exists until all tests have ended.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(sharedRoot, "")
	must(t, err)
	return dir
}

// TestScripts runs the scripts in testdata/script, one behaviour per file, with these additional commands:
//
//	fixtures DIR           writes the fixture sessions to DIR, and the planted
//	                       secrets to DIR.planted, one per line
//	json [PATH [VALUE]]    checks that the last standard output is one JSON object in
//	                       which PATH, in gjson's syntax, exists or has the VALUE
//	spend HOME DAY PROJECT MODEL PHASE OUTCOME IN OUT COST
//	                       adds a call to the ledger, without an end if OUTCOME is
//	                       unfinished
//	hub start|stop         a hub in memory at $HUB, with codes in files: anna-1,
//	                       anna-2, ben-1, ben-2, carl-1; hub revoke TOKEN revokes a token;
//	                       hub publish N PROJECT DIR makes the files of DIR its
//	                       generation, with ESC and SECRET replaced by such; hub got
//	                       writes all that it received to the file got, and hub
//	                       damage PROJECT damages the generation
//	nosecret PLANTED FILE...
//	                       checks that files, directories, stdout or stderr contain
//	                       no secret of the file PLANTED
func TestScripts(t *testing.T) {
	t.Parallel()
	path := filepath.Dir(released(t)) + string(os.PathListSeparator)
	testscript.Run(t, testscript.Params{
		Dir:       "testdata/script",
		Condition: func(name string) (bool, error) { return name == "fts5" && search.Available, nil },
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "user")
			env.Setenv("HOME", home)
			env.Setenv("PATH", path+env.Getenv("PATH"))
			env.Setenv("NOW", testdata.Now.Format("2006-01-02T15:04:05Z07:00"))
			for _, name := range []string{"XDG_DATA_HOME", "XDG_CONFIG_HOME", "NO_COLOR"} {
				env.Setenv(name, "")
			}
			env.Setenv("TZ", "UTC")
			env.Setenv("GOGC", os.Getenv("GOGC"))
			env.Values["hub"] = new([]*fakeHub)
			return os.MkdirAll(home, 0o700)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"fixtures": writeFixtures,
			"json":     checkJSON,
			"nosecret": checkNoSecret,
			"spend":    spend,
			"hub":      scriptHub,
		},
	})
}

// buildTags are those of `make test`, so that a package is compiled once.
func buildTags() string {
	tags := "urfave_cli_no_docs"
	if search.Available {
		tags += ",sqlite_fts5"
	}
	return tags + ",failpoint"
}

// programVariable is the path of the built program for child processes of the tests.
const programVariable = "MEMOIR_TEST_PROGRAM"

// built returns the path of the program with failpoints, "" without a go command. The program has no race detector,
// which makes a process slow to start. Tests of other packages and commands in this process cover data races.
var built = once(func(t *testing.T) string {
	t.Helper()
	if path := os.Getenv(programVariable); path != "" {
		return path
	}
	if _, err := exec.LookPath("go"); err != nil {
		return ""
	}
	path := filepath.Join(sharedDir(t), "memoir")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	cmd := exec.Command("go", "build", "-tags", buildTags(), "-ldflags", "-s -w", "-o", path, ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
})

// released returns the path of the program: the result of built, or this test binary as memoir.
func released(t *testing.T) string {
	t.Helper()
	if path := built(t); path != "" {
		return path
	}
	path, err := exec.LookPath("memoir") // installed by testscript.Main
	must(t, err)
	return path
}

// withFailpoints returns the path of the program with failpoints. It skips the test without a go command.
func withFailpoints(t *testing.T) string {
	t.Helper()
	path := built(t)
	if path == "" {
		t.Skip("no go here to build the program with failpoints")
	}
	return path
}

// environment returns the environment of a program that a test starts, without the user's variables.
func environment(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "GOGC=" + os.Getenv("GOGC")}, more...)
}

func writeFixtures(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fixtures DIR")
	}
	dir := ts.MkAbs(args[0])
	planted, err := testdata.Write(dir)
	ts.Check(err)
	ts.Check(os.WriteFile(dir+".planted", []byte(strings.Join(planted, "\n")), 0o600))
}

func spend(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 9 {
		ts.Fatalf("usage: spend HOME DAY PROJECT MODEL PHASE OUTCOME IN OUT COST")
	}
	at, err := time.Parse(time.DateOnly, args[1])
	ts.Check(err)
	number := func(text string) float64 {
		n, err := strconv.ParseFloat(text, 64)
		ts.Check(err)
		return n
	}
	at = at.Add(23 * time.Hour)
	st, err := store.Open(context.Background(), filepath.Join(ts.MkAbs(args[0]), databaseName), store.Options{Now: func() time.Time { return at }})
	ts.Check(err)
	defer st.Close()
	usage := memoir.Usage{Calls: 1, InputTokens: int64(number(args[6])), OutputTokens: int64(number(args[7])), Cost: number(args[8])}
	id, err := st.BeginCall(context.Background(),
		store.Call{Work: "w", Run: "r", ProjectID: args[2], Model: args[3], Phase: args[4], Expected: usage}, nil)
	ts.Check(err)
	if args[5] != store.OutcomeUnfinished {
		ts.Check(st.EndCall(context.Background(), id, store.CallEnd{Usage: usage}))
		ts.Check(st.EndWork(context.Background(), "w", args[2], args[5]))
	}
}

func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	out := ts.ReadFile("stdout")
	var object map[string]any
	if err := json.Unmarshal([]byte(out), &object); err != nil {
		ts.Fatalf("standard output is not one JSON object: %v", err)
	}
	if len(args) == 0 {
		return
	}
	value := gjson.Get(out, args[0])
	if len(args) == 1 {
		if value.Exists() == neg {
			ts.Fatalf("%s: exists is %v", args[0], value.Exists())
		}
		return
	}
	if got := value.String(); (got == args[1]) == neg {
		ts.Fatalf("%s is %q", args[0], got)
	}
}

func checkNoSecret(ts *testscript.TestScript, neg bool, args []string) {
	planted := strings.Split(ts.ReadFile(args[0]), "\n")
	found := ""
	look := func(name, content string) {
		if slices.ContainsFunc(planted, func(secret string) bool { return strings.Contains(content, secret) }) {
			found = name
		}
	}
	for _, name := range args[1:] {
		if name == "stdout" || name == "stderr" {
			look(name, ts.ReadFile(name))
			continue
		}
		ts.Check(filepath.WalkDir(ts.MkAbs(name), func(path string, entry os.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			look(path, string(content))
			return err
		}))
	}
	if (found != "") != neg {
		ts.Fatalf("planted secrets are in %q", found)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("anything"), 1},
		{memoir.Errorf(memoir.CodeNotFound, "", "no such session"), 1},
		{memoir.Errorf(memoir.CodeCorrupt, "", "damaged"), 1},
		{memoir.Errorf(memoir.CodeUsage, "", "unknown flag"), 2},
		{fmt.Errorf("load: %w", memoir.Errorf(memoir.CodeConfig, "", "out of range")), 2},
		{status(3), 3},
		{memoir.Errorf(memoir.CodeBusy, "", "held by another"), 4},
		{memoir.Errorf(memoir.CodeInterrupted, "", "interrupted"), 130},
		{fmt.Errorf("read: %w", context.Canceled), 130},
	} {
		if got := exitCode(test.err); got != test.want {
			t.Errorf("%v: exit code %d, want %d", test.err, got, test.want)
		}
	}
}

// codeOf returns the exit code of a process that ended with err: -1 if a signal ended it. For a process that could not
// be started, it fails the test and returns -2. Any goroutine may call it.
func codeOf(t testing.TB, err error) int {
	t.Helper()
	if err == nil {
		return exitDone
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Error(err)
		return -2
	}
	return exit.ExitCode()
}
