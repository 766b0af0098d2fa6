package extract_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/extract"
	"memoir/rollout"
)

// corpusSession is one main session of the corpus with its items.
type corpusSession struct {
	session memoir.Session
	items   []memoir.Item
}

// corpus reads every main session of the corpus.
func corpus(t testing.TB) []corpusSession {
	t.Helper()
	dir := os.Getenv("MEMOIR_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no corpus of real sessions: set MEMOIR_CORPUS to a directory of them")
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
		t.Fatal(err)
	}
	slices.Sort(keys)
	var out []corpusSession
	for _, key := range keys {
		parts, _ := rollout.Assemble(threads[key])
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
			t.Fatalf("%s: %v", key, err)
		}
		out = append(out, s)
	}
	return out
}

func TestCorpusSessionsExtractWithinTheRules(t *testing.T) {
	t.Parallel()
	dump := os.Getenv("MEMOIR_DUMP")
	tokens, n := 0, 0
	for _, s := range corpus(t) {
		in := extract.Input{Session: s.session, Items: s.items}
		start := time.Now()
		e, _, err := extract.NewBuiltin().Extract(context.Background(), in)
		if err != nil {
			t.Fatalf("%s: %v", s.session.Key(), err)
		}
		took := time.Since(start)
		if err := extract.Check(e, s.items); err != nil {
			t.Errorf("%s: %v", s.session.Key(), err)
		}
		if got := memoir.Tokens(e.RawMemory); got > 3000 {
			t.Errorf("%s: %d tokens of raw memory", s.session.Key(), got)
		}
		again, _, _ := extract.NewBuiltin().Extract(context.Background(), in)
		if again != e {
			t.Errorf("%s: two extractions differ", s.session.Key())
		}
		if !e.Empty() {
			n++
			tokens += memoir.Tokens(e.RawMemory)
		}
		if dump == "" {
			continue
		}
		dir := filepath.Join(dump, strings.NewReplacer("/", "_", ":", "_").Replace(group(s.session)))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, s.session.ID)
		write(t, name+".raw.md", fmt.Sprintf("slug %s\ntitle %s\ntook %v\n\n%s", e.RolloutSlug, e.Title, took, e.RawMemory))
		write(t, name+".summary.md", e.RolloutSummary)
		write(t, name+".items.txt", transcript(s.items))
	}
	t.Logf("%d extractions, %d tokens on average", n, tokens/max(n, 1))
	if tokens > 2000*n {
		t.Errorf("%d tokens of raw memory on average", tokens/max(n, 1))
	}
}

func group(s memoir.Session) string {
	if s.Remote != "" {
		return strings.TrimPrefix(s.Remote, "https://")
	}
	if s.CWD != "" {
		return strings.Trim(s.CWD, "/")
	}
	return "none"
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// transcript renders items for a reader who compares.
func transcript(items []memoir.Item) string {
	var b strings.Builder
	cut := func(s string, n int) string {
		s = strings.TrimSpace(s)
		if len(s) > n {
			return s[:n*2/3] + " […] " + s[len(s)-n/3:]
		}
		return s
	}
	for _, it := range items {
		exit := "-"
		if it.Exit != nil {
			exit = fmt.Sprint(*it.Exit)
		}
		if it.Kind == memoir.ItemTool {
			fmt.Fprintf(&b, "[%d] TOOL %s exit=%s failed=%v cwd=%s\n  > %s\n  < %s\n", it.N, it.Tool, exit, it.Failed, it.CWD, cut(it.Input, 600), cut(it.Output, 500))
			continue
		}
		fmt.Fprintf(&b, "[%d] %s %s %s final=%v\n%s\n", it.N, strings.ToUpper(it.Role), it.Kind, it.Origin, it.Final, cut(it.Text, 4000))
	}
	return b.String()
}
