package extract

import (
	"slices"
	"strings"

	"memoir"
)

// A found is a statement with the weight that decides who stays within the budget.
type found struct {
	memoir.Statement
	weight float64
}

// preferences finds what a person wants always or never: standing instructions,
// corrections, rules of the project. A request for now is a task, not a
// preference; the two differ in form (see standing), and what they pasted is
// never theirs.
func preferences(r *reading) []found {
	var out []found
	for i, t := range r.turns {
		if t.ask == nil || t.said.document && len(t.said.own) > 6 {
			continue
		}
		for j, s := range t.said.own {
			weight := standing(s, t.said)
			if weight == 0 {
				continue
			}
			text := s
			if len(strings.Fields(s)) < 5 && j > 0 && len(t.said.own[j-1])+len(s) < 160 && !strings.HasSuffix(t.said.own[j-1], "?") {
				text = t.said.own[j-1] + " " + s
			}
			if len(strings.Fields(s)) < 4 && text == s && j+1 < len(t.said.own) && !strings.HasSuffix(t.said.own[j+1], "?") {
				text += " " + t.said.own[j+1]
			}
			text = quote(shorten(text, 220))
			if t.said.denies && i > 0 {
				if before := lastSaid(r.turns[i-1]); before != "" {
					text += " — said after the agent: " + quote(shorten(labels(before), 110))
				}
			}
			if other := elsewhere(t.away()); other != "" {
				text += other
				weight--
			}
			out = appendFound(out, found{memoir.Statement{Kind: memoir.StatementPreference, Text: text, Items: []int{t.said.item}}, 6 + weight})
		}
	}
	settled := steerings(r)
	out = append(out, settled...)
	for i, t := range r.turns {
		if t.ask != nil && !slices.ContainsFunc(settled, func(f found) bool { return f.Items[0] == t.said.item }) {
			out = append(out, stated(r, i)...)
		}
	}
	return append(out, habits(r)...)
}

// maxAlike is how many statements back a repetition is looked for: far more than a
// raw memory holds, and few enough for a session of a hundred thousand turns.
const maxAlike = 60

// appendFound adds a statement unless its words are there already; then its
// items and weight join those of the other.
func appendFound(list []found, f found) []found {
	key := words(f.Text)
	for i := max(0, len(list)-maxAlike); i < len(list); i++ {
		if list[i].Kind == f.Kind && words(list[i].Text) == key {
			list[i].Items = mergeItems(list[i].Items, f.Items)
			list[i].weight += 0.5
			return list
		}
	}
	return append(list, f)
}

