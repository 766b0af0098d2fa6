package extract

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Later returns extractions in which the later word wins: a statement that another one of its project overturns becomes
// memoir.StatementRefuted, with the day as its outcome, and the other one replaces it. Entries are never overturned.
// What is overturned overturns nothing.
func Later(extractions []memoir.Extraction) []memoir.Extraction {
	out := slices.Clone(extractions)
	var all []*saying
	for i := range out {
		out[i].Statements = slices.Clone(out[i].Statements)
		for j := range out[i].Statements {
			all = append(all, sayingOf(&out[i], &out[i].Statements[j]))
		}
	}
	slices.SortStableFunc(all, func(a, b *saying) int {
		return cmp.Or(strings.Compare(a.at, b.at), a.from.EndedAt.Compare(b.from.EndedAt),
			strings.Compare(a.from.SessionKey, b.from.SessionKey), slices.Compare(a.Items, b.Items))
	})
	by := map[string][]*saying{} // the later ones that hold, by their words
	for _, s := range slices.Backward(all) {
		words := slices.Concat(append(append(s.wants, s.rejects...), s.scope, s.names)...)
		for _, w := range words {
			for _, later := range by[s.from.ProjectID+"\n"+w] {
				if later.overturns(s) {
					later.Replaces = cmp.Or(later.Replaces, s.ID)
					if !s.refuted() || later.at < s.Outcome {
						s.Kind, s.Outcome = memoir.StatementRefuted, later.at
					}
				}
			}
		}
		for _, w := range words {
			if key := s.from.ProjectID + "\n" + w; !s.refuted() {
				by[key] = append(by[key], s)
			}
		}
	}
	return out
}

// A saying is what a statement wants and rejects: the words of a person's clauses in order, or the names of facts.
type saying struct {
	*memoir.Statement
	from           *memoir.Extraction
	at             string // the day
	wants, rejects []memoir.Words
	scope, names   memoir.Words // where and when it holds; what it takes back
	changes, adds  bool         // it says that something changes, or is added
}

func (s *saying) refuted() bool { return s.Kind == memoir.StatementRefuted && s.Outcome != "" }

func sayingOf(e *memoir.Extraction, st *memoir.Statement) *saying {
	s := &saying{Statement: st, from: e, at: cmp.Or(st.At, e.EndedAt.UTC().Format(time.DateOnly))}
	fact := func(want, reject string) { s.wants, s.rejects = []memoir.Words{{want}}, []memoir.Words{{reject}} }
	ran, failed := "passes\n"+st.Command+"\n"+st.Dir, "fails\n"+st.Command+"\n"+st.Dir
	switch m := newNames.FindStringSubmatch(strings.ToLower(st.Quote)); {
	case st.Signal == signalRenamed && m != nil:
		fact(m[2], m[1])
	case st.Kind == memoir.StatementPreference, st.Signal == memoir.SignalRule || st.Signal == memoir.SignalMaybe,
		st.Signal == signalRenamed:
		s.read(cmp.Or(st.Quote, strings.Trim(st.Text, "“”")))
	case st.Signal == signalChosen:
		_, question, _ := strings.Cut(st.Text, "” for ")
		question, _, _ = strings.Cut(question, ", not ")
		s.wants, s.changes = []memoir.Words{{question, use, st.Quote}}, true
	case st.Signal == signalRefused:
		text, _, _ := strings.Cut(strings.TrimPrefix(st.Text, "not "), " (“")
		reject, want, _ := strings.Cut(text, " but ")
		fact(want, reject)
	case st.Signal == signalInstruction:
		fact(failed, ran)
	case st.Kind == memoir.StatementCommand:
		fact(ran, failed)
	case st.Kind == memoir.StatementFailure && st.Fix != "":
		fact("fix\n"+st.Fix, "fix\n"+st.Command)
	}
	return s
}

