// Package search finds what memories and sessions say: lines of MEMORY.md, rollout summaries, statements and
// claims, and what people and agents said. It knows the database, memory's files and SQLite's full-text
// index; it knows no model, no flag and no terminal.
//
// Start with search.go (what is asked and answered), then rank.go (the best first), passage.go and token.go
// (what is indexed, by which words), update.go and index.go (how the index is kept).
package search

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"time"

	"memoir"
	"memoir/internal/lazyregexp"
	"memoir/memory"
	"memoir/store"
)

// Query says what to look for.
type Query struct {
	Text      string // words; none of it is syntax
	ProjectID string // only in this project; empty: in all
	Max       int    // hits at most; 0 means 10
}

// The sources of a hit.
const (
	SourceMemory    = "memory"    // a line of MEMORY.md
	SourceSummary   = "summary"   // a rollout summary
	SourceStatement = "statement" // a statement of a raw memory
	SourceClaim     = "claim"     // what only the agent claimed
	SourceTyped     = "typed"     // what a person typed
	SourceAgent     = "agent"     // what the agent said
)

// Hit is one place that answers a query. A session has at most one, besides lines of MEMORY.md.
type Hit struct {
	ProjectID string // empty: none
	// Path is memory://root/MEMORY.md, memory://root/rollout_summaries/NAME, or session:KEY.
	Path               string
	StartLine, EndLine int // of a file, from 1; 0 for a session
	Score              float64
	Snippet            string // one line of at most 100 tokens, neutralised
	Source             string
	Session            string    // the session's key; of a line of MEMORY.md, the newest that it cites, if any
	Item               int       // of the session; 0: not known
	At                 time.Time // of the item, else the session's last; zero: not known
}

// Result is the answer to a query.
type Result struct {
	Hits   []Hit // the best first
	Behind bool  // the index lacks something that is stored: the next run adds it
}

// Find looks for a query's words in a home. Where there is no index yet, or none that can be used, it makes
// one, which may take seconds. An error of the code memoir.CodeUsage means that the query has no word to
// look for; one of memoir.CodeNotFound, that nothing was stored yet.
func Find(ctx context.Context, home string, q Query) (Result, error) {
	out := Result{Hits: []Hit{}}
	if !Available {
		return out, memoir.Errorf(memoir.CodeInvalid, "build it with `make build`, or with -tags sqlite_fts5",
			"this memoir was built without SQLite's full-text index")
	}
	words := terms(q.Text)
	if len(words) == 0 {
		return out, memoir.Errorf(memoir.CodeUsage, "use a rarer word: a name, a thing, a part of an identifier",
			"the query has no word that tells texts apart")
	}
	st, err := store.Open(ctx, filepath.Join(home, "memoir.db"), store.Options{ReadOnly: true})
	if err != nil {
		return out, err
	}
	defer st.Close()
	f := finder{st: st, home: home, words: words, most: cmp.Or(q.Max, defaultHits)}
	err = f.find(ctx, q.ProjectID)
	if errors.Is(err, errUnusable) || isDamage(err) {
		if err = Update(ctx, st, home, false); err == nil {
			err = f.find(ctx, q.ProjectID)
		}
	}
	return f.out, explain(err, "search")
}

const defaultHits = 10

// finder answers one query.
type finder struct {
	st    *store.Store
	home  string
	words []string
	most  int
	out   Result
}

func (f *finder) find(ctx context.Context, projectID string) error {
	f.out = Result{Hits: []Hit{}}
	x, err := openIndex(ctx, f.home, readPatience)
	if err != nil {
		return err
	}
	defer x.close()
	state, _, err := x.state(ctx)
	if err != nil {
		return err
	}
	now, err := stateOf(ctx, f.st, f.home)
	if err != nil {
		return err
	}
	f.out.Behind = state != now.text()
	ranked, err := x.rank(ctx, projectID, f.words)
	if err != nil {
		return err
	}
	// Several may be of one session, or gone since.
	for chunk := range slices.Chunk(ranked, 2*f.most) {
		hits, err := f.hits(ctx, x, chunk)
		if err != nil {
			return err
		}
		for _, hit := range hits {
			if len(f.out.Hits) < f.most && !f.known(hit) {
				f.out.Hits = append(f.out.Hits, hit)
			}
		}
		if len(f.out.Hits) == f.most {
			break
		}
	}
	return nil
}

