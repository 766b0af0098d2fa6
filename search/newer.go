package search

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"memoir"
	"memoir/memory"
)

// Of two statements, notes or messages that speak of the same thing, the newer one stands first. They share this part
// of their words, the newer one has this part of the weight of the query's words in the older one, and its score is
// this part of the older one's.
const (
	sameThing = 0.35
	sameWords = 0.65
	sameScore = 0.6
)

const (
	maxCompared = 50 // hits
	stem        = 5  // bytes of the beginnings by which words are compared
)

// content is what a hit says.
type content struct {
	stems map[string]bool
	named float64 // weight of the query's words in it
}

// overtakes reports whether a passage is the newer word on the same thing as an older one.
func (c content) overtakes(older content) bool {
	shared := 0.0
	for word := range c.stems {
		if older.stems[word] {
			shared++
		}
	}
	both := math.Sqrt(float64(len(c.stems) * len(older.stems)))
	return shared > 0 && shared >= sameThing*both && c.named >= sameWords*older.named
}

// content returns what a hit says.
func (r *Result) content(h *Hit) content {
	c := &h.content
	if c.stems == nil {
		c.stems = map[string]bool{}
		for _, word := range split(h.Snippet) {
			if !isStopWord(word) {
				c.stems[word[:min(len(word), stem)]] = true
			}
		}
		set := matching(h.Snippet, r.words)
		for i, weight := range r.weights {
			c.named += float64(set>>i&1) * weight
		}
	}
	return *c
}

// rejectedWeight is how much more a hit counts that rejects all of the words that a query rejects: "don't" is not
// indexed, and tells what was asked from its opposite.
const rejectedWeight = 1.1

// rejectedFirst orders the hits of a query that rejects something by their scores, those that reject all of it before
// others near them.
func (r *Result) rejectedFirst() {
	rejected := slices.DeleteFunc(memoir.WordsOf(r.text), func(w string) bool { return w[0] != '!' })
	if len(rejected) == 0 {
		return
	}
	counts := func(h Hit) float64 {
		if rejected.Shared(memoir.WordsOf(h.Snippet)) < len(rejected) {
			return h.Score
		}
		return h.Score * rejectedWeight
	}
	slices.SortStableFunc(r.Hits, func(a, b Hit) int { return cmp.Compare(counts(b), counts(a)) })
}

// newerFirst puts hits before older ones that they overtake.
func (r *Result) newerFirst() {
	hits := r.Hits[:min(len(r.Hits), maxCompared)]
	for i := range hits {
		for j := i + 1; j < len(hits); j++ {
			newer, older := &hits[j], &hits[i]
			if newer.At.After(older.At) && newer.StartLine+older.StartLine == 0 && newer.Score >= sameScore*older.Score &&
				r.content(newer).overtakes(r.content(older)) {
				first := *newer
				copy(hits[i+1:j+1], hits[i:j])
				hits[i] = first
			}
		}
	}
}

// replacement returns the text that stands in the place of a hit: an entry, or a statement unless nil; "" if none does.
func (f *finder) replacement(ctx context.Context, hit Hit, says *memoir.Statement) (text string, err error) {
	of, key, statement := "", hit.Session, ""
	if !memoir.IsEntry(hit.Session) {
		if says == nil {
			return "", nil
		}
		of, statement = hit.ProjectID, "\n"+memoir.StatementID(hit.ProjectID, says.Kind, says.Text)
		key += statement
	}
	if f.replaced[of] == nil && of == "" {
		f.replaced[of], err = f.st.ReplacedNotes(ctx)
	} else if f.replaced[of] == nil {
		content, _ := memory.At(f.home, of).Open(memory.StatementsFile) // a project may have none
		f.replaced[of] = overturned(content)
		maps.Copy(f.replaced[of], edited(memory.At(f.home, of)))
	}
	return cmp.Or(f.replaced[of][key], f.replaced[of][statement]), err
}

// edited returns what members made of the lines of statements, by "\n" and the ids of these, without statements that a
// line still says.
func edited(root memory.Root) map[string]string {
	out, lines := map[string]string{}, map[string]string{}
	content, _ := root.Open(memoir.MemoryFile) // a project may have none
	manifest, _ := root.Open("manifest.json")
	var m memory.Manifest
	_ = json.Unmarshal(manifest, &m) // a person may have damaged it
	for line := range strings.Lines(string(content)) {
		text := memoir.LineText(strings.TrimSpace(line))
		lines[memoir.LineKey(memoir.WithoutTeam(text))] = text
	}
	for id, edit := range m.Edited {
		what := map[bool]string{true: "removed", false: "changed"}[edit.Became == ""]
		out["\n"+id] = cmp.Or(lines[edit.Became], edit.By+" "+what+" its line for all members "+edit.Day)
	}
	for _, origin := range m.Lines {
		for _, id := range origin.Statements {
			delete(out, "\n"+id)
		}
	}
	return out
}

// overturned returns what stands in the place of the overturned statements of a memory, by session and statement.
func overturned(content []byte) map[string]string {
	out, later := map[string]string{}, map[string]string{}
	var lines []byte
	for line := range bytes.Lines(content) {
		if bytes.Contains(line, []byte(`"kind":"Refuted"`)) || bytes.Contains(line, []byte(`"replaces":`)) {
			lines = append(lines, line...)
		}
	}
	all, _ := memory.DecodeStatements(lines) // a person may have damaged it
	for _, e := range all {
		for _, s := range e.Statements {
			later[s.Replaces] = s.Text
		}
	}
	for _, e := range all {
		for _, s := range e.Statements {
			if s.Kind == memoir.StatementRefuted && s.Outcome != "" {
				out[e.SessionKey+"\n"+s.ID] = cmp.Or(later[s.ID], "refuted "+s.Outcome)
			}
		}
	}
	return out
}
