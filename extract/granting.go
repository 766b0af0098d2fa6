package extract

import (
	"strings"
	"unicode"
)

// How an agent gives way to what a person said.
var grantings = []string{
	"you're absolutely right", "you are absolutely right", "you're completely right", "you're right", "you are right", "you're correct", "you are correct", "good catch", "great catch",
	"nice catch", "good point", "great point", "fair point", "good idea", "great idea", "that's right", "that's correct", "that's a good point", "that's a fair point", "that makes sense",
	"that makes more sense", "yes, that makes more sense", "yes, that makes sense", "yes, good point", "yes, you're right", "agreed", "true", "right, my mistake", "my mistake", "my bad", "i was wrong", "i misread", "i misunderstood",
	"i overcomplicated", "sorry", "apologies", "i apologize", "ah, you're right", "ah, good", "oh, you're right", "makes sense", "understood", "du hast recht", "sie haben recht", "stimmt", "guter punkt", "guter hinweis", "vous avez raison", "tu as raison", "bonne remarque",
	"tienes razón", "tiene razón", "buen punto", "você tem razão", "tem razão", "hai ragione", "ha ragione", "je hebt gelijk", "goed punt", "вы правы", "ты прав", "верно", "你说得对", "您说得对", "说得对", "好主意", "おっしゃる通り", "その通り", "ご指摘の通り", "맞습니다", "좋은 지적",
}

// grants reports whether one of the agent's first words of a turn give way to the
// person, and what it then says of the matter, if that is a statement.
func grants(t *turn) (ok bool, point string) {
	if t.grant == nil {
		ok, point := granting(t)
		t.grant = &granted{ok, point}
	}
	return t.grant.ok, t.grant.point
}

// granted is what grants read.
type granted struct {
	ok    bool
	point string
}

func granting(t *turn) (ok bool, point string) {
	for _, s := range t.says[:min(len(t.says), 5)] {
		all := blocks(s.text, false)
		if len(all) == 0 {
			continue
		}
		here := false
		if rest := pastGranting(all[0].text); rest != strings.TrimSpace(all[0].text) {
			ok, here = true, true
			all[0].text = rest
		}
		if !ok {
			continue
		}
		for k, b := range all[:min(len(all), 4)] {
			if b.bullet {
				break
			}
			if list := listGranted(b, all[k+1:]); here && list != "" {
				return ok, list
			}
			for _, sentence := range sentences(tidy(b.text)) {
				if tellsOfMatter(pastGranting(sentence), here) && (here || wordsShared(sentence, strings.Join(t.said.own, " ")) > 0) {
					return ok, capital(pastGranting(sentence))
				}
			}
		}
	}
	return ok, ""
}

// tellsOfMatter reports whether a sentence of an agent that gave way states how
// things are; one that stands apart from the words that gave way must name something.
func tellsOfMatter(sentence string, near bool) bool {
	norm := words(sentence)
	if strings.Count(norm, " ") < 5 || strings.HasSuffix(sentence, ":") || strings.HasSuffix(sentence, "?") || lineNumber(norm) || symbols(withoutCode(sentence)) > 0.25 {
		return false
	}
	if begins(norm, narrations) || begins(norm, phrases("i|that's|that is|this|these|now|then")) || has(norm, offers) || has(norm, chatter) {
		return false
	}
	return near || anchors(sentence) > 0 && !sessionBound(sentence, norm) && !has(norm, phrases("i|i'm|i'll|i've"))
}

// pastGranting cuts off the words that give way; a text without them comes back as it is.
func pastGranting(text string) string {
	text = strings.TrimSpace(text)
	for {
		low := strings.ToLower(strings.ReplaceAll(text, "’", "'"))
		cut := false
		for _, g := range grantings {
			if !strings.HasPrefix(low, g) || len(low) != len(strings.ReplaceAll(text, "’", "'")) {
				continue
			}
			text = strings.ReplaceAll(text, "’", "'")[len(g):]
			if r := []rune(text); len(r) > 0 && (unicode.IsLetter(r[0]) || unicode.IsDigit(r[0])) && r[0] < 0x2e80 {
				return text
			}
			text = strings.TrimLeft(text, " ,.!:;—–-。，、！")
			cut = true
			break
		}
		if !cut {
			return text
		}
	}
}
