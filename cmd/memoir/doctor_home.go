package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/model"
	"memoir/pipeline"
	"memoir/prompts"
	"memoir/rollout"
	"memoir/secrets"
)

// Bounds of what doctor reports.
const (
	oldLog      = 90 * 24 * time.Hour
	oldTempFile = time.Hour
	littleSpace = 100 << 20 // bytes: less may not hold a copy of a database
)

// models reports for each role which model it is, where its key comes from and what is known
// to be wrong with it. No model is called, and no command is run.
func (d *doctor) models(settings config.Settings) {
	for _, w := range settings.Warnings() {
		d.add(checkWarn, "settings", w.Hint, w.Message)
	}
	for _, role := range pipeline.Roles(settings.ModelRoles) {
		choice, err := pipeline.Choose(settings, role)
		if err == nil {
			err = choice.Check(d.getenv)
		}
		if err != nil {
			hint := memoir.HintOf(err)
			if inner := errors.Unwrap(err); inner != nil { // the check has the role's name already
				err = inner
			}
			d.add(checkFail, role.Setting, hint, err.Error())
			continue
		}
		d.add(checkOK, role.Setting, "", d.aboutModel(choice))
	}
	if err := pipeline.CheckModels(settings); err != nil {
		d.check("models", "", err)
	}
	if settings.Prompts.Dir != "" {
		_, err := prompts.LoadDir(settings.Prompts.Dir)
		d.check("prompts.dir", settings.Prompts.Dir, err)
	}
}

func (d *doctor) aboutModel(c pipeline.Choice) string {
	switch {
	case c.Spec.Builtin():
		return model.Builtin
	case c.Options.API == model.APIExec:
		return c.Spec.String() + " runs " + c.Program()
	}
	return fmt.Sprintf("%s at %s; key: %s", c.Spec, c.Options.BaseURL, c.Key.Source(d.getenv))
}

// agents reports whose sessions are found, and which cannot be read.
func (d *doctor) agents() {
	any := false
	for _, agent := range rollout.Agents {
		name := "agent " + string(agent.Source())
		var found []string
		refused := false
		for _, root := range agent.Roots(d.env()) {
			_, err := os.ReadDir(root.Dir)
			switch {
			case err == nil:
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
		d.add(checkWarn, "agents", "`memoir run --sessions DIR` reads sessions from any directory", "no agent's sessions were found")
	}
}

// configuration checks who may change the settings, which name programs and servers that are
// given transcripts, and a person's own rules for secrets.
func (d *doctor) configuration(c *cli.Context) {
	dir, err := d.configDir(c)
	if err != nil || dir == "" {
		return // the check of the settings reports it
	}
	rules := config.RulesFile(dir)
	if runtime.GOOS != "windows" {
		for _, path := range []string{dir, filepath.Join(dir, config.FileName), rules} {
			info, err := os.Stat(path)
			if err != nil {
				continue
			}
			mode := info.Mode().Perm()
			if mode&0o022 != 0 {
				d.add(checkWarn, "configuration", "chmod go-w "+shellWord(path), fmt.Sprintf("others may change %s (%s), which names programs and servers", path, mode))
			}
			if content, err := os.ReadFile(path); err == nil && mode&0o044 != 0 && path != rules && d.redact(string(content)) != string(content) {
				d.add(checkWarn, "configuration", "chmod go= "+shellWord(path)+"; better, name a variable with keyEnv", "others may read "+path+", which seems to hold a key")
			}
		}
	}
	if _, err := os.Stat(rules); errors.Is(err, fs.ErrNotExist) {
		return
	}
	d.check("secret rules", rules+" is valid", secrets.Check(secrets.Options{ConfigPath: rules}))
	if unread, err := secrets.Unread(rules); err == nil && len(unread) > 0 {
		d.add(checkWarn, "secret rules", "correct their spelling, or remove them", "unknown keys: "+strings.Join(unread, "; "))
	}
}

// permissions looks for files of the home that others may read.
func (d *doctor) permissions(home string) {
	if runtime.GOOS == "windows" {
		return
	}
	var open []string
	err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := entry.Info(); err == nil && entry.Type()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			open = append(open, path)
		}
		return nil
	})
	switch {
	case err != nil:
		hint := ""
		if path := (*fs.PathError)(nil); errors.As(err, &path) && errors.Is(err, fs.ErrPermission) {
			hint = "chmod -R u+rwX " + shellWord(path.Path)
		}
		d.add(checkFail, "permissions", hint, err.Error())
	case len(open) > 0:
		d.add(checkWarn, "permissions", "chmod -R go= "+shellWord(home), fmt.Sprintf("others may read %s, such as %s", count(len(open), "path"), open[0]))
	default:
		d.add(checkOK, "permissions", "", home+" is readable by you alone")
	}
}

// space reports a disk that is read-only or almost full.
func (d *doctor) space(home string) {
	if readOnlyPlace(home) {
		d.add(checkFail, "disk", "mount it for writing, or keep the data elsewhere with --home DIR", home+" is on a file system that is mounted read-only")
		return
	}
	if free, ok := freeSpace(home); ok && free < littleSpace {
		d.add(checkWarn, "disk", "make room there, or keep the data elsewhere with --home DIR", fmt.Sprintf("%s has %s left", home, size(int64(free))))
	}
}

// leftovers looks in the home for files that nothing uses any more.
func (d *doctor) leftovers(home string) {
	old := func(dir string, wanted func(name string) bool, after time.Duration, what, why string) {
		entries, _ := os.ReadDir(dir) // permissions reports an error
		var found []string
		for _, entry := range entries {
			info, err := entry.Info()
			if err == nil && wanted(entry.Name()) && time.Since(info.ModTime()) >= after {
				found = append(found, filepath.Join(dir, entry.Name()))
			}
		}
		if len(found) > 0 {
			d.add(checkWarn, "leftovers", "rm -r "+shellWords(found)+why, count(len(found), what)+": "+shortened(found))
		}
	}
	old(home, func(name string) bool { return strings.Contains(name, ".damaged") }, 0, "damaged file", ", once nothing in it is missed")
	old(home, func(name string) bool {
		return strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".tmp")
	}, oldTempFile, "temporary file", "")
	for _, dir := range []string{filepath.Join(home, "log"), filepath.Join(home, "log", "answers")} {
		old(dir, func(name string) bool { return name != "answers" }, oldLog, "old log", "")
	}
}

// shellWords makes paths fit for a command line.
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
