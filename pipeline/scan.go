package pipeline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"memoir"
	"memoir/config"
	"memoir/internal/disk"
	"memoir/rollout"
	"memoir/store"
)

// A scan looks for sessions and memories on the disk.
type scan struct {
	*run
	heads  seenHeads
	off    map[string]bool // by directory: whether a project file switches memory off
	places []rollout.Place // that were walked
	walked []rollout.Entry // in them; nil: the run is limited to some sessions
}

func newScan(r *run) *scan {
	return &scan{run: r, heads: seenHeads{by: map[string]seenHead{}}, off: map[string]bool{}}
}

// refresh updates the registry from the disk. It does not open a file whose size, modification time and inode are
// unchanged. It reads a file that grew from its former end, and any other at its head and tail.
func (s *scan) refresh(ctx context.Context) error {
	if !s.opts.DryRun {
		if err := RemoveFolders(ctx, s.store, s.opts.Home, s.clean); err != nil {
			return err
		}
		if err := config.TidyTrust(s.opts.Home); err != nil {
			return err
		}
	}
	var known map[string]store.FileRow
	var entries []rollout.Entry
	g, within := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		known, err = s.store.Files(within)
		return err
	})
	g.Go(func() (err error) {
		if entries, err = s.walk(within); err != nil {
			err = fmt.Errorf("look for sessions: %w", err)
		}
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	seen, probed, err := s.enter(ctx, known, append(slices.Clone(entries), s.named(known)...), true)
	if err != nil {
		return err
	}
	s.report.Scan.Files, s.report.Scan.Found = len(seen), sessionsOf(known, seen, probed)
	if len(s.opts.Only) == 0 {
		s.walked = entries
	}
	s.restrict(known, seen, probed)
	s.report.Scan.Reasons, err = s.store.RefreshReasons(ctx, s.window())
	for _, n := range s.report.Scan.Reasons {
		s.report.Scan.Sessions += n
	}
	return err
}

// enter registers what is new or changed of entries. If they are all, the sessions of other files have vanished.
func (s *scan) enter(ctx context.Context, known map[string]store.FileRow, entries []rollout.Entry, all bool) (
	seen map[string]bool, probed []probedFile, err error) {
	if _, s.forgotten, err = Tombstones(s.opts.Home); err != nil {
		return nil, nil, err
	}
	seen, changed := compare(known, entries)
	if probed, err = s.probeAll(ctx, known, changed); err != nil {
		return nil, nil, err
	}
	s.sayUnreadable(probed)
	var gone []string
	if all {
		gone = vanished(known, seen)
	}
	if len(probed) > 0 || len(gone) > 0 {
		if err := s.register(ctx, known, probed, gone); err != nil {
			return nil, nil, err
		}
		if err := s.forgetAgain(ctx); err != nil {
			return nil, nil, err
		}
	}
	return seen, probed, s.exclude(ctx)
}

// walk lists the files that may be sessions.
func (s *scan) walk(ctx context.Context) ([]rollout.Entry, error) {
	entries := []rollout.Entry{}
	visit := func(e rollout.Entry) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		entries = append(entries, e)
		if len(entries)%1000 == 0 {
			s.progress(Progress{Stage: StageScan, Done: len(entries)})
		}
		return nil
	}
	env := s.opts.Env
	if s.opts.SessionsDir != "" {
		var err error
		if s.places, err = rollout.PlacesIn(ctx, s.opts.SessionsDir, visit); err != nil {
			return entries, err
		}
		env = rollout.Env{} // conversations are scanned in any case
	}
	env.Memoir = s.opts.Home
	places, err := rollout.Again(ctx, env, nil, visit)
	s.places = append(s.places, places...)
	return entries, err
}

// named returns the files of the sessions that the run is limited to; walk may not reach them.
func (s *scan) named(known map[string]store.FileRow) (entries []rollout.Entry) {
	if len(s.opts.Only) == 0 {
		return nil
	}
	for path, row := range known {
		if !slices.Contains(s.opts.Only, row.SessionKey) {
			continue
		}
		if f, err := rollout.Stat(path); err == nil {
			entries = append(entries, rollout.Entry{File: f})
		}
	}
	return entries
}

