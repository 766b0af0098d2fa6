package extract

import (
	"strings"
	"unicode"
)

// foreignStanding weighs how much a sentence in another language than English reads
// as a lasting rule; 0 means that it is none. Languages that part words with spaces
// go by words and their place, the others by what stands anywhere in the sentence.
func foreignStanding(s, norm string) float64 {
	if asksForeign(s) {
		return 0
	}
	if ideographic(s) {
		return unspacedStanding(s)
	}
	if has(norm, foreignNow) || strings.Count(norm, " ") < 3 {
		return 0
	}
	pointed := has(norm, foreignThese) && strings.Count(norm, " ") < 8
	if !pointed && (has(norm, foreignForbid) || forbidsForeign(norm) || swaps(norm) || keepsForeign(norm)) {
		return 3
	}
	if begins(norm, foreignTastes) && !pointed {
		return 3
	}
	if has(norm, foreignHabit) && !begins(norm, foreignTells) {
		return 3
	}
	if begins(norm, foreignSweeping) && has(norm, foreignDemand) {
		return 2.5
	}
	for _, cue := range foreignEver.all() {
		i := strings.Index(norm, cue)
		if i < 0 || begins(norm, foreignTells) && !has(norm, foreignDemand) {
			continue
		}
		if strings.Count(norm[:i], " ") <= 4 || has(norm, foreignPolite) {
			return 3
		}
	}
	return 0
}

func asksForeign(s string) bool {
	s = strings.TrimRight(s, " \"'»”)")
	for _, end := range []string{"?", "？", "吗", "呢", "ですか", "ますか", "까", "나요"} {
		if strings.HasSuffix(strings.TrimRight(s, "。."), end) {
			return true
		}
	}
	return strings.HasPrefix(s, "¿")
}

// ideographic reports whether a text holds characters of Chinese, Japanese or Korean.
func ideographic(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.Is(unicode.Han, r) || unicode.Is(unicode.Hiragana, r) || unicode.Is(unicode.Katakana, r) || unicode.Is(unicode.Hangul, r)
	})
}

