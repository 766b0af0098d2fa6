package extract

import (
	"slices"
	"strings"

	"memoir"
)

// Openings with which an agent concedes a point, in several languages.
var (
	concedes = newPhrases("you're right|you are right|you're absolutely right|you are absolutely right|you're completely right|you're correct|you are correct|good catch|great catch|nice catch|good point|great point|fair point|fair enough|good call|good question|my mistake|my bad|i overcomplicated|i was wrong|i misunderstood|i misread|that's right|that is right|that's correct|exactly|agreed|right|true|correct|ah|du hast recht|da hast du recht|sie haben recht|stimmt|guter punkt|gut erkannt|tu as raison|vous avez raison|exact|bien vu|tienes razón|tiene razón|buen punto|cierto|você tem razão|tem razão|bem observado|hai ragione|ты прав|вы правы|верно|хорошее замечание|je hebt gelijk|masz rację")
	// Languages without spaces between words.
	cjkConcedes = []string{"你说得对", "您说得对", "你说的对", "您说的对", "说得对", "好问题", "おっしゃる通り", "おっしゃるとおり", "その通り", "確かに", "ご指摘の通り", "맞습니다", "말씀이 맞"}
	// Openings that concede only where something was objected to.
	weakly = newPhrases("good question|right|true|correct|exactly|agreed|ah|that's right|that is right|that's correct|stimmt|exact|cierto|верно")
	// What makes a question an objection.
	objections = newPhrases("why do|why does|why would|why is|why are|why did|why not|why can't|why don't|why isn't|isn't|aren't|doesn't|don't|didn't|shouldn't|wouldn't|couldn't|not|no|but|instead|rather|wait|wrong|hmm|hm|actually|should|i would assume|i'd assume|i thought|none|warum|wieso|nicht|aber|pourquoi|mais|pas|por qué|pero|por que|mas|não|почему|но|не")
)

// opensConceding reports whether an agent's text begins by conceding a point, and what
// it says behind that.
func opensConceding(text string) (rest []string, strong, ok bool) {
	for _, b := range blocks(text, false) {
		all := sentences(tidy(b.text))
		if len(rest) > 0 {
			rest = append(rest, all...)
			continue
		}
		if len(all) == 0 {
			continue
		}
		first := all[0]
		norm := words(first)
		ok = begins(norm, concedes)
		for _, c := range cjkConcedes {
			ok = ok || strings.HasPrefix(first, c)
		}
		if !ok {
			return nil, false, false
		}
		strong = !begins(norm, weakly)
		if after := behind(first); after != "" {
			rest = append(rest, after)
		}
		rest = append(rest, all[1:]...)
		if len(rest) == 0 {
			rest = []string{""}
		}
	}
	return rest, strong, ok
}

