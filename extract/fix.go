package extract

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

// A fix is what was different when a command that had failed succeeded.
type fix struct {
	items   []int
	how     string
	command bool // another command, not edits, made the difference
	weak    bool // it is not known to have mended anything
	vague   bool // many edits, or nothing that was seen, made the difference
	by      int  // the item that mended it, as far as that can be told
	helped  bool // by ran a command that changed the state
}

// ranAgain is told of a command that passed though nothing was seen to change.
const ranAgain = "passed when run again"

// maxAhead is how many runs after a failure are searched for what mended it. What
// comes later is another matter, and a session may have a hundred thousand runs.
const maxAhead = 300

// maxTries is how many of them are looked at closely.
const maxTries = 30

// fixed finds what succeeded after the failure of a command: the same command,
// one that runs it by another way, one of its family, or one of the same use on
// the same file.
func fixed(r *reading, failed int, c command, line string) *fix {
	var near, far, part *fix
	before := r.runs[failed]
	grave := errorRank(line) >= 8
	tries := maxTries
	for k, later := range r.runs[failed+1 : min(len(r.runs), failed+1+maxAhead)] {
		if grave && later.failed && tries > 0 {
			f, looked := r.further(c, line, r.runs[failed+1:failed+1+k], before, later)
			if f != nil {
				return f
			}
			if looked {
				tries--
			}
		}
		for _, d := range later.cmds {
			if d.place != c.place || !later.succeeded(d) {
				continue
			}
			between := r.runs[failed+1 : failed+1+k]
			later := later
			if at := ownFailure(between, c, d, line); at >= 0 {
				// What came behind it was to mend that one.
				cut := *later
				cut.edits, between, later = between[at].edits, between[:at], &cut
			}
			switch {
			case d.text == c.text:
				if near != nil && near.command {
					return near
				}
				return again(r, c, d, between, before, later, line)
			case strings.HasSuffix(d.text, " "+c.text):
				return &fix{items: []int{later.item}, how: "worked: " + code(d.full()), command: true, by: later.item}
			case d.family == c.family && d.use != forVCS:
				if tries--; tries < 0 || near != nil {
					continue
				}
				if f := variant(r, c, d, between, before, later, line); f.weak && part == nil {
					part = f
				} else if !f.weak {
					near = f
				}
			case far == nil && d.use == c.use && sharesFile(c.text, d.text):
				far = &fix{items: []int{later.item}, how: "worked instead: " + code(d.full()), command: true, by: later.item}
				if after, at := name(relevant(helpers(r, between, c, line))); after != "" {
					far.how = "worked after " + after + ": " + code(d.full())
					far.items, far.by, far.helped = mergeItems(far.items, at), at[0], true
				}
			}
		}
	}
	for _, f := range []*fix{near, far, part} {
		if f != nil {
			return f
		}
	}
	return nil
}

// ownFailure is the first of some runs in which a command that passed later failed in
// its own way, not in that of the one whose failure is looked at; -1 if there is none.
func ownFailure(runs []*run, c, d command, line string) int {
	if c.text == d.text && c.prefix == d.prefix {
		return -1
	}
	return slices.IndexFunc(runs, func(r *run) bool {
		if !r.failed || r.declined() {
			return false
		}
		b, ok := blamed(r)
		return ok && b.text == d.text && b.place == d.place && errorKey(r.why()) != errorKey(line)
	})
}

// further tells what lay between a failure and a run of the same command that
// failed later on for another reason: that mended the first; nil if it did not.
// looked tells that all that lay between was looked at.
func (r *reading) further(c command, line string, between []*run, before, later *run) (f *fix, looked bool) {
	d, ok := blamed(later)
	if !ok || d.text != c.text || d.prefix != c.prefix || d.place != c.place || later.declined() {
		return nil, false
	}
	other := later.why()
	if rank := errorRank(other); rank < 5 || compiler(other) || errorKey(other) == errorKey(line) {
		return nil, false
	}
	f = again(r, c, d, between, before, later, line)
	rest, ok := strings.CutPrefix(f.how, "passed after ")
	if !ok || f.vague {
		return nil, true
	}
	f.how = "got past it after " + rest
	return f, true
}

// relevant keeps the helpers that share words with the failure, or install something.
func relevant(list []helper) []helper {
	return slices.DeleteFunc(slices.Clone(list), func(h helper) bool { return h.related == 0 && !h.installed })
}

