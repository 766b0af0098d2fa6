package extract

import (
	"slices"
	"strconv"
	"strings"
)

// A revision is what one edit put into a file, and what became of it.
type revision struct {
	item  int
	path  string
	added int      // lines
	taken []int    // items that took one of them away again, in order
	lines []string // those of them that say something, of an edit that put in few
	cut   int      // lines that it took out
}

// fewLines is how many lines an edit puts in at most that is told by them.
const fewLines = 2

// revisions follow the lines that edits put into files through the session.
type revisions struct {
	list  []*revision
	files map[string]*revised
}

// revised is a file that edits changed.
type revised struct {
	net   map[string]int       // by line: how often it was put in, less how often it was taken out
	by    map[string]*revision // by line: who put it in and still has it there
	whole bool                 // it was written without what stood there before being known
	back  bool                 // a later call took out what an earlier one had put in
	gone  bool                 // a listing of all differences has nothing of it
}

// note enters a change. Lines that stand on both sides of it are its surroundings.
func (l *revisions) note(item int, p, before, after string) {
	if l.files == nil {
		l.files = map[string]*revised{}
	}
	f := l.files[p]
	if f == nil {
		f = &revised{net: map[string]int{}, by: map[string]*revision{}}
		l.files[p] = f
	}
	f.whole = f.whole || before == ""
	f.gone = false
	diff := map[string]int{}
	count := func(text string, n int) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				diff[line] += n
			}
		}
	}
	count(after, 1)
	count(before, -1)
	mine := &revision{item: item, path: p}
	for line, n := range diff {
		if n == 0 {
			continue
		}
		left := f.net[line] + n
		if f.net[line] = left; left == 0 {
			delete(f.net, line)
		}
		if n < 0 {
			mine.cut++
		}
		switch by := f.by[line]; {
		case n > 0 && by == nil && len(line) >= minLine:
			mine.added++
			if len(mine.lines) <= fewLines {
				mine.lines = append(mine.lines, line)
			}
			f.by[line] = mine
		case n < 0 && left <= 0 && by != nil && by.item < item:
			by.taken = append(by.taken, item)
			f.back = true
			delete(f.by, line)
		}
	}
	slices.Sort(mine.lines) // of equal sessions the same
	l.list = append(l.list, mine)
}

// putIn tells the one line, or the two, that edits from one item to another put in
// and that stayed; empty if there were more, or none that says something by itself.
func (l *revisions) putIn(from, to int) string {
	var lines []string
	for _, e := range l.between(from, to) {
		if len(e.taken) > 0 {
			continue
		}
		lines = append(lines, e.lines...)
		if len(lines) > fewLines || e.added > fewLines {
			return ""
		}
	}
	var out []string
	for _, line := range lines {
		if len(line) > maxPutIn || strings.ContainsAny(line, "`") || symbols(line) > 0.5 {
			return ""
		}
		out = append(out, code(line))
	}
	return strings.Join(out, " and ")
}

// maxPutIn is how many bytes a line of code has at most that is told.
const maxPutIn = 110

// undone reports whether nothing is left in a file of what was done to it.
func (l *revisions) undone(p string) bool {
	f := l.files[p]
	return f != nil && (f.gone || f.back && !f.whole && len(f.net) == 0)
}

// kept counts the lines that edits from one item to another had put in when the
// last of them was made, and those of them that were taken out afterwards.
func (l *revisions) kept(from, to int) (stood, taken int) {
	for _, e := range l.between(from, to) {
		stood += e.added
		for _, item := range e.taken {
			if item > to {
				taken++
			} else {
				stood--
			}
		}
	}
	return stood, taken
}

