package extract

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A cause is what the agent said of why something failed.
type cause struct {
	text string
	item int
}

const (
	maxCause  = 300 // bytes
	causeSays = 24  // texts of the agent that are looked at
)

// diagnosis is the sentence in which the agent told why a call failed, said
// before the item that mended it; empty if there is none. It is what the agent
// said right away, or right before it mended it, or what shares words with the
// error beyond those of the command. helped tells that the item that mended it
// ran a command which mended nothing else, so that all before it led there.
func (r *reading) diagnosis(failed *run, mended int, helped bool, command, line string) cause {
	about := nameWords(line)
	for w := range nameWords(command) {
		delete(about, w)
	}
	next := mended // the first call behind the failure
	if k, _ := slices.BinarySearchFunc(r.runs, failed.item+1, runAt); k < len(r.runs) {
		next = min(next, r.runs[k].item)
	}
	if later := r.editsAfter(failed.item); len(later) > 0 {
		next = min(next, later[0].item)
	}
	from, _ := slices.BinarySearchFunc(r.says, failed.item+1, func(s said, item int) int { return s.item - item })
	var best cause
	most := 1
	until := from
	for until < len(r.says) && until < from+causeSays && r.says[until].item < mended {
		until++
	}
	for i, s := range r.says[from:until] {
		for line := range strings.Lines(s.text) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			for j, sentence := range sentences(line) {
				sentence = unplanned(sentence)
				n := diagnostic(sentence)
				related := shares(about, nameWords(sentence))
				switch {
				case s.item < next && j == 0 && n == 0 && states(sentence):
					n = 2
				case n == 0 || !related && s.item > next && !helped && i+from+1 != until:
					continue
				case n == 1 && !related && anchors(sentence) == 0:
					continue
				}
				if related {
					n += 2
				}
				if s.item < next && !helped {
					n++
				}
				if n > most || helped && n == most {
					if r.withdrawn(sentence, s.item) {
						continue
					}
					most, best = n, cause{strings.TrimRight(tidy(local(sentence, r.root)), ". "), s.item}
				}
			}
			break // what follows the first paragraph is a plan
		}
	}
	return best
}

// states reports whether a sentence tells something definite rather than a plan.
func states(sentence string) bool {
	norm := words(sentence)
	return len(sentence) >= 40 && len(sentence) <= maxCause && anchors(sentence) > 0 && !strings.HasSuffix(sentence, "?") && !strings.HasSuffix(sentence, ":") &&
		!begins(norm, planStarts) && !has(norm, intentions) && !has(norm, hedges) && !has(norm, successes)
}

// withdrawn reports whether a person later contradicted what a sentence said at an
// item, by a name in it, and the agent granted it.
func (r *reading) withdrawn(sentence string, item int) bool {
	named := map[string]bool{}
	for i, span := range strings.Split(sentence, "`") {
		if i%2 == 1 {
			names(span, func(name string) {
				if strings.ContainsRune(name, '_') || len(camelParts(name)) > 0 { // what only code is written like
					named[strings.ToLower(name)] = true
				}
			})
		}
	}
	if len(named) == 0 {
		return false
	}
	if r.granted == nil {
		r.granted = []said{}
		for _, t := range r.turns {
			if t.ask == nil {
				continue
			}
			if _, met, _ := t.concession(); met != nil {
				r.granted = append(r.granted, said{item: t.ask.N, text: strings.ToLower(strings.Join(t.said.own, " "))})
			}
		}
	}
	for _, g := range r.granted {
		if g.item <= item {
			continue
		}
		found := false
		names(g.text, func(name string) { found = found || named[name] })
		if found {
			return true
		}
	}
	return false
}

// nameWords are the words of a text that may name something, without what joins them.
func nameWords(text string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		if len(w) > 3 && !plainWords()[w] {
			out[w] = true
		}
	}
	return out
}

// plainWords stand in any message of an error.
var plainWords = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("error errors failed fail file line found such directory command test tests with from this that missing cannot could exit code status the and not run build main src type types argument property value string expected module name function method class object line number result") {
		m[w] = true
	}
	return m
})

func shares(a, b map[string]bool) bool {
	for w := range a {
		if b[w] {
			return true
		}
	}
	return false
}

// diagnostic is how much a sentence tells of a cause, 0 if it does not.
func diagnostic(sentence string) int {
	if len(sentence) > maxCause || len(sentence) < 25 || strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, ":") {
		return 0
	}
	norm := words(sentence)
	if begins(norm, planStarts) || has(norm, intentions) || has(norm, hedges) || has(norm, successes) && !has(norm, oppositions) {
		return 0
	}
	n := 0
	if has(norm, causeWords) {
		n += 2
	}
	if has(norm, lackWords) {
		n++
	}
	if n == 0 {
		return 0
	}
	if anchors(sentence) == 0 {
		if n--; n == 0 {
			return 0
		}
	}
	return n
}

var (
	planStarts  = newPhrases("i'm|i’m|i am|i'll|i’ll|i will|let me|let's|let’s|now|next|first|we'll|good|great|perfect|done|all|i've|i have|the build|running|checking|rerunning|fixing|i need|i see|i notice")
	intentions  = newPhrases("i'll|i’ll|i will|i'm going to|i’m going to|i am going to|we'll|we’ll|let me|ich werde|je vais|voy a|vou|ik ga|я буду")
	hedges      = newPhrases("suspicion|suspect|i think|my guess|i guess|my theory|hypothesis|presumably|apparently|i assume|i believe|vermutlich|ich vermute|ich glaube|je pense|sans doute|peut-être|creo que|sospecho|quizá|tal vez|acho que|talvez|forse|misschien|возможно|наверное|likely|probably|maybe|might|perhaps|seems|possibly|may be|could be|waiting|still running|still compiling|if it|if this|wahrscheinlich|vielleicht")
	successes   = newPhrases("passes|passed|succeeded|green|works now")
	oppositions = newPhrases("but|except|however|while|only")
	causeWords  = newPhrases("because|since|which explains|explains|caused by|the cause|root cause|due to|the issue is|the problem is|the reason|that's why|requires|needs|expects|refuses|weil|da|parce que|porque")
	lackWords   = newPhrases("not|but|missing|never|only|no|isn't|isn’t|wasn't|wasn’t|doesn't|doesn’t|don't|cannot|can't|can’t|couldn't|absent|lacks|still|already|unavailable|unsupported|wrong|instead of|too|aren't|hasn't|fehlt|nicht|manque")
)
