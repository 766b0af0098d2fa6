package consolidate

import (
	"slices"
	"strings"

	"memoir/internal/lazyregexp"
)

// A trouble is a failure in its parts: what failed and how, what made it succeed,
// and what was said of the cause in between.
type trouble struct {
	what, symptom, cause, remedy string
}

// maxSymptom is how much of an error is told: enough to know it again.
const maxSymptom = 200

// remedial begins the part of a failure that tells what made it succeed: in the built-in
// extractor's words, or in those that a language model has for it.
var remedial = lazyregexp.New("^(?:worked|passed|got past it|mended by|the narrower `|`[^`]+` passed |" +
	"(?:fixed|solved|resolved|corrected|avoided|cured|mended|passes|works|succeeded|succeeds) |(?:the )?(?:fix|solution|remedy|workaround)(?: is| was|:) )")

// troubleOf takes a failure apart; ok is false for one of another form.
func troubleOf(text string) (t trouble, ok bool) {
	what, rest, found := strings.Cut(text, " failed: ")
	switch {
	case found && strings.HasPrefix(what, "`"):
		t.what = what + " failed"
	case strings.HasPrefix(text, "the user saw: "):
		t.what, rest = "the user saw", strings.TrimPrefix(text, "the user saw: ")
	default: // an error that no command is named with
		rest = text
	}
	parts := strings.Split(rest, " — ")
	last := len(parts) - 1
	if last == 0 || !remedial.MatchString(parts[last]) {
		return trouble{}, false
	}
	t.symptom, t.remedy = parts[0], parts[last]
	at := 1
	if at < last && erring.MatchString(parts[at]) { // the failed test, then what it said
		t.symptom += " — " + parts[at]
		at++
	}
	t.cause = strings.Join(parts[at:last], " — ")
	return t, true
}

// erring is a program's own word on what went wrong.
var erring = lazyregexp.New(`^(?:[\w./-]+:\d+: |[\w.]*(?:Error|Exception)\b|(?:error|fatal|panic|assertion)\b)`)

// String renders a failure, what to do about it first: a line cut short loses the
// cause, and keeps the remedy. Which files were edited is no remedy by itself.
func (t trouble) String() string {
	text := cut(t.symptom, maxSymptom)
	if t.what != "" {
		text = t.what + ": " + text
	}
	if t.edited() && t.cause != "" {
		return text + " — " + t.cause + " — " + t.remedy
	}
	text += " → " + t.remedy
	if t.cause != "" {
		text += " — " + t.cause
	}
	return text
}

// edited reports whether all that is known of the remedy is which files were changed.
func (t trouble) edited() bool {
	return strings.HasPrefix(t.remedy, "passed after editing ") || strings.HasPrefix(t.remedy, "mended by editing ") || strings.HasPrefix(t.remedy, "fixed by editing ")
}

// teaches reports whether a failure of one session is worth telling: if more helped than
// editing, if the edit was of the one file of settings at fault, or if the cause was found, of an error
// in code that was being written one that is no slip but says why.
func (t trouble) teaches() bool {
	switch {
	case !t.edited():
		return true
	case compiling.MatchString(t.symptom):
		_, why, ok := strings.Cut(t.cause, ": ")
		return telling(t.cause) || ok && len(strings.Fields(why)) > 2
	}
	return t.cause != "" || settings.MatchString(t.remedy)
}

// settings is the one file that was edited, if it holds no code.
var settings = lazyregexp.New("editing `(?:[^`]*(?i:\\.(?:json|ya?ml|toml|ini|cfg|conf|properties|env|xml|kdl))|(?:[^`]*/)?(?:Make|Docker|Just|Task)file)`$")

// compiling is an error that a compiler or a type checker finds in code that is
// being written.
var compiling = lazyregexp.New(`(?i)\berror (?:TS|CS)\d{3,5}\b|\berror\[E\d{4}\]|: undefined: |cannot find (?:symbol|name|type|function|value|module)\b|has no (?:exported )?member|undeclared|unresolved reference|syntax ?error|unexpected token|does not exist on type|is not assignable|declared and not used|imported and not used|mismatched types|cannot use .* as `)

// instructive keeps of the failures what a later session can learn from, and tells it in
// the order in which it is needed. An error in code that was being written, and one of which no
// more is known than that files were edited, count once they recur.
func instructive(failures []*claim) []*claim {
	var out []*claim
	met := map[string][]*claim{}
	for _, c := range failures {
		t, ok := troubleOf(c.text)
		if !ok {
			out = append(out, c)
			continue
		}
		if len(c.from) < 2 && !t.teaches() {
			continue
		}
		c.text, c.tokens = t.String(), nil
		if i := slices.IndexFunc(met[t.what], func(o *claim) bool { return sameSymptom(o, t) }); i >= 0 {
			merge(met[t.what][i], c)
			continue
		}
		met[t.what] = append(met[t.what], c)
		out = append(out, c)
	}
	return out
}

func sameSymptom(o *claim, t trouble) bool {
	symptom := strings.TrimPrefix(o.text, t.what+": ")
	symptom, _, _ = strings.Cut(symptom, " → ")
	symptom, _, _ = strings.Cut(symptom, " — ")
	return jaccard(tokens(symptom), tokens(cut(t.symptom, maxSymptom))) >= 0.6
}

// merge joins a claim to an equal one; the newer wording stays.
func merge(into, c *claim) {
	if c.newest().rank > into.newest().rank {
		into.text, into.tokens = c.text, nil
	}
	mergeFrom(into, c)
}

// mergeFrom lets a claim rest on the sessions of another as well.
func mergeFrom(into, c *claim) {
	into.from = append(into.from, c.from...)
	slices.SortFunc(into.from, func(a, b *session) int { return a.rank - b.rank })
	into.from = slices.Compact(into.from)
}