var (
	foreignEver = newPhrases(`immer|nie|niemals|ab jetzt|ab sofort|in zukunft|künftig|zukünftig|grundsätzlich|jedes mal|vor jedem commit|vor jedem push|stets|toujours|jamais|désormais|dorénavant|à l'avenir|à chaque fois|avant chaque commit|
		siempre|nunca|jamás|a partir de ahora|de ahora en adelante|en el futuro|cada vez|sempre|mai|d'ora in poi|in futuro|ogni volta|a partir de agora|daqui em diante|de agora em diante|toda vez|jamais|altijd|nooit|voortaan|vanaf nu|
		alltid|aldrig|всегда|никогда|впредь|отныне|каждый раз|с этого момента|zawsze|nigdy|od teraz|vždy|nikdy|her zaman|asla|bundan sonra|luôn luôn|không bao giờ|selalu|jangan pernah`)
	foreignForbid = newPhrases(`bitte nicht|bitte kein|bitte keine|bitte keinen|nicht ohne|anstatt|statt|keine neuen|auf keinen fall|au lieu de|au lieu d'|plutôt que|n'utilise pas|utilise pas|pas de nouvelle|pas de nouvelles|pas de nouveaux|en aucun cas|en vez de|en lugar de|no uses|no usar|
		nada de|de ninguna manera|em vez de|ao invés de|não use|invece di|invece che|al posto di|non usare|niente|in plaats van|gebruik geen|geen nieuwe|вместо|не надо|не нужно|не используй|не используйте|без новых|ни в коем случае|zamiast|nie używaj|místo|yerine|i stället för|istället för`)
	foreignPolite = newPhrases(`bitte|verwende|verwenden|benutze|nutze|nimm|soll|sollen|sollst|muss|müssen|darf|dürfen|utilise|utilisez|il faut|doit|doivent|fais|faites|usa|use|usar|utiliza|debe|deben|haz|deve|devem|faça|usare|devono|fai|gebruik|moet|moeten|doe|använd|
		используй|используйте|нужно|надо|должен|должны|делай|используем|używaj|należy|použij|kullan|dùng`)
	// What is meant for once only.
	foreignNow = newPhrases(`vorerst|erstmal|erst mal|fürs erste|für jetzt|für den moment|im moment|diesmal|dieses mal|nur dieses mal|noch nicht|noch kein|noch keine|noch keinen|jetzt nicht|heute|ausnahmsweise|vorübergehend|pour l'instant|pour le moment|cette fois|pas encore|aujourd'hui|temporairement|
		por ahora|de momento|por el momento|esta vez|todavía no|aún no|hoy|temporalmente|por enquanto|desta vez|dessa vez|ainda não|hoje|temporariamente|per ora|per adesso|per il momento|questa volta|stavolta|non ancora|oggi|temporaneamente|voor nu|voorlopig|deze keer|nog niet|nog geen|vandaag|tijdelijk|
		пока|пока что|в этот раз|на этот раз|ещё не|еще не|сейчас не|сегодня|временно|na razie|tym razem|jeszcze nie|zatím|tentokrát|şimdilik|bu sefer`)
	foreignThese = newPhrases("das|es|dies|diese|diesen|dieses|ça|cela|ceci|cette|ce|cet|esto|eso|esta|este|ese|esa|isso|isto|essa|esse|questo|questa|quello|dit|dat|deze|это|этот|эту|эти|to")
	// How a sentence begins that tells what happens rather than what to do.
	foreignTells = newPhrases(`der|die|das|es|ich|er|sie|ein|eine|mein|meine|dieser|diese|dieses|le|la|les|l'appli|ça|cela|il|elle|c'est|ce|cette|un|une|mon|ma|je|j'ai|el|los|las|eso|esto|mi|yo|o|a|os|as|isso|ele|ela|um|uma|meu|eu|lo|i|gli|questo|questa|
		de|het|een|dit|dat|ik|hij|zij|это|он|она|оно|они|я|мой|у меня|to|ja|on|ona`)
	foreignHabit = newPhrases(`wir verwenden|wir nutzen|wir benutzen|wir arbeiten|wir committen|wir setzen|bei uns|in diesem projekt|in diesem repo|nous utilisons|on utilise|chez nous|dans ce projet|dans ce dépôt|nosotros usamos|usamos|utilizamos|aquí usamos|en este proyecto|en este repositorio|nós usamos|
		neste projeto|neste repositório|noi usiamo|usiamo|utilizziamo|in questo progetto|wij gebruiken|we gebruiken|bij ons|in dit project|мы используем|мы не используем|у нас|в этом проекте`)
	foreignTastes   = newPhrases("ich bevorzuge|ich mag keine|ich will keine|mir ist lieber|je préfère|je n'aime pas|je ne veux pas de|prefiero|no me gusta|no quiero|prefiro|não gosto de|não quero|preferisco|non mi piace|ik heb liever|ik wil geen|я предпочитаю|я не люблю|мне больше нравится")
	foreignSweeping = newPhrases("alle|jede|jeder|jedes|neue|commits|tests|tous|toutes|chaque|todos|todas|cada|tutti|tutte|ogni|elke|iedere|alle|nieuwe|все|каждый|каждая|новые|любой")
	foreignDemand   = newPhrases("soll|sollen|sollte|sollten|muss|müssen|darf|dürfen|brauchen|braucht|doit|doivent|debe|deben|tiene que|tienen que|deve|devem|tem que|têm que|devono|moet|moeten|mag|mogen|должен|должна|должно|должны|нельзя|нужно")
)

// swaps reports whether a sentence sets one thing against another: "nicht X,
// sondern Y", "pas X mais Y", "no X sino Y", "не X, а Y".
func swaps(norm string) bool {
	for _, pair := range [][2]string{
		{" nicht ", " sondern "}, {" kein ", " sondern "}, {" keine ", " sondern "}, {" pas ", " , mais "}, {" pas ", " mais plutôt "}, {" no ", " sino "}, {" não ", " , mas "}, {" não ", " e sim "},
		{" non ", " , ma "}, {" non ", " bensì "}, {" niet ", " , maar "}, {" geen ", " , maar "}, {" не ", " , а "}, {" nie ", " , lecz "}, {" nie ", " , tylko "}, {" inte ", " utan "},
	} {
		i := strings.Index(norm, pair[0])
		if i >= 0 && strings.Contains(norm[i:], pair[1]) && strings.Count(norm[:i], " ") <= 3 && !begins(norm, foreignTells) {
			return true
		}
	}
	return false
}

// keepsForeign reports whether a sentence says to leave something as it is.
func keepsForeign(norm string) bool {
	for _, pair := range [][2]string{
		{" lass ", " wie "}, {" lasse ", " wie "}, {" lassen sie ", " wie "}, {" lass ", " unverändert "}, {" laisse ", " tel quel "}, {" laisse ", " telle quelle "}, {" laissez ", " tel quel "}, {" garde ", " tel quel "}, {" garde ", " telle quelle "}, {" gardez ", " telle quelle "},
		{" deja ", " como está "}, {" deja ", " como están "}, {" mantén ", " como está "}, {" mantén ", " sin cambios "}, {" deixe ", " como está "}, {" deixa ", " como está "}, {" mantenha ", " como está "}, {" mantenha ", " sem alterações "}, {" lascia ", " com'è "}, {" lascia ", " così com'è "}, {" mantieni ", " invariata "},
		{" laat ", " zoals "}, {" houd ", " ongewijzigd "}, {" оставь ", " как есть "}, {" оставьте ", " как есть "}, {" оставь ", " без изменений "}, {" сохрани ", " без изменений "},
	} {
		if i := strings.Index(norm, pair[0]); i >= 0 && strings.Contains(norm[i:], pair[1]) {
			return true
		}
	}
	return false
}

