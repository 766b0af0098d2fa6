// Package rollout finds and reads the sessions of coding agents. It is the only package that knows agents'
// formats. It turns the files of one session into a stream of memoir.Item, with each message once and each
// tool call joined to its result. It does not know memory, models or the database. The content of a file is
// untrusted: no line may crash a reader or make it use more than a bounded amount of memory.
//
// Read agent.go first (what an agent is), then read.go and probe.go (the functions for callers),
// record.go (JSON values of damaged files) and one agent, for instance copilot.go. Only OpenCode keeps
// sessions in a database: opencode.go describes their paths and streams.
package rollout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Env is the environment that the places of agents' files depend on.
type Env struct {
	Home   string                   // the person's home directory
	Memoir string                   // memoir's own home
	Getenv func(name string) string // nil: no variable is set
}

func (e Env) get(name string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(name)
}

// home joins a path to the home directory; "" if that is unknown.
func (e Env) home(elem ...string) string {
	if e.Home == "" {
		return ""
	}
	return filepath.Join(append([]string{e.Home}, elem...)...)
}

// dir returns the directory in a variable, else the one called name in the home directory; "" without either.
func (e Env) dir(variable, name string) string {
	if set := e.get(variable); set != "" {
		return e.expand(set)
	}
	return e.home(name)
}

// configured returns the absolute directory in a variable, else in a setting of the agent whose home is dir; "" without
// either. A relative path depends on the directory in which the agent ran.
func (e Env) configured(variable, dir string, setting ...string) string {
	set := e.get(variable)
	if set == "" && dir != "" {
		set = getText(smallJSON(filepath.Join(dir, "settings.json")), setting...)
	}
	if set = e.expand(set); !filepath.IsAbs(set) {
		return ""
	}
	return set
}

// Root is a directory below which an agent keeps sessions, or a database of sessions.
type Root struct {
	Dir string
	// Session reports whether a file may be a session by its name. path is relative to Dir and slash-separated.
	Session func(path string) bool
}

// rootIn returns the root with a name in a directory; none if the directory is not known.
func rootIn(dir, name string, session func(path string) bool) []Root {
	if dir == "" {
		return nil
	}
	return []Root{{filepath.Join(dir, name), session}}
}

// Agent is a coding agent with its format. Each is in a file of its own.
type Agent struct {
	Source memoir.Source
	Format
}

// Format knows the files of an agent.
type Format interface {
	// Roots lists where the agent keeps sessions, whether they exist or not.
	Roots(env Env) []Root
	// Recognises reports whether the first records of a file, at least one, can only be this agent's.
	Recognises(path string, head [][]byte) bool
	// Head fills in h from the first and last records of a file.
	Head(h *Head, path string, head, tail [][]byte)
	// Read emits a thread's items.
	Read(ctx context.Context, t *tape, e *emitter) error
}

// Agents lists the agents in the order in which they are asked to recognise a file: the more specific format first.
var Agents = []Agent{
	{memoir.SourceConversation, Conversation{}}, {memoir.SourceCodex, Codex{}}, {memoir.SourceOMP, OMP{}},
	{memoir.SourcePi, Pi{}}, {memoir.SourceGemini, Gemini{}}, {memoir.SourceOpenCode, OpenCode{}},
	{memoir.SourceQwen, Qwen{}}, {memoir.SourceCopilot, Copilot{}}, {memoir.SourceClaude, Claude{}},
}

// Entry is a file that may be a session.
type Entry struct {
	memoir.File
	Source memoir.Source // agent in whose directory it was found; "" if it was found elsewhere
	Err    error         // why the file, or the directory at Path, could not be read
}

// Walk calls fn for every file that may be a session of an agent by its place and name, in order of agent and
// path, and for every session in a database. An unreadable file or directory is an Entry with Err; only an
// error of fn or a cancelled context ends the walk. Symbolic links are followed; each directory is entered
// once for each agent, and each file is passed once.
func Walk(ctx context.Context, env Env, fn func(Entry) error) error {
	_, err := Again(ctx, env, nil, fn)
	return err
}

// agent walks a root of an agent.
func (w *walker) agent(source memoir.Source, root Root) error {
	w.source, w.root, w.session = source, root.Dir, root.Session
	if info, err := os.Stat(root.Dir); err == nil && info.Mode().IsRegular() {
		return w.file(root.Dir, info)
	}
	return w.dir(root.Dir, "", "")
}

// WalkDir calls fn for every regular file below dir, whatever its name, in order of path, and for every session in a
// database instead of the database. .git directories are left out. dir may be a file. Errors are passed as by Walk,
// also that of a link out of dir; but if dir itself cannot be read, WalkDir returns the error.
func WalkDir(ctx context.Context, dir string, fn func(Entry) error) error {
	_, err := PlacesIn(ctx, dir, fn)
	return err
}

