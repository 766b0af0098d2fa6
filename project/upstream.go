package project

import "memoir/config"

// An Upstream is the branch of a repository that everybody has agreed on.
type Upstream struct {
	Top    string // of the working tree
	Common string // the git directory that all worktrees share
	Remote bool   // the repository has a remote
	Ref    string // with a remote its default branch; empty without a remote and a given branch
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
	return u, ok
}
