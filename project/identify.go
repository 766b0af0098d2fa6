package project

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"memoir"
)

// Status says by what a project was identified, or why there is none.
type Status string

// What identifies a project, in order of precedence.
const (
	Explicit  Status = "explicit"  // the user named it
	Remote    Status = "remote"    // the repository's remote
	GitDir    Status = "git"       // the repository's common git directory
	Directory Status = "directory" // the directory, outside of any repository
)

// Why a directory has no project.
const (
	Nowhere   Status = "nowhere" // the session recorded no usable directory
	Home      Status = "home"
	Root      Status = "root"
	Temporary Status = "temporary"
)

// OK reports whether there is a project.
func (s Status) OK() bool {
	return s == Explicit || s == Remote || s == GitDir || s == Directory
}

// String explains the status to a person.
func (s Status) String() string {
	switch s {
	case Explicit:
		return "named in the settings"
	case Remote:
		return "known by its remote"
	case GitDir:
		return "known by its git directory"
	case Directory:
		return "known by its directory"
	case Nowhere:
		return "the session recorded no directory"
	case Home:
		return "a home directory is never a project"
	case Root:
		return "the root directory is never a project"
	case Temporary:
		return "a temporary directory outside of any repository is never a project"
	}
	return string(s)
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

// Input is one question: which project do these belong to?
type Input struct {
	CWD    string // where the session worked; need not exist any more
	Remote string // the repository URL that the session recorded; may be empty

	Explicit func(dir string) string
	Home     string
	TempDirs []string
}

// Identify answers a single question. Who has many uses a Resolver.
func Identify(in Input) (memoir.Project, Status) {
	return NewResolver(Options{Explicit: in.Explicit, Home: in.Home, TempDirs: in.TempDirs}).Identify(in.CWD, in.Remote)
}

// Resolver identifies projects and remembers what it read of each directory, for
// as long as it lives. It is safe for concurrent use.
type Resolver struct {
	opts   Options
	places places
	lstat  func(path string) (os.FileInfo, error)

	mu    sync.Mutex
	facts map[string]facts
}

// NewResolver makes a Resolver.
func NewResolver(opts Options) *Resolver {
	return newResolver(opts, os.Lstat)
}

// newResolver takes what says whether two spellings are one file.
func newResolver(opts Options, lstat func(string) (os.FileInfo, error)) *Resolver {
	r := &Resolver{opts: opts, places: newPlaces(opts.Home, opts.TempDirs), lstat: lstat, facts: make(map[string]facts)}
	for _, dirs := range []*[]string{&r.places.homes, &r.places.temps} {
		for _, dir := range *dirs {
			*dirs = append(*dirs, filepath.FromSlash(r.spelling(dir)))
		}
	}
	return r
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
		p := fromIdentity("project:" + f.explicit)
		p.Name = sanitise(f.explicit)
		p.ID = id(p.Name, p.Identity)
		p.Remote = f.remote
		return f.at(p), Explicit
	}
	if f.never != "" && f.never != Nowhere {
		return memoir.Project{}, f.never
	}
	if recorded := r.normalise(remote, 0); recorded != "" && recorded != f.foreign {
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
		return f.project(f.common), GitDir
	case f.plain != "":
		return memoir.Project{}, f.plain
	}
	return f.project(f.place), Directory
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
	dir       string // cleaned, links followed as far as they exist
	place     string // identity by the directory
	top       string // of the working tree, else dir
	explicit  string
	remote    string // normalised, of the repository today
	common    string // identity by the common git directory
	commonDir string // that directory, or its working tree, as it is spelled
	foreign   string // remote of a repository that does not count
	never     Status // dir is no project, whatever it contains
	plain     Status // dir is no project, unless it is in a repository
}

// at adds where the project was seen.
func (f facts) at(p memoir.Project) memoir.Project {
	if f.top != "" {
		p.Directories = []string{f.top}
	}
	return p
}

// aliases lists the identities that the project had, or would have had, before it
// was known by what identifies it now.
func (f facts) aliases() []string {
	if f.common == "" {
		return f.before(f.dir, f.place)
	}
	return f.before(f.commonDir, f.common)
}

// before lists an identity, and the path that it was made of if that is spelled
// otherwise: an agent may have recorded it as it stands.
func (f facts) before(path, identity string) []string {
	if identity == "" {
		return nil
	}
	if path = filepath.ToSlash(path); path != identity && path != "" {
		return []string{identity, path}
	}
	return []string{identity}
}

