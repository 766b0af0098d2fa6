package extract

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
)

// maxApart bounds the distance, in items, between a failure and its remedy.
const maxApart = 25

// maxMessageLine bounds, in bytes, the error messages that are quoted. Longer ones are not quoted.
const maxMessageLine = 200

// fixed is the signal of failures with a remedy in the session: the replacement of a program that is not installed, and
// the right use of a command after a wrong one if the error message names the word that changed and no file was edited.
func fixed(s *session) []candidate {
	var out []candidate
	known := map[string]bool{}
	for i, r := range s.runs {
		if r.call.status == statusPassed && r.status == statusPassed || r.filter ||
			len(r.text) > maxCommand || strings.Contains(r.text, "\n") {
			continue
		}
		later := s.runsAfter(i)
		var c candidate
		var ok bool
		if why := r.missing(); why != "" {
			c, ok = s.substituted(r, why, later)
		}
		if !ok && r.call.status == statusFailed && !viewers[path.Base(r.program)] {
			c, ok = s.misused(r, later)
		}
		if ok && !known[c.Signature] {
			known[c.Signature] = true
			out = append(out, c)
		}
	}
	return out
}

// viewers show and search files; mistakes in calling them are common knowledge.
var viewers = memoir.SetOf("rg grep egrep find fd ls cat sed awk jq head tail cd test [ diff wc rm cp mv mkdir " +
	"kill curl sleep echo printf which command export chmod ssh")

// runsAfter returns the runs of later calls within maxApart items.
func (s *session) runsAfter(i int) []*run {
	item := s.runs[i].item
	from := i + 1
	for from < len(s.runs) && s.runs[from].item == item {
		from++
	}
	to := from
	for to < len(s.runs) && s.runs[to].item <= item+maxApart {
		to++
	}
	return s.runs[from:to]
}

// notFound matches a shell's message that a program is missing, without the shell's name.
var notFound = lazyregexp.New(`(?m)(?:^|[: ])(?:([\w.+-]+): (?:command )?not found|command not found: ([\w.+-]+))\s*$`)

// missing returns the message, as printed, that the program of a run was not found; empty if none.
func (r *run) missing() string {
	if r.call.status == statusPassed && r.depends == bound || !strings.Contains(r.call.output, "not found") {
		return ""
	}
	m := notFound.FindStringSubmatch(clean(r.call.output[:min(len(r.call.output), window)]))
	if m == nil || m[1]+m[2] != path.Base(r.program) {
		return ""
	}
	return strings.Trim(m[0], ": \n")
}

// unfound is the signature of the message that a program is missing, which shells print in different forms.
func unfound(name string) string { return name + ": command not found" }

// substituted finds the replacement of a program that was not found: the program behind a launcher or by its path, or
// another program with the same arguments if it did something. What installed it is a repair.
func (s *session) substituted(r *run, why string, later []*run) (candidate, bool) {
	name := path.Base(r.program)
	for _, l := range later {
		if !l.repeatable() {
			continue
		}
		switch {
		case l.program == name:
			return candidate{}, false
		case path.Base(l.program) == name, l.launches(name, r.args), len(r.args) > 0 &&
			slices.Equal(l.args, r.args) && !viewers[l.program] && !didNothing(l.call.output):
			return failure(r, why, l.text, l.item), true
		}
	}
	return candidate{}, false
}

// repeatable reports whether a command passed as its text has it, whole.
func (r *run) repeatable() bool {
	return r.status == statusPassed && r.whole()
}

// whole reports whether a command's text has all of it, and nothing that differs from time to time.
func (r *run) whole() bool { return !r.dynamic && !r.lacks && len(r.text) <= maxCommand }

// launches reports whether a run starts a program: it is a launcher such as npx, or the program ends it with some
// arguments.
func (l *run) launches(name string, args []string) bool {
	at := slices.IndexFunc(l.args, func(w string) bool { return isProgram(w, name) })
	if at < 0 || viewers[l.program] {
		return false
	}
	_, g := grammarOf(l.program, l.args[0])
	end := len(l.args) - len(args) - 1
	return g == byCommand || g == byOwnCommand || at > 0 && (l.args[at-1] == "-m" || l.args[at-1] == "run") ||
		len(args) > 0 && end >= 0 && isProgram(l.args[end], name) && slices.Equal(l.args[end+1:], args)
}

// isProgram reports whether a word names a program, perhaps with where it is from and its version.
func isProgram(word, name string) bool {
	if at := strings.LastIndexByte(word, '@'); at > 0 {
		word = word[:at]
	}
	return path.Base(word) == name
}

// usageWords mark error messages about a command's arguments.
var usageWords = []string{
	"unknown", "unrecognized", "unrecognised", "unexpected argument", "unexpected option", "invalid",
	"no such", "not found", "no rule to make", "missing script", "unsupported",
	"not supported", "does not exist", "doesn't exist", "not a valid", "no task", "no tasks", "ambiguous",
	"not defined", "cannot be used with", "not a git command", "illegal option", "targets found",
}

// misused finds the right use of a command after a message that names the wrong word, or the
// same command behind a launcher or with variables set.
func (s *session) misused(r *run, later []*run) (candidate, bool) {
	message := told(usageMessage(r))
	for _, l := range later {
		if !l.repeatable() || l.text == r.text || l.dir != r.dir || didNothing(l.call.output) {
			continue
		}
		if s.editedBetween(r.item, l.item) {
			break
		}
		if r.status == statusFailed && strings.HasSuffix(l.text, " "+r.text) {
			why := cmp.Or(message, r.cause())
			return failure(r, why, l.text, l.item), why != "" && len(why) <= maxMessageLine
		}
		if message != "" && sameHead(r, l) && slices.ContainsFunc(lost(r.args, l.args), func(w string) bool {
			return mentions(message, w)
		}) {
			return failure(r, message, l.text, l.item), true
		}
	}
	return candidate{}, false
}

