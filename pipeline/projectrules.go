package pipeline

import (
	"os"
	"path/filepath"
	"sync"

	"memoir"
	"memoir/config"
	"memoir/secrets"
)

// projectScanners are the scanners of directories whose project has secret rules of
// its own. It is safe for concurrent use.
type projectScanners struct {
	mu     sync.Mutex
	byFile map[string]*secrets.Scanner
}

// scannerOf returns the scanner for what comes from a directory: the run's, or one with
// the rules of the nearest .gitleaks.toml in or above the directory. Rules that cannot be
// read are warned of once, and those of the run then count alone.
func (r *run) scannerOf(dir string) *secrets.Scanner {
	for filepath.IsAbs(dir) {
		file := config.RulesFile(dir)
		if content, err := os.ReadFile(file); err == nil {
			return r.scannerWith(file, r.trusted.Trusted(file, content))
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return r.scanner
}

func (r *run) scannerWith(file string, trusted bool) *secrets.Scanner {
	r.projectScanners.mu.Lock()
	defer r.projectScanners.mu.Unlock()
	if s, known := r.projectScanners.byFile[file]; known {
		return s
	}
	s, err := secrets.New(secrets.Options{
		ConfigPath: config.RulesFile(r.opts.ConfigDir), ProjectPath: file, ProjectTrusted: trusted,
	})
	if err != nil {
		s = r.scanner
		r.warn(err.Error()+", so its rules do not count", memoir.HintOf(err))
	}
	if r.projectScanners.byFile == nil {
		r.projectScanners.byFile = map[string]*secrets.Scanner{}
	}
	r.projectScanners.byFile[file] = s
	return s
}
