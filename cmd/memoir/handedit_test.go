//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"memoir/memory"
)

// heldUp stops a run at moment n, calls meanwhile and continues the run.
func (try trial) heldUp(t *testing.T, n int, meanwhile func()) output {
	t.Helper()
	cmd, errs, status := try.stopAt(t, fmt.Sprint(n))
	if !status.Stopped() {
		t.Fatalf("it did not stop at moment %d: %s", n, errs)
	}
	meanwhile()
	must(t, cmd.Process.Signal(syscall.SIGCONT))
	return output{code: codeOf(t, cmd.Wait()), stderr: errs.String()}
}

// byTheirHand is the line of a hand edit, byTheirSkill the path of an added skill.
const (
	byTheirHand  = "- paint the shutters before the rain"
	byTheirSkill = "skills/shutters/SKILL.md"
)

// A handEdit is a change of a person to the live files of a project.
type handEdit struct {
	name string
	// do makes the change in a live directory.
	do func(dir string) error
	// done reports whether files contain the whole change.
	done func(files map[string]string) bool
	// undo repairs a change that makes a run fail; nil: the change makes no run fail.
	undo func(dir string) error
}

func lineIsThere(files map[string]string) bool {
	return strings.Count(files["MEMORY.md"], byTheirHand) == 1
}

// appended returns MEMORY.md with the line of the hand edit.
func appended(dir string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(dir, "MEMORY.md"))
	return append(b, "\n## House rules\n\n"+byTheirHand+"\n"...), err
}

var handEdits = []handEdit{
	{"a line is added", func(dir string) error {
		f, err := os.OpenFile(filepath.Join(dir, "MEMORY.md"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString("\n## House rules\n\n" + byTheirHand + "\n")
		return errors.Join(err, f.Close())
	}, lineIsThere, nil},
	{"an editor saves by renaming", func(dir string) error {
		b, err := appended(dir)
		return errors.Join(err, os.WriteFile(filepath.Join(dir, ".MEMORY.md.swp"), b, 0o600),
			os.Rename(filepath.Join(dir, ".MEMORY.md.swp"), filepath.Join(dir, "MEMORY.md")))
	}, lineIsThere, nil},
	{"a skill is added", func(dir string) error {
		path := filepath.Join(dir, filepath.FromSlash(byTheirSkill))
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte("---\nname: shutters\ndescription: How to paint shutters.\n---\n\n"+byTheirHand+"\n"), 0o600))
	}, func(files map[string]string) bool {
		return strings.Contains(files[filepath.FromSlash(byTheirSkill)], byTheirHand)
	}, nil},
}

// replaced replaces MEMORY.md by an invalid entry, such as a symbolic link. undo removes the entry and restores
// MEMORY.md with the hand edit.
func replaced(name string, put func(dir, aside string) error, takeAway func(path string) error) handEdit {
	aside := func(dir string) string {
		return filepath.Join(filepath.Dir(filepath.Dir(dir)), "aside-"+filepath.Base(dir)+".md")
	}
	return handEdit{name, func(dir string) error {
		b, err := appended(dir)
		return errors.Join(err, os.WriteFile(aside(dir), b, 0o600), os.Remove(filepath.Join(dir, "MEMORY.md")), put(dir, aside(dir)))
	}, lineIsThere, func(dir string) error {
		path := filepath.Join(dir, "MEMORY.md")
		return errors.Join(takeAway(path), os.Rename(aside(dir), path))
	}}
}

func init() {
	handEdits = append(handEdits,
		replaced("a file is replaced by a symbolic link", func(dir, aside string) error { return os.Symlink(aside, filepath.Join(dir, "MEMORY.md")) }, os.Remove),
		replaced("a file is replaced by a directory", func(dir, _ string) error {
			path := filepath.Join(dir, "MEMORY.md")
			return errors.Join(os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, "notes.md"), []byte("- mine\n"), 0o600))
		}, os.RemoveAll))
}

// A person edits the live files of each project between any two writes of a run. The next run leaves the edit in the
// live memory, once. If the edited files were replaced, one generation archives the edit.
func TestAnEditByHandAtAnyMomentOfARunIsInWhatTheNextOneLeaves(t *testing.T) {
	t.Parallel()
	many := by(t, 1, 6, every)
	sessions, home := growing(t, len(fewNames), 4)
	x := newTorture(t, sessions, home)
	x.undisturbed(t)
	first := slices.Index(x.points, "begin store.(*Store).ClaimProject")
	swap := slices.Index(x.points, "set aside memory.Root.Swap") // the run reads no live file after this moment
	if first < 0 || swap < first {
		t.Fatalf("the run has no publication: %q", x.points)
	}
	for i, edit := range handEdits {
		moments := []int{swap + 1 + i%6}
		for _, n := range chosenOf(t, edit.name, len(x.points)-first, many) {
			moments = append(moments, first+1+n)
		}
		x.trials(t, len(moments), func(try trial, k int) { try.edited(t, edit, moments[k]) })
	}
}

// edited makes an edit at moment n of a run, and checks for the edit after another run.
func (try trial) edited(t *testing.T, edit handEdit, n int) {
	what := fmt.Sprintf("%s at moment %d (%s)", edit.name, n, try.points[n-1])
	links, err := filepath.Glob(filepath.Join(try.home, "projects", "*", "memory"))
	must(t, err)
	dirs := map[string]string{} // the edited directories, by link
	out := try.heldUp(t, n, func() {
		for _, link := range links {
			dir, err := filepath.EvalSymlinks(link)
			must(t, errors.Join(err, edit.do(dir)))
			dirs[link] = dir
		}
	})
	if out.code != exitDone && (edit.undo == nil || !strings.Contains(out.stderr, "MEMORY.md is a ")) {
		t.Errorf("%s: it does not say what is in its way: %d: %s", what, out.code, out.stderr)
	}
	if edit.undo != nil {
		for _, dir := range dirs {
			must(t, edit.undo(dir))
		}
	}
	try.succeeds(t, what+": the next run")
	for link, dir := range dirs {
		live, err := filepath.EvalSymlinks(link)
		must(t, err)
		if !edit.done(files(t, live)) {
			// An edit of a directory that was no longer linked stays there, or as a file beside the memory.
			beside, err := memory.At(try.home, filepath.Base(filepath.Dir(link))).Beside()
			if must(t, err); live == dir || !edit.done(files(t, dir)) && len(beside) == 0 {
				t.Errorf("%s, in %s: it is not there", what, live)
			}
			continue
		}
		if live == dir { // the edited files are still live
			continue
		}
		root := memory.At(try.home, filepath.Base(filepath.Dir(link)))
		generations, err := root.Generations()
		must(t, err)
		kept := 0
		for _, g := range generations {
			if g.Manifest.EditedFrom == 0 {
				continue
			}
			archived, err := root.ReadArchive(g.Number)
			must(t, err)
			state := map[string]string{}
			for path, content := range archived {
				state[path] = string(content)
			}
			if edit.done(state) {
				kept++
			}
		}
		if kept != 1 {
			t.Errorf("%s, in %s: %d states by hand have it", what, link, kept)
		}
	}
}
