// Package search searches memories and sessions: lines of MEMORY.md, rollout summaries, statements, claims, and
// messages of people and agents. It uses the database, the memories' files and SQLite's full-text index. It does
// not know models, flags or the terminal.
//
// Start with search.go (query and result), then rank.go (ranking), passage.go (which texts and words
// are indexed), update.go and index.go (maintenance of the index).
package search

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/entry"
	"memoir/internal/lazyregexp"
	"memoir/memory"
	"memoir/store"
)

// Query is a search request.
type Query struct {
	Text      string // words, without syntax; only the first 4 KiB are used
	ProjectID string // only this project; empty: all
	Max       int    // bound of the hits; 0: 10
	Weak      bool   // also hits that are far below the best
	Filter

	Redact func(string) string // removes secrets that a person wrote into a memory, and keeps the number of lines
}

// The sources of a line of MEMORY.md, of a paragraph of HISTORY.md, and of the commands and results in sessions.
const (
	SourceMemory  = "memory"
	SourceHistory = "history"
	SourceCommand = "command"
	SourceError   = "error"
	SourceOutput  = "output"
)

// Hit is one match of a query. A session has at most one, except in lines of MEMORY.md; a note has one with its line
// there. Paragraphs of HISTORY.md about disabled sessions are left out.
type Hit struct {
	ProjectID string `json:"project"` // empty: none
	// Path is memory://root/MEMORY.md, memory://root/HISTORY.md, memory://root/rollout_summaries/NAME, or session:KEY.
	Path      string    `json:"path"`
	StartLine int       `json:"start_line"` // of a file, from 1; 0 for a session
	EndLine   int       `json:"end_line"`
	Score     float64   `json:"score"`
	Match     float64   `json:"match"`        // 0 to 1: the score as a share of what the query could attain
	Snippet   string    `json:"snippet"`      // one line of at most 100 tokens, neutralised
	Source    string    `json:"source"`       // summary, statement, claim, typed, agent, or one of the sources above
	Session   string    `json:"session"`      // its key; of a line of MEMORY.md, that of the newest that it cites, if any
	Item      int       `json:"item"`         // of the session; 0: unknown
	At        time.Time `json:"at,omitzero"`  // of the item, else the session's last; zero: unknown
	Of        string    `json:"of,omitempty"` // subagent or automation: nobody typed in the session

	ReplacedBy string `json:"replaced_by,omitempty"` // the text that stands in its place; see Filter.Replaced

	Key string `json:"-"` // of a line of MEMORY.md: its memoir.LineKey

	content content // of a passage of a session
	words   int     // of the query, in its document or line
}

// Kind returns the kind of a hit, one of Kinds. session is what was extracted from a session.
func (h Hit) Kind() string {
	source, id := memoir.SplitKey(h.Session)
	switch {
	case h.Source == SourceMemory, h.Source == SourceHistory:
		return h.Source
	case source == memoir.SourceConversation:
		return "message"
	case source == memoir.SourceEntry:
		kind, _, _ := strings.Cut(id, "-")
		return kind
	case h.Source == sources[typedKind], h.Source == sources[agentKind]:
		return "said"
	case slices.Contains(sources[commandKind:], h.Source):
		return h.Source
	}
	return "session"
}

// inSession reports whether a hit is in a session of an agent.
func (h Hit) inSession() bool {
	return slices.Contains(Kinds[slices.Index(Kinds, "session"):], h.Kind())
}

// Result is the answer to a query.
type Result struct {
	Hits   []Hit `json:"hits"`   // the best first
	Weak   bool  `json:"weak"`   // the best has little of the query: probably nothing answers it
	Below  int   `json:"below"`  // hits that Query.Weak adds
	More   bool  `json:"-"`      // there may be more than Query.Max
	Behind bool  `json:"behind"` // the index is out of date; the next run updates it
	Unread int   `json:"unread"` // sessions that were not read since they changed

	text    string    // of the query
	words   []string  // that were looked for
	weights []float64 // of the words
}

