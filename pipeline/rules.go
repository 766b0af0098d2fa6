package pipeline

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"memoir"
	"memoir/config"
	"memoir/secrets"
)

// ProjectRules finds the rules for secrets that a project's files add to a person's own:
// those of the nearest .gitleaks.toml in or above a directory. It reports false if there
// are none. Only of a file that is trusted does all count.
func ProjectRules(dir string, trusted config.TrustStore) (file string, isTrusted, ok bool) {
	for filepath.IsAbs(dir) {
		file := config.RulesFile(dir)
		switch content, err := secrets.ReadRules(file); {
		case err == nil:
			return file, trusted.Trusted(file, content), true
		case memoir.CodeOf(err) == memoir.CodeConfig:
			return file, false, true // which whoever loads it is told
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return "", false, false
}

// dirRules are what counts in a directory. Where its rules are invalid, the run's count.
type dirRules struct {
	scanner *secrets.Scanner
	err     error
}

// ruleCache remembers what counts where. It is safe for concurrent use.
type ruleCache struct {
	mu sync.Mutex
	in map[string]dirRules // by directory, and by file of rules
}

// InvalidRules is a project whose own rules for secrets are invalid: nothing of it is read or
// consolidated until they are corrected, since they may say what must not be kept.
type InvalidRules struct {
	Project string `json:"project"`
	Error   string `json:"error"` // names the file and the rule
	Hint    string `json:"hint,omitempty"`
}

// scannerOf returns the scanner for what comes from a directory: the run's, or one with
// the rules of its project.
func (r *run) scannerOf(dir string) *secrets.Scanner { return r.rulesIn(dir).scanner }

func (r *run) rulesIn(dir string) dirRules {
	r.rules.mu.Lock()
	defer r.rules.mu.Unlock()
	found, known := r.rules.in[dir]
	if known {
		return found
	}
	found.scanner = r.scanner
	if file, trusted, ok := ProjectRules(dir, r.trusted); ok {
		if found, known = r.rules.in[file]; !known {
			scanner, err := secrets.New(secrets.Options{
				ConfigPath: config.RulesFile(r.opts.ConfigDir), ProjectPath: file, ProjectTrusted: trusted,
			})
			found = dirRules{cmp.Or(scanner, r.scanner), err}
			r.rules.in[file] = found
		}
	}
	r.rules.in[dir] = found
	return found
}

// projectScanners finds the scanners that count for a project, those with the rules of its
// directories or else the run's, and what is wrong with these rules.
func (r *run) projectScanners(project memoir.Project) (scanners []*secrets.Scanner, fault error) {
	for _, dir := range project.Directories {
		found := r.rulesIn(dir)
		fault = cmp.Or(fault, found.err)
		if found.scanner != r.scanner && !slices.Contains(scanners, found.scanner) {
			scanners = append(scanners, found.scanner)
		}
	}
	if len(scanners) == 0 {
		scanners = append(scanners, r.scanner)
	}
	return scanners, fault
}

// redactFor is redact by the rules of a project.
func (r *run) redactFor(project memoir.Project, text string) string {
	scanners, _ := r.projectScanners(project)
	for _, scanner := range scanners {
		text, _ = scanner.Redact(text)
	}
	return text
}

// holdBack keeps a project whose rules are invalid out of what is left of the run, and
// says so once.
func (r *run) holdBack(projectID string, fault error) {
	m := InvalidRules{Project: projectID, Error: r.redact(fault.Error()), Hint: memoir.HintOf(fault)}
	r.mu.Lock()
	said := slices.Contains(r.report.InvalidRules, m)
	if !said {
		r.report.InvalidRules = append(r.report.InvalidRules, m)
	}
	r.mu.Unlock()
	if !said {
		r.warn("project "+projectID+" waits: "+m.Error, m.Hint)
	}
}

// heldBack lists the ids of the projects that are kept out.
func (r *run) heldBack() (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.report.InvalidRules {
		ids = append(ids, m.Project)
	}
	return ids
}

// exclude keeps out the sessions of directories that the settings exclude, and does not read those where a
// project file in or above the directory switches memory off; sessions of others come back in.
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

// switchedOff reports whether a project file in a directory or above it switches
// memory off there.
func (r *run) switchedOff(dir string) bool {
	dir = filepath.Clean(dir)
	if off, known := r.off[dir]; known {
		return off
	}
	// What is above comes first, so that one file has its say, and its faults are
	// told, once for all that is below it.
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
