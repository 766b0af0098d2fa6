package extract

import (
	"slices"
	"strings"
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

// diagnosis is the sentence in which the agent told why the call at one item
// failed, said before the item that mended it; empty if there is none.
func (r *reading) diagnosis(failed, mended int) cause {
	from, _ := slices.BinarySearchFunc(r.says, failed+1, func(s said, item int) int { return s.item - item })
	var best cause
	most := 0
	for _, s := range r.says[from:min(len(r.says), from+causeSays)] {
		if s.item >= mended {
			break
		}
		for line := range strings.Lines(s.text) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			for _, sentence := range sentences(line) {
				if n := diagnostic(sentence); n > 0 && n >= most {
					most, best = n, cause{strings.TrimRight(tidy(local(sentence, r.root)), ". "), s.item}
				}
			}
			break // what follows the first paragraph is a plan
		}
	}
	return best
}

// diagnostic is how much a sentence tells of a cause, 0 if it does not.
func diagnostic(sentence string) int {
	if len(sentence) > maxCause || len(sentence) < 25 || strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, ":") {
		return 0
	}
	norm := words(sentence)
	if begins(norm, planStarts) || has(norm, hedges) {
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
	planStarts = phrases("i'm|i’m|i am|i'll|i’ll|i will|let me|let's|let’s|now|next|first|we'll|good|great|perfect|done|all|i've|i have|the build|running|checking|rerunning|fixing|i need|i see|i notice")
	hedges     = phrases("likely|probably|maybe|might|perhaps|seems|possibly|may be|could be|waiting|still running|still compiling|if it|if this|passes|passed|succeeded|green|wahrscheinlich|vielleicht")
	causeWords = phrases("because|since|which explains|explains|caused by|the cause|root cause|due to|the issue is|the problem is|the reason|so that is why|that's why|requires|needs|expects|was turning|the same issue|refuses|weil|da|parce que|porque")
	lackWords  = phrases("not|but|missing|never|only|no|isn't|isn’t|wasn't|wasn’t|doesn't|doesn’t|don't|cannot|can't|can’t|couldn't|absent|lacks|still|already|unavailable|unsupported|wrong|instead of|too|aren't|hasn't|fehlt|nicht|manque")
)
