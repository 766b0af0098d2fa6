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
// memoir.StatementRefuted, with the day as its outcome, and the later one replaces it. Entries are never overturned.
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
	all = slices.DeleteFunc(all, func(s *saying) bool { return len(s.keys) == 0 })
	slices.SortStableFunc(all, func(a, b *saying) int {
		return cmp.Or(strings.Compare(a.at, b.at), a.from.EndedAt.Compare(b.from.EndedAt),
			strings.Compare(a.from.SessionKey, b.from.SessionKey), slices.Compare(a.st.Items, b.st.Items))
	})
	by := map[string][]int{}
	for i, s := range all {
		for _, key := range s.keys {
			by[key] = append(by[key], i)
		}
	}
	for i, later := range slices.Backward(all) {
		if later.refuted() {
			continue
		}
		for _, key := range later.keys {
			for _, j := range by[key] {
				earlier := all[j]
				if j >= i {
					break
				}
				if st := earlier.st; later.overturns(earlier) {
					later.st.Replaces = st.ID
					if !earlier.refuted() || later.at < st.Outcome {
						st.Kind, st.Outcome = memoir.StatementRefuted, later.at
					}
				}
			}
		}
	}
	return out
}

// A saying is what a statement wants and rejects. A fact wants one name, perhaps in a slot that has one value; a
// person's sentence has the words of its clauses, in order.
type saying struct {
	st   *memoir.Statement
	from *memoir.Extraction
	at   string   // the day
	keys []string // a saying overturns only others with one of its keys

	slot, want, reject string

	wants, rejects []memoir.Words // without the order of Words
	scope          memoir.Words   // where, when and for what it holds
	names          memoir.Words   // of what it takes back
	text           string
	changes, adds  bool // it says that something changes, or comes to the rest
}

func (s *saying) refuted() bool { return s.st.Kind == memoir.StatementRefuted && s.st.Outcome != "" }

func sayingOf(e *memoir.Extraction, st *memoir.Statement) *saying {
	s := &saying{st: st, from: e, at: cmp.Or(st.At, e.EndedAt.UTC().Format(time.DateOnly))}
	text, _, _ := strings.Cut(st.Text, " (“")
	key := func(words ...string) {
		for _, w := range words {
			if w != "" {
				s.keys = append(s.keys, e.ProjectID+"\x00"+w)
			}
		}
	}
	where := "\x00" + st.Command + "\x00" + st.Dir
	switch {
	case st.Kind == memoir.StatementPreference, st.Signal == memoir.SignalRule, st.Signal == memoir.SignalMaybe:
		s.read(cmp.Or(st.Quote, strings.Trim(st.Text, "“”")))
		key(slices.Concat(append(append(s.wants, s.rejects...), s.scope, s.names)...)...)
		return s
	case st.Signal == signalRenamed:
		if m := newNames.FindStringSubmatch(strings.Trim(strings.ReplaceAll(strings.ToLower(st.Quote), "`", ""), ".! ")); m != nil {
			s.reject, s.want = m[1], m[2]
		} else {
			s.read(st.Quote)
			key(slices.Concat(s.rejects...)...)
		}
	case st.Signal == signalChosen:
		_, question, _ := strings.Cut(st.Text, "” for ")
		s.slot, _, _ = strings.Cut(question, ", not ")
		s.want = st.Quote
	case st.Signal == signalRefused:
		s.reject, s.want, _ = strings.Cut(strings.TrimPrefix(text, "not "), " but ")
	case st.Signal == signalInstruction:
		s.want, s.reject = "fails"+where, "passes"+where
	case st.Kind == memoir.StatementCommand:
		s.want, s.reject = "passes"+where, "fails"+where
	case st.Kind == memoir.StatementFailure && st.Fix != "":
		s.want, s.reject = "fix\x00"+st.Fix, "fix\x00"+st.Command
	}
	key(s.slot, s.want, s.reject)
	return s
}

