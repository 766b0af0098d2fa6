package extract

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// ongoing is what was going on when the agent looked.
var ongoing = newPattern(` (was|were) ([a-z]+ )?[a-z]{3,}ing `)

// What a session works with. A sentence about one of these is of the session,
// and means nothing a month later.
var artefacts = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`pr prs pull diff diffs fix fixes change changes patch patches commit commits branch review reviews reviewer feedback comment comments reply replies
		thread threads worktree checkout discussion plan suggestion suggestions formatting question request refactor refactoring diagnosis report selector result results blocker
		blockers unblock conversation session summary diagnostics warning warnings rebase merge edit edits follow-up followup concern concerns finding findings recommendation`) {
		m[w] = true
	}
	return m
})

// What a session runs: a sentence on what became of one run is of the session.
var runnables = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("test tests check checks command commands build builds run runs job jobs suite lint linter script workflow formatter error failure output") {
		m[w] = true
	}
	return m
})

var (
	findable  = newPhrases("the root cause|the cause|the reason|the actual cause|the real cause|the real reason|the issue is|the issue was|the problem is|the problem was|the bug is|the bug was|the real issue|the real problem|the actual issue|the actual problem|the underlying issue|the underlying problem|the underlying cause|the culprit|the correct fix|the right fix|the proper fix|the right place|the right split")
	verdicts  = newPhrases("is clean|are clean|is green|is red|is also red|is fine|is correct|is important|is small|is larger|is bigger|is trivial|is ready|is done|is complete|is in place|already fixed|already there|already in place|is already in|are already in|is already being|are already being|has been|have been|was already|were already|is unchanged|remains accurate|remains intact|stays intact|remain intact|works fine|works now|it passes|tests pass|test passes|all pass|is blocked by|are blocked by|the same fix|looks good|is good|makes sense|is the shortest|is the safest|is the simplest|is the best|is better|is cleaner|sounds cleaner|matches the")
	meta      = newPhrases("remains accurate|no circular dependency|no circular dependencies|the author|the reporter|reporter says|the reporter's|pr|prs|pull request|pull requests|reviewer|reviewers|feedback|pr comment|pr comments|review comment|review comments|follow-up|this commit|this change|this fix|this patch|this pr|these changes|these fixes|this branch|this turn|this session|unblock|unblocks|fastest|bugbot|copilot|coderabbit|greptile")
	vague     = newPhrases("this file|this helper|this function|this method|this call|this test|that call|that file|those|that one|this one|these two|those two|both of these|the other two|the other three|the other one|the former|the latter|above|below|earlier|previously|as mentioned|as before|this pattern|the first part|the second part|exactly|the same thing|there is|there's|there are")
	momentary = newPhrases("is failing|are failing|is broken|is red|currently|right now|at the moment|for now|still expects|still uses|still has|today|just now|this time|so far|locally|on this machine")
	decided   = newPhrases("i decided|we decided|decided on|decided to|i chose|we chose|i opted|i went with|i picked|i settled on|we settled on|we agreed")
	reasons   = newPhrases("because|since|so that|as|due to|to avoid|to keep|otherwise")
)

// sessionBound reports whether a sentence is about the session (its pull request,
// its diff, its test run, what is left to do) rather than about the project.
func sessionBound(sentence, norm string) bool {
	if strings.Contains(sentence, "→") || strings.Contains(sentence, "✓") || strings.Contains(sentence, "/pull/") || strings.Contains(sentence, "/discussions/") || strings.Contains(sentence, "/issues/") && !has(norm, causes) {
		return true
	}
	if hashed(sentence) || lineNumber(norm) || has(norm, meta) {
		return true
	}
	if begins(norm, findable) {
		return false
	}
	if has(norm, verdicts) && !has(norm, causes) && !strings.Contains(norm, " but ") {
		return true
	}
	fields := strings.Fields(norm)
	if len(fields) > 2 && (fields[1] == "then" || fields[2] == "then") { // a step of the story
		return true
	}
	modifiers := 0
	for i, w := range fields[:min(len(fields), 5)] {
		if i > 0 && !leads[fields[i-1]] && !adjective(fields[i-1]) {
			if modifiers++; modifiers > 1 || !leads[fields[0]] {
				break
			}
		}
		if artefacts()[w] {
			return true
		}
		if runnables()[w] && i+1 < len(fields) && past(fields[i+1]) {
			return true
		}
	}
	return false
}

