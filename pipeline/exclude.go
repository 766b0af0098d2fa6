package pipeline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"memoir"
	"memoir/config"
)

// exclude keeps out the sessions of directories that the settings, or a project
// file in or above the directory, keep out; sessions of others come back in.
func (r *run) exclude(ctx context.Context) error {
	dirs, err := r.store.Directories(ctx)
	if err != nil {
		return err
	}
	var excluded []string
	for _, dir := range dirs {
		if r.excluded(dir) {
			excluded = append(excluded, dir)
		}
	}
	return r.store.SetExcluded(ctx, excluded)
}

// projectFiles remembers which directories a project file switches off.
type projectFiles struct {
	run *run
	off map[string]bool // by directory, those above it included
}

// switchOff reports whether a project file in a directory or above it switches
// memory off there.
func (f projectFiles) switchOff(dir string) bool {
	dir = filepath.Clean(dir)
	if off, known := f.off[dir]; known {
		return off
	}
	// What is above comes first, so that one file has its say, and its faults are
	// told, once for all that is below it.
	if parent := filepath.Dir(dir); parent != dir && f.switchOff(parent) {
		f.off[dir] = true
		return true
	}
	settings, ignored, err := f.run.opts.Settings.ForProject(dir, f.run.trusted)
	if err != nil {
		f.run.warn(err.Error()+", so memory is off there", memoir.HintOf(err))
	}
	for _, i := range ignored {
		f.run.warn(fmt.Sprintf("%s: %s has no effect: %s", i.Origin, i.Name, i.Why), "memoir trust "+dir)
	}
	f.off[dir] = settings.Off
	return settings.Off
}

// settingsOf are the settings that hold in a project: those of the first of its
// directories that has a project file.
func (r *run) settingsOf(p memoir.Project) (config.Settings, error) {
	for _, dir := range p.Directories {
		if _, err := os.Stat(filepath.Join(dir, config.ProjectFileName)); err != nil {
			continue
		}
		settings, _, err := r.opts.Settings.ForProject(dir, r.trusted)
		return settings, err
	}
	return r.opts.Settings, nil
}