// between are the revisions from one item to another.
func (l *revisions) between(from, to int) []*revision {
	at := func(item int) int {
		lo, hi := 0, len(l.list)
		for lo < hi {
			if mid := (lo + hi) / 2; l.list[mid].item < item {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		return lo
	}
	return l.list[at(from):max(at(from), at(to+1))]
}

// compare looks for what edits put into files in a listing of differences between the
// working tree and a commit: who changed a file by hand leaves no other trace.
func (l *revisions) compare(run *run) {
	if run.failed || len(l.list) == 0 || !strings.Contains(run.line, "git diff") || !comparesTree(run.whole) {
		return
	}
	_, listing, ok := strings.Cut("\n"+run.output, "\ndiff --git ")
	if !ok {
		return
	}
	for _, block := range strings.Split(listing, "\ndiff --git ") {
		_, name, ok := strings.Cut(block, "\n+++ b/")
		_, hunks, whole := strings.Cut(block, "\n@@ ")
		if !ok || !whole {
			continue
		}
		name, _, _ = strings.Cut(name, "\n")
		f := l.files[strings.TrimSpace(name)]
		if f == nil || f.whole || !complete(hunks) {
			continue
		}
		there := map[string]bool{}
		for line := range strings.Lines(hunks) {
			if line[0] != '-' {
				there[strings.TrimSpace(line[1:])] = true
			}
		}
		mine, found := 0, false
		for line := range f.by {
			mine++
			found = found || there[line]
		}
		if mine >= minTrace && !found {
			f.gone = true
			for line, by := range f.by {
				by.taken = append(by.taken, run.item)
				delete(f.by, line)
			}
		}
	}
}

// complete reports whether all lines of the hunks of one file are there: outputs are
// cut. The first hunk comes without its mark.
func complete(hunks string) bool {
	for _, hunk := range strings.Split(hunks, "\n@@ ") {
		head, lines, _ := strings.Cut(hunk, "\n")
		_, fresh, ok := strings.Cut(head, " +")
		fresh, _, _ = strings.Cut(fresh, " ")
		_, count, many := strings.Cut(fresh, ",")
		n, err := strconv.Atoi(count)
		if !many {
			n, err = 1, nil
		}
		if !ok || err != nil {
			return false
		}
		for line := range strings.Lines(lines) {
			if line[0] != '-' && line[0] != '\\' {
				n--
			}
		}
		if n > 1 { // the last may be empty and trimmed
			return false
		}
	}
	return true
}

// minTrace is how many lines of a file have to be missed.
const minTrace = 2

// comparesTree reports whether a command line shows with "git diff", and nothing else, how
// all of the working tree differs from one commit or from what is staged.
func comparesTree(line []simple) bool {
	whole := false
	for _, s := range line {
		switch words := s.words; {
		case unquote(words[0]) == "echo":
		case len(words) < 2 || words[0] != "git" || words[1] != "diff", s.after == "|":
			return false
		case len(words) == 2:
			whole = true
		case slices.Contains(words, "--stat"):
		case len(words) > 3 || strings.HasPrefix(words[2], "-") || strings.Contains(words[2], "..") || looksLikeFile(unquote(words[2])):
			return false
		default:
			whole = true
		}
	}
	return whole
}

// takenBack reports whether nothing is left of what the turn of an answer put into files.
func (r *reading) takenBack(t *turn) bool {
	from, to := t.span()
	stood, taken := r.revisions.kept(from, to)
	if stood == 0 || taken < stood {
		return false
	}
	for _, e := range r.revisions.between(from, to) {
		if !r.revisions.undone(e.path) {
			return false
		}
	}
	return true
}

// remadeSince reports whether a text says how things are now, of a turn most of whose
// lines later turns took out again.
func (r *reading) remadeSince(t *turn, text string) bool {
	const few = 4
	norm := words(text)
	if !has(norm, presentState) && !begins(norm, ofTheChange) {
		return false
	}
	from, to := t.span()
	stood, taken := r.revisions.kept(from, to)
	return stood >= few && 10*taken >= 7*stood
}

var (
	presentState = newPhrases("now|new shape")
	ofTheChange  = newPhrases("the pr|this pr|the change|this change|the fix|this fix")
)

// lastEdited is the last turn that changed files before an item, or the one of the item.
func (r *reading) lastEdited(item int) *turn {
	at := &turn{}
	for _, t := range r.turns {
		if from, _ := t.span(); from > item {
			break
		}
		if t.edits > 0 {
			at = t
		}
	}
	return at
}