// leads are the words that may stand before the subject's noun.
var leads = map[string]bool{
	"the": true, "this": true, "that": true, "these": true, "those": true, "all": true, "both": true, "my": true, "our": true, "your": true, "its": true,
	"a": true, "an": true, "no": true, "any": true, "some": true, "one": true, "two": true, "three": true, "other": true, "another": true, "main": true, "§": true,
}

// adjective reports whether a word by its form, or as one of the common ones,
// describes the noun behind it.
func adjective(w string) bool {
	switch w {
	case "only", "real", "final", "next", "last", "first", "second", "small", "big", "clean", "direct", "most", "new", "old", "full", "local", "remote", "latest", "previous", "separate", "unit", "integration", "regression", "code", "release":
		return true
	}
	for _, end := range []string{"able", "ing", "al", "ive", "ed", "est", "ous", "ful", "ic"} {
		if len(w) > len(end)+2 && strings.HasSuffix(w, end) {
			return true
		}
	}
	return false
}

// past reports whether a word reports what happened.
func past(w string) bool {
	switch w {
	case "was", "were", "ran", "hit", "did", "also", "now", "still", "got", "took":
		return true
	}
	return strings.HasSuffix(w, "ed") && len(w) > 4
}

// headless reports whether a sentence lacks its subject, as entries of a change
// list do: "Covers …", "Reduces …".
func headless(norm string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(norm), " ")
	if !strings.HasSuffix(first, "s") || strings.HasSuffix(first, "ss") {
		return false
	}
	switch first {
	case "this", "its", "sessions", "tests", "errors", "files", "calls", "users", "results", "exports", "imports", "states", "hooks", "tasks", "names", "types", "keys", "checks", "scopes", "shows":
		return false
	case "covers", "reduces", "introduces", "ensures", "improves", "prevents", "removes", "replaces", "updates", "fixes", "avoids", "preserves", "simplifies":
		return true
	}
	return has(" "+first+" ", verbs)
}

// changeEntry reports whether a sentence tells what was done rather than what is:
// that is an outcome. With a reason, or as a constraint, the new state may teach.
func changeEntry(sentence, norm string, reasoned bool) bool {
	if accomplishment(sentence) == 0 {
		return false
	}
	if begins(norm, achieved) || strings.HasPrefix(norm, " § ") && begins(norm[len(" §"):], achieved) {
		return true
	}
	return !reasoned && !has(norm, constraints)
}

// labelled reports whether a sentence is an entry behind a short label ("Small
// note: …", "Naming clarity: …"), unless the label says that a cause follows.
func labelled(sentence string) bool {
	label, _, ok := strings.Cut(sentence, ": ")
	if !ok {
		label, _, ok = strings.Cut(sentence, " - ")
	}
	if !ok || strings.Contains(label, "`") || len(strings.Fields(label)) > 4 {
		return false
	}
	norm := words(label)
	return !has(norm, verbs) && !has(norm, phrases("cause|reason|because|why|decision|constraint|caveat|gotcha|limitation|limit|rule|important|root"))
}

// hashed reports whether a sentence begins with the name of a commit.
func hashed(sentence string) bool {
	w, _, _ := strings.Cut(strings.TrimLeft(sentence, "`*- "), " ")
	w = strings.Trim(w, "`:,")
	if len(w) < 7 || len(w) > 40 || !strings.ContainsAny(w, "0123456789") {
		return false
	}
	return strings.Trim(w, "0123456789abcdef") == ""
}

var linesAside = newPattern(` ?\((?:at |on )?lines? \d+[^()]{0,40}\)`)

