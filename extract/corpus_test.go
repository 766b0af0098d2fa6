package extract_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"

	"memoir"
	"memoir/extract"
	"memoir/rollout"
)

// corpusSession is one main session of the corpus with its items.
type corpusSession struct {
	session memoir.Session
	items   []memoir.Item
}

// corpus is every main session of the corpus, which is read once.
func corpus(t testing.TB) []corpusSession {
	t.Helper()
	sessions, err := corpusSessions()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no corpus of real sessions: set MEMOIR_CORPUS to a directory of them")
	}
	if err != nil {
		t.Fatal(err)
	}
	return sessions
}

var corpusSessions = sync.OnceValues(func() ([]corpusSession, error) {
	dir := os.Getenv("MEMOIR_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	threads := map[string][]rollout.Part{}
	var keys []string
	err := rollout.WalkDir(context.Background(), dir, func(e rollout.Entry) error {
		head, err := rollout.Probe(e)
		if err != nil || head.Kind != memoir.KindMain {
			return nil
		}
		key := memoir.SessionKey(head.Source, head.ID)
		if len(threads[key]) == 0 {
			keys = append(keys, key)
		}
		threads[key] = append(threads[key], rollout.Part{Path: e.Path, Head: head})
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(keys)
	var out []corpusSession
	for _, key := range keys {
		parts := rollout.Assemble(threads[key])
		if len(parts) == 0 {
			continue
		}
		h := parts[0].Head
		s := corpusSession{session: memoir.Session{
			ID: h.ID, Source: h.Source, Kind: h.Kind, Title: h.Title, CWD: h.CWD, Branch: h.Branch, Remote: h.Remote,
			CreatedAt: h.CreatedAt, UpdatedAt: parts[len(parts)-1].Head.UpdatedAt,
		}}
		if _, err := rollout.Read(context.Background(), parts, func(it memoir.Item) error {
			s.items = append(s.items, it)
			return nil
		}); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		out = append(out, s)
	}
	return out, nil
})

func TestCorpusSessionsExtractWithinTheRules(t *testing.T) {
	t.Parallel()
	tokens, n := 0, 0
	for _, s := range corpus(t) {
		in := extract.Input{Session: s.session, Items: s.items}
		e, err := extract.NewBuiltin().Extract(context.Background(), in)
		if err != nil {
			t.Fatalf("%s: %v", s.session.Key(), err)
		}
		if err := extract.Check(e, s.items); err != nil {
			t.Errorf("%s: %v", s.session.Key(), err)
		}
		again, _ := extract.NewBuiltin().Extract(context.Background(), in)
		if !reflect.DeepEqual(again, e) {
			t.Errorf("%s: two extractions differ", s.session.Key())
		}
		if !e.Empty() {
			n++
			tokens += memoir.Tokens(e.RawMemory())
		}
	}
	if tokens > 1100*n {
		t.Errorf("%d tokens of raw memory on average", tokens/max(n, 1))
	}
}
