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

// ProjectRules finds the rules for secrets of a project: the nearest .gitleaks.toml in or above a directory.
// ok is false if there is none. An untrusted file is only used in part; see secrets.Options.
func ProjectRules(dir string, trusted config.TrustStore) (file string, isTrusted, ok bool) {
	for filepath.IsAbs(dir) {
		file := config.RulesFile(dir)
		switch content, err := secrets.ReadRules(file); {
		case err == nil:
			return file, trusted.Trusted(file, content), true
		case memoir.CodeOf(err) == memoir.CodeConfig:
			return file, false, true // loading it reports the error
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return "", false, false
}

// dirRules are the rules of a directory: the run's if the directory's are invalid.
type dirRules struct {
	scanner *secrets.Scanner
	err     error
}

// ruleCache caches the rules of directories. It is safe for concurrent use.
type ruleCache struct {
	mu sync.Mutex
	in map[string]dirRules // by directory, and by file of rules
}

// InvalidRules is a project whose own rules for secrets are invalid. It is neither extracted from nor
// consolidated until they are corrected, since they may name secrets.
type InvalidRules struct {
	Project string `json:"project"`
	Error   string `json:"error"` // names the file and the rule
	Hint    string `json:"hint,omitempty"`
}

// scannerOf returns the scanner for text from a directory: the run's, or one with its project's rules.
func (r *run) scannerOf(dir string) *secrets.Scanner { return r.rulesIn(dir).scanner }

// validRules is scannerOf for work that waits while the rules are invalid.
func (r *run) validRules(dir string) (*secrets.Scanner, error) {
	found := r.rulesIn(dir)
	return found.scanner, found.err
}

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

// projectScanners returns the scanners of a project, those with the rules of its directories or else the
// run's, and the first error in these rules.
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

// redactFor redacts a text with the rules of a project.
func (r *run) redactFor(project memoir.Project, text string) string {
	scanners, _ := r.projectScanners(project)
	for _, scanner := range scanners {
		text, _ = scanner.Redact(text)
	}
	return text
}

// redactIn returns redactFor for ids of projects.
func (r *run) redactIn(ctx context.Context) func(projectID, text string) string {
	return func(projectID, text string) string {
		row, _ := r.store.FindProject(ctx, projectID) // without it, the run's rules apply
		return r.redactFor(row.Project, text)
	}
}

// holdBack leaves a project with invalid rules out of the rest of the run, and warns once.
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

// heldBack lists the ids of the projects with invalid rules.
func (r *run) heldBack() (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.report.InvalidRules {
		ids = append(ids, m.Project)
	}
	return ids
}

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
