package extract

import (
	"strings"
)

var (
	// Words of a supposition: what a sentence says with one of them was not found out.
	suppositions        = newPhrases("maybe|might|perhaps|probably|likely|possibly|i think|i guess|i suspect|i believe|i assume|i'd guess|i'd bet|my guess|my hunch|my suspicion|my theory|one theory|hypothesis|suspect|suspects|suspected|seems|seem|appears|could be|may be|may have|might have|could have been|not sure|presumably|assuming|supposedly|hopefully|in all likelihood")
	foreignSuppositions = newPhrases("vermutlich|wahrscheinlich|vielleicht|möglicherweise|ich glaube|ich denke|ich vermute|wohl|scheint|peut-être|probablement|sans doute|je pense|je crois|je suppose|semble|quizás|quizá|tal vez|probablemente|posiblemente|creo que|supongo|sospecho|parece|talvez|provavelmente|possivelmente|acho que|suponho|forse|probabilmente|credo che|sembra|misschien|waarschijnlijk|ik denk|lijkt|возможно|вероятно|наверное|может быть|думаю|похоже|кажется|предполагаю|chyba|prawdopodobnie|być może|myślę")
	cjkSuppositions     = []string{"と思います", "と思われ", "思う。", "かもしれ", "たぶん", "おそらく", "恐らく", "でしょう", "はずです", "ようです", "可能是", "可能会", "也许", "大概", "或许", "估计", "我猜", "我觉得", "我认为", "我怀疑", "应该是", "似乎", "好像", "아마", "것 같", "수도 있", "생각합니다", "듯합니다"}
)

// supposes reports whether a sentence states what the agent supposes. What was
// found out later is told without such words.
func supposes(sentence, norm string) bool {
	if has(norm, suppositions) {
		return true
	}
	if wide(sentence) > 0 {
		return holdsAny(sentence, cjkSuppositions)
	}
	return !has(norm, english) && has(norm, foreignSuppositions)
}

// relaying is a text that was printed or fetched and what it asks for: a log, a
// banner, a page, a warning. That is its wish, and nobody's here.
var relaying = newPattern(`^(?:[a-z'’-]+ ){0,6}(?:log|logs|output|banner|page|site|website|warning|warnings|notice|message|annotation|prompt|hint|tip|advisory|readme|article|post|file|comment|issue|tool|linter|installer|runner|compiler|script|bot|server|response|result) (?:[a-z'’-]+ ){0,5}?(?:says|say|said|tells|tell|told|asks|ask|asked|advises|advised|recommends|recommend|recommended|suggests|suggest|suggested|wants|urges|urged|instructs|instructed|invites|proposes|proposed|requests|requested|demands) `)

var demanding = newPhrases("asks|asked|ask|advises|advised|recommends|recommended|suggests|suggested|wants|urges|urged|instructs|instructed|invites|proposes|proposed|requests|requested|tells|told|demands|says to|say to|says that we should|says we should|says you should|should be replaced|please")

// relays reports whether a sentence passes on what a text asks its reader to do.
func relays(norm string) bool {
	return relaying.MatchString(strings.TrimSpace(norm)) && has(norm, demanding)
}

// proposes reports whether a sentence offers what the agent could do as well.
func proposes(norm string) bool {
	return has(norm, offering) || begins(norm, phrases("we could|we can|i could|i can|you could|another option|one option|an option|alternatively|optionally"))
}

var offering = newPhrases("i could|i could also|could also|we could|i can also|we can also|i'd also|i would also|if you want|if you like|if you'd like|if needed|let me know|happy to|ich könnte|wir könnten|je pourrais|on pourrait|podría|podríamos|eu poderia|poderíamos|могу также|можно также")

// unsettled reports whether a sentence tells nothing that is so or was done: an
// offer, a supposition, or what a text asks for.
func unsettled(sentence string) bool {
	norm := words(sentence)
	return proposes(norm) || supposes(sentence, norm) || relays(norm)
}
