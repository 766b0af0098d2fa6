package consolidate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
)

const (
	minAskedSessions = 2  // sessions in which a request recurs
	rareAsk          = 12 // and at least one session in so many
	maxRequests      = 5
	maxAskWords      = 6  // of a request that is compared
	maxAskLength     = 60 // words of an ask that are looked at
)

// An ask is what a person wanted in one session, in words that can be compared.
type ask struct {
	session *session
	lead    string   // its first clause, as it was said
	opening []string // the words of that
	words   []string // those of all of it, in order
}

// requests are what the user asks for time and again, over all sessions: those of
// most sessions first. How a project is worked on shows in them, which no single
// session tells.
func requests(sessions []*session) []*claim {
	said := map[string]map[*session]bool{}  // a row of words, wherever it stood in an ask
	whole := map[string]map[*session]bool{} // one that was all of the first clause
	leads := map[string][]ask{}
	note := func(to map[string]map[*session]bool, words []string, s *session) {
		key := strings.Join(words, " ")
		if to[key] == nil {
			to[key] = map[*session]bool{}
		}
		to[key][s] = true
	}
	for _, s := range sessions {
		for _, a := range s.asks() {
			for i := range a.words {
				for j := i + 1; j <= min(len(a.words), i+maxAskWords); j++ {
					note(said, a.words[i:j], s)
				}
			}
			if len(a.opening) == 0 || len(a.opening) > maxAskWords {
				continue
			}
			note(whole, slices.DeleteFunc(slices.Clone(a.opening), func(w string) bool { return w == linked }), s)
			key := strings.Join(a.opening, " ")
			leads[key] = append(leads[key], a)
		}
	}
	type candidate struct {
		words []string
		from  map[*session]bool
		exact int
	}
	var found []candidate
	for _, key := range slices.Sorted(maps.Keys(leads)) {
		c := candidate{words: strings.Fields(key), from: maps.Clone(said[key])}
		if !requestable(c.words) {
			continue
		}
		if len(c.words) == 1 { // a word alone counts where it was all
			c.from = maps.Clone(whole[key])
		}
		c.exact = len(c.from)
		for i := range c.words { // or where one word of three or more was left out
			if shorter := slices.Delete(slices.Clone(c.words), i, i+1); len(shorter) > 1 {
				maps.Copy(c.from, whole[strings.Join(shorter, " ")])
			}
		}
		if len(c.from) >= minAskedSessions && len(c.from)*rareAsk >= len(sessions) {
			found = append(found, c)
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(len(b.from), len(a.from)), cmp.Compare(b.exact, a.exact), cmp.Compare(len(a.words), len(b.words)))
	})
	var out []*claim
	var taken [][]string
	for _, c := range found {
		if slices.ContainsFunc(taken, func(t []string) bool { return contains(t, c.words) || contains(c.words, t) }) {
			continue
		}
		taken = append(taken, c.words)
		out = append(out, recurs(c.from, len(sessions), "asked", "“"+commonest(leads[strings.Join(c.words, " ")])+"”"))
		if len(out) == maxRequests {
			break
		}
	}
	return out
}

// recurs is a claim about how the user works, with the sessions that show it.
func recurs(from map[*session]bool, of int, what, quote string) *claim {
	c := &claim{kind: memoir.StatementTask}
	for s := range from {
		c.from = append(c.from, s)
	}
	slices.SortFunc(c.from, func(a, b *session) int { return a.rank - b.rank })
	c.text = fmt.Sprintf("%s in %d of %d sessions: %s", what, len(from), of, quote)
	return c
}

// requestable reports whether words say what is wanted: a word alone must be a task
// of its own, and words that are in any request say nothing.
func requestable(words []string) bool {
	telling := slices.ContainsFunc(words, func(w string) bool { return w != linked && !weak[w] && !goingOn()[w] })
	return telling && (len(words) > 1 || !goingOn()[words[0]] && len([]rune(words[0])) > 3)
}

// goingOn are words that move a session on, whatever it is about.
var goingOn = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`continue proceed go going on yes yeah yep no nope thank thanks great good nice perfect next done stop wait hello hi hey morning try retry again
		weiter ja nein danke gut moin hallo sí si gracias hola oui merci bonjour non да нет спасибо はい ありがとうございます 继续 好 好的`) {
		m[w] = true
	}
	return m
})

// commonest is how a request was mostly said, of equals the newest.
func commonest(asks []ask) string {
	count := map[string]int{}
	best := ""
	for i := len(asks) - 1; i >= 0; i-- {
		count[asks[i].lead]++
	}
	for i := len(asks) - 1; i >= 0; i-- {
		if l := asks[i].lead; best == "" || count[l] > count[best] {
			best = l
		}
	}
	return best
}

// asks lists what was wanted in a session: its tasks and what its procedures were for.
func (s *session) asks() []ask {
	var out []ask
	for _, st := range s.statements {
		text := st.Text
		switch st.Kind {
		case memoir.StatementTask:
			if strings.HasPrefix(text, "pasted: ") || elsewhere(text) != "" {
				continue
			}
			text = strings.TrimSuffix(text, " (fixed in the session)")
			text, _, _ = strings.Cut(text, ": “") // what was pasted with it
		case memoir.StatementProcedure:
			p, _ := parseProcedure(s, text)
			text = p.label
		case memoir.StatementPreference:
			_, quote, ok := strings.Cut(text, askedAgain)
			if !ok {
				continue
			}
			text, _, _ = strings.Cut(quote, "”")
		default:
			continue
		}
		if a := newAsk(s, text); len(a.words) > 0 {
			out = append(out, a)
		}
	}
	return out
}

