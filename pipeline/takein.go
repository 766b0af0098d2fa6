package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"memoir"
	"memoir/extract"
	"memoir/internal/disk"
	"memoir/rollout"
	"memoir/store"
)

// takenTogether is the number of sessions that one transaction stores.
const takenTogether = 64

// takeIn stores for searching the texts of the sessions that were not read since they changed, or of those with keys,
// the latest first: whatever their age, and whether memory is made from them or not. Sessions of more than most bytes
// are left out, if most is not 0. If ctx ends, those that were read are stored.
func (s *scan) takeIn(ctx context.Context, keys []string, most int64) error {
	epoch, err1 := s.store.Epoch(ctx)
	sessions, err2 := s.store.Untaken(ctx, keys)
	var err3 error
	_, s.forgotten, err3 = Tombstones(s.opts.Home)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return err
	}
	sessions = slices.DeleteFunc(sessions, func(se memoir.Session) bool { return most > 0 && se.Bytes > most })
	done := 0
	for batch := range slices.Chunk(sessions, takenTogether) {
		s.progress(Progress{Stage: StageRead, Done: done, Total: len(sessions)})
		done += len(batch)
		taken := s.readAll(ctx, batch)
		if err := cmp.Or(s.faulty(), s.store.TakeIn(context.WithoutCancel(ctx), epoch, taken)); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// readAll reads sessions, several at a time. It leaves out those that cannot be read now, and of those whose content
// cannot be read it returns nothing but that they were.
func (s *scan) readAll(ctx context.Context, sessions []memoir.Session) (taken []store.Taken) {
	var mu sync.Mutex
	var all sync.WaitGroup
	room := newRoom(s.opts.Settings.Memories, s.opts.Settings.Memories.Concurrency)
	for _, session := range sessions {
		all.Go(func() {
			texts, err := apart(ctx, s.run, func() ([]store.Message, error) {
				_, leave, err := room.enter(ctx, session)
				if err != nil {
					return nil, err
				}
				defer leave()
				parts, err := Parts(ctx, session, s.heads.take)
				if err != nil {
					return nil, err
				}
				loaded, err := Load(ctx, s.scanner, parts, "", s.forgotten)
				return texts(loaded.Items), err
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
			taken = append(taken, store.Taken{Session: session, Messages: texts})
		})
	}
	all.Wait()
	slices.SortFunc(taken, func(a, b store.Taken) int { return strings.Compare(a.Session.Key(), b.Session.Key()) })
	return taken
}

// Bounds on the texts that are stored for searching, in bytes.
const (
	maxMessageBytes  = 4 << 10   // one message; a longer one is cut in the middle
	maxMessagesBytes = 256 << 10 // the messages of a session; the agent's oldest are dropped first, those of people last
	maxToolBytes     = 300       // a command, or what is stored of a result
	maxToolsBytes    = 256 << 10 // the commands and results of a session; the oldest are dropped
	messageCost      = 64        // cost of a text besides its bytes
)

// texts returns what searching finds in the redacted items of a session: messages of people and the agent, commands
// and what results say, each kind in the order of the items.
func texts(items []memoir.Item) []store.Message {
	var said, tools []store.Message
	bytes, used, known := 0, 0, map[string]bool{}
	tool := func(it memoir.Item, kind, text string) {
		if text != "" && !known[kind+text] {
			known[kind+text] = true
			tools = append(tools, store.Message{Item: it.N, Kind: kind, At: it.At, Text: text})
			used += len(text) + messageCost
		}
	}
	for _, it := range items {
		typed := it.Origin.ByPerson()
		if it.Kind == memoir.ItemTool {
			if it.Shell() {
				tool(it, store.MessageCommand, cutMiddle(strings.TrimSpace(it.Input), maxToolBytes))
			}
			tool(it, store.MessageError, extract.ResultText(it, maxToolBytes))
			continue
		}
		text := cutMiddle(strings.TrimSpace(it.Text), maxMessageBytes)
		if it.Kind != memoir.ItemMessage || text == "" || !typed && it.Origin != memoir.OriginAgent {
			continue
		}
		said = append(said, store.Message{Item: it.N, Typed: typed, At: it.At, Text: text})
		bytes += len(text) + messageCost
	}
	for _, typed := range []bool{false, true} {
		said = slices.DeleteFunc(said, func(m store.Message) bool {
			drop := bytes > maxMessagesBytes && m.Typed == typed
			if drop {
				bytes -= len(m.Text) + messageCost
			}
			return drop
		})
	}
	for used > maxToolsBytes {
		used -= len(tools[0].Text) + messageCost
		tools = tools[1:]
	}
	return append(said, tools...)
}

// saidIn returns the messages among the texts of a session.
func saidIn(texts []store.Message) []store.Message {
	n := slices.IndexFunc(texts, func(m store.Message) bool { return m.Kind != store.MessageSaid })
	if n < 0 {
		n = len(texts)
	}
	return texts[:n]
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

func seenFile(home string) string { return filepath.Join(home, "seen.json") }

// fullScan is how old the last scan of all files may be before ClaimScan asks for another one.
const fullScan = 10 * time.Minute

// ClaimScan reports whether the last scan of all agents' files is too old, and the caller is the first to ask.
func ClaimScan(home string) bool {
	due := time.Since(LastScan(home)) > fullScan
	if now := time.Now(); due {
		_ = os.Chtimes(seenFile(home), now, now) // it is not there in a home of an earlier version
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

func readSeen(home string) (seen seenDisk) {
	text, err := disk.ReadFile(seenFile(home), maxSeen)
	if err != nil || json.Unmarshal(text, &seen) != nil {
		return seenDisk{}
	}
	return seen
}

// write replaces the file. If that fails, the next look sees again what this one saw.
func (d seenDisk) write(home string, at time.Time) {
	d.Open = slices.DeleteFunc(d.Open, func(f openFile) bool { return time.Since(f.ModTime) > openFor })
	slices.SortStableFunc(d.Open, func(a, b openFile) int { return b.ModTime.Compare(a.ModTime) })
	d.Open = d.Open[:min(len(d.Open), mostOpen)]
	text, err := json.Marshal(d)
	if before, _ := disk.ReadFile(seenFile(home), maxSeen); err == nil && string(before) != string(text) {
		err = disk.Replace(seenFile(home), text, 0o600)
	}
	if err == nil {
		_ = os.Chtimes(seenFile(home), at, at)
	}
}

// remember records what a scan saw, beside what scans of other directories saw.
func (s *scan) remember(entries []rollout.Entry) {
	seen, at := readSeen(s.opts.Home), LastScan(s.opts.Home)
	if s.opts.SessionsDir == "" {
		seen.All, at = true, time.Now()
	}
	walked := map[string]bool{}
	for _, p := range s.places {
		walked[string(p.Source)+p.Root] = true
	}
	seen.Places = slices.DeleteFunc(seen.Places, func(p rollout.Place) bool {
		return walked[string(p.Source)+p.Root] || s.opts.SessionsDir == "" && p.Source != ""
	})
	seen.Places = append(seen.Places, s.places...)
	seen.see(entries)
	seen.write(s.opts.Home, at)
}

// see replaces the states of files.
func (d *seenDisk) see(entries []rollout.Entry) {
	paths := map[string]bool{}
	for _, e := range entries {
		paths[e.Path] = true
	}
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
	open := make(map[string]memoir.File, len(d.Open))
	for _, f := range d.Open {
		open[f.Path] = f.File
	}
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
// the database; it is called only if something changed, or if unread says that there are sessions to read.
func CatchUp(ctx context.Context, opts Options, within time.Duration, unread bool,
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
	return newScan(r).catchUp(ctx, entries, now)
}

// catchUp registers entries and reads what is not read yet.
func (s *scan) catchUp(ctx context.Context, entries []rollout.Entry, now seenDisk) error {
	known, err := s.store.Files(ctx)
	if err != nil {
		return err
	}
	if _, _, err := s.enter(ctx, known, entries, false); err != nil {
		return err
	}
	now.write(s.opts.Home, LastScan(s.opts.Home))
	if err := s.takeIn(ctx, nil, MaxCatchUp); err != nil {
		return err
	}
	s.index(context.WithoutCancel(ctx))
	return nil
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
	if err := s.takeIn(ctx, nil, 0); err != nil {
		return err
	}
	s.index(ctx)
	return nil
}
