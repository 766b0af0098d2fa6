package extract

import "strings"

var (
	everLasting = newPhrases("from now on|going forward|in future|in the future|every time|everytime|whenever|each time|at all times|under no circumstances|no matter what|as a rule|for all future|for future|unless i|without asking|without my|ask me before|ask before|ask first|check with me|before you commit|before you push|before committing|before pushing|before every|before each|before any|before opening|before you're done|before you are done|before finishing|after every|after each|on every|for every pr|for every commit|every commit|every pr|every change|each commit|each pr|all commits|all prs|by convention")
	passing     = newPhrases("yet|for now|right now|this time|just now|here|at the moment|today|for the moment|this once|just once|only once|just this|until then|while you were|in this pr|in this commit|in this case|in this one|this session|tonight|tomorrow|for this run|for this one|this run|this one time|for this test|for this pr|for this commit|for this branch|for the demo|for this demo|for this release|this release|this round|this week|temporarily|for testing|for debugging|until i|until we|until the|while i|while we|before i get|for a moment|for a minute|first pass|as a quick hack|one-off|one off")
	deictic     = newPhrases("this|that|it|these|those|them|here|there|the")
	notForbid   = newPhrases("don't worry|don't know|don't think|don't understand|don't mind|don't care|don't see|don't get|don't need|don't have|don't bother|don't forget|don't believe|don't remember|don't tink|do not know|do not think|do not understand|do not need|do not have|do not see|dont know|dont think|dont understand|dont worry|dont need|dont have|don't we|don't you|don't they|don't i|do not worry")
	weRules     = newPhrases("we use|we only use|we only|we always|we never|we don't use|we don't want|we don't commit|we don't do|we do not use|we do not|we prefer|we don't support|we don't add|we don't allow|we stay with|we stay on|we stick with|we stick to|we're staying with|we are staying with|we settled on|our convention|our policy|our style|convention is|in this repo|in this repository|in this project|in this codebase|this repo uses|this project uses|house style|coding style|the convention|the rule is|we usually|we normally|we typically|we generally|we tend to|we try to|we like to|we avoid|we keep|we stay away from|our rule|our rules|our standard|our guideline|our guidelines|our team|by policy|i usually|i normally|i typically|i generally|i tend to|i always|i never|i try to keep")
	tastes      = newPhrases("i prefer|i'd prefer|i would prefer|i always want|i only want|i would only want|i'd only want|i never want|i don't want|i do not want|i don't like|i do not like|i hate|i want all|i want every|i like my|i like it when|i expect|prefer|please prefer|always prefer|i'd rather|i would rather|i much prefer|i'm not a fan of|i am not a fan of|not a big fan of|i can't stand|i dislike|i insist|i care about|is important to me|matters to me|i value|i love it when|drives me crazy|annoys me|i want my|i don't want any|no need to ever")
	// A general subject: what is said of it is said of every one to come.
	sweeping   = newPhrases("all|every|each|any|no|only|new|nothing|everything|commits|commit messages|tests|branches|pull requests|prs|comments|docs|documentation|error messages|errors|logs|log messages|functions|names|variables|migrations|public|generated|production")
	upholds    = newPhrases("make sure|ensure|be sure|remember to|remember that|please make sure|please ensure|and make sure|also make sure")
	upheld     = newPhrases("stay|stays|remain|remains|still works|still work|keep working|keeps working|doesn't break|does not break|don't break|backward compatible|backwards compatible|compatible|doesn't change|does not change|never|always")
	reproaches = newPhrases("you keep|you always|you never|i told you|i said|how many times|as i said|like i said|i already told|i already said|why do you always|why do you keep")
	politeAsks = newPhrases("can you|could you|please|would you|will you")
	keepings   = newPhrases("keep|store|put|track|document|save|write|log|name|please keep|please put|please track")
)

