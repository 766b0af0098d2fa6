package extract

import (
	"fmt"
	"strings"

	"memoir"
)

// usualKnown is about how many bytes is known of a session in its later passes.
const usualKnown = 6000

// Estimator is an Extractor that can say what it would ask.
type Estimator interface {
	// Estimate returns how many calls a session takes if each is answered well, and
	// the bytes that are asked in all of them.
	Estimate(in Input) (calls int, bytes int64, err error)
}

var _ Estimator = llm{}

// Estimate walks through the session without asking.
func (x llm) Estimate(in Input) (calls int, bytes int64, err error) {
	w := x.walk(&in)
	for {
		a, err := x.begin(&w, in)
		if err != nil {
			return 0, 0, err
		}
		q, err := x.request(a, a.show())
		if err != nil {
			return 0, 0, err
		}
		calls++
		bytes += int64(len(q.System) + len(q.Input) + len(q.Schema))
		var got memoir.Extraction
		if w.known == nil && len(a.items) > 0 {
			got.RawMemory = fmt.Sprintf("## %s\n- %s [%d]\n", memoir.StatementTask, strings.Repeat("x", usualKnown), a.items[0].N)
		}
		if w.passed(a, got); len(w.rest) == 0 {
			return calls, bytes, nil
		}
	}
}
