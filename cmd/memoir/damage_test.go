//go:build unix

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// damaging runs a line of testdata/damages.txt on a file in a shell: $0 is a copy of the file, $1 its path, $2 a random
// offset in it and $3 its size. undo restores the file.
func damaging(t testing.TB, path, line string, random *rand.Rand) (undo func()) {
	t.Helper()
	aside, copied := filepath.Join(t.TempDir(), "aside"), filepath.Join(t.TempDir(), "copy")
	copyHome(t, path, aside)
	b, err := os.ReadFile(path)
	if err != nil { // path is a directory
		b = []byte("text\n")
	}
	must(t, errors.Join(os.WriteFile(copied, b, 0o600), os.RemoveAll(path)))
	cmd := exec.Command("sh", "-c", line, copied, path, fmt.Sprint(random.IntN(len(b)+1)), fmt.Sprint(len(b)))
	if out := capture(t, cmd); out.code != exitDone {
		t.Errorf("%s: %s", line, out.stderr)
	}
	return func() {
		must(t, os.RemoveAll(path))
		copyHome(t, aside, path)
	}
}

// bears checks that commands end in time, without a crash and with a hint after an error. Hooks must succeed. It returns
// the output of the last one, a run.
func (try trial) bears(t *testing.T, what string, random *rand.Rand) (out output) {
	t.Helper()
	lines := []string{"status", "view --project papertrail", "doctor", "sessions", "inject --agent claude", "config",
		"trust --list", "log --project papertrail", "projects"}
	random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	for _, line := range append(lines[:3], "run", "retry --all", "run --all") {
		cmd := try.command("", strings.Fields(line)...)
		cmd.Env = append(cmd.Env, "MEMOIR_MEMORIES_ENABLED=true")
		cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `exec timeout -s KILL 120 "$0" "$@"`}, cmd.Args...)
		out = capture(t, cmd)
		if out.code < exitDone || out.code > exitBusy || strings.Contains(out.stderr, "goroutine ") ||
			strings.HasPrefix(line, "inject") && (out.code != exitDone || out.stderr != "") ||
			out.code != exitDone && line != "doctor" && !strings.Contains(out.stderr, "memoir: hint: ") {
			t.Errorf("%s: memoir %s: %d: %.2000s", what, line, out.code, out.stderr)
		}
	}
	return out
}

// holdsEdits matches the files with the hand edit that no run has seen, and the archive that shows what was edited:
// without it, all lines of the file count as written by hand (docs/repair.md).
var holdsEdits = regexp.MustCompile(`^home/projects(?:$|/papertrail-\*(?:$|/live|/memory/|/generations))`)

// A file of a home, of settings or of sessions is damaged. Commands succeed or fail with a plain error. The next run
// has the same result as without damage, with all hand edits, at the latest after the file is restored.
func TestNoDamageOfAFileOutlastsItOrLosesWhatAPersonWrote(t *testing.T) {
	t.Parallel()
	many := by(t, 6, 340, every)
	x := newTorture(t, fixtures(t), "", "enqueue", "--all")
	first := x.trial(t)
	for i, args := range [][]string{nil, x.args, nil} {
		first.succeeds(t, "a run", args...)
		edit(t, first.home, fmt.Sprintf("\n## House rules %d\n\n- never on a Friday, but in week %d\n", i, i))
	}
	x.before = first.home
	x.undisturbed(t)
	kinds, damaged := linesIn(t, "damages.txt"), linesIn(t, "damaged_files.txt")
	x.trials(t, min(many, len(kinds)*len(damaged)), func(try trial, k int) {
		random := chance(t, fmt.Sprint(k))
		file := damaged[k%len(damaged)]
		kind, line, _ := strings.Cut(kinds[(k/len(damaged)+k+int(seed))%len(kinds)], ": ")
		try.torture = newTorture(t, filepath.Join(try.dir, "sessions"), try.home)
		copyHome(t, x.sessions, try.sessions)
		put(t, filepath.Join(try.user, ".config", "memoir", "config.yml"), "memories: {enabled: true, concurrency: 2}\n")
		if rules := "user/.config/memoir/.gitleaks.toml"; file == rules { // each command compiles them
			put(t, filepath.Join(try.dir, rules), "title = \"own\"\n[[rules]]\nid = \"own\"\nregex = '''zqx_[a-z]{9}'''\n")
		}
		put(t, filepath.Join(try.user, ".memoir.yml"), "memories: {enabled: false}\n")
		try.succeeds(t, "trust", "trust", try.user)
		try.run(t, "kill 8", "enqueue", "--all") // leaves the database's WAL file
		paths, err := filepath.Glob(filepath.Join(try.dir, file))
		if must(t, err); len(paths) == 0 {
			t.Fatalf("no %s", file)
		}
		path := paths[random.IntN(len(paths))]
		what := fmt.Sprintf("%s: %s", strings.TrimPrefix(path, try.dir), kind)
		undo := damaging(t, path, line, random)
		if out := try.bears(t, what, random); out.code != exitDone || !strings.HasPrefix(file, "home/") {
			undo()
		}
		for _, args := range [][]string{{"retry", "--all"}, x.args, nil} {
			try.succeeds(t, what+": a command after it", args...)
		}
		// SQLite has no checksums: Check finds an index that does not match its table, but no changed text.
		if file == "home/memoir.db" && (!slices.Equal(storedTexts(t, try.home), x.texts) || len(faultsOf(t, try.home)) > 0) {
			return
		}
		last := lastOf(t, try.home)
		for path, text := range last {
			if filepath.Base(path) == "MEMORY.md" && filepath.Base(file) != "MEMORY.md" && !(strings.Contains(text, "but in week 0") && strings.Contains(text, "but in week 1")) {
				t.Errorf("%s: %s lost what a person wrote", what, path)
			}
		}
		// A session with a damaged id is an additional session.
		if diff := cmp.Diff(x.last, last); diff != "" && !holdsEdits.MatchString(file) && extracted(t, try.home) == x.base {
			t.Errorf("%s: the memory differs:\n%.1500s", what, diff)
		}
	})
	t.Logf("%d cases of %d kinds of damage to %d files; %s=%d", many, len(kinds), len(damaged), seedVariable, seed)
}
