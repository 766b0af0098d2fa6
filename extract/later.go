package extract

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Later returns extractions in which the later word wins: a statement that another one of its project overturns
// becomes memoir.StatementRefuted, with the day as its outcome, and the other one replaces it. A wish that was
// promoted goes with this person's own. An entry is overturned only by the note that says so. What is overturned
// overturns nothing.
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
			strings.Compare(a.from.SessionKey, b.from.SessionKey), a.last-b.last)
	})
	for _, s := range all {
		note, says := strings.CutPrefix(s.Replaces, "#")
		if !says {
			continue
		}
		key := memoir.SessionKey(memoir.SourceEntry, string(memoir.EntryNote)+"-"+note)
		for _, e := range all {
			if e.from.SessionKey == key && (s.By == memoir.ByPerson || e.By != memoir.ByPerson) {
				e.Kind, e.Outcome = memoir.StatementRefuted, s.at
			}
		}
	}
	by := map[string][]*saying{} // the later ones that hold, the newest ones with a word
	for _, s := range slices.Backward(all) {
		words := slices.Concat(s.wants, s.rejects, s.scope)
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
			if key := s.from.ProjectID + "\n" + w; len(by[key]) < maxCompared && !s.refuted() {
				by[key] = append(by[key], s)
			}
		}
	}
	withPromoted(all)
	return out
}

// withPromoted overturns the wishes that were promoted and that this person has overturned since.
func withPromoted(all []*saying) {
	gone := map[string]string{} // the days, by what others read of this person's wishes
	for _, s := range all {
		if s.refuted() && s.By == memoir.ByPerson {
			gone[s.from.ProjectID+"\n"+memoir.Wish+s.Text] = s.Outcome
		}
	}
	for _, s := range all {
		if day := gone[s.from.ProjectID+"\n"+s.Text]; memoir.IsReceived(s.from.SessionKey) && s.at < day {
			s.Kind, s.Outcome = memoir.StatementRefuted, day
		}
	}
}

// A saying is what a statement wants and rejects: the words of a person's sentence, or the names of facts.
type saying struct {
	*memoir.Statement
	from           *memoir.Extraction
	at             string // the day
	wants, rejects memoir.Words
	scope          memoir.Words // where and when it holds
	changes, adds  bool         // it says that something changes, or is added
	last           int          // item that shows it
}

func (s *saying) refuted() bool { return s.Kind == memoir.StatementRefuted && s.Outcome != "" }

func sayingOf(e *memoir.Extraction, st *memoir.Statement) *saying {
	s := &saying{Statement: st, from: e, at: cmp.Or(st.At, e.EndedAt.UTC().Format(time.DateOnly))}
	if n := len(st.Items); n > 0 {
		s.last = st.Items[n-1]
	}
	fact := func(want, reject string) { s.wants, s.rejects = memoir.Words{want}, memoir.Words{reject} }
	ran, failed := "passes\n"+st.Command+"\n"+st.Dir, "fails\n"+st.Command+"\n"+st.Dir
	switch m := newNames.FindStringSubmatch(strings.ToLower(st.Quote)); {
	case st.Signal == signalRenamed && m != nil:
		fact(m[2], m[1])
	case st.Kind == memoir.StatementPreference, st.Signal == memoir.SignalRule || st.Signal == memoir.SignalMaybe,
		st.Signal == signalRenamed:
		s.read(cmp.Or(st.Quote, strings.Trim(st.Text, "“”")))
	case st.Signal == signalChosen:
		answer, question, _ := strings.Cut(st.Text, "” for ") // what was received has no quotation
		question, _, _ = strings.Cut(question, ", not ")
		s.wants, s.changes = memoir.Words{" " + question, "start", "~" + answer}, true
	case st.Signal == SignalRefused:
		if was := Refused(*st); was != "" {
			s.rejects = memoir.Words{was}
		}
	case st.Signal == signalInstruction:
		fact(failed, ran)
	case st.Kind == memoir.StatementCommand:
		fact(ran, failed)
		for one := range strings.SplitSeq(st.Command, " && ") {
			s.wants = append(s.wants, code(one))
		}
	case (st.Kind == memoir.StatementFailure || st.Signal == memoir.SignalVain) && st.Fix != "":
		fact("fix\n"+st.Fix, "fix\n"+st.Command)
	}
	return s
}

// Forms of words about a change of mind.
var (
	newNames = lazyregexp.New("^(?:the )?`?(.+?)`? (?:(?:has|have) been renamed|was renamed|is now called)" +
		"(?: to)? `?(.+?)[`.! ]*$")
	changes = lazyregexp.New(`\b(?:from now on|going forward|instead|actually|now|any ?more|again)\b|^no,`)
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
	scopes = memoir.SetOf("for in on when whenever before after while during unless")
	starts = memoir.SetOf("always never use don't")
	void   = memoir.SetOf(`now going forward it's may need directly fine what about rule rules said told requirement again
		any more anymore`)
	single = memoir.SetOf("us start writ nam target")
)

const use = "us" // as memoir.WordsOf has it