// known reports whether there is a hit of the same session.
func (f *finder) known(hit Hit) bool {
	return hit.Source != SourceMemory && slices.ContainsFunc(f.out.Hits, func(h Hit) bool {
		return h.Source != SourceMemory && h.Session == hit.Session
	})
}

// hits reads what was found. What is gone since is left out.
func (f *finder) hits(ctx context.Context, x *index, ranked []found) ([]Hit, error) {
	var numbers []int64
	for _, r := range ranked {
		numbers = append(numbers, r.document)
	}
	docs, err := x.documents(ctx, numbers)
	if err != nil {
		return nil, err
	}
	var seqs []int64
	for _, d := range docs {
		seqs = append(seqs, d.seq)
	}
	all, err := f.st.Said(ctx, seqs)
	if err != nil {
		return nil, err
	}
	sessions := map[int64]store.Said{}
	for _, d := range all {
		sessions[d.Seq] = d
	}
	var out []Hit
	for _, r := range ranked {
		d := docs[r.document]
		hit := Hit{ProjectID: d.project, Score: math.Round(r.score*1000) / 1000}
		ok := false
		if d.seq == 0 {
			ok = f.inFile(ctx, &hit, d, r)
		} else if said, stored := sessions[d.seq]; stored {
			ok = f.inSession(&hit, said, r)
		}
		if ok {
			out = append(out, hit)
		}
	}
	return out, nil
}

// inSession fills in a hit in a session.
func (f *finder) inSession(hit *Hit, d store.Said, r found) bool {
	passages := passagesOf(d)
	if r.kind == dayKind { // what was said first that day
		r.place = slices.IndexFunc(passages, func(p passage) bool { return p.kind != dayKind && p.text != "" })
	}
	if r.place < 0 || r.place >= len(passages) {
		return false
	}
	p := passages[r.place]
	hit.Path, hit.Session, hit.Item, hit.At = "session:"+d.SessionKey, d.SessionKey, p.item, p.at
	hit.Source = sources[p.kind]
	if hit.At.IsZero() {
		hit.At = d.EndedAt
	}
	hit.Snippet = snippet(p.text, f.words)
	return hit.Snippet != ""
}

// citation is the newest session that a line of MEMORY.md cites.
var citation = lazyregexp.New(`\[([0-9A-Za-z_-]+) \d{4}-\d\d-\d\d[^\]]*\]$`)

// inFile fills in a hit in a file of a memory. Its lines may have moved since they were indexed.
func (f *finder) inFile(ctx context.Context, hit *Hit, d document, r found) bool {
	content, err := memory.At(f.home, d.project).Open(d.path)
	if err != nil {
		return false
	}
	text := string(content)
	if r.kind == summaryKind {
		hit.Session, hit.At, text = headed(text)
	}
	passages := linesOf(text, r.kind)
	if r.place >= len(passages) || spoken(passages[r.place].text, f.words) == 0 {
		r.place = slices.IndexFunc(passages, func(p passage) bool { return spoken(p.text, f.words) != 0 })
	}
	if r.place < 0 {
		return false
	}
	p := passages[r.place]
	if cited := citation.FindStringSubmatch(p.text); cited != nil {
		if sessions, err := f.st.FindSessions(ctx, cited[1]); err == nil && len(sessions) == 1 {
			hit.Session, hit.At = sessions[0].Key(), sessions[0].UpdatedAt
		}
	}
	hit.Source, hit.Path, hit.StartLine, hit.EndLine = sources[p.kind], "memory://root/"+d.path, p.line, p.line
	hit.Snippet = snippet(p.text, f.words)
	return hit.Snippet != ""
}

// documents reads documents by number.
func (x *index) documents(ctx context.Context, numbers []int64) (map[int64]document, error) {
	list, err := json.Marshal(numbers)
	if err != nil {
		return nil, err
	}
	out := map[int64]document{}
	return out, x.each(ctx, `SELECT n, project, seq, path FROM document WHERE n IN (SELECT value FROM json_each(?))`,
		[]any{string(list)}, func(scan func(...any) error) error {
			var n int64
			var d document
			err := scan(&n, &d.project, &d.seq, &d.path)
			out[n] = d
			return err
		})
}