// behind is what a sentence says after its opening: "You're right - X" gives X.
func behind(sentence string) string {
	at := -1
	for _, sep := range []string{" - ", " — ", " – ", ": ", ", ", "，", "、"} {
		if i := strings.Index(sentence, sep); i > 0 && i < 40 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 {
		return ""
	}
	return capital(strings.TrimLeft(sentence[at:], " -—–:,，、"))
}

// concession reads a turn in which a person objected and the agent conceded: the
// person's words are a decision, with what the agent made of them, and the agent's
// claims before them are void. voids are the words that such a claim shares.
func (t *turn) concession() (f found, voids map[string]bool, ok bool) {
	if t.concedes == nil {
		f, voids, ok := t.conceding()
		t.concedes = &conceded{f, voids, ok}
	}
	return t.concedes.found, t.concedes.voids, t.concedes.ok
}

// conceded is what concession read.
type conceded struct {
	found found
	voids map[string]bool
	ok    bool
}

func (t *turn) conceding() (f found, voids map[string]bool, ok bool) {
	if t.ask == nil || len(t.said.own) == 0 || t.said.document || t.said.trivial {
		return found{}, nil, false
	}
	for i, s := range t.says[:min(3, len(t.says))] {
		rest, strong, conceding := opensConceding(s.text)
		if !conceding {
			continue
		}
		quoted := objection(t.said)
		objected := t.said.denies || has(words(strings.Join(t.said.own, " ")), objections)
		if !objected || !strong && !t.said.denies || i > 0 && !strong {
			return found{}, nil, false
		}
		told := strings.Join(informative(rest), " ")
		voids = contentWords(strings.ReplaceAll(quoted+" "+told, "()", " "))
		if told == "" && strings.HasSuffix(quoted, "?") || told == "" && (len(strings.Fields(quoted)) < 14 || wide(quoted) > 0 && wide(quoted) < 14) {
			return found{}, voids, false
		}
		text := shorten(told, 240)
		if !pointless(quoted) {
			text = "the user: " + quote(shorten(quoted, 260))
			if told != "" {
				text += " — agreed: " + shorten(told, 240)
			}
		}
		weight := 3.2
		if told != "" && anchors(told) > 0 {
			weight += 0.8
		}
		return found{memoir.Statement{Kind: memoir.StatementDecision, Text: text, Items: []int{t.said.item, s.item}}, weight}, voids, true
	}
	return found{}, nil, false
}

// objection is what of a person's words carries the point: without greetings and
// exclamations, the last of them if they are many, and what they point at behind a colon.
func objection(a ask) string {
	var kept []string
	n := 0
	for _, s := range slices.Backward(a.own) {
		if len(strings.Fields(s)) < 3 && len(s) < 24 {
			continue
		}
		if n += len(s); n > 260 && len(kept) > 0 {
			break
		}
		kept = append(kept, s)
	}
	if len(kept) == 0 {
		return strings.Join(a.own, " ")
	}
	slices.Reverse(kept)
	text := strings.Join(kept, " ")
	if strings.HasSuffix(text, ":") && strings.Count(a.quoted, " ") >= 4 && symbols(withoutCode(a.quoted)) < 0.25 {
		text += " " + a.quoted
	}
	return text
}

// pointless reports whether a person's words say no more than that something is wrong.
func pointless(text string) bool {
	return strings.HasSuffix(text, ":") || len(strings.Fields(text)) < 5 && wide(text) < 8 || lineNumber(words(text))
}

// informative are the first two sentences that tell something rather than what
// the agent does next.
func informative(all []string) []string {
	var out []string
	for _, s := range all {
		norm := words(s)
		if lineNumber(norm) || strings.Count(norm, " ") < 5 && wide(s) < 10 || narrating(norm) || has(norm, offers) && !has(norm, causes) || strings.HasSuffix(s, ":") || strings.HasSuffix(s, "?") || begins(norm, concedes) {
			if len(out) > 0 {
				break
			}
			continue
		}
		if out = append(out, s); len(out) == 2 {
			break
		}
	}
	return out
}

// withoutMet drops the agent's claims that an objection met: of those said since an
// item, which the objection answers, any that shares a name with it, and of all
// before them what shares most of its words.
func (r *reading) withoutMet(list []found, met map[string]bool, since int) []found {
	from := max(0, len(list)-maxAlike)
	return append(list[:from], slices.DeleteFunc(list[from:], func(f found) bool {
		if strings.HasPrefix(f.Text, "the user: ") {
			return false
		}
		if common(r.lexicon.of(f.Text).content, met) >= 3 {
			return true
		}
		said := r.lexicon.of(f.Text).divided()
		if n := common(said, met); n >= 3 && n*10 >= len(said)*3 {
			return true
		}
		shared := false
		if f.Items[0] > since {
			for i, span := range strings.Split(f.Text, "`") {
				if i%2 == 1 {
					names(span, func(n string) { shared = shared || met[strings.ToLower(n)] })
				}
			}
		}
		return shared
	})...)
}

// camelParts are the words that a name in camel case is made of.
func camelParts(name string) map[string]bool {
	out := map[string]bool{}
	from := 0
	for i := 1; i <= len(name); i++ {
		if i == len(name) || name[i] >= 'A' && name[i] <= 'Z' {
			if part := strings.ToLower(name[from:i]); len(part) > 3 && len(part) < len(name) {
				out[part] = true
			}
			from = i
		}
	}
	return out
}

// since is the item at which the last of some turns with an answer began.
func since(turns []*turn) int {
	for _, t := range slices.Backward(turns) {
		if len(t.says) > 0 {
			return t.says[0].item - 1
		}
	}
	return 0
}

// common counts the words that two sets share, endings apart.
func common(a, b map[string]bool) int {
	n := 0
	for w := range a {
		if b[w] || b[strings.TrimSuffix(w, "s")] || b[w+"s"] {
			n++
		}
	}
	return n
}
