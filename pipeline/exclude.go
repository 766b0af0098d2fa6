package pipeline

import (
	"context"
	"os"
	"path/filepath"

	"memoir"
	"memoir/config"
)

// exclude stores which directories of sessions the settings exclude, and in which a project file, in or
// above the directory, switches memory off.
func (r *run) exclude(ctx context.Context) error {
	dirs, err := r.store.Directories(ctx)
	if err != nil {
		return err
	}
	var excluded, off []string
	for _, dir := range dirs {
		switch {
		case r.opts.Settings.Excluded(dir):
			excluded = append(excluded, dir)
		case r.switchedOff(dir):
			off = append(off, dir)
		}
	}
	return r.store.SetExcluded(ctx, excluded, off)
}

// switchedOff reports whether a project file in or above a directory switches memory off.
func (r *run) switchedOff(dir string) bool {
	dir = filepath.Clean(dir)
	if off, known := r.off[dir]; known {
		return off
	}
	// The parent comes first, so that the faults of a file are reported once for all directories below it.
	if parent := filepath.Dir(dir); parent != dir && r.switchedOff(parent) {
		r.off[dir] = true
		return true
	}
	settings, ignored, err := r.opts.Settings.ForProject(dir, r.trusted)
	if err != nil {
		r.warn(err.Error()+", so memory is off there", memoir.HintOf(err))
	}
	for _, i := range ignored {
		r.warn(i, "memoir trust "+dir)
	}
	r.off[dir] = settings.Off
	return settings.Off
}

// settingsOf returns the settings of a project, with the project file of the first of its directories that
// has one.
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
