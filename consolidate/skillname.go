package consolidate

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"
)

// maxNameWords is how many words the name of a skill has at most.
const maxNameWords = 4

// name is what the procedure is called: the words that its asks share, in the
// order of the ask that has most of them, else what its last steps do.
func (r *recurrence) name() string {
	name := r.said()
	if device(name) {
		name += "-steps"
	}
	return name
}

// said is the name in the words of the asks or the steps, whatever else it may mean.
func (r *recurrence) said() string {
	counts := map[string]int{}
	labelled := 0
	for _, p := range r.procs {
		words := slices.Clone(askWords(p.label))
		if len(words) > 0 {
			labelled++
		}
		slices.Sort(words)
		for _, w := range slices.Compact(words) {
			counts[w]++
		}
	}
	var best []string
	for _, p := range r.procs {
		var shared []string
		for _, w := range askWords(p.label) {
			if counts[w]*2 > labelled && counts[w] >= 2 && !slices.Contains(shared, w) && len(shared) < maxNameWords {
				shared = append(shared, w)
			}
		}
		if len(shared) > len(best) {
			best = shared
		}
	}
	alone := len(best) == 1 && !slices.ContainsFunc(r.procs, func(p procedure) bool { return opens(p.label, best[0]) })
	if !alone && slices.ContainsFunc(best, func(w string) bool { return !weak[w] }) {
		if s := slugOf(strings.Join(best, "-")); s != "" {
			return s
		}
	}
	if r.checking() {
		return beforeCommit
	}
	return r.stepName()
}

// beforeCommit is the name of a procedure of checks, whatever they are.
const beforeCommit = "check-before-commit"

// checking reports whether the steps build, test, lint and format, and commit at the
// most: what is done before every commit.
func (r *recurrence) checking() bool {
	for _, key := range r.keys {
		if key == "git commit" || key == "git add" {
			continue
		}
		form, _ := r.step(key)
		switch purposeOf(form) {
		case "build", "test", "lint", "format":
		default:
			return false
		}
	}
	return true
}

// opens reports whether an ask begins with a word, as with a verb that says what
// to do, courtesies aside.
func opens(label, word string) bool {
	for w := range strings.FieldsSeq(strings.ToLower(label)) {
		switch w = slugOf(w); w {
		case "ok", "okay", "please", "just", "can", "could", "you", "now", "and", "so", "then", "also", "we", "hey":
		default:
			return w == word
		}
	}
	return false
}

// stepName names a procedure after its own steps, version control last.
func (r *recurrence) stepName() string {
	var names []string
	for _, key := range r.keys {
		if vcs(key) || len(names) == maxNameWords {
			continue
		}
		words := strings.Fields(key)
		last := words[len(words)-1]
		last = last[strings.LastIndexAny(last, "/:")+1:]
		w := slugOf(strings.TrimSuffix(last, path.Ext(last)))
		if w != "" && !slices.Contains(names, w) {
			names = append(names, w)
		}
	}
	return cmp.Or(slugOf(strings.Join(names, "-")), "recurring-steps")
}

// askWords are the plain words of the first sentence of an ask, without links,
// names, numbers and what is said in passing.
func askWords(label string) []string {
	for i := 0; i+1 < len(label); i++ {
		if strings.IndexByte(".!?:;", label[i]) >= 0 && label[i+1] == ' ' && i > 6 && !(label[i-1] >= '0' && label[i-1] <= '9' && i < 10) {
			label = label[:i]
			break
		}
	}
	var out []string
	for w := range strings.FieldsSeq(strings.ToLower(label)) {
		if strings.ContainsAny(w, "/#:@<>[]_0123456789") {
			continue
		}
		if w = slugOf(w); w != "" && !passing()[w] {
			out = append(out, w)
		}
	}
	return out
}

// passing words say nothing of what an ask is about.
var passing = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("ok okay just please the on if any now and is was were are be it its this that same way as to with of in for can you could we i my our your a an hey so then also again too all what s t re") {
		m[w] = true
	}
	return m
})
