package search

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"memoir"
)

// Bounds of a query: its bytes, and the words that are ranked.
const (
	maxQuery = 4 << 10
	maxTerms = 32
)

// term is a word of a query.
type term struct {
	word     string
	guessed  bool    // it is not the query's, which nothing contains, but similar
	compound int     // the number of the compound that it is a part of, or is; 0: none
	whole    bool    // it is the compound
	passages []int64 // the numbers of those that contain it
}

// terms returns the distinct words of a query without stop words.
func terms(text string) (all []term) {
	compounds := 0
	for words := range fields(text[:min(len(text), maxQuery)]) {
		compound, last := 0, len(words)-1
		if last > 1 && words[last] == strings.Join(words[:last], "") {
			compounds++
			compound = compounds
		}
		for i, word := range words {
			t := term{word: word, compound: compound, whole: compound > 0 && i == last}
			at := slices.IndexFunc(all, func(have term) bool { return have.word == word })
			switch {
			case isStopWord(word):
			case at < 0:
				all = append(all, t)
			case compound == 0: // it also stands alone
				all[at].compound, all[at].whole = 0, false
			}
		}
	}
	return all
}

// wordsOf returns the words of terms.
func wordsOf(terms []term) []string { return memoir.Map(terms, func(t term) string { return t.word }) }

// look finds the passages that contain each term. A word that nothing contains is replaced by one that differs in a
// letter, if something contains that. The rarest maxTerms are returned, and the number of the others that nothing
// contains.
func (x *index) look(ctx context.Context, sizes []size, all []term) (looked []term, missing int, err error) {
	for i := range all {
		t := &all[i]
		if t.passages, err = x.matches(ctx, sizes, t.word); err == nil && len(t.passages) == 0 && t.compound == 0 {
			err = x.correct(ctx, sizes, t)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	if len(all) <= maxTerms {
		return all, 0, nil
	}
	slices.SortStableFunc(all, func(a, b term) int { // what nothing contains comes last
		return cmp.Compare(uint(len(a.passages))-1, uint(len(b.passages))-1)
	})
	for _, t := range all[maxTerms:] {
		if len(t.passages) == 0 {
			missing++
		}
	}
	return all[:maxTerms], missing, nil
}

// Bounds of a corrected word, in bytes: many words that are shorter differ in a letter, and a stem lacks an ending.
const (
	leastCorrected = 6
	longestEnding  = 2
)

// correct replaces a word of Latin letters by the longest stem of the index that is similar and begins with the same
// letter. The stem is no word to look for: SQLite would stem it again.
func (x *index) correct(ctx context.Context, sizes []size, t *term) error {
	if len(t.word) < leastCorrected || strings.Trim(t.word, "abcdefghijklmnopqrstuvwxyz") != "" {
		return nil
	}
	_, err := x.ExecContext(ctx, `CREATE VIRTUAL TABLE IF NOT EXISTS temp.stem USING fts5vocab(main, passage, row);
		CREATE VIRTUAL TABLE IF NOT EXISTS temp.place USING fts5vocab(main, passage, instance);
		CREATE VIRTUAL TABLE IF NOT EXISTS temp.typed USING
			fts5 (word, content = '', detail = none, tokenize = 'porter unicode61');
		CREATE VIRTUAL TABLE IF NOT EXISTS temp.own USING fts5vocab(temp, typed, instance);
		INSERT INTO temp.typed (word) VALUES (?)`, t.word)
	if err != nil {
		return err
	}
	var stems, own, best string
	err = x.QueryRowContext(ctx, `SELECT coalesce(group_concat(term, ' '), ''),
		(SELECT term FROM temp.own ORDER BY doc DESC LIMIT 1)
		FROM temp.stem WHERE term >= ? AND term < ?`, t.word[:1], string(t.word[0]+1)).Scan(&stems, &own)
	for stem := range strings.FieldsSeq(stems) {
		if len(stem) > len(best) && (similar(t.word, stem, longestEnding) || similar(own, stem, 0)) {
			best = stem
		}
	}
	if best == "" || err != nil {
		return err
	}
	found, err := x.numbers(ctx, `SELECT coalesce(group_concat(doc, ' '), '') FROM
		(SELECT doc FROM temp.place WHERE term = ? ORDER BY doc)`, best)
	if found = x.among(sizes, found); len(found) > 0 {
		t.word, t.guessed, t.passages = best, true, found
	}
	return err
}

// similar reports whether a word is a stem with an ending of at most some bytes but for a letter, which is left out,
// added, changed, or exchanged with the next.
func similar(word, stem string, ending int) bool {
	for stem != "" && word != "" && word[0] == stem[0] {
		word, stem = word[1:], stem[1:]
	}
	if min(len(word), len(stem)) == 0 {
		return len(word)+len(stem) == 1
	}
	ends := func(word, stem string) bool {
		return strings.HasPrefix(word, stem) && len(word) <= len(stem)+ending
	}
	return ends(word, stem[1:]) || ends(word[1:], stem) || ends(word[1:], stem[1:]) || min(len(word), len(stem)) > 1 &&
		word[0] == stem[1] && word[1] == stem[0] && ends(word[2:], stem[2:])
}
