//go:build unix

package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// patient is an installation for doctor to check: a home with the memory of fixture sessions.
type patient struct {
	trial
	t       *testing.T
	project string // folder of one project
}

// newPatients makes the installation once. Each call of the result returns a copy.
func newPatients(t *testing.T) func(t *testing.T) patient {
	t.Helper()
	sessions := few(t, len(fewNames))
	x := newTorture(t, sessions, made(t, sessions))
	fresh := func(t *testing.T) patient {
		t.Helper()
		p := patient{trial: x.trial(t), t: t}
		folders, err := filepath.Glob(filepath.Join(p.home, "projects", "lanternd-*"))
		if err != nil || len(folders) != 1 {
			t.Fatalf("%v, %v", folders, err)
		}
		p.project = folders[0]
		return p
	}
	if found := fresh(t).findings(exitDone); len(found) > 0 {
		t.Fatalf("of a sound home: %+v", found)
	}
	return fresh
}

func (p patient) must(errs ...error) {
	p.t.Helper()
	must(p.t, errors.Join(errs...))
}

// memoir runs a command in a separate process and returns its standard output.
func (p patient) memoir(want int, args ...string) string {
	p.t.Helper()
	switch args[0] {
	case "clear", "forget", "restore":
		args = append(args, "--yes")
	}
	out := p.run(p.t, "", args...)
	if out.code != want {
		p.t.Fatalf("memoir %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), out.code, want, out.stdout, out.stderr)
	}
	return out.stdout
}

// findings returns the checks of doctor that are not ok.
func (p patient) findings(want int) []check {
	p.t.Helper()
	var out struct{ Checks []check }
	p.must(json.Unmarshal([]byte(p.memoir(want, "doctor", "--json")), &out))
	return slices.DeleteFunc(out.Checks, func(c check) bool {
		// The named checks are not ok in any test home.
		return c.Status == checkOK || slices.Contains([]string{"memories.enabled", "agents", "integrations"}, c.Name)
	})
}

var (
	shellHint  = regexp.MustCompile(`(?:^|or )((?:rm|chmod|chown) [^,:]*[^,: ])`)
	memoirHint = regexp.MustCompile("`memoir ([^`]*)`")
)

// follow executes a hint: shell commands, memoir commands, or a run.
func (p patient) follow(hint string) {
	p.t.Helper()
	did := false
	for _, m := range shellHint.FindAllStringSubmatch(hint, -1) {
		did = true
		if out, err := exec.Command("sh", "-c", m[1]).CombinedOutput(); err != nil {
			p.t.Fatalf("%s: %v\n%s", m[1], err, out)
		}
	}
	for _, m := range memoirHint.FindAllStringSubmatch(hint, -1) {
		did = true
		p.memoir(exitDone, strings.Fields(m[1])...)
	}
	if !did && strings.Contains(hint, "next run") {
		did = true
		p.memoir(exitDone, "run")
	}
	if !did {
		p.t.Fatalf("nothing in this hint can be done: %s", hint)
	}
}

// another makes a hand edit and publishes another generation of the project.
func (p patient) another() {
	p.t.Helper()
	f, err := os.OpenFile(filepath.Join(p.project, "memory", "MEMORY.md"), os.O_APPEND|os.O_WRONLY, 0)
	p.must(err)
	_, err = f.WriteString("- a line of mine\n")
	p.must(err, f.Close())
	p.memoir(exitDone, "rebuild", "--project", filepath.Base(p.project))
	p.memoir(exitDone, "run")
}

func TestEachFindingOfDoctorIsGoneOnceItsHintIsFollowed(t *testing.T) {
	t.Parallel()
	fresh := newPatients(t)
	in := func(p patient, name string) string { return filepath.Join(p.project, name) }
	for _, test := range []struct {
		name  string
		spoil func(p patient)
		check string // prefix of its name
		says  string
		code  int
	}{
		{"a file that others may read", func(p patient) { p.must(os.Chmod(filepath.Join(p.home, databaseName), 0o644)) },
			"permissions", "other users can read 1 path", 0},
		{"a database that may not be written", func(p patient) { p.must(os.Chmod(filepath.Join(p.home, databaseName), 0o400)) },
			"permissions", "1 path not writable", 1},
		{"settings that others may change", func(p patient) {
			path := filepath.Join(p.user, ".config", "memoir", "config.yml")
			put(p.t, path, "memories: {enabled: true}\n")
			p.must(os.Chmod(path, 0o666))
		}, "configuration", "other users can change", 0},
		{"a live archive that is cut", func(p patient) { p.must(os.Truncate(in(p, "generations/1.tar.zst"), 100)) },
			"project lanternd-", "generations/1.tar.zst is damaged", 1},
		{"a live archive that is gone", func(p patient) { p.must(os.Remove(in(p, "generations/1.tar.zst"))) },
			"project lanternd-", "the archive of the live generation 1 is missing", 0},
		{"a live archive that is gone, and a hand edit", func(p patient) {
			p.must(os.Remove(in(p, "generations/1.tar.zst")), os.WriteFile(in(p, "memory/MEMORY.md"), []byte("- mine\n"), 0o600))
		}, "project lanternd-", "the archive of the live generation 1 is missing", 0},
		{"an earlier archive with a flipped bit", func(p patient) {
			p.another()
			content, err := os.ReadFile(in(p, "generations/1.tar.zst"))
			p.must(err)
			content[len(content)/2] ^= 1
			put(p.t, in(p, "generations/1.tar.zst"), string(content))
		}, "project lanternd-", "generations/1.tar.zst is damaged", 1},
		{"a live file that was emptied", func(p patient) { p.must(os.Truncate(in(p, "memory/MEMORY.md"), 0)) },
			"project lanternd-", "deleted, empty or not text: MEMORY.md", 1},
		{"live files that are gone", func(p patient) { p.must(os.RemoveAll(in(p, "live/1"))) },
			"project lanternd-", "are gone", 1},
		{"a link that is lost", func(p patient) { p.must(os.Remove(in(p, "memory"))) },
			"project lanternd-", "generation 1 is recorded, but has no live files", 1},
		{"a database that was moved aside", func(p patient) { put(p.t, filepath.Join(p.home, "memoir.db.damaged-1"), "x") },
			"database", "a damaged copy is kept: ", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := fresh(t)
			test.spoil(p)
			found := p.findings(test.code)
			i := slices.IndexFunc(found, func(c check) bool {
				return strings.HasPrefix(c.Name, test.check) && strings.Contains(c.Detail, test.says)
			})
			if i < 0 {
				t.Fatalf("%q, %q is not among %+v", test.check, test.says, found)
			}
			if fail := found[i].Status == checkFail; fail != (test.code == exitFailed) {
				t.Errorf("%+v", found[i])
			}
			p.follow(found[i].Hint)
			if left := p.findings(exitDone); len(left) > 0 {
				t.Errorf("after %s: %+v", found[i].Hint, left)
			}
		})
	}
}

