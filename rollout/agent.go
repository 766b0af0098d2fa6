// Package rollout knows where each coding agent keeps its sessions and how to
// read them: it is the only place that knows an agent's format. It turns the
// files of one conversation into a stream of memoir.Item, each utterance once,
// each tool call joined to its result, and knows nothing of memory, models or
// the database. What a file says is foreign data: no line may crash a reader or
// make it hold more than a bounded amount.
//
// Read agent.go first (what an agent's reader must provide), then read.go and
// probe.go (what callers use), record.go (JSON values out of damaged files) and
// one agent, for instance copilot.go. OpenCode alone does not keep
// a session as a file: opencode.go says how its sessions come as paths and streams.
package rollout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"

	"memoir"
)

// Env is what finding an agent's files depends on.
type Env struct {
	Home   string                   // the person's home directory
	Memoir string                   // memoir's own
	Getenv func(name string) string // nil: nothing is set
	GOOS   string
}

func (e Env) get(name string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(name)
}

// home joins a path to the home directory; it is "" without one.
func (e Env) home(elem ...string) string {
	if e.Home == "" {
		return ""
	}
	return filepath.Join(append([]string{e.Home}, elem...)...)
}

// dir is the directory that a variable names, else the one of that name in the home
// directory; "" without either.
func (e Env) dir(variable, name string) string {
	if set := e.get(variable); set != "" {
		return e.expand(set)
	}
	return e.home(name)
}

// Root is a directory below which an agent keeps sessions, or a file that holds them.
type Root struct {
	Dir string
	// Session reports whether a file may by its name be a session; path is
	// relative to Dir and slash-separated.
	Session func(path string) bool
}

// Agent knows one coding agent's format; each has a file of its own.
type Agent interface {
	// Source names the agent.
	Source() memoir.Source
	// Roots lists where the agent keeps sessions, whether they exist or not.
	Roots(env Env) []Root
	// Recognises reports whether records can only be this agent's; they are the
	// first ones of a file, at least one.
	Recognises(path string, head [][]byte) bool
	// Head fills in what the first and last records of a file say of it.
	Head(h *Head, path string, head, tail [][]byte)
	// Read emits a thread's items.
	Read(ctx context.Context, t *tape, e *emitter) error
}

// Agents lists the agents in the order in which they are asked whether they
// recognise a file: the more particular format first.
var Agents = []Agent{Conversation{}, Codex{}, OMP{}, Pi{}, Gemini{}, OpenCode{}, Qwen{}, Copilot{}, Claude{}}

// AgentOf returns the agent of a source, nil if there is none.
func AgentOf(source memoir.Source) Agent {
	for _, a := range Agents {
		if a.Source() == source {
			return a
		}
	}
	return nil
}

// Entry is a file that may be a session.
type Entry struct {
	memoir.File
	Source memoir.Source // whose directory it was found in; "" where that says nothing
	Err    error         // why the file, or the directory at Path, could not be looked at
}

// Walk calls fn for every file that by its place and name may be a session of an
// agent, in order of agent and path; a database is as many as it holds sessions.
// What cannot be read comes as an Entry with Err; only fn's error or a cancelled
// context ends the walk. Symbolic links are followed, each directory is entered once
// for each agent and each file in it given once.
func Walk(ctx context.Context, env Env, fn func(Entry) error) error {
	w := walker{ctx: ctx, fn: fn, seen: map[location]bool{}}
	for _, agent := range Agents {
		for _, root := range agent.Roots(env) {
			if root.Dir == "" {
				continue
			}
			w.source, w.session = agent.Source(), root.Session
			if info, err := os.Stat(root.Dir); err == nil && info.Mode().IsRegular() {
				if err := w.file(root.Dir, info); err != nil {
					return err
				}
				continue
			}
			if err := w.dir(root.Dir, "", "", true); err != nil {
				return err
			}
		}
	}
	return nil
}

// WalkDir calls fn for every regular file below dir, whatever its name, in order
// of path, and instead of a file that an agent keeps sessions in for each of these;
// .git directories are left out, and a link that leads out of dir is an error of its own. Dir may be
// such a file. Errors are given as by Walk, but a dir that cannot be read at all is an error.
func WalkDir(ctx context.Context, dir string, fn func(Entry) error) error {
	info, err := os.Stat(dir)
	if err != nil {
		return memoir.Errorf(memoir.CodeNotFound, "", "read the sessions below %s: %w", dir, err)
	}
	w := walker{ctx: ctx, fn: fn, seen: map[location]bool{}}
	if !info.IsDir() {
		return w.file(dir, info)
	}
	if w.within, err = filepath.EvalSymlinks(dir); err != nil {
		return openError(dir, err)
	}
	return w.dir(dir, "", w.within, false)
}

// leastLooked is how many entries of a directory are worth a goroutine.
const leastLooked = 64

