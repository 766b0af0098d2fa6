package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"memoir"
	"memoir/deliver"
	"memoir/extract"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
	"memoir/rollout"
	"memoir/store"
)

// takenTogether is the number of sessions that one transaction stores: other processes wait for it.
const takenTogether = 4 << 20 / maxMessagesBytes

// takeIn stores for searching the texts of the sessions that were not read since they changed, or of those with keys,
// the latest first: whatever their age, and whether memory is made from them or not. It leaves out those for which
// leave, if it is not nil, returns true. If ctx ends, those that were read are stored.
func (s *scan) takeIn(ctx context.Context, keys []string, leave func(memoir.Session) bool) error {
	sessions, err1 := s.store.Untaken(ctx, keys)
	var err2 error
	_, s.forgotten, err2 = Tombstones(s.opts.Home)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	if leave != nil {
		sessions = slices.DeleteFunc(sessions, leave)
	}
	done := 0
	for batch := range slices.Chunk(sessions, takenTogether) {
		s.progress(Progress{Stage: StageRead, Done: done, Total: len(sessions)})
		done += len(batch)
		taken := s.readAll(ctx, batch)
		var said []memoir.Statement
		for _, one := range taken {
			said = append(said, one.Statements...)
		}
		err := cmp.Or(s.faulty(), deliver.Repaired(s.opts.Home, said))
		if err = cmp.Or(err, s.store.TakeIn(context.WithoutCancel(ctx), s.epoch, taken)); err != nil {
			return err
		}
		if ctx.Err() != nil {
			break
		}
	}
	if s.walked != nil && ctx.Err() == nil { // what was not read is still new to the next look
		s.remember(s.walked)
	}
	return nil
}

// readAll reads sessions, several at a time. It leaves out those that cannot be read now, and of those whose content
// cannot be read it returns nothing but that they were.
func (s *scan) readAll(ctx context.Context, sessions []memoir.Session) (taken []store.Taken) {
	var mu sync.Mutex
	var all sync.WaitGroup
	room := newRoom(s.opts.Settings.Memories, runtime.GOMAXPROCS(0)) // nothing but the processor is waited for
	for _, session := range sessions {
		all.Go(func() {
			one, err := Apart(ctx, func() (store.Taken, error) {
				_, leave, err := room.enter(ctx, session)
				if err != nil {
					return store.Taken{}, err
				}
				defer leave()
				return s.read(ctx, session)
			})
			switch {
			case ctx.Err() != nil:
				return
			case err != nil && (ownFault(err) || failing(err) || withheld(session, err)):
				return // the next scan reports it
			case err != nil:
				s.mention("not searchable: "+s.redact(err.Error()), memoir.HintOf(err))
			}
			mu.Lock()
			defer mu.Unlock()
			one.Session = session
			taken = append(taken, one)
		})
	}
	all.Wait()
	slices.SortFunc(taken, func(a, b store.Taken) int { return strings.Compare(a.Session.Key(), b.Session.Key()) })
	return taken
}

// read reads a session, and extracts from one of a person that may be told to new sessions.
func (s *scan) read(ctx context.Context, session memoir.Session) (out store.Taken, err error) {
	parts, err := Parts(ctx, session, s.heads.take)
	if err != nil {
		return out, err
	}
	loaded, err := Load(ctx, s.scanner, parts, "", s.forgotten)
	if err != nil {
		return out, err
	}
	if out.Messages, out.Tools, err = texts(loaded); err != nil {
		return out, err
	}
	if session.Kind != memoir.KindMain || session.ProjectID == "" || time.Since(session.UpdatedAt) > store.SaidFor {
		return out, nil
	}
	e, err := extract.NewBuiltin().Extract(ctx, extract.Input{Session: session, Items: loaded.Items})
	e, _ = s.scanner.Extraction(e)
	for _, st := range e.Statements {
		if extract.IsSaid(st) {
			out.Statements = append(out.Statements, st)
		}
	}
	return out, err
}

// seenDisk is what scans and looks saw of the disk last. It is a file, since a look that finds nothing new may cost no
// more than to read it and to compare what it names. Its modification time is that of the last scan of all agents.
type seenDisk struct {
	All    bool // all agents were scanned
	Places []rollout.Place
	Open   []openFile // those that changed last
}

