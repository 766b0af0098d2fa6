package extract

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"memoir"
)

// A shape groups the runs of a command that differ only in operands.
type shape struct {
	purpose string
	best    *run // the most general example, the newest of equals
	times   int
	items   []int
}

// maxCommand bounds, in bytes, the commands that are worth repeating.
const maxCommand = 140

// passedCommands is the signal of successful commands: one example per shape, general and repeated ones first. One
// look tells those that were not hard to find.
func passedCommands(s *session) []candidate {
	byShape := map[string]*shape{}
	var order []*shape
	hard := s.sought()
	broken := map[string]bool{} // heads whose last run failed, except those of checks
	for _, r := range s.runs {
		purpose, head := r.purpose()
		broken[head] = r.status != statusPassed && !Checks(purpose)
	}
	for _, r := range s.runs {
		purpose, head := s.repeatable(r)
		if purpose == "" || broken[head] {
			continue
		}
		key := head + "\x00" + strings.Join(r.flags(), " ") + "\x00" + r.dir
		sh := byShape[key]
		if sh == nil {
			sh = &shape{purpose: purpose}
			byShape[key] = sh
			order = append(order, sh)
		}
		sh.times++
		sh.items = append(sh.items, r.item)
		if sh.best == nil || hard[r] && !hard[sh.best] || hard[r] == hard[sh.best] && len(r.args) <= len(sh.best.args) {
			sh.best = r
		}
	}
	slices.SortStableFunc(order, func(a, b *shape) int {
		return cmp.Or(cmp.Compare(b.times, a.times), cmp.Compare(len(a.best.args), len(b.best.args)))
	})
	var out []candidate
	for _, sh := range order {
		text := sh.purpose + ": " + code(sh.best.text)
		if sh.best.dir != "" {
			text += " in " + code(sh.best.dir)
		}
		items := append(slices.Clone(ends(sh.items)), sh.best.item)
		slices.Sort(items)
		c := state(SignalPassed, memoir.StatementCommand, text, slices.Compact(items)...)
		if hard[sh.best] {
			c.Signal = signalSought
		}
		c.paths, c.Command, c.Dir, c.Purpose, c.Times = sh.best.files(), sh.best.text, sh.best.dir, sh.purpose, sh.times
		out = append(out, c)
	}
	return out
}

// sought returns the commands that were hard to find and did something: the person named them before, or they are the
// first ones of their purpose that passed after one of another program that could not run or was refused.
func (s *session) sought() map[*run]bool {
	out, useless, asked, refused := map[*run]bool{}, map[string]*run{}, map[string]int{}, map[int]bool{}
	for _, t := range s.turns {
		if t.before != nil && t.ask.origin == memoir.OriginRejection {
			refused[t.before.N] = true
		}
	}
	for _, r := range s.runs {
		purpose, _ := r.purpose()
		if before := useless[purpose]; before != nil && r.status == statusPassed {
			out[r] = before.program != r.program && !strings.HasSuffix(r.text, before.text) // else fixed tells it
			delete(useless, purpose)
		}
		if purpose != "" && !r.filter && (refused[r.item] && len(r.call.runs) == 1 ||
			r.missing() != "" || r.status == statusFailed && absent.MatchString(usageMessage(r))) {
			useless[purpose] = r
		}
		if asked[r.text] == 0 {
			asked[r.text] = s.asked(r.text)
		}
		out[r] = (out[r] || asked[r.text] < r.item) && !didNothing(r.call.output)
	}
	return out
}

// asked returns the item in which the person first named a command, at the end of a clause: else they report about it.
func (s *session) asked(command string) int {
	for _, t := range s.turns {
		for _, text := range t.ask.own {
			if at, ok := memoir.Token(text, command, 0); ok && strings.ContainsAny(command, " /") {
				behind := strings.TrimLeft(text[at+len(command):], "`'\" ")
				if behind == "" || strings.Contains(",.;:!)", behind[:1]) {
					return t.ask.item
				}
			}
		}
	}
	return math.MaxInt
}

// ForCommit is the purpose of the checks that passed between the last edit and a commit, joined into one command.
const ForCommit = "before a commit"