// forbidsForeign reports whether a clause begins with a prohibition, by the form
// that each language has for it.
func forbidsForeign(norm string) bool {
	for clause := range strings.SplitSeq(norm, " , ") {
		fields := strings.Fields(clause)
		for len(fields) > 0 {
			switch fields[0] {
			case "und", "et", "y", "e", "en", "и", "aber", "mais", "pero", "mas", "ma", "maar", "но", "bitte", "por", "favor", "per", "favore", "svp", "alstublieft", "пожалуйста", "nein", "non", "no", "nee", "não", "нет", ":", ".", "!":
				if fields[0] == "no" || fields[0] == "non" || fields[0] == "não" {
					break
				}
				fields = fields[1:]
				continue
			}
			break
		}
		if len(fields) < 3 {
			continue
		}
		first, second := fields[0], fields[1]
		rest := " " + strings.Join(fields[1:], " ") + " "
		switch first {
		case "keine", "kein", "keinen", "geen":
			return len(fields) <= 10
		case "nicht", "niet":
			return strings.HasSuffix(fields[len(fields)-1], "en")
		case "vermeide", "vermeiden", "évite", "évitez", "evita", "evite", "evitar", "vermijd", "избегай", "избегайте":
			return true
		case "ne", "n'":
			return has(rest, phrases("pas|plus|jamais"))
		case "pas":
			return second == "de" || second == "d'" || second == "sans"
		case "no":
			if strings.HasSuffix(second, "es") || strings.HasSuffix(second, "as") || strings.HasSuffix(second, "éis") || strings.HasSuffix(second, "áis") {
				return second != "es" && second != "las" && second != "has" && second != "was" && second != "does" && len(second) > 3 && !englishNoun(second)
			}
		case "não":
			return len(second) > 3 && strings.HasSuffix(second, "e") || strings.HasSuffix(second, "em") || strings.HasSuffix(second, "a") && second != "era" || strings.HasSuffix(second, "r")
		case "non":
			return len(second) > 4 && (strings.HasSuffix(second, "are") || strings.HasSuffix(second, "ere") || strings.HasSuffix(second, "ire") || strings.HasSuffix(second, "ate"))
		case "не":
			for _, end := range []string{"й", "йте", "ь", "ьте", "ите", "и"} {
				if strings.HasSuffix(second, end) && len(fields) > 2 {
					return true
				}
			}
		case "sin", "sem", "senza", "sans", "ohne", "zonder", "без":
			return has(rest, foreignBreaks)
		}
		if strings.HasPrefix(first, "n'") && has(rest, phrases("pas|plus|jamais")) {
			return true
		}
		if last := fields[len(fields)-1]; len(fields) <= 12 && (last == "an" || last == "um" || last == "weg" || last == "aan") && fields[len(fields)-2] == "nicht" {
			return true // "fass die Vorlagen nicht an"
		}
		for _, w := range []string{" ohne ", " sans ", " sin ", " sem ", " senza ", " zonder ", " без "} {
			if i := strings.Index(clause, w); i >= 0 && has(clause[i:], foreignBreaks) {
				return true
			}
		}
	}
	return false
}

// What a work shall do without, in the languages that say so with an infinitive or a noun.
var foreignBreaks = newPhrases(`neue abhängigkeiten|neuen abhängigkeiten|zu ändern|zu brechen|hinzuzufügen|ajouter|casser|changer|modifier|toucher|nouvelles dépendances|añadir|agregar|romper|cambiar|tocar|nuevas dependencias|adicionar|quebrar|mudar|alterar|novas dependências|
	aggiungere|rompere|cambiare|toccare|nuove dipendenze|toe te voegen|te wijzigen|te breken|nieuwe afhankelijkheden|новых зависимостей|изменения|изменений|поломки`)

// englishNoun reports whether a word behind "no" is an English plural rather than a verb.
func englishNoun(w string) bool {
	for _, end := range []string{"ces", "ges", "tes", "ses", "ches", "shes", "files", "ies", "mes", "nes", "les", "res", "pes", "kes", "ves", "das", "ias", "mas", "eas"} {
		if strings.HasSuffix(w, end) {
			switch w {
			case "cambies", "instales", "mezcles", "publiques", "ejecutes", "uses", "borres", "comentes", "intentes", "escribes":
				return false
			}
			return true
		}
	}
	return false
}
