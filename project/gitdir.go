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

// maxGitFile bounds a file of git that is read, in bytes.
const maxGitFile = 1 << 20

type repository struct {
	top    string // the working tree's top directory, or a bare repository's own directory
	common string // the git directory that all worktrees share
}

// findRepository finds the repository of a directory, there and in the directories above it, by git's rules. A
// missing directory, such as an agent's removed worktree, belongs to the repository around its path.
func findRepository(dir string) (repository, bool) {
	for below := ""; dir != below; below, dir = dir, filepath.Dir(dir) {
		if repo, ok := repositoryAt(dir); ok {
			return repo, true
		}
	}
	return repository{}, false
}

// repositoryAt returns the repository whose working tree has dir as its top, or whose git directory is dir.
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

// isGitDir applies git's test: the directory has HEAD and objects, the latter possibly in the common directory.
func isGitDir(dir string) bool {
	exists := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	return exists("HEAD") && (exists("commondir") || exists("objects"))
}

// gitFile reads the git directory's path from a .git file: of a worktree, a submodule, or a repository with a
// separate git directory. The git directory may be missing.
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

// commonDir returns the git directory that all worktrees of a repository share, with links followed.
func commonDir(gitDir string) string {
	common := gitDir
	if shared := strings.TrimSpace(readSmall(filepath.Join(gitDir, "commondir"))); shared != "" {
		if common = shared; !filepath.IsAbs(common) {
			common = filepath.Join(gitDir, common)
		}
	} else if worktrees := filepath.Dir(gitDir); filepath.Base(worktrees) == "worktrees" && !isGitDir(gitDir) {
		// The worktree was pruned, or its repository is gone: the path still shows the common directory.
		common = filepath.Dir(worktrees)
	}
	return config.FollowLinks(common)
}

// remoteSection matches the heading of a remote's settings, remoteAddress the URL that git fetches from.
var (
	remoteSection = lazyregexp.New(`(?i)^\[\s*remote\s+"(.+)"\s*\]`)
	remoteAddress = lazyregexp.New(`(?i)^url\s*=\s*"?(.*?)"?\s*( [#;].*)?$`)
)

// remoteURL returns the URL of origin, else of the first remote, else "". If a remote has several URLs, it is
// the first, which git fetches from. Includes and insteadOf are not applied. Invalid lines are skipped.
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

// readSmall reads a regular file of at most maxGitFile bytes; "" on any error.
func readSmall(file string) string {
	content, err := disk.ReadFile(file, maxGitFile)
	if err != nil {
		return ""
	}
	return string(content)
}