// Forms of words about a change of mind.
var (
	newNames = lazyregexp.New("^(?:the )?`?(.+?)`? (?:(?:has|have) been renamed|was renamed|is now called)" +
		"(?: to)? `?(.+?)[`.! ]*$")
	changes = lazyregexp.New(`\b(?:from now on|going forward|instead|actually|now|any ?more|again)\b|^no,`)
	leads   = lazyregexp.New(`(?i)^(?:from now on|going forward|on second thought),? `)
	rather  = lazyregexp.New(`(?i),? (?:instead of|rather than|in place of|over) `)
	tongue  = lazyregexp.New(`\bin (\p{Lu}[\pL-]*)([.,;!]|$)`) // a language or the like
	adds    = lazyregexp.New(`\b(?:also|too|as well|not only|(?:don't|not) just)\b`)
	lifts   = lazyregexp.New(`(?:no need|don't need|do not need|don't have|okay?|fine) to |^(?:you|we) (?:may|can) `)
	takes   = lazyregexp.New(`(?:^|[ ,])(?:forget|never ?mind|scratch|ignore|disregard|drop) (.*\b(?:rules?|said|told` +
		`|requirement)\b.*)|^(.*\brules?\b.*) (?:no longer|doesn't|does not) (?:appl|hold|count)` +
		`|^we(?:'ve| have)? (?:switched|moved|migrated) from (.+) to `)
	takesLast = lazyregexp.New(`^(?:(?:actually|no|wait|oh|sorry),? )*(?:(?:forget|scratch|ignore|disregard|drop) ` +
		`(?:that|it|what i (?:just )?said)|never ?mind(?: that)?|i (?:changed my mind|take that back))[.!]*$`)
	passing = lazyregexp.New(`\b(?:this|these|those|today|yet|here|for now)\b|\?`)
)

// scopes begin what says where and when a rule holds, starts what it says. void are words that say nothing of its
// subject. A single verb has one object.
var (
	scopes = memoir.SetOf("for in on when whenever before after while during unless until if")
	starts = memoir.SetOf("always never use don't")
	void   = memoir.SetOf(`it's may need directly fine what about rule rules said told requirement again any more
		anymore now instead`)
	single = memoir.SetOf("us start writ keep nam")
)

const use = "us" // as memoir.WordsOf has it

// read reads a person's sentence.
func (s *saying) read(text string) {
	if s.Kind == memoir.StatementRefuted && !s.refuted() {
		s.names = wordsIn(text)
		return
	}
	text = strings.NewReplacer("’", "'", "`", "").Replace(text)
	lower := strings.ToLower(text)
	s.changes, s.adds = changes.MatchString(lower), adds.MatchString(lower)
	text = rather.ReplaceAllString(leads.ReplaceAllString(tongue.ReplaceAllString(text, "in_$1$2"), ""), ", not ")
	ends := strings.NewReplacer(", ", "\n", "; ", "\n", ": ", "\n", ". ", "\n", " but ", "\n", " — ", "\n")
	for clause := range strings.Lines(ends.Replace(strings.ToLower(text))) {
		s.clause(clause)
	}
	slices.Sort(s.scope)
}

// clause adds a clause of a sentence.
func (s *saying) clause(text string) {
	var want, reject memoir.Words
	inScope, negative := false, false
	for _, w := range strings.Fields(text) {
		if name, ok := strings.CutPrefix(w, "in_"); ok && (len(want)+len(reject) == 0 || slices.Contains(want, use)) {
			w, inScope = name, true
		}
		if scopes[w] || starts[w] {
			inScope = scopes[w]
		}
		negative = negative || slices.Equal(memoir.WordsOf(w+" x"), memoir.Words{"!x"})
		switch {
		case inScope:
			s.scope = append(s.scope, wordsIn(w)...)
		case negative:
			reject = append(reject, wordsIn(w)...)
		default:
			want = append(want, wordsIn(w)...)
		}
	}
	if n := len(reject); n > 0 && n <= 2 && len(want) == 0 && len(s.wants) > 0 && len(s.wants[0]) > 1 {
		reject = append(memoir.Words{s.wants[0][0]}, reject...) // "write docs, not tests"
	}
	if len(reject) > 0 {
		s.rejects = append(s.rejects, reject)
	}
	if len(want) > 0 && (len(s.rejects) == 0 || want[0] == use) {
		s.wants = append(s.wants, want)
	}
}

