package pipeline

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	"golang.org/x/sync/semaphore"

	"memoir"
	"memoir/config"
	"memoir/extract"
	"memoir/memory"
	"memoir/rollout"
	"memoir/store"
)

// Bounds on the memory that a session needs while it is read, in bytes.
const (
	mostRoom = 16_000_000 // maxHeld, and about as much for its extraction
	perByte  = 3          // for each byte of its file
)

// room limits the sessions at work by the number of workers and by memories.maxResidentMegabytes: nine sixteenths of
// the heap (config.Memories.Heap) are for sessions, the rest for one large record and for shared data. Sessions
// enter in the order in which they came.
type room struct{ bytes, workers *semaphore.Weighted }

func newRoom(m config.Memories, workers int) room {
	return room{semaphore.NewWeighted(max(m.Heap()*9/16, mostRoom)), semaphore.NewWeighted(int64(workers))}
}

// needOf bounds the memory that a session needs. The size of a database or a compressed file does not limit
// it.
func needOf(s memoir.Session) int64 {
	var need int64
	for _, f := range s.Files {
		if !strings.HasSuffix(f.Path, ".jsonl") && !strings.HasSuffix(f.Path, ".json") {
			return mostRoom
		}
		need += min(perByte*f.Size, mostRoom)
	}
	return min(need, mostRoom)
}

// enter waits until memory for a session, then a worker, is free. The error is ctx's. shrink releases the memory above
// a number of bytes, and leave the rest with the worker.
func (r room) enter(ctx context.Context, session memoir.Session) (shrink func(to int64), leave func(), err error) {
	held := needOf(session)
	if err := r.bytes.Acquire(ctx, held); err != nil {
		return nil, nil, err
	}
	shrink = func(to int64) {
		if to < held {
			r.bytes.Release(held - to)
			held = to
		}
	}
	if err := r.workers.Acquire(ctx, 1); err != nil {
		shrink(0)
		return nil, nil, err
	}
	return shrink, func() { shrink(0); r.workers.Release(1) }, nil
}

type extracted struct {
	store.Result
	unchanged bool // the content equals that of the last extraction
	copied    bool // all items are copies from another session, which has its own extraction
}

// extractOne reads, redacts and extracts one session. After reading, it calls takes with the bytes that the
// session needs from then on, and stores its messages in said: the extraction may take long.
func (p *phase1) extractOne(
	ctx context.Context, claim store.Claim, takes func(bytes int64), said *atomic.Pointer[[]store.Message],
) (extracted, error) {
	parts, err := Parts(ctx, claim.Session, p.heads.take)
	if err != nil {
		return extracted{}, err
	}
	earlier := ""
	if claim.Prior != nil && claim.Prior.FilterVersion == rollout.FilterVersion {
		earlier = memoir.Content(claim.Prior.ContentHash)
	}
	loaded, err := Load(ctx, p.scanner, parts, earlier, p.forgotten)
	if err != nil {
		return extracted{}, err
	}
	takes(2 * int64(loaded.bytes))
	out := extracted{Result: store.Result{Redactions: loaded.Redactions}}
	session := claim.Session
	session.Title = p.clean(session.Title)
	session.Title, session.Branch = loaded.Again(session.Title), loaded.Again(session.Branch)
	if session.Title != claim.Session.Title { // the session shows that the title has a secret
		if err := p.store.Retitle(ctx, session.Key(), session.Title); err != nil {
			return out, err
		}
	}
	out.Skipped = p.skipped(loaded.Stats)
	outdated := p.window().Outdated(claim.DoneBy)
	if out.Messages, out.Tools, err = texts(loaded); err != nil {
		return out, err
	}
	if loaded.Hash == memoir.Content(claim.DoneHash) && claim.DoneFilterVersion == rollout.FilterVersion && !outdated {
		out.unchanged = true
		return out, nil
	}
	said.Store(new(out.Messages))
	out.copied = len(loaded.Items) == 0 && loaded.Stats.Copied > 0
	in := extract.Input{Session: session, Items: loaded.Items}
	extraction, err := p.extractor.Extract(ctx, in)
	if err != nil {
		return out, err
	}
	loaded.Redactions.Merge(workOf(ctx).taken)
	if err := p.seal(&extraction, session, loaded); err != nil {
		return out, &memoir.AnswerError{Err: err}
	}
	p.anchor(extraction, loaded.Items)
	told := extract.Own{Files: map[string]string{"AGENTS.md": loaded.Stats.Instructions}}
	for i, st := range extraction.Statements {
		extraction.Statements[i].Stands = cmp.Or(st.Stands, told.In(st))
	}
	out.Extraction = extraction
	// The messages that an earlier extraction was made from may have been undone, or the rules may be gone.
	outdated = outdated && extraction.Model == extract.BuiltinName
	out.Withdraw = extraction.Empty() && (loaded.Stats.Undone > 0 && !loaded.Grown || outdated)
	return out, nil
}