// Names reports whether a word of a snippet is one of the query's, as far as their stems tell.
func (r Result) Names(word string) bool { return matching(word, r.words) != 0 }

// The best match of an answer that is not weak: the more passages there are, the more words of a query meet by chance.
// It falls with a power of the query's words, which seldom stand together if there are many. A note is a sentence of
// few words, however many passages there are. bench/search measures these points; docs/decisions.md says their source.
const (
	leastMatch      = 0.0109 // times a power of the bits of the number of passages
	leastMatchRise  = 1.4
	leastMatchFall  = 0.1
	leastMatchApart = 1.5  // times that, if the snippet has one of several words
	leastMatchAgent = 1.2  // times that, in a message of an agent, as most passages are
	leastMatchAlone = 0.3  // of one of three words or more, in however few passages
	leastMatchNote  = 0.26 // for all passages and words
)

// The least score of a hit that is shown, relative to the best. Notes are short, so one word makes much of their score.
const (
	leastScore      = 0.4
	leastScoreWhole = 0.6 // if the best has all of the query
	leastScoreNote  = 0.6
	weakHits        = 2 // of a weak answer
)

func isNote(h Hit) bool { return h.Kind() == string(memoir.EntryNote) }

// leastMatch returns the match below which a hit for some words among some passages is weak.
func (r *Result) leastMatch(h Hit, words, passages int) float64 {
	if isNote(h) {
		return leastMatchNote
	}
	least := leastMatch * math.Pow(math.Log2(float64(passages)), leastMatchRise) / math.Pow(float64(words), leastMatchFall)
	if words > 1 && bits.OnesCount32(matching(h.Snippet, r.words)) < 2 {
		least *= leastMatchApart
	}
	if h.Source == sources[agentKind] {
		least *= leastMatchAgent
	}
	if h.words == 1 && words > 2 {
		return max(least, leastMatchAlone)
	}
	return least
}

// judge counts the hits that are far below the best instead of showing them, unless weak says to show them.
func (r *Result) judge(words, passages int, weak bool) {
	if len(r.Hits) == 0 {
		return
	}
	r.rejectedFirst()
	best := r.Hits[0]
	r.Weak = best.Match < r.leastMatch(best, words, passages)
	least := leastScore
	if best.Match == 1 {
		least = leastScoreWhole
	}
	shown := slices.DeleteFunc(slices.Clone(r.Hits), func(h Hit) bool {
		return h.Score < best.Score*least || isNote(h) && h.Score < best.Score*leastScoreNote
	})
	if r.Weak {
		shown = shown[:min(len(shown), weakHits)]
	}
	if !weak {
		r.Hits, r.Below = shown, len(r.Hits)-len(shown)
		r.More = r.More && r.Below == 0 // the rest is lower still
	}
	r.newerFirst()
}

// Find searches a home for a query's words. If the index is missing or unusable, Find builds it, which may take
// seconds. The error is memoir.CodeUsage if the query has only stop words or none, and memoir.CodeNotFound if
// nothing was stored yet.
func Find(ctx context.Context, home string, q Query) (Result, error) {
	out := Result{Hits: []Hit{}}
	if !Available {
		return out, memoir.Errorf(memoir.CodeInvalid, "build it with `make build`, or with -tags sqlite_fts5",
			"this memoir was built without SQLite's full-text index")
	}
	query := terms(q.Text)
	if len(query) == 0 {
		return out, memoir.Errorf(memoir.CodeUsage, "use a rarer word: a name, a thing, a part of an identifier",
			"the query has no distinctive word")
	}
	keep, err := q.keep()
	if err != nil {
		return out, err
	}
	st, err := store.Open(ctx, filepath.Join(home, "memoir.db"), store.Options{ReadOnly: true})
	if err != nil {
		return out, err
	}
	defer st.Close()
	f := finder{Query: q, st: st, home: home, query: query, keep: keep, most: cmp.Or(q.Max, defaultHits)}
	err = f.find(ctx)
	for n := range maxTries {
		if !errors.Is(err, errUnusable) && !isDamage(err) && !isGone(err) && (n > 0 || !f.lacks) {
			break
		}
		if err = Update(ctx, st, home, q.Redact, false); err == nil {
			err = f.find(ctx)
		}
	}
	if err == nil {
		f.out.Unread, err = st.CountUntaken(ctx, "", 0)
	}
	return f.out, explain(err, "search")
}