type walker struct {
	ctx     context.Context
	fn      func(Entry) error
	seen    map[location]bool // directories that were entered, files that were given
	source  memoir.Source
	session func(string) bool // nil: every file
	within  string            // out of which no link is followed; "" for the directories of agents
}

// errLeadsOut is the error of a link that leads out of the directory that is walked.
var errLeadsOut = fmt.Errorf("%w: it is a link that leads out of the directory", ErrNoSession)

// location is a file, by the real path of its directory and its name, or a directory without
// a name, looked at for one agent's sessions: a link from an agent's directory into another's
// must not hide what the other keeps there. Path and name are not joined, for that costs as
// much as the rest of the walk's own work on a file.
type location struct {
	source    memoir.Source // of a directory
	dir, name string
}

// first reports whether a location is met for the first time.
func (w *walker) first(at location) bool {
	met := w.seen[at]
	w.seen[at] = true
	return !met
}

// dir walks a directory; rel is its slash-separated path below the root, real its
// path without symbolic links if that is known.
func (w *walker) dir(dir, rel, real string, root bool) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if real == "" {
		var err error
		if real, err = filepath.EvalSymlinks(dir); err != nil {
			real = dir
		}
	}
	if !w.first(location{w.source, real, ""}) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || root && errors.Is(err, syscall.ENOTDIR) {
			return nil // gone since, or an agent that is not here
		}
		if ferr := w.fn(Entry{File: memoir.File{Path: dir}, Source: w.source, Err: openError(dir, err)}); ferr != nil {
			return ferr
		}
	}
	looked := w.lookAtAll(rel, entries)
	for i, d := range entries {
		if err := w.entry(filepath.Join(dir, d.Name()), path.Join(rel, d.Name()), real, d, looked[i]); err != nil {
			return err
		}
	}
	return nil
}

// looked is what the system says of an entry of a directory.
type looked struct {
	info fs.FileInfo
	err  error
}

// lookAtAll looks at what may be sessions among the entries of a directory, on all
// processors: that is most of a walk's work.
func (w *walker) lookAtAll(rel string, entries []fs.DirEntry) []looked {
	out := make([]looked, len(entries))
	var g errgroup.Group
	size := max(len(entries)/runtime.GOMAXPROCS(0)+1, leastLooked)
	for from := 0; from < len(entries); from += size {
		g.Go(func() error {
			for i := from; i < min(from+size, len(entries)); i++ {
				d := entries[i]
				if !d.IsDir() && (w.session == nil || d.Type()&fs.ModeSymlink != 0 || w.session(path.Join(rel, d.Name()))) {
					out[i].info, out[i].err = d.Info()
				}
			}
			return nil
		})
	}
	_ = g.Wait() // no goroutine returns an error
	return out
}

// entry looks at what a directory holds; realDir is that directory without
// symbolic links.
func (w *walker) entry(path, rel, realDir string, d fs.DirEntry, looked looked) error {
	isLink, wanted := d.Type()&fs.ModeSymlink != 0, w.session == nil || w.session(rel)
	switch {
	case d.IsDir() && d.Name() == ".git":
		return nil
	case d.IsDir():
		return w.dir(path, rel, filepath.Join(realDir, d.Name()), false)
	case !isLink && !wanted:
		return nil
	}
	info, err := looked.info, looked.err
	if isLink {
		info, err = w.follow(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // gone since, or a link to nothing
	case err == nil && info.IsDir():
		return w.dir(path, rel, "", false)
	case !wanted:
	case err != nil:
		return w.fn(Entry{File: memoir.File{Path: path}, Source: w.source, Err: openError(path, err)})
	case info.Mode().IsRegular() && w.first(location{"", realDir, d.Name()}):
		return w.file(path, info)
	}
	return nil
}

// follow looks at what a link leads to.
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

// file gives a file, or the sessions that OpenCode keeps in it.
func (w *walker) file(path string, info fs.FileInfo) error {
	if w.source == "" || w.source == memoir.SourceOpenCode {
		sessions, ok, err := opencodeSessions(path, info)
		if err != nil {
			return w.fn(Entry{File: asFile(path, info), Source: w.source, Err: err})
		}
		for _, f := range sessions {
			if err := w.fn(Entry{File: f, Source: memoir.SourceOpenCode}); err != nil {
				return err
			}
		}
		if ok {
			return nil
		}
	}
	return w.fn(Entry{File: asFile(path, info), Source: w.source})
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// inode is 0 where the file system's answer has none.
func inode(info fs.FileInfo) uint64 {
	if sys := reflect.Indirect(reflect.ValueOf(info.Sys())); sys.Kind() == reflect.Struct {
		if number := sys.FieldByName("Ino"); number.IsValid() && number.CanUint() {
			return number.Uint()
		}
	}
	return 0
}
