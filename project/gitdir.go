package project

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"memoir/config"
	"memoir/internal/disk"
	"memoir/internal/lazyregexp"
)

// maxGitFile bounds the files of git that are read, in bytes.
const maxGitFile = 1 << 20

// repository is what git's files say about a directory.
type repository struct {
	top    string // of the working tree; a bare repository's own directory
	common string // the git directory that all of its worktrees share
}

// findRepository looks for the repository of a directory, there and in the directories
// above it, by git's own rules. A directory that is gone is taken for a part of the
// repository that was around it, such as a worktree that an agent made.
func findRepository(dir string) (repository, bool) {
	for below := ""; dir != below; below, dir = dir, filepath.Dir(dir) {
		if repo, ok := repositoryAt(dir); ok {
			return repo, true
		}
	}
	return repository{}, false
}

// repositoryAt reports the repository whose working tree begins at dir, or whose
// git directory is dir.
func repositoryAt(dir string) (repository, bool) {
	dotGit := filepath.Join(dir, ".git")
	if info, err := os.Stat(dotGit); err == nil {
		if info.IsDir() && isGitDir(dotGit) {
			return repository{top: dir, common: commonDir(dotGit)}, true
		}
		if target, ok := gitFile(dotGit); ok {
			return repository{top: dir, common: commonDir(target)}, true
		}
	}
	if !isGitDir(dir) {
		return repository{}, false
	}
	common := commonDir(dir)
	top := common
	if filepath.Base(common) == ".git" {
		top = filepath.Dir(common)
	}
	return repository{top: top, common: common}, true
}

// isGitDir applies git's test: HEAD and objects, the latter perhaps in the common directory.
func isGitDir(dir string) bool {
	exists := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	return exists("HEAD") && (exists("commondir") || exists("objects"))
}

// gitFile reads a .git that is a file: of a worktree, a submodule, or a
// repository whose git directory is elsewhere. The directory it names need not
// exist any more.
func gitFile(file string) (string, bool) {
	target, ok := strings.CutPrefix(readSmall(file), "gitdir:")
	if target = strings.TrimSpace(target); !ok || target == "" || strings.ContainsRune(target, 0) {
		return "", false
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(file), target)
	}
	return filepath.Clean(target), true
}

// commonDir returns the directory that a git directory shares with the worktrees
// of its repository, with links followed.
func commonDir(gitDir string) string {
	common := gitDir
	if shared := strings.TrimSpace(readSmall(filepath.Join(gitDir, "commondir"))); shared != "" {
		if common = shared; !filepath.IsAbs(common) {
			common = filepath.Join(gitDir, common)
		}
	} else if worktrees := filepath.Dir(gitDir); filepath.Base(worktrees) == "worktrees" && !isGitDir(gitDir) {
		// The worktree was pruned, or its repository is gone: its path still tells.
		common = filepath.Dir(worktrees)
	}
	return config.FollowLinks(common)
}

// remoteSection begins the settings of a remote, url is where git fetches from.
var (
	remoteSection = lazyregexp.New(`(?i)^\[\s*remote\s+"(.+)"\s*\]`)
	remoteAddress = lazyregexp.New(`(?i)^url\s*=\s*"?(.*?)"?\s*( [#;].*)?$`)
)

// remoteURL returns the URL of origin, else of the first remote, else "". Of each remote the
// first one counts, which git fetches from. Included files and insteadOf are not applied, and
// of a broken file what could be read counts.
func (r repository) remoteURL() string {
	name, first := "", ""
	for line := range strings.Lines(strings.TrimPrefix(readSmall(filepath.Join(r.common, "config")), "\ufeff")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name = ""
			if m := remoteSection.FindStringSubmatch(line); m != nil {
				name = m[1]
			}
		}
		m := remoteAddress.FindStringSubmatch(line)
		switch {
		case m == nil || m[1] == "" || name == "":
		case name == "origin":
			return m[1]
		default:
			first = cmp.Or(first, m[1])
		}
	}
	return first
}

// readSmall reads a regular file of at most maxGitFile bytes; "" if it cannot.
func readSmall(file string) string {
	content, err := disk.ReadFile(file, maxGitFile)
	if err != nil {
		return ""
	}
	return string(content)
}
