package extract

import (
	"fmt"
	"slices"
	"strings"

	"memoir"
)

const (
	retryWindow = 5 // runs behind a failure in which it is tried again
	maxRetries  = 3 // statements of them in a session
	maxSwap     = 3 // words that differ between an attempt and the next
)

// retries finds command lines that are no builds or tests, failed for how they
// were written or for the state that they met, and then worked in another form.
func retries(r *reading) []found {
	var out []found
	for i, run := range r.runs {
		if !run.failed || run.declined() || len(run.line) > 2<<10 {
			continue
		}
		if c, ok := blamed(run); ok && (c.use != forVCS || strings.HasPrefix(c.text, "git ")) {
			continue // one of failures, but for calls of a host's program, of which only the options tell
		}
		line := run.why()
		if errorRank(line) < 8 && !strings.Contains(line, "read-only variable") || onlyStatus(line) || missingProgram(run.output) != "" {
			continue
		}
		for _, later := range r.runs[i+1 : min(len(r.runs), i+1+retryWindow)] {
			if later.failed || later.unknown {
				continue
			}
			text, also := swapped(run, later, line, r.root)
			if text == "" {
				text, also = recovered(run, later, line, r.root)
			}
			if text == "" {
				continue
			}
			items := mergeItems([]int{run.item}, []int{later.item})
			weight := 1.5
			if also {
				weight = 3
				if c := r.diagnosis(run, later.item, true, run.line, line); c.text != "" {
					head, tail, _ := strings.Cut(text, " — ")
					text = head + " — " + c.text + " — " + tail
					items = mergeItems(items, []int{c.item})
				}
			}
			out = r.appendFound(out, found{memoir.Statement{Kind: memoir.StatementFailure, Text: text, Items: items}, weight})
			break
		}
	}
	slices.SortStableFunc(out, heavier)
	return out[:min(len(out), maxRetries)]
}

// swapped tells two attempts at one command line apart that differ in a few words,
// of which the error names one or which are all of the difference.
func swapped(failed, worked *run, line, root string) (text string, also bool) {
	a, b := shellWords(failed.line), shellWords(worked.line)
	less := without(a, b)
	more := without(b, a)
	if len(more) == 0 || len(more) > maxSwap || (len(b)-len(more))*10 < len(b)*6 || onlyReads(failed) {
		return "", false
	}
	if sub, ok := gitVerb(worked); ok {
		if was, ok := gitVerb(failed); !ok || was != sub {
			return "", false
		}
	}
	named := slices.DeleteFunc(slices.Clone(less), func(w string) bool { return len(w) < 4 || !namesOption(line, w) })
	switch {
	case len(named) == 1:
		less = named
	case len(named) > 1 || len(less) == 0 || len(less) > maxSwap || slices.ContainsFunc(failed.cmds, func(c command) bool { return c.use != forVCS }) || !misused(line):
		return "", false
	}
	return fmt.Sprintf("%s failed: %s — worked with %s instead of %s", code(shorten(firstWords(failed, root), 100)), line,
		code(strings.Join(more, " ")), code(strings.Join(less, " "))), false
}

// namesOption reports whether an error is about a word: it ends with it, or quotes it.
func namesOption(line, w string) bool {
	return strings.HasSuffix(line, " "+w) || strings.Contains(line, "'"+w+"'") || strings.Contains(line, `"`+w+`"`)
}

// gitVerb is what a line that begins with git does.
func gitVerb(r *run) (string, bool) {
	if len(r.parts) == 0 || unquote(r.parts[0].words[0]) != "git" {
		return "", false
	}
	word, _ := next(gitArguments(r.parts[0].words[1:]))
	return word, true
}

// without lists the words of a that b lacks, each once.
func without(a, b []string) []string {
	var out []string
	for _, w := range a {
		if !slices.Contains(b, w) && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// recovered pairs a command that should have changed the state and failed with
// another one of the same program, on the same thing, that did.
func recovered(failed, worked *run, line, root string) (text string, also bool) {
	var tried string
	suspects := failed.parts
	if g := failed.culprit(); g.sure {
		suspects = suspects[g.part : g.part+1]
	}
	for _, s := range suspects {
		if t := altering(s, root); t != "" {
			tried = t
			break
		}
	}
	if tried == "" || len(failed.parts) > 2 {
		return "", false
	}
	did, _ := worked.changed(root)
	if did == "" || did == tried || strings.Fields(did)[0] != strings.Fields(tried)[0] {
		return "", false
	}
	shared := false
	for w := range strings.FieldsSeq(tried) {
		shared = shared || strings.ContainsAny(w, "/.:") && slices.Contains(strings.Fields(did), w)
	}
	if !shared {
		return "", false
	}
	return fmt.Sprintf("%s failed: %s — worked instead: %s", code(shorten(tried, 130)), line, code(did)), true
}

// shellWords are the words of a command line, without what joins them.
func shellWords(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool {
		return r == ' ' || r == '\t' || r == '\n' || r == ';' || r == '|' || r == '&' || r == '(' || r == ')' || r == '=' || r == '"' || r == '\'' || r == '$' || r == '>' || r == '<'
	})
}

// firstWords renders the command of a line that most likely failed: the one that the
// output names, else the first that is neither a filter nor part of a loop.
func firstWords(r *run, root string) string {
	parts := r.parts
	if g := r.culprit(); g.sure {
		parts = parts[g.part : g.part+1]
	}
	for _, s := range parts {
		if !s.script && !readers()[unquote(s.words[0])] && unquote(s.words[0]) != "git" {
			if t := rendered(s, root); t != "" {
				return t
			}
		}
	}
	words := strings.Fields(strings.ReplaceAll(r.line, "`", "'"))
	return strings.Join(words[:min(len(words), 8)], " ")
}

// onlyReads reports whether a command line only looks at things.
func onlyReads(r *run) bool {
	for _, s := range r.parts {
		if !readers()[unquote(s.words[0])] {
			return false
		}
	}
	return true
}