// beforeCommits is the signal of what is run before a commit: the checks that passed after the last edit, in their most
// frequent form, the newest of equals. Times counts the commits that agree; one commit of one session shows no custom.
func beforeCommits(s *session) []candidate {
	times, items := map[string]int{}, map[string][]int{} // by line: its commits, and the items of the newest one
	best := ""
	from := 0
	for _, p := range s.posts {
		if p.kind != postCommit || p.void || p.item <= from {
			continue
		}
		for _, item := range s.edits {
			if item < p.item {
				from = max(from, item)
			}
		}
		var line []string
		var cited []int
		for _, r := range s.runs {
			if purpose, head := s.repeatable(r); r.item > from && r.item <= p.item && r.dir == "" && Checks(purpose) &&
				r.general(head) && !slices.Contains(line, r.text) {
				line, cited = append(line, r.text), append(cited, r.item)
			}
		}
		from = p.item
		text := strings.Join(line, " && ")
		if text == "" || len(text) > maxCommand {
			continue
		}
		items[text] = slices.Compact(append(cited, p.item))
		if times[text]++; times[text] >= times[best] {
			best = text
		}
	}
	if best == "" {
		return nil
	}
	text := ForCommit + ": " + strings.ReplaceAll(code(best), " && ", "` && `")
	c := state(signalSought, memoir.StatementCommand, text, items[best]...)
	c.Command, c.Purpose, c.Times = best, ForCommit, times[best]
	return []candidate{c}
}

// general reports whether a command names no part of the project: before "--", it has only the words of its head.
func (r *run) general(head string) bool {
	text := r.program
	for _, w := range r.args {
		if w == "--" {
			break
		}
		if w != "." && w != "./..." && !strings.HasPrefix(w, "-") {
			text += " " + w
		}
	}
	return text == head
}

// Checks reports whether commands of a purpose check something: their failure is a result.
func Checks(purpose string) bool {
	return slices.Contains([]string{forTest, forLint, forFormat, forCheck}, purpose)
}

// repeatable returns the purpose and head of a command that passed and can be run again;
// both are empty for other commands.
func (s *session) repeatable(r *run) (purpose, head string) {
	if r.status != statusPassed || r.dynamic || r.filter || r.stdin != "" || len(r.text) > maxCommand ||
		strings.ContainsAny(r.text, "\n") || strings.HasPrefix(r.dir, "/") || strings.HasPrefix(r.dir, "~") ||
		strings.HasPrefix(r.dir, "..") || outside(r) {
		return "", ""
	}
	purpose, head = r.purpose()
	if purpose == forTest && r.single(head) || purpose == forSetup && r.adds(head) {
		return "", ""
	}
	return purpose, head
}

// outside reports whether a command names a file in a temporary or home directory.
func outside(r *run) bool {
	return strings.Contains(r.text, "/tmp/") || strings.Contains(r.text, "/var/folders/") ||
		strings.Contains(r.text, "/Users/") || strings.Contains(r.text, "/home/")
}

// selectors are options of test runners that choose single tests.
var selectors = []string{
	"-run", "--run", "-k", "-t", "-g", "--grep", "--filter", "--test-name-pattern", "--testNamePattern",
	"--tests", "--only", "--exact", "--test-threads", "-x", "--lf",
}

// single reports whether a test command chooses single tests by name.
func (r *run) single(head string) bool {
	for _, w := range r.args {
		name, _, _ := strings.Cut(w, "=")
		if slices.Contains(selectors, name) || strings.Contains(w, "::") || strings.ContainsAny(w, "^$") {
			return true
		}
	}
	if strings.HasSuffix(head, "cargo test") || strings.HasSuffix(head, "nextest") {
		words := r.words()
		_, valued := r.option("-p", "--package", "--test", "--manifest-path", "--features")
		return len(words) > 2 && !valued
	}
	return false
}

// adds reports whether an installer names a package: it then adds a dependency instead of setting up the project.
func (r *run) adds(head string) bool {
	return slices.ContainsFunc(r.words()[1:], func(w string) bool {
		return !strings.Contains(head, w) && !strings.ContainsAny(w, "./")
	})
}

func (r *run) flags() []string {
	var out []string
	for _, w := range r.args {
		if strings.HasPrefix(w, "-") {
			name, _, _ := strings.Cut(w, "=")
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (r *run) files() []string {
	var out []string
	for _, w := range append([]string{r.program}, r.args...) {
		if strings.Contains(w, ".") && !strings.HasPrefix(w, "-") && !strings.Contains(w, "://") {
			out = append(out, path.Join(r.dir, w))
		}
	}
	return out
}

// maxCited bounds the items that a statement cites: the first and the last ones.
const maxCited = 4

func ends(items []int) []int {
	items = slices.Compact(items)
	if len(items) <= maxCited {
		return items
	}
	return append(slices.Clone(items[:maxCited/2]), items[len(items)-maxCited/2:]...)
}