// wordsIn returns the words of a text in order, without those that say nothing.
func wordsIn(text string) (out memoir.Words) {
	for w := range strings.FieldsSeq(strings.ToLower(text)) {
		w = strings.Trim(w, `"'“”.,;:!?()*-`)
		if grammars[w] != byName { // a program, such as "make"
			out = append(out, w)
		} else if !void[w] {
			out = append(out, memoir.WordsOf(w)...)
		}
	}
	return out
}

// within reports whether a text has all words of another but "use".
func within(part, whole memoir.Words) bool {
	part = slices.DeleteFunc(slices.Clone(part), func(w string) bool { return w == use })
	return len(part) > 0 && !slices.ContainsFunc(part, func(w string) bool { return !slices.Contains(whole, w) })
}

// overturns reports whether an earlier saying cannot hold beside a later one. A narrower one overturns no broader one.
func (s *saying) overturns(e *saying) bool {
	switch {
	case memoir.IsEntry(e.from.SessionKey) || e.Kind == memoir.StatementRefuted && !e.refuted() || s.adds:
		return false
	case len(s.names) > 0:
		return within(s.names, slices.Concat(append(append(e.wants, e.rejects...), e.scope)...))
	case len(s.scope) > 0 && s.scope.Alike(e.scope) < 0.5:
		return false
	}
	for _, want := range e.wants {
		if slices.ContainsFunc(s.rejects, func(reject memoir.Words) bool { return within(reject, want) }) {
			return true
		}
	}
	for _, reject := range e.rejects {
		if slices.ContainsFunc(s.wants, func(w memoir.Words) bool { return within(reject, w) && within(w, reject) }) {
			return true
		}
	}
	return len(s.wants) > 0 && len(e.wants) > 0 && s.otherValue(s.wants[0], e.wants[0], slices.Equal(s.scope, e.scope))
}

// otherValue reports whether sentences differ in one thing of which there is one: a number, a language, a program, or
// what a verb names.
func (s *saying) otherValue(a, b memoir.Words, whole bool) bool {
	verb, now, was := differing(a, b)
	first, same := a[0], len(s.scope)+len(a)-len(now)
	both := func(is func(string) bool) bool { return is(now[0]) && is(was[0]) }
	switch n := len(now) + len(was); {
	case verb == "" || now[0] == was[0] || n > 4:
		return false
	case both(func(w string) bool { return w[0] <= '9' }):
		return same > 2 || single[first] || s.changes
	case both(func(w string) bool { return strings.HasPrefix(w, "in_") }):
		return first != use
	case both(func(w string) bool { return grammars[w] != byName }):
		return s.changes && same > 1 || single[verb] && whole
	default:
		return single[verb] && same > 1 && (s.changes || whole && n == 2 && len(s.scope) > 0)
	}
}

// differing returns the words in which two sentences differ, and the one before.
func differing(a, b memoir.Words) (before string, now, was memoir.Words) {
	for len(a) > 1 && len(b) > 1 && a[0] == b[0] {
		before, a, b = a[0], a[1:], b[1:]
	}
	for n, m := len(a), len(b); n > 1 && m > 1 && a[n-1] == b[m-1]; n, m = n-1, m-1 {
		a, b = a[:n-1], b[:m-1]
	}
	return before, a, b
}

// takenBack is the signal of a person's sentences that take back a rule: by its words, or the one said before.
func takenBack(s *session) []candidate {
	var out []candidate
	last := "" // sentence
	for _, t := range s.turns {
		for _, text := range t.ask.own {
			lower, before := strings.ToLower(strings.ReplaceAll(text, "’", "'")), last
			last = text
			c := state(memoir.SignalMaybe, memoir.StatementRefuted, quote(text), t.ask.item)
			m := takes.FindStringSubmatch(lower)
			switch {
			case !t.ask.typed():
				continue
			case takesLast.MatchString(strings.TrimSpace(lower)) && wish(before) != "":
				c.Quote = before
			case wish(text) != "" || len(text) > maxRule || passing.MatchString(lower):
				continue
			case m != nil:
				c.Quote = m[1] + m[2] + m[3]
			case lifts.MatchString(lower) && changes.MatchString(lower):
				c.Kind, c.Quote = memoir.StatementPreference, text
			default:
				continue
			}
			out = append(out, c)
		}
	}
	return out
}
