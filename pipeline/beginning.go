package pipeline

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"memoir"
	"memoir/rollout"
	"memoir/store"
)

// maxBeginnings bounds how many beginnings of one session are kept; the longest are.
const maxBeginnings = 1024

// beginnings tells how sessions begin, by key: the hashes of their items up to each
// point at which a copy may go on otherwise, which is before what a person says, and at
// the end. A copy that is made later, or whose original is deleted, is known by them. A
// session whose files cannot be read has none.
func (r *run) beginnings(ctx context.Context, keys []string) (map[string][]string, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	sessions, err := r.store.Sessions(ctx, store.Filter{Keys: keys})
	if err != nil {
		return nil, err
	}
	return r.beginningsOf(ctx, sessions)
}

func (r *run) beginningsOf(ctx context.Context, sessions []memoir.Session) (map[string][]string, error) {
	out := map[string][]string{}
	var mu sync.Mutex
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(max(1, r.opts.Settings.Memories.Concurrency))
	for _, s := range sessions {
		if s.Kind == memoir.KindSubagent || len(s.Files) == 0 {
			continue
		}
		g.Go(func() error {
			sums, err := beginningsIn(within, s)
			if within.Err() != nil {
				return context.Cause(within)
			}
			if err != nil {
				r.log.Warn("how a session begins is not known", "session", s.Key(), "error", r.redact(err.Error()))
			}
			mu.Lock()
			defer mu.Unlock()
			out[s.Key()] = sums
			return nil
		})
	}
	return out, g.Wait()
}

func beginningsIn(ctx context.Context, s memoir.Session) (sums []string, err error) {
	parts, err := Parts(ctx, s)
	if err != nil {
		return nil, err
	}
	var b beginning
	_, err = rollout.Read(ctx, parts, func(it memoir.Item) error {
		if b.telling && it.Origin.ByPerson() {
			sums = append(sums, b.Sum())
		}
		b.Add(it)
		return nil
	})
	if b.telling {
		sums = append(sums, b.Sum())
	}
	return sums[max(0, len(sums)-maxBeginnings):], err
}

// A beginning is the items of a session so far. What a person alone said may be said
// again in another session; with an answer to it, it is a copy.
type beginning struct {
	rollout.Hasher
	telling bool
}

// Add takes the next item.
func (b *beginning) Add(it memoir.Item) {
	b.Hasher.Add(it)
	b.telling = b.telling || !it.Origin.ByPerson()
}

// of is the part of a map that has some keys.
func of(all map[string][]string, keys []string) map[string][]string {
	out := map[string][]string{}
	for key, sums := range all {
		if slices.Contains(keys, key) {
			out[key] = sums
		}
	}
	return out
}
