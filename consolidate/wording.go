package consolidate

import "slices"

// A wording is what comparisons ask of a text, worked out once.
type wording struct {
	words     []string // of the text's own words, as tokens gives them
	essence   []string // those without the words that affirm or deny
	negative  bool
	advises   bool     // it tells to use something
	want, not []string // of "use X, not Y"; both nil in any other text
}

func newWording(text string) wording {
	w := wording{words: tokens(plain(text)), essence: essence(text), negative: negative(text), advises: imperativeLike(text)}
	w.want, w.not, _ = versus(text)
	return w
}

// swapped reports whether one text wants what the other rejects and the other
// way round.
func (w wording) swapped(o wording) bool {
	return w.want != nil && o.want != nil && slices.Equal(w.want, o.not) && slices.Equal(w.not, o.want)
}
