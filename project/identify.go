// Package project finds the project of a session. A project is identified by the name in the user's settings,
// else by the repository's remote, else by its common git directory, else by the directory. The package reads
// git's files (.git, commondir, config) and never runs git. It does not know sessions, settings or databases.
//
// Read identify.go first (the order of precedence), then remote.go (which URLs are of the same repository, and
// how a repository is found).
package project

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"memoir"
	"memoir/config"
	"memoir/internal/disk"
)

// Status is a text for people: what identified a project, or why a directory has none.
type Status string

// What identifies a project, in order of precedence, and why a directory has none.
const (
	Explicit  Status = "named in the settings"
	Remote    Status = "known by its remote"
	GitDir    Status = "known by its git directory"
	Directory Status = "known by its directory"

	Nowhere   Status = "the session recorded no directory"
	Home      Status = "a home directory is never a project"
	Root      Status = "the root directory is never a project"
	Temporary Status = "a temporary directory outside of any repository is never a project"
)

// OK reports whether there is a project.
func (s Status) OK() bool {
	return s == Explicit || s == Remote || s == GitDir || s == Directory
}

// Options configure a Resolver.
type Options struct {
	// Explicit returns the project name that the user's settings give a directory, or "". It is called with the
	// session's directory, then with the top of its working tree. May be nil.
	Explicit func(dir string) string

	// Home is the user's home directory.
	Home string

	// TempDirs are the directories for temporary files; nil: DefaultTempDirs.
	TempDirs []string

	// Clean redacts the URL of a remote in git's files before it is normalised: a secret of which normalisation
	// removed a part could not be recognised. May be nil.
	Clean func(url string) string
}

// Resolver identifies projects and caches the facts of each directory for its lifetime. It is safe for concurrent use.
type Resolver struct {
	opts   Options
	places places
	facts  sync.Map // facts by directory
}

// NewResolver returns a Resolver.
func NewResolver(opts Options) *Resolver {
	return &Resolver{opts: opts, places: newPlaces(opts.Home, opts.TempDirs)}
}

// Identify returns the project of a session in the directory cwd with a recorded remote; both may be empty. If
// the status is not OK, the Project is zero. The project's only directory is the top of the working tree, or
// cwd outside of one.
//
// The recorded remote takes precedence over the repository's present remote, since the directory may have
// another repository now, unless it is a former remote of the repository.
func (r *Resolver) Identify(cwd, remote string) (memoir.Project, Status) {
	f := r.look(cwd)
	if f.explicit != "" {
		p := memoir.Project{Name: sanitise(f.explicit), Identity: "project:" + f.explicit, Remote: f.remote}
		p.ID = memoir.ProjectID(p.Name, p.Identity)
		return f.at(p), Explicit
	}
	if f.never != "" && f.never != Nowhere {
		return memoir.Project{}, f.never
	}
	recorded := normalise(remote)
	former := f.formerly(recorded)
	if recorded != "" && recorded != f.foreign && !former {
		p := Named(recorded)
		p.Remote = recorded
		// Aliases of another repository that is there now would be wrong.
		if recorded == f.remote || f.common == "" && f.plain == "" && f.never == "" {
			p = f.known(p)
		}
		return f.at(p), Remote
	}
	switch {
	case f.never != "":
		return memoir.Project{}, f.never
	case f.remote != "":
		p := Named(f.remote)
		p.Remote = f.remote
		if p = f.known(p); former {
			p.Aliases = append(p.Aliases, recorded)
		}
		return f.at(p), Remote
	case f.common != "":
		return f.at(f.known(Named(f.common))), GitDir
	case f.plain != "":
		return memoir.Project{}, f.plain
	}
	return f.at(f.known(Named(f.place))), Directory
}

// Named returns the project with an identity, without what is known of its directories.
func Named(identity string) memoir.Project {
	name := nameOf(identity)
	return memoir.Project{ID: memoir.ProjectID(name, identity), Name: name, Identity: identity}
}

// Changed returns a project with a function applied to its texts: identity, remote, directories and aliases. If
// the identity changes, the id and name follow from the new one.
func Changed(p memoir.Project, change func(string) string) memoir.Project {
	if identity := change(p.Identity); identity != p.Identity {
		named := Named(identity)
		p.ID, p.Name, p.Identity = named.ID, named.Name, named.Identity
	}
	p.Remote = change(p.Remote)
	p.Directories, p.Aliases = each(p.Directories, change), each(p.Aliases, change)
	p.Inodes, p.Upstreams = each(p.Inodes, change), each(p.Upstreams, change)
	return p
}

func each(texts []string, change func(string) string) []string {
	var out []string
	for _, text := range texts {
		out = append(out, change(text))
	}
	return out
}

type facts struct {
	place    string // identity by the directory, with links followed
	top      string // of the working tree, else dir
	explicit string
	remote   string // the repository's present remote, normalised
	common   string // identity by the common git directory
	inodes   []string
	others   []string // other remotes of the repository, normalised
	foreign  string   // remote of a repository that is ignored
	never    Status   // why dir is never a project
	plain    Status   // why dir is not a project outside of a repository
}