type openFile struct {
	memoir.File
	Source memoir.Source
}

// Bounds on the files whose changes a look notices.
const (
	openFor  = 48 * time.Hour // since their last change
	mostOpen = 256
	maxSeen  = 16 << 20 // bytes of the file of seenDisk
)

func seenFile(home string) string { return filepath.Join(home, "seen") }

// fullScan is how old the last scan of all files may be before ClaimScan asks for another one.
const fullScan = 10 * time.Minute

// ClaimScan reports whether the last scan of all agents' files is too old, and the caller is the first to ask.
func ClaimScan(home string) bool {
	last := LastScan(home)
	if last.IsZero() { // a home of an earlier version
		_ = failpoint.WriteFile(seenFile(home), nil, 0o600)
	}
	due := time.Since(last) > fullScan
	if due {
		touch(seenFile(home), time.Now())
	}
	return due
}

// LastScan returns when all agents' files were scanned last; the zero time if they were not.
func LastScan(home string) time.Time {
	info, err := os.Stat(seenFile(home))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// readSeen reads the file: a line for each place and file, its fields separated by tabs.
func readSeen(home string) (seen seenDisk) {
	text, _ := disk.ReadFile(seenFile(home), maxSeen) // without it everything is new
	number := func(text string) int64 {
		n, _ := strconv.ParseInt(text, 10, 64)
		return n
	}
	at := func(text string) time.Time {
		if n := number(text); n != 0 {
			return time.Unix(0, n)
		}
		return time.Time{}
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case f[0] == "all":
			seen.All = true
		case f[0] == "place" && len(f) == 5:
			p := rollout.Place{Path: f[4], Root: f[3], Source: memoir.Source(f[2]), ModTime: at(f[1])}
			seen.Places = append(seen.Places, p)
		case f[0] == "open" && len(f) == 6:
			file := memoir.File{Path: f[5], ModTime: at(f[1]), Size: number(f[3]), Inode: uint64(number(f[4]))}
			seen.Open = append(seen.Open, openFile{file, memoir.Source(f[2])})
		}
	}
	return seen
}

// write replaces the file. If that fails, the next look sees again what this one saw. Paths with a tab or a line feed
// are left out: only scans notice their changes.
func (d seenDisk) write(home string, at time.Time) {
	d.Open = slices.DeleteFunc(d.Open, func(f openFile) bool { return time.Since(f.ModTime) > openFor })
	slices.SortStableFunc(d.Open, func(a, b openFile) int { return b.ModTime.Compare(a.ModTime) })
	var text strings.Builder
	line := func(fields ...string) {
		if line := strings.Join(fields, "\t"); strings.Count(line, "\t") == len(fields)-1 && !strings.Contains(line, "\n") {
			text.WriteString(line + "\n")
		}
	}
	stamp := func(at time.Time) string {
		if at.IsZero() {
			return "0"
		}
		return fmt.Sprint(at.UnixNano())
	}
	if d.All {
		line("all")
	}
	for _, p := range d.Places {
		line("place", stamp(p.ModTime), string(p.Source), p.Root, p.Path)
	}
	for _, f := range d.Open[:min(len(d.Open), mostOpen)] {
		line("open", stamp(f.ModTime), string(f.Source), fmt.Sprint(f.Size), fmt.Sprint(int64(f.Inode)), f.Path)
	}
	before, _ := disk.ReadFile(seenFile(home), maxSeen)
	var err error
	if string(before) != text.String() {
		err = disk.Replace(seenFile(home), []byte(text.String()), 0o600)
	}
	if err == nil {
		touch(seenFile(home), at)
	}
}

func touch(path string, at time.Time) {
	if failpoint.Before("date scan") == nil {
		_ = os.Chtimes(path, at, at)
	}
}