// compare returns which files were seen, and which of them are new, differ from the registry, or cannot be
// read for another reason than before.
func compare(known map[string]store.FileRow, entries []rollout.Entry) (seen map[string]bool, changed []rollout.Entry) {
	seen = make(map[string]bool, len(entries))
	return seen, slices.DeleteFunc(entries, func(e rollout.Entry) bool {
		if seen[e.Path] {
			return true
		}
		seen[e.Path] = true
		k, ok := known[e.Path]
		return ok && e.Err == nil && same(k.File, e.File) || ok && e.Err != nil && k.Error == e.Err.Error()
	})
}

// sessionsOf counts the sessions that files belong to.
func sessionsOf(known map[string]store.FileRow, seen map[string]bool, probed []probedFile) int {
	of := map[string]bool{}
	for path := range seen {
		of[known[path].SessionKey] = true
	}
	for _, p := range probed {
		of[p.row.SessionKey] = true
	}
	delete(of, "") // of a file that is no session, or new
	return len(of)
}

// vanished lists the registered files that are no longer on disk. Their sessions keep their extractions.
func vanished(known map[string]store.FileRow, seen map[string]bool) []string {
	var unseen, gone []string
	for path := range known {
		switch {
		case seen[path]:
		case readableDir(path):
			gone = append(gone, path)
		default:
			unseen = append(unseen, path)
		}
	}
	gone = append(gone, rollout.Missing(unseen)...)
	slices.Sort(gone)
	return gone
}

