package project

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxGitFile bounds the files of git that are read, in bytes.
const maxGitFile = 1 << 20

// repository is what git's files say about a directory.
type repository struct {
	top    string // of the working tree; a bare repository's own directory
	common string // the git directory that all of its worktrees share
}

// findRepository looks for the repository of an existing directory, there and in
// the directories above it, by git's own rules.
func findRepository(dir string) (repository, bool) {
	for {
		if repo, ok := repositoryAt(dir); ok {
			return repo, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return repository{}, false
		}
		dir = parent
	}
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

// isGitDir applies git's test: HEAD, refs and objects, the latter two perhaps in
// the common directory.
func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	if _, err := os.Stat(filepath.Join(dir, "commondir")); err == nil {
		return true
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
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
	return followLinks(common)
}

// worktreeOf finds the repository of a directory that is gone but was one of its
// worktrees. The nearest existing ancestor is asked, and only believed if git's
// records or the place where agents put worktrees say so.
func worktreeOf(gone string) (repository, bool) {
	existing := gone
	for !isDir(existing) {
		parent := filepath.Dir(existing)
		if parent == existing {
			return repository{}, false
		}
		existing = parent
	}
	repo, ok := findRepository(existing)
	if !ok {
		return repository{}, false
	}
	records, _ := os.ReadDir(filepath.Join(repo.common, "worktrees"))
	for _, record := range records {
		dotGit := strings.TrimSpace(readSmall(filepath.Join(repo.common, "worktrees", record.Name(), "gitdir")))
		if !filepath.IsAbs(dotGit) {
			continue
		}
		if tree := followLinks(filepath.Dir(dotGit)); within(gone, tree) && !within(repo.top, tree) {
			return repository{top: tree, common: repo.common}, true
		}
	}
	for _, place := range []string{".claude/worktrees", ".worktrees"} {
		trees := filepath.Join(repo.top, filepath.FromSlash(place))
		if within(gone, trees) && gone != trees {
			name, _, _ := strings.Cut(filepath.ToSlash(gone[len(trees)+1:]), "/")
			return repository{top: filepath.Join(trees, name), common: repo.common}, true
		}
	}
	return repository{}, false
}

// remoteURL returns the URL of origin, else of the first remote, else "".
func (r repository) remoteURL() string {
	all := remotes(filepath.Join(r.common, "config"))
	for _, remote := range all {
		if remote.name == "origin" {
			return remote.url
		}
	}
	if len(all) > 0 {
		return all[0].url
	}
	return ""
}

// readSmall reads a regular file, at most maxGitFile bytes of it; "" if it cannot.
func readSmall(file string) string {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxGitFile))
	if err != nil {
		return ""
	}
	return string(data)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