// remember records what a scan saw, beside what scans of other directories saw.
func (s *scan) remember(entries []rollout.Entry) {
	seen, at := readSeen(s.opts.Home), LastScan(s.opts.Home)
	if s.opts.SessionsDir == "" {
		seen.All, at = true, time.Now()
	}
	walked := memoir.Set(memoir.Map(s.places, func(p rollout.Place) string { return string(p.Source) + p.Root }))
	seen.Places = slices.DeleteFunc(seen.Places, func(p rollout.Place) bool {
		return walked[string(p.Source)+p.Root] || s.opts.SessionsDir == "" && p.Source != ""
	})
	seen.Places = append(seen.Places, s.places...)
	seen.see(entries)
	seen.write(s.opts.Home, at)
}

// see replaces the states of files.
func (d *seenDisk) see(entries []rollout.Entry) {
	paths := memoir.Set(memoir.Map(entries, func(e rollout.Entry) string { return e.Path }))
	d.Open = slices.DeleteFunc(d.Open, func(f openFile) bool { return paths[f.Path] })
	for _, e := range entries {
		if e.Err == nil {
			d.Open = append(d.Open, openFile{e.File, e.Source})
		}
	}
}

// changed returns the files that are new or changed since, and the state of the disk with them.
func (d seenDisk) changed(ctx context.Context, env rollout.Env) (entries []rollout.Entry, now seenDisk, err error) {
	if !d.All {
		env = rollout.Env{Memoir: env.Memoir} // a home may be for the sessions of some directories only
	}
	now = d
	open := memoir.MapOf(d.Open, func(f openFile) (string, memoir.File) { return f.Path, f.File })
	now.Places, err = rollout.Again(ctx, env, d.Places, func(e rollout.Entry) error {
		if e.Err != nil || !same(open[e.Path], e.File) {
			entries = append(entries, e)
		}
		return nil
	})
	for _, f := range d.Open {
		if at, err := rollout.Stat(f.Path); err == nil && !same(at, f.File) {
			entries = append(entries, rollout.Entry{File: at, Source: f.Source})
		}
	}
	now.Open = slices.Clone(d.Open)
	now.see(entries)
	return entries, now, err
}

// CatchUp registers the sessions that agents began or continued since the last scan in the places that it walked, and
// reads those that were not read since they changed, for at most within: a search finds their texts then. open opens
// the database; it is called only if something changed, or if unread says that there are sessions to read. If dir is
// not empty, only sessions of its project are read.
func CatchUp(ctx context.Context, opts Options, within time.Duration, dir string, unread bool,
	open func(context.Context) (*store.Store, error)) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	opts.Env.Memoir = opts.Home
	entries, now, err := readSeen(opts.Home).changed(ctx, opts.Env)
	if err != nil || len(entries) == 0 && !unread {
		return err
	}
	st, err := open(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	r, err := newRun(st, opts)
	if err != nil {
		return err
	}
	return newScan(r).catchUp(ctx, entries, now, dir)
}

// catchUp registers entries and reads what is not read yet.
func (s *scan) catchUp(ctx context.Context, entries []rollout.Entry, now seenDisk, dir string) error {
	known, err := s.store.Files(ctx)
	if err != nil {
		return err
	}
	if _, _, err := s.enter(ctx, known, entries, false); err != nil {
		return err
	}
	projectID := ""
	if dir != "" {
		finder, err := s.newFinder(ctx)
		if err != nil {
			return err
		}
		p, _ := finder.find(dir, "")
		projectID = p.ID
	}
	err = s.takeIn(ctx, nil, func(session memoir.Session) bool {
		return session.Bytes > MaxCatchUp || dir != "" && session.ProjectID != projectID
	})
	if err == nil && ctx.Err() == nil { // otherwise the next look tries again
		now.write(s.opts.Home, LastScan(s.opts.Home))
	}
	return err
}

// MaxCatchUp bounds the bytes of a session that CatchUp reads. A run reads longer ones.
const MaxCatchUp = 32 << 20

// TakeIn scans all agents' files, as a run does, and reads the sessions that were not read since they changed. It
// extracts from none.
func TakeIn(ctx context.Context, st *store.Store, opts Options) error {
	r, err := newRun(st, opts)
	if err != nil {
		return err
	}
	s := newScan(r)
	if err := s.refresh(ctx); err != nil {
		return err
	}
	if err := s.takeIn(ctx, nil, nil); err != nil {
		return err
	}
	s.index(ctx)
	return nil
}
