package rollout

import "memoir"

// maxMarks is how many items at the end of a thread may still change.
const maxMarks = 16

// A Trail makes the content hash of a thread's items and remembers what it was at the
// last of them, so that a later reading can tell whether the thread only grew.
//
// What an unfinished session ends with often changes: a tool call gets its output,
// an answer is written to its end. So marks are left at each of the last items, but
// none before what a person said last: that does not change, and where it is gone the
// thread was not continued but rewritten.
type Trail struct {
	Hasher
	earlier map[int]string
	same    int
	marks   []memoir.Mark
}

// NewTrail returns a trail that is compared with the marks of an earlier one.
func NewTrail(earlier []memoir.Mark) *Trail {
	t := &Trail{earlier: make(map[int]string, len(earlier))}
	for _, m := range earlier {
		t.earlier[m.Item] = m.Hash
	}
	return t
}

// Add takes the next item in.
func (t *Trail) Add(it memoir.Item) {
	t.Hasher.Add(it)
	mark := memoir.Mark{Item: it.N, Hash: t.Sum()}
	if hash, ok := t.earlier[it.N]; ok && hash == mark.Hash {
		t.same = it.N
	}
	switch {
	case it.Origin.ByPerson():
		t.marks = t.marks[:0]
	case len(t.marks) == maxMarks:
		t.marks = append(t.marks[:0], t.marks[1:]...)
	}
	t.marks = append(t.marks, mark)
}

// Marks are those of the items so far, in order.
func (t *Trail) Marks() []memoir.Mark { return t.marks }

// Same is the number of the last item at which the thread was as an earlier mark says,
// 0 if there is none: all items up to it are unchanged.
func (t *Trail) Same() int { return t.same }