// read reads a person's sentence.
func (s *saying) read(text string) {
	text = strings.NewReplacer("’", "'", "`", "").Replace(text)
	lower := strings.ToLower(text)
	s.changes, s.adds = changes.MatchString(lower), adds.MatchString(lower)
	if !strings.Contains(lower, "use ") {
		text = tongue.ReplaceAllString(text, "in_$1$2")
	}
	main, scope, inScope := "", "", false
	for w := range strings.FieldsSeq(strings.ReplaceAll(strings.ToLower(text), "from now on", "")) {
		bare := strings.Trim(w, `"'.,;:!?()`)
		if scopes[bare] || starts[bare] {
			inScope = scopes[bare]
		}
		switch {
		case void[bare] || scopes[bare]:
		case inScope:
			scope += " " + bare
		default:
			main += " " + w
		}
		inScope = inScope && w == strings.TrimRight(w, ",.;:")
	}
	s.scope = memoir.WordsOf(scope)
	for _, w := range memoir.WordsOf(main) {
		if no, ok := strings.CutPrefix(w, "!"); ok {
			s.rejects = append(s.rejects, no)
		} else {
			s.wants = append(s.wants, w)
		}
	}
}

// less returns the words of a text that another lacks, without "use".
func less(a, b memoir.Words) memoir.Words {
	return slices.DeleteFunc(slices.Clone(a), func(w string) bool { return w == use || slices.Contains(b, w) })
}

func within(a, b memoir.Words) bool { return len(less(a, nil)) > 0 && len(less(a, b)) == 0 }

// overturns reports whether an earlier saying cannot hold beside a later one. A narrower one overturns no broader one.
func (s *saying) overturns(e *saying) bool {
	switch {
	case memoir.IsEntry(e.from.SessionKey) || e.Kind == memoir.StatementRefuted && !e.refuted() || s.adds:
		return false
	case s.Signal == memoir.SignalVain:
		return Disproves(*s.Statement, *e.Statement)
	case s.Kind == memoir.StatementRefuted:
		return within(slices.Concat(s.wants, s.rejects, s.scope), slices.Concat(e.wants, e.rejects, e.scope))
	case e.Signal == SignalRefused && s.Kind == memoir.StatementCommand:
		return s.allows(e)
	case s.otherNumber(e):
		return true
	case len(less(s.scope, e.scope)) > 0:
		return false
	case within(s.rejects, e.wants): // not of another verb: "write docs, not tests"
		return len(s.wants) == 0 || slices.Contains(s.wants, use) || s.wants.Shared(e.wants) > 0 ||
			within(e.wants, s.rejects) || e.Kind == memoir.StatementCommand
	case within(e.rejects, s.wants) && within(s.wants, e.rejects):
		return true
	}
	return s.otherValue(e)
}

// allows reports whether a command that passed ends its refusal: in the same session, or if the person spoke of that
// moment. Else what an agent ran is nobody's word.
func (s *saying) allows(e *saying) bool {
	of, by := e.from.SessionKey, s.from.SessionKey
	return within(e.rejects, s.wants) &&
		(of == by || passing.MatchString(e.Quote) && memoir.MemberOf(of) == memoir.MemberOf(by))
}

// otherNumber reports whether two sentences that say what always holds differ in one number only, wherever it stands.
func (s *saying) otherNumber(e *saying) bool {
	now, was := slices.Concat(s.wants, s.scope), slices.Concat(e.wants, e.scope)
	differ := append(less(now, was), less(was, now)...)
	always := func(s *saying) bool { return hasAny(lowerWords(s.Quote), "always") && len(s.rejects) == 0 }
	return len(differ) == 2 && len(now) == len(was) && !slices.ContainsFunc(differ, notNumber) && always(s) && always(e)
}

func notNumber(w string) bool { return !strings.Contains("0123456789", w[:1]) }

// otherValue reports whether sentences differ in one thing of which there is one: a number, a language, a program, or
// what a verb names.
func (s *saying) otherValue(e *saying) bool {
	now := less(s.wants, e.wants)
	differ := append(less(e.wants, s.wants), now...)
	if n := len(differ); n > 3 || len(now) == 0 || len(now) == n || now[0][0] == '-' { // options add up
		return false
	}
	other := func(not func(string) bool) bool { return !slices.ContainsFunc(differ, not) }
	plain := func(w string) bool { return grammars[w]+grammars[w+"e"] == byName } // no program
	one := slices.ContainsFunc(s.wants, func(w string) bool { return single[w] && slices.Contains(e.wants, w) })
	same, whole := s.wants.Shared(e.wants)+s.scope.Shared(e.scope), slices.Equal(s.scope, e.scope)
	switch {
	case other(notNumber):
		return same > 2 || one || s.changes
	case other(func(w string) bool { return !strings.HasPrefix(w, "in_") }):
		return true
	case other(plain):
		return s.changes && same > 1 || one && whole
	}
	return one && same > 1 && (s.changes || whole && len(s.scope) > 0 && len(differ) == 2) &&
		!slices.ContainsFunc(less(s.wants, now), func(w string) bool { return !plain(w) })
}

// takenBack is the signal of a person's sentences that take back a rule: by its words, or the one said before.
func takenBack(s *session) []candidate {
	var out []candidate
	last := "" // sentence
	for _, t := range s.turns {
		for _, text := range t.ask.own {
			lower := strings.ToLower(strings.ReplaceAll(text, "’", "'"))
			c := state(memoir.SignalMaybe, memoir.StatementRefuted, quote(text), t.ask.item)
			if m := takes.FindStringSubmatch(lower); m != nil {
				c.Quote = m[1] + m[2] + m[3]
			} else if wish(text) == "" && lifts.MatchString(lower) && changes.MatchString(lower) {
				c.Kind, c.Quote = memoir.StatementPreference, text
			}
			if len(text) > maxRule || passing.MatchString(lower) {
				c.Quote = ""
			}
			if takesLast.MatchString(lower) && wish(last) != "" {
				c.Quote = last
			}
			if last = text; c.Quote != "" && t.ask.typed() {
				out = append(out, c)
			}
		}
	}
	return out
}
