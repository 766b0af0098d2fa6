package extract

import (
	"maps"
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Failed is a failed command line, to compare it with the failures of statements.
type Failed struct {
	Signatures map[string]bool // of the lines of the output, those with few causes
	runs       []*run
}

// ReadFailed reads a command line and the output of its failure.
func ReadFailed(line, output string) Failed {
	f := Failed{runs: runsOf(line), Signatures: map[string]bool{}}
	if len(output) > 2*window {
		output = output[:window] + "\n" + output[len(output)-window:]
	}
	for one := range strings.Lines(clean(output)) {
		if one = strings.TrimSpace(one); one != "" && len(one) <= 2*maxMessageLine {
			f.Signatures[signatureOf(firstClause(one))] = true
		}
		if m := notFound.FindStringSubmatch(one); m != nil {
			f.Signatures[unfound(m[1]+m[2])] = true
		}
	}
	maps.DeleteFunc(f.Signatures, func(one string, _ bool) bool { return len(strings.Fields(one)) < minSignature })
	return f
}

func runsOf(line string) []*run {
	runs, _ := newShellParser().parse(clean(line), "")
	return runs
}

// signatureOf returns the signature of a message as the statement of a failure has it.
func signatureOf(message string) string { return memoir.Signature(trimMessage(message)) }

func trimMessage(message string) string { return straight.Replace(strings.TrimRight(message, ". ")) }

// minSignature is the least number of words of a signature. One with fewer words, such as "FAIL", has many causes.
const minSignature = 3

// Same reports whether a statement describes a failure of the same program and subcommand with the same signature, and
// what passed after it. Of a program that is missing, the subcommand does not count.
func (f Failed) Same(st memoir.Statement) bool {
	if st.Fix == "" || st.Kind != memoir.StatementFailure || !f.Signatures[st.Signature] {
		return false
	}
	before, missing := runsOf(st.Command), notFound.MatchString(st.Error)
	return len(before) > 0 && slices.ContainsFunc(f.runs, func(r *run) bool {
		return !r.filter && (r.use() == before[0].use() || missing && r.program == before[0].program)
	})
}

// Agree reports whether what passed after two failures is the same command, or the same change of the arguments, or
// starts the program that was missing by the same launcher.
func Agree(a, b memoir.Statement) bool {
	wrongA, newA := change(a)
	wrongB, newB := change(b)
	return a.Fix == b.Fix || launcher(a) != "" && launcher(a) == launcher(b) ||
		slices.ContainsFunc(wrongA, func(w string) bool { return slices.Contains(wrongB, w) }) ||
		len(wrongA)+len(wrongB) == 0 && len(newA) > 0 && slices.Equal(newA, newB)
}

// launcher returns the program that started the one that was missing; "" if none did.
func launcher(st memoir.Statement) string {
	before, after := runsOf(st.Command), runsOf(st.Fix)
	if len(before) == 0 || len(after) == 0 || !notFound.MatchString(st.Error) ||
		!slices.ContainsFunc(after[0].args, func(w string) bool { return isProgram(w, before[0].program) }) {
		return ""
	}
	return after[0].program
}

// Evident reports whether the error of a failure itself points to what passed: it names a word of that command, or one
// that the same command had before, or says that the program is missing.
func Evident(st memoir.Statement) bool {
	before, after := runsOf(st.Command), runsOf(st.Fix)
	if len(before) == 0 || len(after) == 0 {
		return false
	}
	words := append([]string{after[0].program}, after[0].args...)
	if after[0].use() == before[0].use() {
		words = append(lost(words, before[0].args), lost(before[0].args, words)...)
	}
	return notFound.MatchString(st.Error) || slices.ContainsFunc(words, func(w string) bool {
		return w != before[0].program && mentions(st.Error, w)
	})
}

// Fetches reports whether a statement's command, or what passed after it, names an address that is not of its own
// machine, or hands what it reads to a shell. Whoever made the session may have chosen it.
func Fetches(st memoir.Statement) bool {
	return slices.ContainsFunc(origin.FindAllStringSubmatch(st.Command+"\n"+st.Fix, -1), func(m []string) bool {
		return !slices.Contains([]string{"localhost", "127.0.0.1", "0.0.0.0", "[::1]"}, m[1])
	})
}

var origin = lazyregexp.New(`(?:://|\bgit@)(?:[^\s/@]*@)?(\[::1\]|[^\s/:"'\x60]*)|` +
	`\|\s*(?:sudo\s+|\S*/)*(?:ba|da|z)?sh\b`)

// Ran reports whether a command line has the command that passed after a failure, or the same change of arguments.
func Ran(line string, st memoir.Statement) bool {
	wrong, came := change(st)
	fix := runsOf(st.Fix)
	return slices.ContainsFunc(runsOf(line), func(r *run) bool {
		words := append([]string{r.program}, r.args...)
		return r.text == st.Fix || len(fix) > 0 && r.use() == fix[0].use() && len(came)+len(wrong) > 0 &&
			(len(wrong) > 0 || len(lost(came, words)) == 0) && len(lost(wrong, words)) == len(wrong)
	})
}

// change returns the arguments of a failed command that its error mentions and the command that passed lacks, and the
// words that only the latter has; of another command, all words, since it may name another thing.
func change(st memoir.Statement) (wrong, came []string) {
	before, after := runsOf(st.Command), runsOf(st.Fix)
	if len(before) == 0 || len(after) == 0 {
		return nil, nil
	}
	was, now := before[0], after[0]
	came = append([]string{now.program}, now.args...)
	if !sameHead(was, now) && !now.launches(path.Base(was.program), was.args) && !slices.Equal(was.args, now.args) {
		return nil, came
	}
	for _, w := range lost(was.args, now.args) {
		if mentions(st.Error, w) {
			wrong = append(wrong, w)
		}
	}
	return wrong, lost(came, append(was.args, was.program))
}

// nested are programs whose subcommands have two words.
var nested = memoir.SetOf("gh glab docker podman kubectl aws gcloud az")

var subcommand = lazyregexp.New(`^[a-z][a-z0-9:_-]*$`)

// use returns the program of a run with its subcommand.
func (r *run) use() string {
	use, most := path.Base(r.program), 1
	first, _ := firstWord(r.args)
	if name, _ := grammarOf(r.program, first); nested[use] || strings.Contains(name, " ") {
		most = 2
	}
	for _, w := range r.words()[1:] {
		if most--; most < 0 || !subcommand.MatchString(w) {
			break
		}
		use += " " + w
	}
	return use
}