func TestDoctorListsTenFaultsOfADatabase(t *testing.T) {
	t.Parallel()
	p := newPatients(t)(t)
	db, err := sql.Open("sqlite3", filepath.Join(p.home, databaseName))
	p.must(err)
	_, err = db.Exec(`PRAGMA writable_schema = ON;
		UPDATE sqlite_schema SET sql = 'CREATE INDEX ' || name || ' ON session (title)'
			WHERE name IN ('session_cwd', 'session_thread')`)
	p.must(err, db.Close())
	found := p.findings(exitFailed)
	found = slices.DeleteFunc(found, func(c check) bool { return c.Name != "database" })
	if len(found) != 10 || !strings.Contains(found[9].Detail, "more faults, such as: ") {
		t.Errorf("%d: %+v", len(found), found)
	}
}

func TestDoctorSaysThatALimitOnCostsMayNotHold(t *testing.T) {
	t.Parallel()
	p := newPatients(t)(t)
	settings := "memories: {enabled: true}\nlimits: {costPerDay: 1}\nmodelRoles: {default: mine/m}\nproviders: {mine: {baseURL: 'http://127.0.0.1:1'%s}}\n"
	path := filepath.Join(p.user, ".config", "memoir", "config.yml")
	put(t, path, fmt.Sprintf(settings, ""))
	found := p.findings(exitDone)
	if len(found) != 1 || found[0].Name != "limits" || !strings.Contains(found[0].Detail, "price of mine/m is unknown: costs may exceed the limit") {
		t.Fatalf("%+v", found)
	}
	put(t, path, strings.Replace(fmt.Sprintf(settings, ""), "modelRoles: {default:", "shadowJournal: {enabled: true, model:", 1))
	if found := p.findings(exitDone); len(found) != 1 || found[0].Name != "limits" {
		t.Fatalf("the model of the journal: %+v", found)
	}
	put(t, path, fmt.Sprintf(settings, ", inputPrice: 1, outputPrice: 2"))
	if found := p.findings(exitDone); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}