// PlacesIn is WalkDir, and returns the places that were read.
func PlacesIn(ctx context.Context, dir string, fn func(Entry) error) (places []Place, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeNotFound, "", "read the sessions below %s: %w", dir, err)
	}
	w := walker{ctx: ctx, fn: fn, seen: map[location]bool{}, root: dir}
	if !info.IsDir() {
		err = w.file(dir, info)
		return w.places, err
	}
	if w.within, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, openError(dir, err)
	}
	err = w.dir(dir, "", w.within)
	return w.places, err
}

type walker struct {
	ctx     context.Context
	fn      func(Entry) error
	seen    map[location]bool // directories that were entered, files that were passed to fn
	source  memoir.Source
	session func(string) bool // nil: every file
	within  string            // directory that links must not leave; "" for the directories of agents
	root    string            // where the walk began
	places  []Place           // that were read
	known   map[location]bool // directories that are not entered, by their paths as walked
}

// errLeadsOut is the error of a link out of the walked directory.
var errLeadsOut = fmt.Errorf("%w: it is a link that leads out of the directory", ErrNoSession)

// location is a file, by its name and the real path of its directory, or a directory, without a name. A
// directory also has the agent, so that a link into another agent's directory does not hide that agent's
// sessions. Path and name are not joined, since that would cost as much as the rest of the walk.
type location struct {
	source    memoir.Source // of a directory
	dir, name string
}

// first reports whether a location is visited for the first time.
func (w *walker) first(at location) bool {
	seen := w.seen[at]
	w.seen[at] = true
	return !seen
}

// dir walks a directory. rel is its slash-separated path below the root, real its path without symbolic
// links, or "" if that is unknown.
func (w *walker) dir(dir, rel, real string) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if real == "" {
		var err error
		if real, err = filepath.EvalSymlinks(dir); err != nil {
			real = dir
		}
	}
	if w.known[location{w.source, dir, ""}] || !w.first(location{w.source, real, ""}) {
		return nil
	}
	w.enter(dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		if gone(err) {
			return nil // removed meanwhile, or the agent is not installed
		}
		if ferr := w.fn(Entry{File: memoir.File{Path: dir}, Source: w.source, Err: openError(dir, err)}); ferr != nil {
			return ferr
		}
	}
	for _, d := range entries {
		if err := w.entry(filepath.Join(dir, d.Name()), path.Join(rel, d.Name()), real, d); err != nil {
			return err
		}
	}
	return nil
}

// storeName matches the names of databases. One in a place of sessions may be a later store of them.
var storeName = lazyregexp.New(`\.(?:db|sqlite3?)$`)

// entry handles one entry of a directory; realDir is the directory without symbolic links.
func (w *walker) entry(path, rel, realDir string, d fs.DirEntry) error {
	isLink, wanted := d.Type()&fs.ModeSymlink != 0, w.session == nil || w.session(rel)
	switch {
	case d.IsDir() && d.Name() == ".git":
		return nil
	case d.IsDir():
		return w.dir(path, rel, filepath.Join(realDir, d.Name()))
	case w.source != "" && !wanted && w.session(filepath.Join(rel, "../rollout-x.jsonl")) && storeName.MatchString(rel):
		return w.fn(Entry{File: memoir.File{Path: path}, Source: w.source, Err: unknownStore(path, unknownSchema)})
	case !isLink && !wanted:
		return nil
	}
	look := d.Info
	if isLink {
		look = func() (fs.FileInfo, error) { return w.follow(path) }
	}
	info, err := look()
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed meanwhile, or a dangling link
	case err == nil && info.IsDir():
		return w.dir(path, rel, "")
	case !wanted:
	case err != nil:
		return w.fn(Entry{File: memoir.File{Path: path}, Source: w.source, Err: openError(path, err)})
	case info.Mode().IsRegular() && w.first(location{"", realDir, d.Name()}):
		return w.file(path, info)
	}
	return nil
}

// follow returns the file information of a link's target.
func (w *walker) follow(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil || w.within == "" {
		return info, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil && real != w.within && !strings.HasPrefix(real, w.within+string(filepath.Separator)) {
		err = &fs.PathError{Op: "follow", Path: path, Err: errLeadsOut}
	}
	return info, err
}

// file passes a file to fn, or each session of an OpenCode database.
func (w *walker) file(path string, info fs.FileInfo) error {
	if w.source == "" || w.source == memoir.SourceOpenCode {
		sessions, ok, failed := opencodeSessions(path, info)
		if !ok && w.source != "" && isDatabase(path, info) {
			failed = unknownStore(path, unknownSchema)
		}
		for _, f := range sessions {
			if err := w.fn(Entry{File: f, Source: memoir.SourceOpenCode}); err != nil {
				return err
			}
		}
		if failed != nil {
			return w.fn(Entry{File: asFile(path, info), Source: w.source, Err: failed})
		}
		if ok {
			w.enter(path)
			return nil
		}
	}
	return w.fn(Entry{File: asFile(path, info), Source: w.source})
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