// withoutLines drops an aside that names lines of a file.
func withoutLines(sentence string) string {
	if !strings.Contains(sentence, "(") || !strings.Contains(sentence, "line") {
		return sentence
	}
	return linesAside.ReplaceAllString(sentence, "")
}

// lineNumber reports whether a sentence points at lines of a file, which move
// with the next change.
func lineNumber(norm string) bool {
	for _, w := range []string{" line ", " lines "} {
		if i := strings.Index(norm, w); i >= 0 && i+len(w) < len(norm) {
			if c := norm[i+len(w)]; c >= '0' && c <= '9' {
				return true
			}
		}
	}
	return false
}

// vagueness weighs what keeps a sentence from being understood on its own, or
// from being sure.
func vagueness(norm string) float64 {
	v := 0.0
	if has(norm, guesses) {
		v += 2
	}
	if has(norm, vague) {
		v += 0.8
	}
	if has(norm, phrases("you|your")) {
		v += 0.8
	}
	if has(norm, momentary) || progressive(norm) {
		v += 1.2
	}
	if strings.Contains(norm, " i ") || strings.Contains(norm, " was ") && ongoing.MatchString(norm) {
		v += 1.5
	}
	if strings.Contains(norm, " this ") || strings.Contains(norm, " that ") && begins(norm, dangling) {
		v += 0.4
	}
	return v
}

// conclusion cuts off the word that ties a sentence to the one before, where what
// is left stands by itself.
func conclusion(sentence string) string {
	for _, tie := range []string{"So ", "So, ", "Thus, ", "Therefore, ", "Hence, ", "Also, ", "Also ", "However, ", "Additionally, ", "But ", "And "} {
		rest, ok := strings.CutPrefix(sentence, tie)
		if !ok {
			continue
		}
		if norm := words(rest); begins(norm, dangling) || begins(norm, narrations) || begins(norm, achieved) {
			return sentence
		}
		return capital(rest)
	}
	return sentence
}

// progressive reports whether a sentence tells what goes on at the moment.
func progressive(norm string) bool {
	fields := strings.Fields(norm)
	for i, w := range fields {
		if w != "is" && w != "are" {
			continue
		}
		for _, next := range fields[i+1 : min(i+3, len(fields))] {
			switch next {
			case "missing", "nothing", "something", "anything", "everything", "string", "using", "being", "existing":
				continue
			}
			if len(next) > 5 && strings.HasSuffix(next, "ing") {
				return true
			}
		}
	}
	return false
}

// chosen reads a sentence that states a choice with its reason, wherever in a
// turn it was said: "I decided on X, because Y" gives "Decided on X, because Y".
func chosen(sentence, norm string) (string, bool) {
	if !has(norm, decided) || !has(norm, reasons) || strings.HasSuffix(sentence, "?") || has(norm, guesses) || len(sentence) > 400 {
		return "", false
	}
	if i := strings.Index(norm, " decided to "); i >= 0 && has(norm[i:], phrases("decided to look|decided to check|decided to run|decided to read|decided to start|decided to try|decided to see")) {
		return "", false
	}
	text := strings.TrimLeft(sentence, "#*->_ ")
	if rest, ok := strings.CutPrefix(text, "I "); ok {
		text = capital(rest)
	}
	return shorten(text, 260), true
}

// proposal reads "I would …" and its kin, and returns it as the rule that it
// becomes once a person took it up: "I would avoid X" gives "Avoid X".
func proposal(sentence, norm string) (string, bool) {
	if begins(norm, phrases("i would rather|i'd rather|i would like|i'd like|i would love|i'd love")) {
		return "", true
	}
	for _, start := range []string{"I would ", "I'd ", "I’d ", "I recommend to ", "I would also ", "We should ", "You should "} {
		rest, ok := strings.CutPrefix(sentence, start)
		if !ok {
			continue
		}
		if not, ok := strings.CutPrefix(rest, "not "); ok {
			return "Do not " + not, true
		}
		return capital(strings.TrimPrefix(rest, "also ")), true
	}
	return "", false
}

func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}