// variant says what made the difference when another form of a command succeeded.
// It is weak if the form only has less, or something else, to do.
func variant(r *reading, c, d command, between []*run, before, later *run, line string) *fix {
	f := &fix{items: []int{later.item}, by: later.item}
	files := editedBetween(r, before.edits, later.edits)
	switch {
	case narrower(c, d) && !misused(line):
		f.weak = true
		f.how = "the narrower " + code(shorten(d.full(), 130)) + " passed later"
	case files != "" && !misused(line):
		f.how = code(d.full()) + " passed after editing " + files
		f.weak = others(c.text, d.text)
	case others(c.text, d.text) && !misused(line):
		f.weak = true
		f.how = code(shorten(d.full(), 130)) + " passed later"
	default:
		f.how, f.command = difference(c.full(), d.full()), true
	}
	if after, at := name(relevant(helpers(r, between, c, line))); after != "" && !f.weak {
		f.how += " after " + after
		f.items, f.command = mergeItems(f.items, at), true
	}
	return f
}

// misused reports whether an error is one of how a command was called, so that
// another form of it is a remedy.
func misused(line string) bool {
	lower := strings.ToLower(line)
	for _, p := range []string{"unknown", "unrecognized", "unexpected argument", "no such", "not found", "no library targets", "no tests", "no test files", "usage:", "invalid option", "invalid argument", "invalid value", "requires", "required", "missing", "could not find", "does not exist", "cannot find", "ambiguous", "did you mean", "not a valid", "unsupported", "not recognized"} {
		if strings.Contains(lower, p) {
			return true
		}
	}
	return false
}

// narrower reports whether a command is another with operands or selecting
// options added: it has less to do.
func narrower(c, d command) bool {
	less, more := apart(c.text, d.text)
	if len(less) > 0 || len(more) == 0 {
		return false
	}
	return len(differing(more)) == 0
}

// others reports whether two forms of a command differ in their operands, so that
// one does not do what the other did.
func others(a, b string) bool {
	less, more := apart(a, b)
	return len(less) > 0 && len(more) > 0 && len(differing(less)) == 0 && len(differing(more)) == 0
}

// apart lists the words of a command that another lacks, and those that it adds.
func apart(a, b string) (less, more []string) {
	x, y := strings.Fields(a), strings.Fields(b)
	less = slices.DeleteFunc(slices.Clone(x), func(w string) bool { return slices.Contains(y, w) })
	more = slices.DeleteFunc(slices.Clone(y), func(w string) bool { return slices.Contains(x, w) })
	return less, more
}

// differing are the options among words that do more than select a part of the work.
func differing(words []string) []string {
	var out []string
	for _, w := range words {
		name, _, _ := strings.Cut(w, "=")
		if strings.HasPrefix(w, "-") && w != "--" && !selecting()[name] || assignment(w) {
			out = append(out, w)
		}
	}
	return out
}

// selecting options choose a part of the work, or how it is shown.
var selecting = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`-run --run -k -t -p --package --test --lib --bin --grep -g --filter --testNamePattern --tests -m --only --only-testing -only-testing --spec -count -timeout --timeout
		-x --exact --nocapture -v -vv --verbose -q --quiet --no-capture -s -i --bail --maxfail --failfast -failfast -j --jobs --tb --name --example --pattern --project --scope --workspace -w
		-R --tests-regex --test_filter --test_output --test-name-pattern --reporter -race --no-cov`) {
		m[w] = true
	}
	return m
})