func mergeItems(a, b []int) []int {
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

// lastSaid is the first sentence of what the agent said at the end of a turn.
func lastSaid(t *turn) string {
	if len(t.says) == 0 {
		return ""
	}
	for _, b := range blocks(t.says[len(t.says)-1].text, false) {
		for _, s := range sentences(tidy(b.text)) {
			if len(strings.Fields(s)) >= 3 {
				return s
			}
		}
	}
	return ""
}

var (
	everLasting = phrases("from now on|going forward|in future|in the future|every time|everytime|whenever|each time|at all times|under no circumstances|no matter what|as a rule|for all future|for future|unless i|without asking|without my|ask me before|ask before|ask first|check with me|before you commit|before you push|before committing|before pushing|before every|before each|before any|before opening|before you're done|before you are done|before finishing|after every|after each|on every|for every pr|for every commit|every commit|every pr|every change|each commit|each pr|all commits|all prs|by convention")
	passing     = phrases("yet|for now|right now|this time|just now|here|at the moment|today|for the moment|this once|just this|until then|while you were|in this pr|in this commit|in this case|in this one|this session|tonight|tomorrow")
	deictic     = phrases("this|that|it|these|those|them|here|there|the")
	notForbid   = phrases("don't worry|don't know|don't think|don't understand|don't mind|don't care|don't see|don't get|don't need|don't have|don't bother|don't forget|don't believe|don't remember|don't tink|do not know|do not think|do not understand|do not need|do not have|do not see|dont know|dont think|dont understand|dont worry|dont need|dont have|don't we|don't you|don't they|don't i|do not worry")
	forbids     = []string{"don't", "do not", "dont", "never", "stop", "avoid", "no more", "please don't", "do n't", "must not", "mustn't", "never ever"}
	weRules     = phrases("we use|we only use|we only|we always|we never|we don't use|we don't want|we don't commit|we don't do|we do not use|we do not|we prefer|we don't support|we don't add|we don't allow|we stay with|we stay on|we stick with|we stick to|we're staying with|we are staying with|we settled on|our convention|our policy|our style|convention is|in this repo|in this repository|in this project|in this codebase|this repo uses|this project uses|house style|coding style|the convention|the rule is")
	tastes      = phrases("i prefer|i'd prefer|i would prefer|i always want|i only want|i would only want|i'd only want|i never want|i don't want|i do not want|i don't like|i do not like|i hate|i want all|i want every|i like my|i like it when|i expect|prefer|please prefer|always prefer|i'd rather")
	reproaches  = phrases("you keep|you always|you never|i told you|i said|how many times|as i said|like i said|i already told|i already said|why do you always|why do you keep")
	politeAsks  = []string{" can you ", " could you ", " please ", " would you ", " will you "}
	keepings    = phrases("keep|store|put|track|document|save|write|log|name|please keep|please put|please track")
	imperatives = func() map[string]bool {
		m := map[string]bool{}
		for w := range strings.FieldsSeq(`add ask answer apply assume be build bump call change check choose clean close comment commit compare convert copy create cut debug
			delete describe do document drop edit ensure execute explain export extract fetch find fix follow format generate get give go handle ignore implement import
			improve include inline install investigate keep kill leave let link list load log look make mark merge migrate mock mention move name note open optimize pass
			pick pin plan port post prefer prepare print propose provide publish pull push put quote read rebase redo reduce refactor regenerate release rely remember remove rename
			replace reply report request rerun resolve respond restore return reuse revert review rewrite run save scan search see send separate set show simplify skip sort
			split squash start stay stick stop submit suggest summarize switch tag take target tell test think throw track translate treat trim try type undo update upgrade use
			validate verify wait wire work wrap write`) {
			m[w] = true
		}
		return m
	}()
)

// standing weighs how much a sentence of a person reads as a lasting rule rather
// than a request for now; 0 means that it is none.
func standing(s string, a ask) float64 {
	norm := words(s)
	n := len(strings.Fields(norm))
	if len(s) > 400 {
		return 0
	}
	if w := foreignStanding(s, norm); w > 0 {
		return w + emphasis(s)
	}
	if n < 2 && !a.rejection {
		return 0
	}
	lasting := has(norm, everLasting)
	ever := directive(norm, "never") || directive(norm, "always")
	question := strings.HasSuffix(strings.TrimRight(s, `"') `), "?")
	if question && !(begins(norm, politeAsks) && (lasting || ever)) {
		return 0
	}
	now := has(norm, passing)
	imperative := commands(norm)
	shout := emphasis(s)
	switch {
	case ever && !(now && shout == 0):
		return 4 + shout
	case lasting && (imperative || forbidden(norm) != "" || begins(norm, politeAsks) || has(norm, phrases("should|must|need to|have to|has to|want|please|use"))) && !a.document:
		return 4 + shout
	case has(norm, reproaches) && !question && (has(norm, phrases("you keep|you always|you never|i told you|how many times|i already told")) || shout > 0 || a.denies):
		return 2 + shout
	case has(norm, weRules) && !has(norm, phrases("yet|for now|right now|this time|today")):
		if n <= 30 && !a.pasted {
			return 3 + shout
		}
	case now:
		return 0
	case has(norm, tastes) && !strings.Contains(norm, " i don't want to ") && !strings.Contains(norm, " i'd rather you explain "):
		if !has(norm, phrases("this|that|it|these|those")) || shout > 0 {
			return 3 + shout
		}
	}
	if object := forbidden(norm); object != "" && !has(norm, notForbid) {
		if general(object) || shout > 0 {
			return 2.5 + shout
		}
	}
	if contrast(norm) && (imperative || a.denies || begins(norm, phrases("not"))) && !has(norm, phrases("this|that|it|these|those|here")) {
		return 2 + shout
	}
	if (a.denies || a.rejection) && has(norm, insteads) && imperative && !has(norm, deictic) {
		return 2 + shout
	}
	if a.rejection && n >= 4 && corrects(norm) || stays(norm) {
		return 2.5 + shout
	}
	if shout > 0 && banned(s) {
		return 2 + shout
	}
	if i := modal(norm); i > 0 && !a.pasted && len(a.own) <= 4 && n <= 25 {
		subject := strings.Fields(norm[:i])
		switch first := subject[0]; first {
		case "we", "you", "i", "it", "this", "that", "there", "he", "they", "and", "so", "if", "§":
		default:
			if len(subject) <= 6 {
				return 1.5 + shout
			}
		}
	}
	if a.rejection && imperative && !has(norm, deictic) {
		return 2
	}
	if begins(norm, keepings) && has(norm, phrases("our|all|every")) && has(norm, phrases("in|under|at|with")) && n <= 15 {
		return 2
	}
	return 0
}

// rules reports whether a person said nothing but lasting rules.
func rules(a ask) bool {
	for _, s := range a.own {
		if standing(s, a) == 0 {
			return false
		}
	}
	return len(a.own) > 0
}

var (
	insteads = phrases("use|keep|prefer|only|must")
	lastings = phrases("as they are|as it is|as is|unchanged|intact|untouched|backward compatible|backwards compatible|stable")
	modals   = []string{" must ", " may only ", " may not ", " must only ", " must not "}
)

// modal is where a sentence states what something must or may, 0 if nowhere.
func modal(norm string) int {
	for _, m := range modals {
		if i := strings.Index(norm, m); i > 0 {
			return i
		}
	}
	return 0
}

// corrects reports whether one clause of a refusal says what to use instead,
// without pointing at something on the screen.
func corrects(norm string) bool {
	for _, reason := range []string{" so that ", " because ", " since "} {
		norm, _, _ = strings.Cut(norm, reason)
	}
	for clause := range strings.SplitSeq(norm, " , ") {
		clause = " " + strings.TrimSpace(clause) + " "
		if commands(clause) && has(clause, insteads) && !has(clause, deictic) {
			return true
		}
	}
	return false
}

// stays reports whether a sentence says to keep something as it is, or to stay
// with a choice.
func stays(norm string) bool {
	fields := strings.Fields(norm)
	if len(fields) < 3 {
		return false
	}
	switch fields[1] {
	case "it", "this", "that", "them", "these", "those":
		return false
	}
	switch fields[0] {
	case "keep", "leave":
		return len(fields) >= 4 && has(norm, lastings)
	case "stay", "stick":
		switch fields[2] {
		case "it", "this", "that", "them", "me", "the":
			return false
		}
		return fields[1] == "with" || fields[1] == "to"
	}
	return false
}

// directive reports whether the adverb stands where an instruction has it: at
// the beginning of a clause, or behind a modal verb or the person spoken to.
func directive(norm, adverb string) bool {
	for i, rest := 0, norm; ; {
		j := strings.Index(rest, " "+adverb+" ")
		if j < 0 {
			return false
		}
		i += j
		before := strings.TrimSpace(norm[:i])
		prev := before[strings.LastIndexByte(before, ' ')+1:]
		after, _, _ := strings.Cut(strings.TrimSpace(norm[i+len(adverb)+2:]), " ")
		switch prev {
		case "", "please", "and", "but", ",", ";", ":", "(", "—", "–", "-", "you", "should", "must", "to", "we", "also", "or", "can", "may", "shall", "so", "just", "i", "ok", "will", "ever", "!":
			if after != "" && after != "mind" && after != "the" && !(after == "had" || after == "seen" || after == "heard" || after == "been") {
				if prev == "you" || prev == "we" || prev == "i" || prev == "" || prev != "to" || strings.Contains(norm, " sure to ") || strings.Contains(norm, " remember to ") || strings.Contains(norm, " need to ") || strings.Contains(norm, " want you to ") {
					return true
				}
			}
		}
		i += len(adverb) + 1
		rest = norm[i:]
	}
}

// commands reports whether a sentence is in the imperative, as far as its first words tell.
func commands(norm string) bool {
	fields := strings.Fields(norm)
	for i, w := range fields {
		if i > 5 {
			return false
		}
		if imperatives[w] {
			return true
		}
		switch w {
		case "no", ",", "please", "ok", "okay", "actually", "just", "also", "and", "then", "alright", "omfg", "btw", "so", "but", "can", "could", "you", "instead",
			"yes", "well", "hmm", "now", "first", "always", "never", "don't", "do", "not", "only", "again", "would", "—", "-", "dude", "better", "let's", "to", "you'll", "should", "must":
		default:
			return false
		}
	}
	return false
}

// forbidden returns what follows a "don't" at the beginning of a clause.
func forbidden(norm string) string {
	for _, f := range forbids {
		for i, rest := 0, norm; ; {
			j := strings.Index(rest, " "+f+" ")
			if j < 0 {
				break
			}
			i += j
			before := strings.TrimSpace(norm[:i])
			switch before[strings.LastIndexByte(before, ' ')+1:] {
			case "", ",", ";", ":", "(", "—", "–", "and", "but", "please", "also", "so", "just", "!", "ok", "then", "or", "you":
				return strings.TrimSpace(norm[i+len(f)+2:])
			}
			i += len(f) + 1
			rest = norm[i:]
		}
	}
	return ""
}

// general reports whether the object of a prohibition is a kind of thing ("push
// to main", "add comments") rather than a thing at hand ("touch that file").
func general(object string) bool {
	fields := strings.Fields(object)
	if len(fields) < 2 {
		return false
	}
	if len(fields) > 20 {
		fields = fields[:20]
	}
	for i, w := range fields[1:] {
		switch w {
		case "this", "that", "it", "these", "those", "them", "anything", "yet", "everything":
			return false
		case "the", "my", "your":
			rest := fields[i+2:]
			for _, noun := range rest[:min(3, len(rest))] {
				switch noun {
				case "folder", "directory", "branch", "files", "tests", "docs", "snapshots", "migrations", "fixtures", "database", "lockfile", "changelog":
					return true
				}
			}
			return false
		case ",", ".", ";", ":", ")":
			return i > 0
		}
	}
	return true
}

// contrast reports whether a sentence sets one way of doing against another.
func contrast(norm string) bool {
	if has(norm, phrases("instead of|rather than|and not|, not|but as|not as")) {
		return true
	}
	i := strings.Index(norm, " use ")
	return i >= 0 && (strings.Contains(norm[i:], " not ") || strings.Contains(norm[i:], " no "))
}

// banned reports whether a sentence cries out "no <things>!".
func banned(s string) bool {
	fields := strings.Fields(strings.ToLower(s))
	for i, w := range fields {
		if w != "no" || i+1 >= len(fields) {
			continue
		}
		for _, noun := range fields[i+1 : min(i+4, len(fields))] {
			if trimmed := strings.TrimRight(noun, "!"); trimmed != noun {
				return strings.HasSuffix(trimmed, "s") || strings.HasSuffix(trimmed, "ing")
			}
		}
	}
	return false
}

// emphasis is 1 for a sentence that is shouted.
func emphasis(s string) float64 {
	if strings.Contains(s, "!") {
		return 1
	}
	for w := range strings.FieldsSeq(s) {
		switch strings.Trim(w, ".,;:()*_") {
		case "NEVER", "ALWAYS", "NOT", "DON'T", "DONT", "MUST", "ONLY", "STOP", "DO":
			return 1
		}
	}
	return 0
}