func (f facts) at(p memoir.Project) memoir.Project {
	if f.top != "" {
		p.Directories = []string{f.top}
	}
	return p
}

// formerly reports whether a recorded remote is a former one of the repository: the present one has the same name at
// another host or owner, and the repository does not keep the recorded one as its upstream.
func (f facts) formerly(recorded string) bool {
	return f.remote != "" && recorded != f.remote && !slices.Contains(f.others, recorded) &&
		!isLocal(recorded) && strings.EqualFold(nameOf(recorded), nameOf(f.remote))
}

// known adds what tells the directory from others, and the identity that the project has without its remote.
func (f facts) known(p memoir.Project) memoir.Project {
	if identity := cmp.Or(f.common, f.place); identity != "" && identity != p.Identity {
		p.Aliases = []string{identity}
	}
	p.Inodes, p.Upstreams = f.inodes, f.others
	return p
}

func (r *Resolver) look(cwd string) facts {
	if f, ok := r.facts.Load(cwd); ok {
		return f.(facts)
	}
	f := r.read(cwd)
	r.facts.Store(cwd, f)
	return f
}

func (r *Resolver) read(cwd string) facts {
	if !filepath.IsAbs(cwd) {
		return facts{never: Nowhere}
	}
	dir := config.FollowLinks(cwd)
	f := facts{top: dir, place: filepath.ToSlash(dir), plain: r.places.plain(dir),
		never: cmp.Or(r.places.never(dir), r.places.never(filepath.Clean(cwd)))}
	if repo, ok := findRepository(dir); ok && f.never == "" {
		urls := repo.remotes()
		for i, url := range urls {
			if r.opts.Clean != nil && url != "" {
				url = r.opts.Clean(url)
			}
			urls[i] = normalise(url)
		}
		remote := urls[0]
		// The repository of a home directory does not include the projects below it.
		common := commonIdentity(repo.common)
		if r.places.never(repo.top) != "" || remote == "" && r.places.never(filepath.FromSlash(common)) != "" {
			f.foreign = remote
		} else {
			f.top, f.remote, f.common = repo.top, remote, common
			f.others, f.inodes = urls[1:], repo.inodes()
		}
	}
	if info, err := os.Stat(dir); err == nil && f.common == "" {
		f.inodes = []string{fmt.Sprintf("dir:%d:%s", disk.Inode(info), f.place)}
	}
	if r.opts.Explicit != nil {
		f.explicit = cmp.Or(r.opts.Explicit(cwd), r.opts.Explicit(f.top))
	}
	return f
}

// commonIdentity returns the identity by a common git directory. For an ordinary repository it is the working
// tree's path: the same as before `git init`, and as for clones that have it as their remote.
func commonIdentity(common string) string {
	if filepath.Base(common) == ".git" {
		common = filepath.Dir(common)
	}
	return filepath.ToSlash(common)
}

// normalise returns NormalizeRemote. For a repository on this machine, it returns that repository's identity, so
// that a clone of a clone belongs to the same project.
func normalise(remote string) string {
	normal := NormalizeRemote(remote)
	if !isLocal(normal) {
		return normal
	}
	at := config.FollowLinks(normal)
	repo, ok := repositoryAt(at)
	if !ok {
		repo, ok = repositoryAt(at + ".git")
	}
	if !ok {
		return commonIdentity(at)
	}
	if origin := NormalizeRemote(repo.remotes()[0]); origin != "" && !isLocal(origin) {
		return origin
	}
	return commonIdentity(repo.common)
}

// maxNameBytes bounds a project's name, which is part of a directory's name.
const maxNameBytes = 48

// nameOf returns a project's name. It depends only on the identity, so that it is the same for all sessions.
func nameOf(identity string) string {
	base := path.Base(identity)
	// A bare repository is often in a folder of the project.
	if base == ".bare" || base == ".git" {
		base = path.Base(path.Dir(identity))
	}
	return sanitise(strings.TrimSuffix(base, ".git"))
}

// sanitise converts a text to one path element without special characters for file systems and shells. It has
// letters, digits, "_", "." and "-", and does not begin with "." or "-".
func sanitise(text string) string {
	var b strings.Builder
	dash := false
	for _, r := range memoir.WithoutFloods(text) {
		if unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			continue // invisible
		}
		if r == utf8.RuneError || !(r == '_' || r == '.' || unicode.In(r, unicode.L, unicode.N, unicode.M)) {
			dash = true
			continue
		}
		if dash && b.Len() > 0 {
			b.WriteByte('-')
		}
		dash = false
		b.WriteRune(r)
	}
	name := strings.TrimLeft(b.String(), ".-")
	name = strings.ToValidUTF8(name[:min(len(name), maxNameBytes)], "")
	return cmp.Or(strings.TrimRight(name, ".-"), "project")
}