// again says what made the difference when the very command that failed
// succeeded later: what stood in front of it, what was run or edited between.
func again(r *reading, c, d command, between []*run, before, later *run, line string) *fix {
	f := &fix{items: []int{later.item}, by: later.item}
	files := editedBetween(r, before.edits, later.edits)
	list := helpers(r, between, c, line)
	installed := slices.ContainsFunc(list, func(h helper) bool { return h.installed })
	if files != "" && !installed {
		list = slices.DeleteFunc(list, func(h helper) bool { return h.minor && h.related == 0 })
		if errorRank(line) < 9 {
			list = nil
		}
	}
	how := environment(before.line, later.line)
	after, at := name(list)
	switch {
	case how != "":
		f.how, f.command = "passed with "+code(how), true
	case d.prefix != c.prefix && d.prefix != "":
		f.how, f.command = "passed with "+code(d.prefix), true
	case after != "":
		if files != "" {
			after += " and editing " + files
		}
		f.how, f.command, f.by, f.helped = "passed after "+after, true, at[0], true
		f.items = mergeItems(f.items, at)
	case files != "":
		f.how = "passed after editing " + files
		if line := r.revisions.putIn(before.item+1, later.item); line != "" {
			f.how += ", which put in " + line
		}
	case slices.ContainsFunc(between, acts), later.edits > before.edits:
		f.how, f.vague = "passed later", true
	default:
		f.how = ranAgain
	}
	f.vague = f.vague || !f.command && filesBetween(r, before.edits, later.edits) > 2
	return f
}

// acts reports whether a run may have changed something that is not told: it runs
// a program that does more than look.
func acts(r *run) bool {
	for i, s := range r.parts {
		if i > 0 && r.parts[i-1].after == "|" {
			continue
		}
		name := path.Base(unquote(s.words[0]))
		switch name {
		case "sed", "perl":
			if slices.ContainsFunc(s.words[1:], func(w string) bool { return strings.HasPrefix(w, "-i") || strings.HasPrefix(w, "-pi") }) {
				return true
			}
		case "cp", "mv", "rm", "mkdir", "ln", "chmod", "touch", "tee", "patch", "kill", "pkill", "export", "source", "tar", "unzip":
			return true
		}
		if !readers()[name] && !compound[name] && name != "git" && name != "gh" && len(r.cmds) == 0 || s.script {
			return true
		}
	}
	return false
}

// filesBetween counts the files of the edits from one to another, without those that
// were put back as they had been.
func filesBetween(r *reading, from, to int) int {
	seen := map[string]bool{}
	for _, e := range r.edits[from:to] {
		seen[e.path] = !r.files.restored(e.path)
	}
	n := 0
	for _, changed := range seen {
		if changed {
			n++
		}
	}
	return n
}

// difference says what a command that worked has that the failed one lacked, or
// the other way round; the whole command if they differ in more than a few words.
func difference(failed, worked string) string {
	a, b := strings.Fields(failed), strings.Fields(worked)
	less := slices.DeleteFunc(slices.Clone(a), func(w string) bool { return slices.Contains(b, w) })
	more := slices.DeleteFunc(slices.Clone(b), func(w string) bool { return slices.Contains(a, w) })
	switch {
	case len(more) == 0 && len(less) > 0 && len(less) <= 4:
		if i := slices.Index(a, less[0]); i > 0 && len(less) == 1 && strings.HasPrefix(a[i-1], "-") && len(a)-len(b) == 2 {
			less = []string{a[i-1], less[0]}
		}
		return "worked without " + code(strings.Join(less, " "))
	case len(less) == 0 && len(more) > 0 && len(more) <= 4:
		return "worked with " + code(strings.Join(more, " ")) + ": " + code(shorten(worked, 130))
	}
	return "worked: " + code(shorten(worked, 160))
}

// sharesFile reports whether two commands name the same file or directory.
func sharesFile(a, b string) bool {
	words := strings.Fields(b)
	for w := range strings.FieldsSeq(a) {
		if len(w) > 3 && looksLikeFile(w) && strings.Contains(w, ".") && slices.Contains(words[1:], w) {
			return true
		}
	}
	return false
}

// environment returns the assignments in front of a command line that another lacks.
func environment(failed, ok string) string {
	var out []string
	for w := range strings.FieldsSeq(ok) {
		if !assignment(w) {
			break
		}
		if !strings.Contains(failed, w) {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

// editedBetween names the first files of the edits from one to another, without those
// that were put back as they had been.
func editedBetween(r *reading, from, to int) string {
	var names []string
	seen := map[string]bool{}
	for _, e := range r.edits[from:to] {
		if !seen[e.path] && !r.files.restored(e.path) {
			seen[e.path] = true
			name := e.path
			if strings.HasPrefix(name, "/") {
				name = path.Base(name)
			}
			names = append(names, code(name))
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case len(names) > 2:
		return fmt.Sprintf("%s, %s and %d more", names[0], names[1], len(names)-2)
	}
	return strings.Join(names, " and ")
}
