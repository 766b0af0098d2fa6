package search

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"math"

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

// content is what a hit's passage says.
type content struct {
	stems map[string]bool
	named float64 // weight of the query's words in it
}

// stem is the length of the beginnings by which words of passages are compared, in bytes.
const stem = 5

// contentOf returns the content of a passage. weights are those of the query's words.
func contentOf(text string, words []string, weights []float64) content {
	c := content{stems: map[string]bool{}}
	for _, word := range split(memoir.CutBytes(text, maxQuery, "")) {
		if !isStopWord(word) {
			c.stems[word[:min(len(word), stem)]] = true
		}
	}
	set := matching(text, words)
	for i, weight := range weights {
		c.named += float64(set>>i&1) * weight
	}
	return c
}

// overtakes reports whether a hit stands above one with a higher score, since it is the newer word on the same thing.
func (h Hit) overtakes(older Hit) bool {
	shared := 0.0
	for word := range h.content.stems {
		if older.content.stems[word] {
			shared++
		}
	}
	both := math.Sqrt(float64(len(h.content.stems) * len(older.content.stems)))
	return h.At.After(older.At) && shared > 0 && shared >= sameThing*both &&
		h.content.named >= sameWords*older.content.named && h.Score >= sameScore*older.Score
}

func newerFirst(hits []Hit) {
	for i := range hits {
		for j := i + 1; j < len(hits); j++ {
			if newer := hits[j]; newer.overtakes(hits[i]) {
				copy(hits[i+1:j+1], hits[i:j])
				hits[i] = newer
			}
		}
	}
}

// replacement returns the text that stands in the place of a hit: an entry, or a statement with this id; "" if none
// does.
func (f *finder) replacement(ctx context.Context, hit Hit, statement string) (text string, err error) {
	if f.replaced == nil {
		if f.replaced, err = f.st.ReplacedNotes(ctx); err != nil {
			return "", err
		}
	}
	if memoir.IsEntry(hit.Session) {
		return f.replaced[hit.Session], nil
	}
	if !f.knows[hit.ProjectID] {
		f.knows[hit.ProjectID] = true
		content, _ := memory.At(f.home, hit.ProjectID).Open(memory.StatementsFile) // a project may have none
		maps.Copy(f.replaced, overturned(content))
	}
	return f.replaced[hit.Session+"\n"+statement], nil
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
