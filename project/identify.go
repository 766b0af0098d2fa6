// Package project knows which project a session belongs to: what the user said,
// else the repository's remote, else its common git directory, else the
// directory. It reads git's files (.git, commondir, config) and never runs git.
// It knows nothing of sessions, settings and databases.
//
// Read identify.go first (the order of precedence), then remote.go (when two
// URLs name one repository) and gitdir.go (how a repository is found).
package project

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"memoir"
	"memoir/config"
)

// Status says to a person by what a project was identified, or why there is none.
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

// Options are what a Resolver needs to know of the machine.
type Options struct {
	// Explicit returns the name of the project that the user gave a directory,
	// or "". It is asked for the session's directory, then for the top of its
	// working tree. May be nil.
	Explicit func(dir string) string

	// Home is the person's home directory.
	Home string

	// TempDirs are the directories for temporary files; nil: DefaultTempDirs.
	TempDirs []string

	// Clean changes the URL of a remote that git's files name, before anything is made of
	// it: of half a secret nobody can tell what it is. May be nil.
	Clean func(url string) string
}

// Resolver identifies projects and remembers what it read of each directory, for
// as long as it lives. It is safe for concurrent use.
type Resolver struct {
	opts   Options
	places places
	facts  sync.Map // facts by directory
}

// NewResolver makes a Resolver.
func NewResolver(opts Options) *Resolver {
	return &Resolver{opts: opts, places: newPlaces(opts.Home, opts.TempDirs)}
}

// Identify returns the project of a session that worked in cwd and recorded a
// remote, either of which may be empty; the zero Project if the status is not OK.
// The project's one directory is the top of the working tree, else cwd.
//
// The remote that the session recorded comes before the one that the repository
// has today: the directory may hold another repository by now.
func (r *Resolver) Identify(cwd, remote string) (memoir.Project, Status) {
	f := r.look(cwd)
	if f.explicit != "" {
		p := memoir.Project{Name: sanitise(f.explicit), Identity: "project:" + f.explicit, Remote: f.remote}
		p.ID = id(p.Name, p.Identity)
		return f.at(p), Explicit
	}
	if f.never != "" && f.never != Nowhere {
		return memoir.Project{}, f.never
	}
	if recorded := normalise(remote); recorded != "" && recorded != f.foreign {
		p := fromIdentity(recorded)
		p.Remote = recorded
		// Another repository that is there today has nothing to do with it.
		if recorded == f.remote || f.common == "" && f.plain == "" && f.never == "" {
			p.Aliases = f.aliases()
		}
		return f.at(p), Remote
	}
	switch {
	case f.never != "":
		return memoir.Project{}, f.never
	case f.remote != "":
		p := fromIdentity(f.remote)
		p.Remote, p.Aliases = f.remote, f.aliases()
		return f.at(p), Remote
	case f.common != "":
		return f.at(fromIdentity(f.common)), GitDir
	case f.plain != "":
		return memoir.Project{}, f.plain
	}
	return f.at(fromIdentity(f.place)), Directory
}

// fromIdentity makes the project of an identity.
func fromIdentity(identity string) memoir.Project {
	name := nameOf(identity)
	return memoir.Project{ID: id(name, identity), Name: name, Identity: identity}
}

// Changed is a project whose texts a function has changed: its identity, and with that its
// id and its name, where it has been seen and what it was called.
func Changed(p memoir.Project, change func(string) string) memoir.Project {
	if identity := change(p.Identity); identity != p.Identity {
		named := fromIdentity(identity)
		p.ID, p.Name, p.Identity = named.ID, named.Name, named.Identity
	}
	p.Remote = change(p.Remote)
	p.Directories, p.Aliases = each(p.Directories, change), each(p.Aliases, change)
	return p
}

func each(texts []string, change func(string) string) []string {
	var out []string
	for _, text := range texts {
		out = append(out, change(text))
	}
	return out
}

// facts are what is known of one directory.
type facts struct {
	place    string // identity by the directory, links followed as far as they exist
	top      string // of the working tree, else dir
	explicit string
	remote   string // normalised, of the repository today
	common   string // identity by the common git directory
	foreign  string // remote of a repository that does not count
	never    Status // dir is no project, whatever it contains
	plain    Status // dir is no project, unless it is in a repository
}

// at adds where the project was seen.
func (f facts) at(p memoir.Project) memoir.Project {
	if f.top != "" {
		p.Directories = []string{f.top}
	}
	return p
}

// aliases lists the identity that the project had, or would have had, before it was known by
// its remote.
func (f facts) aliases() []string {
	if identity := cmp.Or(f.common, f.place); identity != "" {
		return []string{identity}
	}
	return nil
}

func (r *Resolver) look(cwd string) facts {
	if f, ok := r.facts.Load(cwd); ok {
		return f.(facts)
	}
	f := r.read(cwd)
	r.facts.Store(cwd, f)
	return f
}

// read finds out about a directory.
func (r *Resolver) read(cwd string) facts {
	if !filepath.IsAbs(cwd) {
		return facts{never: Nowhere}
	}
	dir := config.FollowLinks(cwd)
	f := facts{top: dir, place: filepath.ToSlash(dir), plain: r.places.plain(dir),
		never: cmp.Or(r.places.never(dir), r.places.never(filepath.Clean(cwd)))}
	if repo, ok := findRepository(dir); ok && f.never == "" {
		url := repo.remoteURL()
		if r.opts.Clean != nil && url != "" {
			url = r.opts.Clean(url)
		}
		remote := normalise(url)
		// A home directory kept in git does not own what lies below it.
		common := commonIdentity(repo.common)
		if r.places.never(repo.top) != "" || remote == "" && r.places.never(filepath.FromSlash(common)) != "" {
			f.foreign = remote
		} else {
			f.top, f.remote, f.common = repo.top, remote, common
		}
	}
	if r.opts.Explicit != nil {
		f.explicit = cmp.Or(r.opts.Explicit(cwd), r.opts.Explicit(f.top))
	}
	return f
}

// commonIdentity is the working tree's path for an ordinary repository, so that
// it is the same before `git init` and for clones that have it as their remote.
func commonIdentity(common string) string {
	if filepath.Base(common) == ".git" {
		common = filepath.Dir(common)
	}
	return filepath.ToSlash(common)
}

// normalise is NormalizeRemote, and for a repository on this machine what that
// one is known by: a clone of a clone belongs where the first one does.
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
	if origin := NormalizeRemote(repo.remoteURL()); origin != "" && !isLocal(origin) {
		return origin
	}
	return commonIdentity(repo.common)
}

// maxNameBytes bounds a project's name, which becomes part of a directory's name.
const maxNameBytes = 48

// id makes the project's id, which is also the name of its folder. The hash keeps
// apart what has the same name, /a/b-c and /a-b/c for one.
func id(name, identity string) string {
	sum := sha256.Sum256([]byte(identity))
	return name + "-" + hex.EncodeToString(sum[:])[:12]
}

// nameOf takes a project's name from its identity alone, so that every session of
// a project finds the same name.
func nameOf(identity string) string {
	base := path.Base(identity)
	// A bare repository often hides in a folder of the project.
	if base == ".bare" || base == ".git" {
		base = path.Base(path.Dir(identity))
	}
	return sanitise(strings.TrimSuffix(base, ".git"))
}

// sanitise makes any text a single path element that no file system and no shell
// finds special: letters, digits, "_", "." and "-", not beginning with either of
// the latter.
func sanitise(text string) string {
	var b strings.Builder
	dash := false
	for _, r := range memoir.WithoutFloods(text) {
		if unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			continue // shows nothing
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