// Forms of words about a change of mind.
var (
	newNames = lazyregexp.New("^(?:the )?(.+?) (?:(?:has|have) been renamed|was renamed|is now called)(?: to)? (.+)$")
	leads    = lazyregexp.New(`\b(?:from now on|going forward|on second thought)\b,?`)
	changes  = lazyregexp.New(`\b(?:from now on|going forward|on second thought|instead|actually|now)\b|^no,`)
	contrast = lazyregexp.New(`,? (?:instead of|rather than|in place of|over) `)
	switched = lazyregexp.New(`\b(?:switch|mov|migrat|chang)\w* from (.+?) to (.+)`)
	adds     = lazyregexp.New(`\b(?:also|too|as well|not only|(?:don't|not) just)\b`)
	clauses  = lazyregexp.New(`[,;:()—]+|[.!?]+(?:\s|$)|\bbut\b`)
	lifts    = lazyregexp.New(`^\s*(?:(?:there(?:'s| is) )?no need (?:to|for)|(?:you|we) (?:don't|do not|no longer) (?:need|have) to)\b`)
	allows   = lazyregexp.New(`^\s*(?:(?:it(?:'s| is) )?(?:ok|okay|fine) to|(?:you|we) (?:may|can))\b`)
	takes    = lazyregexp.New(`(?:^|[ ,])(?:forget|never ?mind|scratch|ignore|disregard|drop) (.*\b(?:rules?|said|told|asked` +
		`|requirement)\b.*)|^(.*\brules?\b.*) (?:no longer|doesn't|does not) (?:appl|hold|count)`)
	takesLast = lazyregexp.New(`^(?:(?:actually|no|wait|oh|sorry),? )*(?:(?:forget|scratch|ignore|disregard|drop) ` +
		`(?:that|it|what i (?:just )?said)|never ?mind(?: that)?|i (?:changed my mind|take that back))` +
		`(?: rule| one| again)?[.!]*$`)
	passing = lazyregexp.New(`\b(?:this|these|those|today|yet|here|for now)\b`)
	lasts   = lazyregexp.New(`\b(?:any ?more|again|no longer|from now on|going forward|before|when|whenever)\b`)
	runners = lazyregexp.New(`\b(us(?:e|ing)|run|running|with|not|never) (make|just)\b`)
	number  = lazyregexp.New(`^\d`)
	inName  = lazyregexp.New(` in (\p{Lu}[\pL-]+)[.!]?$`)
	obliges = lazyregexp.New(`\b(?:must|should) be\b`)
)

// scopes begin what says where, when and for what a rule holds. void are words that say nothing of its subject. single
// are the verbs that have one object.
var (
	scopes = memoir.SetOf("for in on when whenever before after while during unless until if")
	void   = memoir.SetOf("now may again need any more anymore directly fine what about rule rules said told asked earlier requirement")
	single = memoir.WordsOf("use start write keep name")
	use    = memoir.WordsOf("use")[0]
)

// read reads a person's sentence.
func (s *saying) read(text string) {
	s.text = text
	lower := strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	if s.st.Kind == memoir.StatementRefuted && s.st.Outcome == "" {
		if m := takes.FindStringSubmatch(lower); m != nil {
			s.names = wordsIn(m[1] + m[2])
		} else if s.st.Text != quote(text) {
			s.names = wordsIn(lower)
		}
		if len(s.names) > 0 {
			return
		}
	}
	s.changes, s.adds = changes.MatchString(lower), adds.MatchString(lower)
	lower = runners.ReplaceAllString(strings.ReplaceAll(lower, "`", ""), "$1 ${2}0") // no filler
	lower = leads.ReplaceAllString(switched.ReplaceAllString(lower, "use $2, not $1"), "")
	lower = allows.ReplaceAllString(lifts.ReplaceAllString(lower, "don't "), "")
	lower = clauses.ReplaceAllString(contrast.ReplaceAllString(lower, ", not "), "\x00")
	for clause := range strings.SplitSeq(lower, "\x00") {
		s.clause(clause)
	}
	s.scope = sorted(s.scope)
}

