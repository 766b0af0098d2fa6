package project

import (
	"path"
	"path/filepath"
	"strings"

	"memoir/config"
)

// An Upstream is the branch of a repository that everybody has agreed on.
type Upstream struct {
	Top    string // of the working tree
	Common string // the git directory that all worktrees share
	Remote bool   // the repository has a remote
	Ref    string // with a remote its default branch; empty without a remote and a given branch
	Commit string // empty: git's files do not tell it
}

// FindUpstream finds the repository of a directory. branch is instead of the default branch: the remote's, without a
// remote the repository's own.
func FindUpstream(dir, branch string) (Upstream, bool) {
	repo, ok := findRepository(config.FollowLinks(dir))
	u := Upstream{Top: repo.top, Common: repo.common, Remote: repo.remotes()[0] != ""}
	switch {
	case u.Remote && branch == "":
		u.Ref = "refs/remotes/origin/HEAD"
	case u.Remote:
		u.Ref = "refs/remotes/origin/" + branch
	case branch != "":
		u.Ref = "refs/heads/" + branch
	}
	if u.Ref != "" {
		u.Commit = repo.commit(u.Ref)
	}
	return u, ok
}

// maxLinks bounds the references that lead to a commit.
const maxLinks = 5

// commit returns the commit of a reference, "" if it is missing or not in files.
func (r repository) commit(ref string) string {
	for range maxLinks {
		if !strings.HasPrefix(ref, "refs/") || path.Clean(ref) != ref {
			return ""
		}
		text := strings.TrimSpace(readSmall(filepath.Join(r.common, ref)))
		next, symbolic := strings.CutPrefix(text, "ref: ")
		if !symbolic && text != "" {
			return text
		}
		if !symbolic {
			return r.packed(ref)
		}
		ref = next
	}
	return ""
}

func (r repository) packed(ref string) string {
	for line := range strings.Lines(readSmall(filepath.Join(r.common, "packed-refs"))) {
		if commit, name, _ := strings.Cut(strings.TrimSpace(line), " "); name == ref {
			return commit
		}
	}
	return ""
}
