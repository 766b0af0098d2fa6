package extract

import (
	"strings"
	"unicode"
)

// Marks of causes, constraints and choices in other languages than English.
var (
	foreignCauses      = newPhrases("weil|da die|da der|da das|denn|deshalb|daher|deswegen|aufgrund|wegen|die ursache|der grund|liegt daran|führt dazu|sodass|so dass|parce que|car|puisque|à cause|en raison|la cause|la raison|c'est pourquoi|du coup|provient|porque|ya que|debido a|a causa de|la causa|la razón|por eso|así que|puesto que|por causa|devido a|a causa|o motivo|por isso|já que|pois|perché|poiché|a causa di|quindi|omdat|doordat|daarom|потому что|так как|из-за|поэтому|причина|ponieważ|dlatego|przez to")
	foreignConstraints = newPhrases("muss|müssen|darf nicht|dürfen nicht|darf nur|nur wenn|kann nicht|können nicht|nicht möglich|nie|niemals|immer|erfordert|benötigt|fehlt|standardmäßig|nicht mehr|unterstützt nicht|doit|doivent|ne peut pas|ne peuvent pas|ne doit pas|jamais|toujours|nécessite|seulement si|uniquement|par défaut|ne prend pas en charge|manque|debe|deben|no puede|no pueden|nunca|siempre|requiere|solo si|solamente|por defecto|falta|ya no|no admite|deve|devem|não pode|não podem|sempre|requer|somente|apenas|por padrão|não suporta|devono|non può|mai|richiede|moet|mag niet|nooit|vereist|должен|должна|должны|нельзя|не может|никогда|всегда|требует|требуется|только если|по умолчанию|больше не|musi|nie może|wymaga|zawsze|nigdy")
	foreignChoices     = newPhrases("statt|anstatt|anstelle|lieber|stattdessen|um zu vermeiden|entschieden|au lieu de|plutôt que|pour éviter|en vez de|en lugar de|para evitar|em vez de|em lugar de|invece di|per evitare|in plaats van|вместо|чтобы избежать|zamiast")
	cjkCauses          = []string{"因为", "由于", "原因是", "导致", "所以", "因此", "因為", "由於", "導致", "ため、", "ためです", "ので", "原因は", "のせいで", "なぜなら", "때문", "원인은", "그래서", "따라서"}
	cjkConstraints     = []string{"必须", "不能", "不可", "只能", "需要", "默认", "不支持", "必須", "不要", "なければなりません", "必要があ", "必要です", "できません", "できない", "のみ", "デフォルト", "必ず", "해야", "할 수 없", "필요", "기본적으로"}
	cjkChoices         = []string{"而不是", "代替", "避免", "ではなく", "代わりに", "避けるため", "대신"}
)

// english are words that tell a sentence from those of the other languages.
var english = newPhrases("the|are|and|with|this|that|it's|for|when|was|not")

// foreignNarrations begin what an agent says of its next step.
var (
	foreignNarrations = newPhrases("ich werde|ich schaue|ich prüfe|ich lese|ich habe|lass mich|jetzt|als nächstes|je vais|je regarde|je vérifie|j'ai|maintenant|laisse-moi|laissez-moi|voy a|vamos a|he|ahora|déjame|primero|vou|vamos|agora|deixe-me|primeiro|ik ga|nu|я|сейчас|давай|давайте|теперь")
	cjkNarrations     = []string{"让我", "我来", "我将", "我会", "现在", "接下来", "首先", "好的", "まず", "次に", "では、", "これから", "먼저", "이제", "다음으로"}
)

// narratesAbroad reports whether a sentence in another language tells what the
// agent does next.
func narratesAbroad(sentence, norm string) bool {
	if begins(norm, foreignNarrations) && !has(norm, english) {
		return true
	}
	for _, p := range cjkNarrations {
		if strings.HasPrefix(sentence, p) {
			return true
		}
	}
	return false
}

// A sense is what the words of a sentence mark.
type sense struct{ cause, constraint, choice bool }

// senses reads the marks of a sentence in any of the languages; foreign tells
// that none of them was English.
func senses(sentence, norm string) (s sense, foreign bool) {
	s = sense{has(norm, causes), has(norm, constraints), has(norm, choices)}
	if s != (sense{}) {
		return s, false
	}
	if wide(sentence) > 0 {
		s = sense{holdsAny(sentence, cjkCauses), holdsAny(sentence, cjkConstraints), holdsAny(sentence, cjkChoices)}
	} else if !has(norm, english) {
		s = sense{has(norm, foreignCauses), has(norm, foreignConstraints), has(norm, foreignChoices)}
	}
	return s, s != (sense{})
}

func holdsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// wide counts the letters of scripts that are written without spaces or with few.
func wide(s string) int {
	n := 0
	for _, r := range s {
		if r >= 0x1100 && (unicode.Is(unicode.Han, r) || unicode.Is(unicode.Hiragana, r) || unicode.Is(unicode.Katakana, r) || unicode.Is(unicode.Hangul, r)) {
			n++
		}
	}
	return n
}