// probeAll probes the changed files in their order, without those that still cannot be read or are not sessions.
func (s *scan) probeAll(ctx context.Context,
	known map[string]store.FileRow, changed []rollout.Entry) ([]probedFile, error) {
	var paths []string
	for _, e := range changed {
		if _, ok := known[e.Path]; ok {
			paths = append(paths, e.Path)
		}
	}
	before, err := s.store.Heads(ctx, paths)
	if err != nil {
		return nil, err
	}
	var found []probedFile
	for batch := range slices.Chunk(changed, saved) { // there may be many thousands of files that are not sessions
		probed := make([]probedFile, len(batch))
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(8)
		for i, e := range batch {
			g.Go(func() error {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				row, err := s.look(e, known[e.Path], before[e.Path])
				if disk.Lacking(err) { // not caused by the file
					return err
				}
				if probed[i].row = row; err != nil {
					probed[i] = s.unreadable(e, err, known[e.Path].SessionKey, before[e.Path])
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		found = append(found, slices.DeleteFunc(probed, func(p probedFile) bool {
			before := p.err != nil && denied(p.err) && known[p.row.Path].Error == p.row.Error
			return before || s.noSession(known, p)
		})...)
	}
	return found, nil
}

// unreadable returns the row of a file that cannot be read. If the system does not permit it, the file keeps
// its session and its head. Otherwise the file becomes a session whose id is its path.
func (s *scan) unreadable(e rollout.Entry, cause error, session string, head json.RawMessage) probedFile {
	row := store.FileRow{File: e.File, Error: s.redact(cause.Error())}
	row.SessionKey = memoir.SessionKey(cmp.Or(e.Source, memoir.SourceUnknown), printablePath(e.Path))
	if denied(cause) {
		row.ModTime = time.Unix(0, 0)
		if len(head) > 0 {
			row.SessionKey, row.Head = session, head
		}
	}
	return probedFile{row: row, err: cause}
}

// look reads a file's head and tail and returns its row, with a redacted head. It continues from the head that
// was recorded before.
func (s *scan) look(e rollout.Entry, known store.FileRow, before json.RawMessage) (row store.FileRow, err error) {
	defer survive(&err)
	if e.Err != nil {
		return row, e.Err
	}
	var head rollout.Head
	if known.Error != "" || json.Unmarshal(before, &head) != nil {
		head, err = rollout.Probe(e)
	} else {
		head, err = rollout.ProbeAgain(e, head)
	}
	if err != nil {
		return row, err
	}
	s.heads.put(e.File, head)
	head = s.cleanHead(head)
	text, err := json.Marshal(head)
	if err != nil {
		return row, fmt.Errorf("encode the head of %s: %w", e.Path, err)
	}
	return store.FileRow{File: e.File, SessionKey: memoir.SessionKey(head.Source, head.ID), Head: text}, nil
}

// restrict limits claims to the sessions below SessionsDir, unless sessions are named. It does nothing if the registry
// has no others, since a list of many keys slows down every claim.
func (s *scan) restrict(known map[string]store.FileRow, seen map[string]bool, probed []probedFile) {
	if s.opts.SessionsDir == "" || len(s.opts.Only) > 0 {
		return
	}
	keys, others := map[string]bool{"": true}, len(seen) == 0 // never empty, which would lift the restriction
	for path, row := range known {
		if seen[path] {
			keys[row.SessionKey] = true
		} else {
			others = true
		}
	}
	if !others {
		return
	}
	for _, p := range probed {
		keys[p.row.SessionKey] = true
	}
	s.opts.Only = slices.Sorted(maps.Keys(keys))
}

// exclude stores which directories of sessions the settings exclude, and in which a project file, in or
// above the directory, switches memory off.
func (s *scan) exclude(ctx context.Context) error {
	dirs, err := s.store.Directories(ctx)
	if err != nil {
		return err
	}
	var excluded, off []string
	for _, dir := range dirs {
		switch {
		case s.opts.Settings.Excluded(dir):
			excluded = append(excluded, dir)
		case s.switchedOff(dir):
			off = append(off, dir)
		}
	}
	return s.store.SetExcluded(ctx, excluded, off)
}

// switchedOff reports whether a project file in or above a directory switches memory off.
func (s *scan) switchedOff(dir string) bool {
	dir = filepath.Clean(dir)
	if off, known := s.off[dir]; known {
		return off
	}
	// The parent comes first, so that the faults of a file are reported once for all directories below it.
	if parent := filepath.Dir(dir); parent != dir && s.switchedOff(parent) {
		s.off[dir] = true
		return true
	}
	settings, ignored, err := s.opts.Settings.ForProject(dir, s.trusted)
	if err != nil {
		s.warn(err.Error()+", so memory is off there", memoir.HintOf(err))
	}
	for _, i := range ignored {
		s.warn(i, "memoir trust "+dir)
	}
	s.off[dir] = settings.Off
	return settings.Off
}

// cleanHead redacts a file's head before it is stored, printed, or used to identify a project. The path stays
// as it is, since the file is opened by it.
func (s *scan) cleanHead(h rollout.Head) rollout.Head {
	h.Title = titleOf(h, s.clean)
	if len(s.forgotten) > 0 && repeats(h, s.forgotten) {
		h.Title = ""
	}
	h.CWD, h.Branch = s.redact(h.CWD), s.clean(h.Branch)
	h.Remote = s.cleanRemote(h.Remote)
	for _, id := range []*string{&h.ID, &h.FileID, &h.BaseID, &h.ParentID} {
		if *id != "" && len(s.scanner.Find(*id)) > 0 {
			sum := sha256.Sum256([]byte(*id))
			*id = redactedID + hex.EncodeToString(sum[:8])
		}
	}
	return h
}

// seenHead is the head of a file that this run's scan read.
type seenHead struct {
	file memoir.File
	head rollout.Head
}

// mostHeads is the number of heads that a scan keeps for Phase 1, about half a KiB each.
const mostHeads = 10_000

// seenHeads are those that a scan read, by path, so that Phase 1 of this run does not read them again.
type seenHeads struct {
	mu sync.Mutex
	by map[string]seenHead
}

func (h *seenHeads) put(f memoir.File, head rollout.Head) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.by) < mostHeads {
		h.by[f.Path] = seenHead{f, head.Untitled()}
	}
}

// take returns the head that the scan read of a file, once, if the file is unchanged; else it calls
// rollout.Probe.
func (h *seenHeads) take(e rollout.Entry) (rollout.Head, error) {
	h.mu.Lock()
	seen, ok := h.by[e.Path]
	delete(h.by, e.Path)
	h.mu.Unlock()
	if ok && same(seen.file, e.File) && untouched(e.File) {
		return seen.head, nil
	}
	return rollout.Probe(e)
}