// seal redacts the extractor's text, fills in the fields about the session, and checks the result.
func (p *phase1) seal(e *memoir.Extraction, s memoir.Session, loaded Loaded) error {
	redacted, counts := p.scanner.Extraction(*e)
	loaded.Redactions.Merge(counts)
	*e = redacted
	e.SessionKey = s.Key()
	e.ProjectID = s.ProjectID
	e.CWD, e.Branch = s.CWD, s.Branch
	e.StartedAt, e.EndedAt = s.CreatedAt, lastItemAt(loaded.Items, s.UpdatedAt)
	e.Model, e.FilterVersion = p.extractor.Name(), rollout.FilterVersion
	e.ContentHash = loaded.Hash + "@" + extract.Reader(e.Model)
	extract.Date(e.Statements, loaded.Items, e.EndedAt)
	return extract.Check(*e, loaded.Items)
}

// topOf returns the top directory of a session's project, and its name in the session, which may have
// reached it through a link.
func (p *phase1) topOf(cwd string) (top, asSeen string) {
	if !filepath.IsAbs(cwd) {
		return cwd, cwd
	}
	if known, ok := p.tops.Load(cwd); ok {
		top, _ = known.(string)
	} else {
		top = cwd
		if place, _ := p.identifier()(cwd, ""); len(place.Directories) > 0 {
			top = place.Directories[0]
		}
		p.tops.Store(cwd, top)
	}
	below, ok := strings.CutPrefix(config.FollowLinks(cwd), top)
	if !ok || !strings.HasSuffix(cwd, below) {
		return top, cwd
	}
	return top, strings.TrimSuffix(cwd, below)
}

// anchor sets the anchors of an extraction from the present files of the project's top directory. Items,
// statements and the directory's name are redacted: a directory whose name has a secret is not found.
func (p *phase1) anchor(e memoir.Extraction, items []memoir.Item) {
	if e.Empty() {
		return
	}
	top, asSeen := p.topOf(e.CWD)
	var look func(string) (string, bool)
	if tree, err := memory.OpenTree(top); err == nil {
		defer tree.Close()
		look = tree.Look
	}
	extract.Anchors(e, asSeen, items, look)
}

// skipped counts the records that a reader skipped, so that changes of a format are noticed. The types of
// records are transcript text, so they are redacted and made printable.
func (p *phase1) skipped(stats rollout.Stats) []store.Skipped {
	out := []store.Skipped{{Why: store.SkippedMalformed, N: stats.Malformed},
		{Why: store.SkippedOversized, N: stats.Oversized}}
	if stats.CutTail {
		out = append(out, store.Skipped{Why: store.SkippedCut, N: 1})
	}
	for _, kind := range slices.Sorted(maps.Keys(stats.Unknown)) {
		out = append(out, store.Skipped{Why: store.SkippedUnknown, Type: p.typeName(kind), N: stats.Unknown[kind]})
	}
	return out
}

// typeName makes a record's type safe to store.
func (p *phase1) typeName(kind string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, p.redact(kind))
}