// standing weighs how much a sentence of a person reads as a lasting rule rather
// than a request for now; 0 means that it is none.
func standing(s string, a ask) float64 {
	norm := words(s)
	n := len(strings.Fields(norm))
	if len(s) > 400 || strings.HasSuffix(s, ":") {
		return 0
	}
	if w := foreignStanding(s, norm); w > 0 {
		return w + emphasis(s)
	}
	if n < 2 && !a.rejection {
		return 0
	}
	lasting := has(norm, everLasting)
	if has(norm, nextTimes) && !question(s) && !has(norm, phrases("next time i|next time we meet")) {
		return 3 + emphasis(s)
	}
	ever := directive(norm, "never") || directive(norm, "always")
	question := question(s)
	if question && !(begins(norm, politeAsks) && (lasting || ever)) {
		return 0
	}
	now := has(norm, passing) || forNow(norm)
	imperative := commands(norm)
	shout := emphasis(s)
	switch {
	case ever && !(now && shout == 0) && !(pointedEnd(norm) && has(norm, phrases("i never|i always|we never|we always"))):
		return 4 + shout
	case lasting && (imperative || forbidden(norm) != "" || begins(norm, politeAsks) || has(norm, phrases("should|must|need to|have to|has to|want|please|use"))) && !a.document:
		return 4 + shout
	case has(norm, reproaches) && !question && !has(norm, failing) && (len(contentWords(s)) > 2 || !begins(norm, phrases("i said|as i said|like i said"))) && (has(norm, phrases("you keep|you always|you never|i told you|how many times|i already told")) || shout > 0 || a.denies):
		return 2 + shout
	case has(norm, weRules) && !has(norm, phrases("yet|for now|right now|this time|today")) && !(pointedEnd(norm) && has(norm, phrases("i never|i always"))):
		if n <= 30 && !a.pasted {
			return 3 + shout
		}
	case now:
		return 0
	case has(norm, tastes) && !strings.Contains(norm, " i don't want to ") && !strings.Contains(norm, " i'd rather you explain "):
		if !pointed(norm) || shout > 0 {
			return 3 + shout
		}
	case strings.HasSuffix(norm, " first ") && (has(norm, phrases("if not")) || begins(norm, phrases("always|please always"))):
		return 2.5 + shout
	case begins(strings.TrimPrefix(norm, " yes ,"), needful) && n <= 10 && n >= 4 || begins(norm, phrases("yes need to be|yes needs to be|yes must be|yes , it must|yes , it has to")) && n <= 12:
		return 2 + shout
	case begins(norm, upholds) && has(norm, upheld) && !a.document:
		return 2 + shout
	case begins(norm, sweeping) && has(norm, phrases("should|shouldn't|should not|need|needs|have to|has to|go|goes|live|lives|belong|belongs")) && n <= 25 && n >= 4 && !a.pasted && !has(norm, phrases("this|that|these|those|it")):
		return 2 + shout
	}
	if object := forbidden(norm); object != "" && !has(norm, notForbid) {
		if general(object) || shout > 0 {
			return 2.5 + shout
		}
	}
	if contrast(norm) && !has(norm, phrases("works|work in|fails|runs in|happens|shows")) && (imperative || a.denies || begins(norm, phrases("not"))) && !has(norm, phrases("this|that|it|these|those|here")) {
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

// pointedEnd reports whether a sentence ends with a word for a thing at hand.
func pointedEnd(norm string) bool {
	switch norm = strings.TrimRight(norm, " .!,"); norm[strings.LastIndexByte(norm, ' ')+1:] {
	case "that", "this", "it", "them", "these", "those":
		return true
	}
	return false
}

// question reports whether a sentence ends as questions do.
func question(s string) bool { return strings.HasSuffix(strings.TrimRight(s, `"') `), "?") }

// nextTimes begin what a person wants done otherwise from then on.
var nextTimes = newPhrases("next time|the next time|nächstes mal|beim nächsten mal|la prochaine fois|la próxima vez|da próxima vez|la prossima volta|volgende keer|в следующий раз|następnym razem")

// rules reports whether a person said nothing but lasting rules.
func rules(a ask) bool {
	for _, s := range a.own {
		if standing(s, a) == 0 {
			return false
		}
	}
	return len(a.own) > 0
}

var needful = newPhrases("need to be|needs to be|must be|has to be|have to be")

// pointed reports whether what a person likes or dislikes is a thing at hand: "I
// don't like this", not "I don't like it when tests sleep".
func pointed(norm string) bool {
	at, end := -1, 0
	for _, t := range tastes.all() {
		if i := strings.Index(norm, t); i >= 0 && (at < 0 || i < at || i == at && i+len(t) > end) {
			at, end = i, i+len(t)
		}
	}
	fields := strings.Fields(norm[end:])
	if len(fields) == 0 {
		return true
	}
	switch fields[len(fields)-1] {
	case "it", "this", "that", "these", "those", "them":
		return true
	}
	switch fields[0] {
	case "it", "this", "that", "these", "those", "them", "one", "both", "how", "where", "what", "the":
		if len(fields) > 2 && (fields[1] == "when" || fields[1] == "if") {
			return false
		}
		return len(fields) < 5 || fields[0] != "that"
	}
	return has(norm[end-1:], phrases("this|these|those|here")) && len(fields) < 12
}

var (
	insteads = newPhrases("use|keep|prefer|only|must")
	lastings = newPhrases("as they are|as it is|as is|unchanged|intact|untouched|backward compatible|backwards compatible|stable")
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
