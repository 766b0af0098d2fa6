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

// ruling is what counts in a directory. Where its rules are invalid, the run's count.
type ruling struct {
	scanner *secrets.Scanner
	err     error
}

// rulings remember what counts where. They are safe for concurrent use.
type rulings struct {
	mu sync.Mutex
	in map[string]ruling // by directory, and by file of rules
}

// Misruled is a project whose own rules for secrets are invalid: nothing of it is read or
// consolidated until they are corrected, since they may say what must not be kept.
type Misruled struct {
	Project string `json:"project"`
	Error   string `json:"error"` // names the file and the rule
	Hint    string `json:"hint,omitempty"`
}

// scannerOf returns the scanner for what comes from a directory: the run's, or one with
// the rules of its project.
func (r *run) scannerOf(dir string) *secrets.Scanner { return r.rulingIn(dir).scanner }

func (r *run) rulingIn(dir string) ruling {
	r.rulings.mu.Lock()
	defer r.rulings.mu.Unlock()
	found, known := r.rulings.in[dir]
	if known {
		return found
	}
	found.scanner = r.scanner
	if file, trusted, ok := ProjectRules(dir, r.trusted); ok {
		if found, known = r.rulings.in[file]; !known {
			scanner, err := secrets.New(secrets.Options{
				ConfigPath: config.RulesFile(r.opts.ConfigDir), ProjectPath: file, ProjectTrusted: trusted,
			})
			found = ruling{cmp.Or(scanner, r.scanner), err}
			r.rulings.in[file] = found
		}
	}
	r.rulings.in[dir] = found
	return found
}

// obey finds the scanners that count for a project, those with the rules of its directories or
// else the run's, and what is wrong with these rules.
func (r *run) obey(project memoir.Project) (scanners []*secrets.Scanner, fault error) {
	for _, dir := range project.Directories {
		found := r.rulingIn(dir)
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
	scanners, _ := r.obey(project)
	for _, scanner := range scanners {
		text, _ = scanner.Redact(text)
	}
	return text
}

// misrule keeps a project whose rules are invalid out of what is left of the run, and
// says so once.
func (r *run) misrule(projectID string, fault error) {
	m := Misruled{Project: projectID, Error: r.redact(fault.Error()), Hint: memoir.HintOf(fault)}
	r.mu.Lock()
	said := slices.Contains(r.report.Misruled, m)
	if !said {
		r.report.Misruled = append(r.report.Misruled, m)
	}
	r.mu.Unlock()
	if !said {
		r.warn("project "+projectID+" waits: "+m.Error, m.Hint)
	}
}

// misruledProjects lists the ids of the projects that are kept out.
func (r *run) misruledProjects() (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.report.Misruled {
		ids = append(ids, m.Project)
	}
	return ids
}

// exclude keeps out the sessions of directories that the settings, or a project
// file in or above the directory, keep out; sessions of others come back in.
func (r *run) exclude(ctx context.Context) error {
	dirs, err := r.store.Directories(ctx)
	if err != nil {
		return err
	}
	return r.store.SetExcluded(ctx, slices.DeleteFunc(dirs, func(dir string) bool {
		return !r.opts.Settings.Excluded(dir) && !r.switchedOff(dir)
	}))
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