// askedAgain stands in what an extraction says of a request that one session made
// again and again: "asked for 3 times: “address pr feedback”".
const askedAgain = " times: “"

// linked stands for what differs each time: a link, a file, a version, a reference to
// an issue, a change or a person.
const linked = "…"

var (
	markdownLink = lazyregexp.New(`\[[^\]]*\]\([^)]*\)`)
	pathLike     = lazyregexp.New(`^@?[~.]?/?(?:[\w.@-]+/){2,}|/[\w.-]+\.\w{1,5}\b|^@?[\w-]{2,}\.[a-z]{1,4}[,.:;!?]?$`)
	clauseEnd    = lazyregexp.New(`[,;:.!?](?:\s|$)|[。！？、，；]|\s[-–—]\s`)
)

func newAsk(s *session, text string) ask {
	text = markdownLink.ReplaceAllString(text, linked)
	fields := strings.Fields(text)
	for i, w := range fields {
		if bare := strings.TrimRight(w, ".,;:!?)"); strings.Trim(bare, "vV0123456789.") == "" && strings.ContainsAny(bare, "0123456789") {
			fields[i] = linked + w[len(bare):]
			continue
		}
		if strings.Contains(w, "://") || pathLike.MatchString(w) || strings.Contains(w, "#") && strings.ContainsAny(w, "0123456789") || strings.HasPrefix(w, "@") {
			fields[i] = linked
		}
	}
	fields = slices.CompactFunc(fields, func(a, b string) bool { return a == linked && b == linked })
	for len(fields) > 1 && courtesy(fields[0]) {
		fields = fields[1:]
	}
	lead := strings.Join(fields, " ")
	if at := clauseEnd.FindStringIndex(lead); at != nil {
		lead = lead[:at[0]]
	}
	return ask{session: s, lead: lead, opening: requestWords(strings.Fields(lead)), words: requestWords(fields[:min(len(fields), maxAskLength)])}
}

// courtesy reports whether a word in front of a request is no part of it.
func courtesy(w string) bool {
	switch strings.Trim(strings.ToLower(w), ",.!?;:") {
	case "ok", "okay", "please", "just", "can", "could", "would", "will", "you", "now", "and", "so", "then", "also", "hey", "hi", "bro", "alright", "great", "good", "nice", "yes", "kindly", "lets", "let's",
		"bitte", "jetzt", "dann", "mal", "porfa", "ahora", "maintenant", "пожалуйста":
		return true
	}
	return false
}

// requestWords are the words of a request that tell it from others, in order.
func requestWords(fields []string) []string {
	var out []string
	for _, w := range fields {
		if strings.HasPrefix(w, linked) {
			out = append(out, linked)
			continue
		}
		w = strings.TrimFunc(strings.ToLower(w), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if w == "" || passing()[w] || courtesy(w) || strings.IndexFunc(w, unicode.IsLetter) < 0 {
			continue
		}
		out = append(out, stem(w))
	}
	return out
}

// consults is how people say that they want to hear before anything is done.
var consults = lazyregexp.New(`(?i)\b(?:before (?:you )?(?:do(?:ing)?|chang\w+|edit\w*|cod(?:e|ing)|implement\w*|touch\w*|writ(?:e|ing)) any\w*|(?:let me know|tell me) what you think|(?:don'?t|do not) (?:do|change|edit|implement|code|touch|write|commit|fix)\b[^.,;]{0,30} yet\b|no code yet|(?:plan|proposal|options) first\b|ask (?:me )?first\b|antes de (?:tocar|cambiar|hacer) nada|sans rien (?:modifier|changer|toucher)|(?:bevor du|ohne) (?:et)?was (?:zu )?änder\w*|noch nichts (?:ändern|anfassen))|先(?:别|不要)改|まだ(?:変更|修正)しない`)

// manner tells how the user works with an agent beyond what they ask for: whether
// they want to be heard first, and whether they refuse edits.
func manner(sessions []*session) []*claim {
	first, refused := map[*session]bool{}, map[*session]bool{}
	quote := ""
	for _, s := range sessions {
		if strings.Contains(s.RawMemory, "(said on refusing ") {
			refused[s] = true
		}
		for _, st := range s.statements {
			if st.Kind != memoir.StatementTask && st.Kind != memoir.StatementPreference || elsewhere(st.Text) != "" {
				continue
			}
			if at := consults.FindStringIndex(st.Text); at != nil {
				first[s] = true
				quote = clauseAround(st.Text, at[0], at[1])
			}
		}
	}
	var out []*claim
	if len(first) > 0 {
		out = append(out, recurs(first, len(sessions), "wanted to hear before anything was done", "“"+quote+"”"))
	}
	if len(refused) >= minAskedSessions {
		out = append(out, recurs(refused, len(sessions), "refused an edit or a command to correct it", "say what will change before it does"))
	}
	return out
}

// clauseAround is the clause of a text in which a part of it stands.
func clauseAround(text string, from, to int) string {
	start := 0
	for _, at := range clauseEnd.FindAllStringIndex(text, -1) {
		if at[1] <= from {
			start = at[1]
		} else if at[0] >= to {
			text = text[:at[0]]
			break
		}
	}
	return strings.Trim(text[start:], " “”\"")
}