// project makes the project of a path. Its id comes from the identity; its name is
// spelled as the path is.
func (f facts) project(identity string) memoir.Project {
	p := fromIdentity(identity)
	if p.Aliases = f.aliases()[1:]; len(p.Aliases) > 0 {
		p.Name = nameOf(p.Aliases[0])
	}
	return f.at(p)
}

func (r *Resolver) look(cwd string) facts {
	r.mu.Lock()
	f, ok := r.facts[cwd]
	r.mu.Unlock()
	if ok {
		return f
	}
	f = r.read(cwd)
	r.mu.Lock()
	r.facts[cwd] = f
	r.mu.Unlock()
	return f
}

// read finds out about a directory.
func (r *Resolver) read(cwd string) facts {
	if foreign := windowsDir(cwd); foreign != "" {
		return r.named(
			facts{
				dir:   foreign,
				top:   foreign,
				place: r.spelling(foreign),
				never: r.places.never(foreign),
				plain: r.places.plain(foreign),
			},
			cwd,
		)
	}
	if !filepath.IsAbs(cwd) {
		return facts{never: Nowhere}
	}
	f := facts{dir: followLinks(cwd)}
	f.top, f.place = f.dir, r.spelling(f.dir)
	for _, spelled := range []string{f.dir, filepath.Clean(cwd), filepath.FromSlash(f.place)} {
		if f.never == "" {
			f.never = r.places.never(spelled)
		}
	}
	if f.never != "" {
		return r.named(f, cwd)
	}
	if f.plain = r.places.plain(f.dir); f.plain == "" {
		f.plain = r.places.plain(filepath.FromSlash(f.place))
	}
	repo, ok := repository{}, false
	if isDir(f.dir) {
		repo, ok = findRepository(f.dir)
	} else {
		repo, ok = worktreeOf(f.dir)
	}
	if ok {
		url := repo.remoteURL(r.opts.Home)
		if r.opts.Clean != nil && url != "" {
			url = r.opts.Clean(url)
		}
		remote := r.normalise(url, 0)
		// A home directory kept in git does not own what lies below it.
		commonDir := commonIdentity(repo.common)
		if r.places.never(repo.top) != "" || remote == "" && r.places.never(filepath.FromSlash(commonDir)) != "" {
			f.foreign = remote
		} else {
			f.top, f.remote = repo.top, remote
			f.commonDir, f.common = commonDir, r.spelling(commonDir)
		}
	}
	return r.named(f, cwd)
}

// named asks for the user's own name of the directory.
func (r *Resolver) named(f facts, cwd string) facts {
	if r.opts.Explicit == nil {
		return f
	}
	if f.explicit = r.opts.Explicit(cwd); f.explicit == "" && f.top != cwd {
		f.explicit = r.opts.Explicit(f.top)
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

// maxHops bounds how far clones of clones are followed.
const maxHops = 5

// normalise is NormalizeRemote, and for a repository on this machine what that
// one is known by: a clone of a clone belongs where the first one does.
func (r *Resolver) normalise(remote string, hops int) string {
	normal := NormalizeRemote(remote)
	if normal == "" || !isLocal(normal) {
		return normal
	}
	if hasDrive(normal) || strings.HasPrefix(normal, "//") {
		return r.spelling(normal)
	}
	normal = followLinks(normal)
	for _, dir := range []string{normal, normal + ".git"} {
		repo, ok := repositoryAt(dir)
		if !ok {
			continue
		}
		if hops < maxHops {
			if next := r.normalise(repo.remoteURL(r.opts.Home), hops+1); next != "" {
				return next
			}
		}
		return r.spelling(commonIdentity(repo.common))
	}
	return r.spelling(commonIdentity(normal))
}

// Elsewhere reports whether a path is an absolute one of another system: it is to be
// taken as it stands, and not as one below the working directory.
func Elsewhere(path string) bool { return windowsDir(path) != "" }

// windowsDir recognises an absolute Windows path in a transcript that was
// written on another machine; "" if it is none, or this one is such a machine.
func windowsDir(cwd string) string {
	if rest, ok := strings.CutPrefix(cwd, `\\?\`); ok { // the form without a limit on its length
		if cwd = rest; strings.HasPrefix(rest, `UNC\`) {
			cwd = `\` + rest[len("UNC"):]
		}
	}
	if filepath.Separator == '\\' || !hasDrive(cwd) && (len(cwd) < 3 || cwd[:2] != `\\`) {
		return ""
	}
	return windowsPath(cwd)
}