// clause adds a clause of a sentence.
func (s *saying) clause(text string) {
	var main []string
	inScope := false
	for _, w := range strings.Fields(text) {
		if scopes[w] || w == "always" || w == "never" || w == "use" || w == "don't" {
			inScope = scopes[w]
		}
		if inScope {
			s.scope = append(s.scope, wordsIn(w)...)
		} else {
			main = append(main, w)
		}
	}
	rejected := memoir.WordsOf(strings.Join(main, " "))
	var want, reject memoir.Words
	for _, w := range wordsIn(strings.Join(main, " ")) {
		if slices.Contains(rejected, "!"+w) {
			reject = append(reject, w)
		} else {
			want = append(want, w)
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
	for w := range strings.FieldsSeq(strings.ReplaceAll(text, "`", " ")) {
		if w = strings.Trim(w, `"'“”.,;:!?()*`); !void[w] {
			out = append(out, memoir.WordsOf(w)...)
		}
	}
	return out
}

// overturns reports whether a saying and an earlier one cannot both hold. A narrower one overturns no broader one.
func (s *saying) overturns(e *saying) bool {
	within := func(part, whole memoir.Words) bool {
		part = slices.DeleteFunc(slices.Clone(part), func(w string) bool { return w == use })
		return len(part) > 0 && !slices.ContainsFunc(part, func(w string) bool { return !slices.Contains(whole, w) })
	}
	switch {
	case memoir.IsEntry(e.from.SessionKey) || e.st.Kind == memoir.StatementRefuted && !e.refuted() || s.adds:
		return false
	case s.want != "" || e.want != "":
		return s.reject != "" && s.reject == e.want || s.slot != "" && s.slot == e.slot && s.want != e.want
	case len(s.names) > 0:
		return within(s.names, slices.Concat(append(append([]memoir.Words{e.scope}, e.wants...), e.rejects...)...))
	case s.otherName(e):
		return true
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
	return s.otherValue(e)
}

// otherName reports whether two sentences say the same of something, in another language or the like.
func (s *saying) otherName(e *saying) bool {
	a, b := inName.FindStringSubmatch(s.text), inName.FindStringSubmatch(e.text)
	return a != nil && b != nil && a[1] != b[1] && len(s.wants) > 0 && len(e.wants) > 0 &&
		!slices.Contains(s.wants[0], use) && sorted(s.wants[0]).Repeats(sorted(e.wants[0]))
}

func sorted(words memoir.Words) memoir.Words {
	return slices.Compact(slices.Sorted(slices.Values(words)))
}

// otherValue reports whether two sentences differ in the one thing that a verb or a number of theirs can name.
func (s *saying) otherValue(e *saying) bool {
	if len(s.wants) == 0 || len(e.wants) == 0 {
		return false
	}
	a, b := s.wants[0], e.wants[0]
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	now, was := a[head:len(a)-tail], b[head:len(b)-tail]
	if head == 0 || len(now) == 0 || len(was) == 0 || len(now)+len(was) > 4 {
		return false
	}
	same, one := head+tail+s.scope.Shared(e.scope), slices.Contains(single, a[head-1])
	programs := isProgram(now[0]) && isProgram(was[0])
	switch {
	case len(now)+len(was) == 2 && number.MatchString(now[0]) && number.MatchString(was[0]):
		return same > 2 || slices.Contains(single, a[0]) || s.changes
	case s.changes:
		return same > 1 && (one || tail > 0 && programs)
	}
	return one && programs && slices.Equal(s.scope, e.scope) || tail == 0 && head > 1 && obliges.MatchString(s.text)
}

// isProgram reports whether a word is a program that runs others.
func isProgram(w string) bool { return grammars[strings.TrimSuffix(w, "0")] != byName }

// takenBack is the signal of a person's sentences that take back a rule: by its words, or the one before.
func takenBack(s *session) []candidate {
	var out []candidate
	last := "" // the sentence before
	for _, t := range s.turns {
		if len(t.ask.own) == 0 || !t.ask.typed() {
			continue
		}
		for _, text := range t.ask.own {
			c := state(memoir.SignalMaybe, memoir.StatementRefuted, quote(text), t.ask.item)
			lower := strings.TrimSpace(strings.ToLower(strings.ReplaceAll(text, "’", "'")))
			switch c.Quote = text; {
			case takesLast.MatchString(lower) && wish(last) != "":
				c.Quote = last
			case len(text) > maxRule || strings.Contains(text, "?") || passing.MatchString(lower) || wish(text) != "",
				!takes.MatchString(lower) && !(lasts.MatchString(lower) && (lifts.MatchString(lower) || allows.MatchString(lower))):
				last = text
				continue
			}
			last = text
			out = append(out, c)
		}
	}
	return out
}