// maxNew bounds the words that a remedy adds to a command: with more of them it is another command.
const maxNew = 2

// teaches reports whether a remedy tells what the failed call did not print: a word in which the commands differ, and
// the remedy's program and subcommand. A command with a secret cannot be run again, nor one with somebody's address.
func (r *run) teaches(remedy string) bool {
	prints := func(w string) bool { _, ok := memoir.Token(r.call.output, w, 0); return ok }
	l := runsOf(remedy)[0]
	old, fresh := strings.Fields(r.text), strings.Fields(remedy)
	gone, came, use := lost(old, fresh), lost(fresh, old), l.use()
	return !(use == r.use() && len(came) > maxNew || use != r.use() && strings.Contains(use, " ") && prints(use) ||
		strings.Contains(r.text+remedy, "REDACTED") || personal(r.text, remedy)) &&
		slices.ContainsFunc(append(gone, came...), func(w string) bool { return !prints(w) })
}

// mail matches an address of mail where one is expected: a host, a unit or a version of a package looks the same.
var mail = lazyregexp.New(`(?i)(?:mail[\w.]*["']?[\s=:]+["']?|<)[\w.+-]+@[\w-]+(?:\.[\w-]+)+`)

// personal reports whether one of some commands has an address of mail: for anybody else it is the wrong one.
func personal(commands ...string) bool { return slices.ContainsFunc(commands, mail.MatchString) }

// lost returns the words of arguments, or of a list with commas in one, that others lack.
func lost(args, others []string) (out []string) {
	words := strings.Split(strings.Join(others, ","), ",")
	for _, w := range strings.Split(strings.Join(args, ","), ",") {
		if w != "" && !slices.Contains(words, w) {
			out = append(out, w)
		}
	}
	return out
}

// mentions reports whether a message names an argument; of a long option the message may use a longer word: library
// for --lib.
func mentions(message, arg string) bool {
	bare, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	end := `(?:\W|$)`
	if strings.HasPrefix(arg, "--") {
		end = ``
	}
	return len(bare) > 1 && regexp.MustCompile(`(?:^|\W)`+regexp.QuoteMeta(bare)+end).MatchString(message)
}

// sameHead reports whether two runs have the same program and the same first word, or differ in the first word only.
func sameHead(a, b *run) bool {
	if a.program != b.program {
		return false
	}
	x, _ := firstWord(a.args)
	y, _ := firstWord(b.args)
	return x == y || len(a.args) > 0 && len(b.args) > 1 && slices.Equal(a.args[1:], b.args[1:])
}

// usageMessage returns the first line of a failed run's output about its arguments.
func usageMessage(r *run) string {
	output := clean(r.call.output[:min(len(r.call.output), window)])
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" || len(line) > maxMessageLine {
			continue
		}
		lower := strings.ToLower(line)
		if slices.ContainsFunc(usageWords, func(w string) bool { return strings.Contains(lower, w) }) {
			return line
		}
	}
	return ""
}

// cause returns the first line of a failed run's output that reports a failure and says what failed: it has words that
// the command lacks, and at its end neither the exit status of another program nor a colon. If no line does, it is the
// usageMessage.
func (r *run) cause() string {
	words := func(text string) []string {
		return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	}
	known := words(r.text)
	tells := func(line string) bool {
		own := slices.DeleteFunc(words(memoir.Signature(firstClause(line))), func(w string) bool {
			return len(w) < 2 || slices.Contains(known, w)
		})
		return len(own) >= minSignature && !noCause.MatchString(firstClause(line))
	}
	if line := cmp.Or(firstFailure(r.call.output, tells), usageMessage(r)); tells(line) {
		return told(line)
	}
	return ""
}

var noCause = lazyregexp.New(`(?:[a-zA-Z] \d{1,3}\W*|:)$`)

// told returns what is told of an error line: of a missing program the shell's own part, since what stands before it
// may be anything; else the first clause.
func told(line string) string {
	if part := notFound.FindString(line); part != "" {
		return strings.Trim(part, ": \n")
	}
	return firstClause(line)
}

// firstClause returns the first clause of a message: the next one may be untested advice or an instruction.
func firstClause(message string) string {
	if m := firstEnd.FindStringIndex(message); m != nil {
		return message[:m[0]]
	}
	return message
}

var firstEnd = lazyregexp.New(`;|\.\s`)

// anID matches a number or a hash that is a word of its own: it names one thing of one day.
var anID = lazyregexp.New(`(^| )(?:#?\d{3,}|[0-9a-f][0-9a-f-]{6,})( |$)`)

func failure(r *run, message, remedy string, item int) candidate {
	message = trimMessage(message)
	shown := func(line string) string { return code(anID.ReplaceAllString(line, "$1…$2")) }
	text := shown(r.text) + " failed: " + message + "; fixed by " + shown(remedy)
	c := state(signalFixed, memoir.StatementFailure, text, r.item, item)
	if !r.teaches(remedy) {
		c.Kind = memoir.StatementClaim
	}
	c.Command, c.Dir, c.Error, c.Signature, c.Fix = r.text, r.dir, message, memoir.Signature(message), remedy
	if m := notFound.FindStringSubmatch(message); m != nil {
		c.Signature = unfound(m[1] + m[2])
	}
	c.paths = r.files()
	return c
}
