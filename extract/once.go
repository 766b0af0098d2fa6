package extract

import (
	"strings"
	"sync"
)

// What limits a sentence of a person to the work at hand: one request, one run,
// one day.
var single = newPhrases(`that's all|that is all|that will be all|that'll be all|this once|just this once|only this once|for once|this one time|
	as an exception|exceptionally|since this morning|since yesterday|since last night|since lunch|before the release|until the release|before the demo|this morning|this afternoon|this evening|
	ausnahmsweise|diesmal|dieses mal|dieses eine mal|nur heute|für heute|heute|einmalig|vorerst|pour cette fois|cette fois|pour l'instant|aujourd'hui|por esta vez|esta vez|
	por ahora|de momento|hoy|desta vez|por enquanto|hoje|per questa volta|stavolta|per ora|deze keer|voorlopig|в этот раз|пока|сегодня|tym razem`)

// What ends a request: no more is to be done than it says.
var noMore = newPhrases("nothing else|nothing more|nothing beyond|only that|just that|no more than that|sonst nichts|nichts weiter|nichts anderes|rien d'autre|rien de plus|nada más|nada mais|nient'altro|niets anders|больше ничего|nic więcej")

// How a permission begins; "you may only" is none.
var permissions = newPhrases("you may|you can go ahead|feel free|go ahead and|you're allowed|you are allowed|you have my permission|it's ok to|it is ok to|it's fine to|it is fine to|du darfst|ihr dürft|tu peux|vous pouvez|puedes|pode|puoi|je mag|можешь")

// forNow reports whether a sentence of a person, in the form of words, holds
// for the work at hand only: a permission, a limit of one request, a hint at the hour.
func forNow(norm string) bool {
	if has(norm, single) {
		return true
	}
	for _, p := range noMore.all() {
		i := strings.Index(norm, p)
		if i < 0 || !has(norm, deictic) && len(strings.Fields(norm)) > 5 { // "use the table, nothing else", but not "we take SQLite and nothing else"
			continue
		}
		before := strings.TrimSpace(norm[:i])
		switch before[strings.LastIndexByte(before, ' ')+1:] {
		case "", ",", ";", ":", "(", "—", "–", "-", "and", "but", "do", "change", "touch", "please", "then", "so", "und", "et", "y", "e", "en", "i":
			return true
		}
	}
	return begins(strings.TrimPrefix(strings.TrimPrefix(norm, " ok"), " ,"), permissions) && !has(norm, phrases("only|never|not|always|every|whenever|nur|nie|nicht|immer|jamais|toujours|nunca|siempre"))
}

// bare reports whether a sentence only hands on what was made: to commit it, to push
// it, to merge it. That is asked in every session, and tells nothing of it.
func bare(norm string) bool {
	handed := false
	for w := range strings.FieldsSeq(norm) {
		switch {
		case handsOn()[w]:
			handed = true
		case !trivialWords()[w] && !fillers()[w] && strings.Trim(w, ",.;:!?—–-()") != "":
			return false
		}
	}
	return handed
}

var handsOn = wordSet("commit push merge squash rebase pr pull-request mr committe pushe pushen committen commite commitea pousse")

var fillers = wordSet("it this that them these all everything the a an my our your branch changes change work to main master origin as well also both for me us please with force then after afterwards one commits request pull open make create up now")

// wordSet makes a set of words, parted by spaces, when it is first used.
func wordSet(list string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool { return setOf(strings.Fields(list)) })
}

// offered reports whether a sentence of an agent, in the form of words, tells what
// could be done rather than what was.
func offered(norm string) bool {
	return has(norm, couldBe)
}

var couldBe = newPhrases(`i could|i could also|we could|we can also|could also|i can also|i can then|i can still|i'd suggest|i would suggest|if you want|if you'd like|if you like|if you prefer|if that helps|want me to|would you like|shall i|should i|happy to|let me know|
	optionally|it would be trivial|would be a trivial|would be easy|would be easy to|it would also|would also be|another option|one option|alternatively|a further step|ich könnte|wir könnten|wenn du willst|wenn du möchtest|auf wunsch|soll ich|je pourrais|on pourrait|si tu veux|
	si vous voulez|podría|podríamos|si quieres|si quiere|poderia|se quiser|potrei|se vuoi|ik kan ook|als je wilt|могу также|если хочешь|если хотите`)

// withoutOffer cuts the clause off a sentence in which the agent offers more.
func withoutOffer(sentence string) string {
	for _, sep := range []string{" — ", " – ", "; ", ", and ", ", but ", " (", ", "} {
		at := strings.LastIndex(sentence, sep)
		if at < 20 || strings.Count(sentence[:at], "`")%2 == 1 {
			continue
		}
		if rest := words(sentence[at+len(sep):]); offered(rest) && !offered(words(sentence[:at])) {
			return strings.TrimRight(sentence[:at], " ,;:—–") + "."
		}
	}
	return sentence
}

// tally reports whether a sentence does no more than count: commits, tests, lines.
func tally(sentence string) bool {
	if anchors(sentence) > 0 {
		return false
	}
	norm := words(sentence)
	fields := strings.Fields(norm)
	for i, w := range fields {
		if !number10()[w] && strings.Trim(w, "0123456789.,/") != "" {
			continue
		}
		for _, noun := range fields[i+1 : min(i+4, len(fields))] {
			if counted()[noun] && len(fields) < 16 {
				return true
			}
		}
	}
	return false
}

var (
	number10 = wordSet("one two three four five six seven eight nine ten twelve both all eine zwei drei vier fünf deux trois quatre dos tres cuatro")
	counted  = wordSet("commit commits test tests lines line files assertions checks insertions deletions cases specs suites warnings zeilen dateien lignes fichiers líneas archivos pruebas")
)
