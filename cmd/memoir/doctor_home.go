package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir/config"
	"memoir/rollout"
)

const (
	oldLog      = 90 * 24 * time.Hour
	oldScratch  = 24 * time.Hour
	oldTempFile = time.Hour
	littleSpace = 100 << 20 // bytes: less may not hold a copy of a database
)

// agents says whose sessions are found, and whose cannot be read.
func (d *doctor) agents() {
	any := false
	for _, agent := range rollout.Agents {
		name := "agent " + string(agent.Source())
		var found []string
		refused := false
		for _, root := range agent.Roots(d.env()) {
			entries, err := os.Open(root.Dir)
			if err == nil {
				_, err = entries.Readdirnames(1)
				entries.Close()
			}
			switch {
			case err == nil || isDirectory(root.Dir) && !errors.Is(err, fs.ErrPermission):
				found = append(found, root.Dir)
			case errors.Is(err, fs.ErrPermission):
				refused = true
				d.add(checkWarn, name, "chmod u+rx "+shellWord(root.Dir)+", if it is yours", "its sessions cannot be read: "+err.Error())
			}
		}
		any = any || len(found) > 0
		if len(found) > 0 {
			d.add(checkOK, name, "", strings.Join(found, ", "))
		} else if !refused {
			d.add(checkOK, name, "", "no sessions on this machine")
		}
	}
	if !any {
		d.add(checkWarn, "agents", "`memoir run --sessions DIR` reads sessions from anywhere", "no agent's sessions were found")
	}
}

// permissions looks for what others could read, and what belongs to others.
func (d *doctor) permissions(home string) {
	if runtime.GOOS == "windows" {
		return
	}
	var open, foreign []string
	mode, owner := fs.FileMode(0), 0
	err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return nil
		}
		if uid, ok := ownerOf(info); ok && uid != os.Geteuid() {
			foreign, owner = append(foreign, path), uid
		}
		if entry.Type()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			if open = append(open, path); len(open) == 1 {
				mode = info.Mode().Perm()
			}
		}
		return nil
	})
	if err != nil {
		hint := ""
		if path := (*fs.PathError)(nil); errors.As(err, &path) && errors.Is(err, fs.ErrPermission) {
			hint = "chmod -R u+rwX " + shellWord(path.Path)
		}
		d.add(checkFail, "permissions", hint, err.Error())
		return
	}
	if len(open) > 0 {
		fix := "chmod go= " + shellWord(open[0])
		if len(open) > 1 || filepath.Base(open[0]) == databaseName { // the files beside the database get its mode
			fix = "chmod -R go= " + shellWord(home)
		}
		d.add(checkWarn, "permissions", fix, fmt.Sprintf("others may read %s, such as %s (%s)", count(len(open), "path"), open[0], mode))
	}
	if len(foreign) > 0 {
		d.add(checkWarn, "owner", fmt.Sprintf("chown -hR %d %s, or run memoir as user %d", os.Geteuid(), shellWord(home), owner),
			fmt.Sprintf("%s not yours, such as %s (of user %d)", countAre(len(foreign), "path"), foreign[0], owner))
	}
	if len(open)+len(foreign) == 0 {
		d.add(checkOK, "permissions", "", home+" is readable by you alone")
	}
}

// configuration looks at who may read and change the settings: they name the programs
// and servers that are given transcripts.
func (d *doctor) configuration(c *cli.Context) {
	dir, err := d.configDir(c)
	if err != nil || dir == "" || runtime.GOOS == "windows" {
		return
	}
	for _, path := range []string{dir, filepath.Join(dir, config.FileName), config.RulesFile(dir)} {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if info.Mode().Perm()&0o022 != 0 {
			d.add(checkWarn, "configuration", "chmod go-w "+shellWord(path), fmt.Sprintf("others may change %s (%s), which says what is run and who is sent text", path, info.Mode().Perm()))
		}
		if content, err := os.ReadFile(path); err == nil && info.Mode().Perm()&0o044 != 0 && filepath.Base(path) == config.FileName && d.redact(string(content)) != string(content) {
			d.add(checkWarn, "configuration", "chmod go= "+shellWord(path)+"; better, name a variable with keyEnv", "others may read "+path+", and it looks as if a key were in it")
		}
	}
}

// space says that the disk takes nothing, or little more.
func (d *doctor) space(home string) {
	if readOnlyPlace(home) {
		d.add(checkFail, "disk", "mount it for writing, or keep the data elsewhere with --home DIR", home+" is on a file system that is mounted read-only: what is there can be read, and nothing can be learned")
		return
	}
	free, ok := freeSpace(home)
	if ok && free < littleSpace {
		d.add(checkWarn, "disk", "make room there, or keep the data elsewhere with --home DIR", fmt.Sprintf("%s has %s left", home, size(int64(free))))
	}
}

// leftovers looks in the home for what nobody will use any more.
func (d *doctor) leftovers(home string) {
	clean := true
	old := func(dir string, wanted func(name string) bool, after time.Duration, what, why string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return // permissions says so
		}
		var found []string
		for _, entry := range entries {
			info, err := entry.Info()
			if err == nil && wanted(entry.Name()) && time.Since(info.ModTime()) >= after {
				found = append(found, filepath.Join(dir, entry.Name()))
			}
		}
		if len(found) > 0 {
			clean = false
			d.add(checkWarn, "leftovers", "rm -r "+shellWords(found)+why, count(len(found), what)+": "+shortened(found))
		}
	}
	old(home, func(name string) bool { return strings.Contains(name, ".damaged") }, 0, "damaged file", ", once nothing in it is missed")
	old(home, func(name string) bool { return strings.Contains(name, ".foreign-") }, 0, "log of another database", ", once nothing in it is missed")
	old(home, func(name string) bool {
		return strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".tmp")
	}, oldTempFile, "temporary file", "")
	for _, dir := range []string{filepath.Join(home, "log"), filepath.Join(home, "log", "answers")} {
		old(dir, func(name string) bool { return name != "answers" }, oldLog, "old log", "")
	}
	entries, _ := os.ReadDir(filepath.Join(home, "projects"))
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") }) {
		clean = false
		d.add(checkWarn, "leftovers", "the next run removes it", "a folder of a project that was removed is in "+filepath.Join(home, "projects"))
	}
	if clean {
		d.add(checkOK, "leftovers", "", "none in "+home)
	}
}

// scratch looks for the directories of programs that were asked for answers, and whose
// memoir was killed.
func (d *doctor) scratch() {
	var found []string
	for _, prefix := range []string{"memoir-exec-", "memoir-smoke-"} {
		paths, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
		for _, path := range paths {
			info, err := os.Lstat(path)
			if err != nil || time.Since(info.ModTime()) < oldScratch {
				continue
			}
			if uid, ok := ownerOf(info); !ok || uid == os.Geteuid() {
				found = append(found, path)
			}
		}
	}
	if len(found) > 0 {
		d.add(checkWarn, "leftovers", "rm -r "+shellWords(found), count(len(found), "directory")+" of killed runs: "+shortened(found))
	}
}

// shellWords makes paths fit for a command line, all of them.
func shellWords(paths []string) string {
	words := make([]string, len(paths))
	for i, path := range paths {
		words[i] = shellWord(path)
	}
	return strings.Join(words, " ")
}

// shellWord makes a path one word of a command line.
func shellWord(path string) string {
	if path != "" && strings.IndexFunc(path, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("/._-+:@%,=", r)
	}) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