const (
	defaultHits = 10
	maxTries    = 10 // of a search to find an index that is whole; each waits for the process that writes it
)

type finder struct {
	Query
	st    *store.Store
	home  string
	query []term
	keep  func(Hit) bool
	most  int
	texts map[string]string // of memories' files that were read, by project and path
	out   Result

	replaced map[string]map[string]string // what stands in the place of notes (""), and of a project's statements

	lacks bool // the index lacks the newest session or entry
}

func (f *finder) find(ctx context.Context) error {
	f.out, f.texts = Result{Hits: []Hit{}, text: f.Text[:min(len(f.Text), maxQuery)]}, map[string]string{}
	f.replaced = map[string]map[string]string{}
	x, err := openIndex(ctx, f.home, patience)
	if err != nil {
		return err
	}
	defer x.Close()
	if x.version == 0 {
		return errUnusable
	}
	state, err1 := x.state(ctx)
	now, _, err2 := stateOf(ctx, f.st, f.home)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	if f.out.Behind = state != now; f.out.Behind { // what is new is indexed at once
		last, err := f.st.LastSearchable(ctx)
		if err == nil {
			err = x.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) < ? FROM document`, last).Scan(&f.lacks)
		}
		if err != nil {
			return err
		}
	}
	x.passes = f.passes
	ranking, err := x.rank(ctx, f.ProjectID, f.query)
	f.out.words, f.out.weights = wordsOf(ranking.terms), ranking.weights
	for _, r := range ranking.found {
		if f.out.More = len(f.out.Hits) == f.most; f.out.More {
			break
		}
		hit, err := f.hit(ctx, x, r)
		if err != nil {
			return err
		}
		if hit.Snippet != "" && !f.known(hit) && f.keep(hit) {
			f.out.Hits = append(f.out.Hits, hit)
		}
	}
	f.out.judge(len(f.query), ranking.passages, f.Weak)
	return err
}

// known reports whether another hit is of the same session.
func (f *finder) known(hit Hit) bool {
	return hit.Session != "" && slices.ContainsFunc(f.out.Hits, func(h Hit) bool {
		inMemory := hit.Source == SourceMemory || h.Source == SourceMemory
		return h.Session == hit.Session && (!inMemory || memoir.IsEntry(hit.Session))
	})
}

// hit reads the text of a match. The hit has no snippet if the text was removed meanwhile, also from a journal's page.
func (f *finder) hit(ctx context.Context, x *index, r found) (hit Hit, err error) {
	var seq int64
	var path string
	err = x.QueryRowContext(ctx, `SELECT project, seq, path FROM document WHERE n = ?`, r.document).
		Scan(&hit.ProjectID, &seq, &path)
	if err != nil {
		return hit, err
	}
	hit.words = r.words
	hit.Score, hit.Match = math.Round(r.score*1000)/1000, math.Round(r.match*1000)/1000
	if seq == 0 {
		says := f.inFile(ctx, &hit, path, r)
		hit.ReplacedBy, err = f.replacement(ctx, hit, says)
		return hit, err
	}
	text, err := f.st.SessionText(ctx, seq)
	if err == nil && text != nil {
		err = f.inSession(ctx, &hit, text, r)
	}
	return hit, err
}

func (f *finder) inSession(ctx context.Context, hit *Hit, d *store.SessionText, r found) (err error) {
	passages := passagesOf(*d)
	if r.kind == dayKind { // show the first message of the day
		r.place = slices.IndexFunc(passages, func(p passage) bool { return p.kind != dayKind && p.text != "" })
	}
	if r.place < 0 || r.place >= len(passages) {
		return nil
	}
	book := entry.Book{Store: f.st, Home: f.home, Redact: f.Redact}
	if off, _ := book.TakenOff(ctx, d.SessionKey); off { // a page that cannot be read hides nothing
		return nil
	}
	p := passages[r.place]
	hit.Path, hit.Session, hit.Item, hit.At = "session:"+d.SessionKey, d.SessionKey, p.item, p.at
	if hit.At.IsZero() {
		hit.At = d.EndedAt
	}
	hit.Source, hit.Snippet = sources[p.kind], snippet(p.text, f.out.words)
	if member := memoir.MemberOf(d.SessionKey); member != "" {
		hit.Snippet += memoir.FromTeam([]string{member})
	}
	if d.Kind == memoir.KindSubagent || d.Kind == memoir.KindAutomation {
		hit.Of = string(d.Kind)
	}
	hit.ReplacedBy, err = f.replacement(ctx, *hit, p.says)
	return err
}

// Size returns the size of the index of a home in bytes, 0 if there is none.
func Size(home string) int64 {
	info, err := os.Stat(filepath.Join(home, fileName))
	if err != nil {
		return 0
	}
	return info.Size()
}

// citation matches the newest session that a line of MEMORY.md cites.
var citation = lazyregexp.New(`\[([0-9A-Za-z_.-]+) \d{4}-\d\d-\d\d[^\]]*\]$`)

// historyLine matches the end time and the key of a session in its paragraph of a history.
var historyLine = lazyregexp.New(`^\[(\d{4}-\d\d-\d\d \d\d:\d\d)\].* \(([^() ]+)\)$`)

// inFile fills in a hit in a file of a memory, and returns the statement that it says, nil if none. The file's lines
// may have moved since they were indexed.
func (f *finder) inFile(ctx context.Context, hit *Hit, path string, r found) (says *memoir.Statement) {
	place := hit.ProjectID + "/" + path
	text, known := f.texts[place]
	if !known {
		var err error
		if text, err = textOf(memory.At(f.home, hit.ProjectID), path, f.Redact); err != nil {
			return nil
		}
		f.texts[place] = text
	}
	passages := linesOf(text, r.kind)
	if r.place >= len(passages) || matching(passages[r.place].text, f.out.words) == 0 {
		r.place = slices.IndexFunc(passages, func(p passage) bool { return matching(p.text, f.out.words) != 0 })
	}
	if r.place < 0 {
		return nil
	}
	p := passages[r.place]
	hit.Key = memoir.LineKey(p.text)
	if r.kind == summaryKind {
		hit.Session, hit.At = headed(text)
	}
	if fields := historyLine.FindStringSubmatch(p.text); fields != nil && r.kind == historyKind {
		hit.Session = fields[2]
		hit.At, _ = time.Parse("2006-01-02 15:04", fields[1])
		sessions, _ := f.st.FindSessions(ctx, hit.Session)
		if len(sessions) == 1 && sessions[0].Reason == memoir.ReasonDisabled {
			return nil
		}
	}
	if cited := citation.FindStringSubmatch(p.text); cited != nil {
		if sessions, err := f.st.FindSessions(ctx, cited[1]); err == nil && len(sessions) == 1 {
			hit.Session, hit.At = sessions[0].Key(), sessions[0].UpdatedAt
		}
	}
	hit.Source, hit.Path, hit.StartLine, hit.EndLine = sources[p.kind], "memory://root/"+path, p.line, p.line
	hit.Snippet = snippet(p.text, f.out.words)
	return p.says
}
