package extract

import (
	"strings"
	"unicode"
)

// Words of other languages that mark a rule. Where a language has no spaces
// between words the mark is looked up anywhere in the sentence.
var (
	foreignEver   = phrases("immer|nie|niemals|ab jetzt|in zukunft|künftig|grundsätzlich|jedes mal|toujours|jamais|désormais|à chaque fois|siempre|nunca|jamás|cada vez|sempre|ogni volta|jamais|toda vez|altijd|nooit|voortaan|alltid|aldrig|всегда|никогда|каждый раз|zawsze|nigdy|vždy|nikdy|her zaman|asla|luôn luôn|không bao giờ")
	foreignForbid = phrases("bitte nicht|bitte kein|bitte keine|bitte keinen|nicht ohne|anstatt|statt|au lieu de|n'utilise pas|ne pas|utilise pas|en vez de|en lugar de|no uses|no usar|em vez de|não use|invece di|non usare|in plaats van|gebruik geen|вместо|не надо|не используй|zamiast|nie używaj|místo|yerine")
	foreignPolite = phrases("bitte|verwende|benutze|nutze|soll|sollen|sollst|muss|müssen|darf|dürfen|utilise|utilisez|il faut|doit|usa|use|usar|debe|deben|deve|devem|usare|usa|gebruik|moet|använd|используй|используйте|нужно|używaj|należy|použij")
	cjkRules      = []string{"总是", "始终", "一律", "永远", "不要", "禁止", "必须", "务必", "而不是", "每次", "今后", "以后都", "總是", "必須", "常に", "必ず", "絶対", "しないで", "ではなく", "使わないで", "いつも", "今後", "항상", "절대", "하지 마", "마세요", "대신", "반드시", "앞으로"}
	cjkNow        = []string{"暂时", "现在先", "这次", "先不要", "今回", "とりあえず", "まだ", "이번", "일단", "아직"}
)

func foreignStanding(s, norm string) float64 {
	if strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "吗") || strings.HasSuffix(s, "吗？") {
		return 0
	}
	if strings.ContainsFunc(s, func(r rune) bool {
		return unicode.Is(unicode.Han, r) || unicode.Is(unicode.Hiragana, r) || unicode.Is(unicode.Katakana, r) || unicode.Is(unicode.Hangul, r)
	}) {
		for _, now := range cjkNow {
			if strings.Contains(s, now) {
				return 0
			}
		}
		for _, rule := range cjkRules {
			if strings.Contains(s, rule) {
				return 3
			}
		}
		return 0
	}
	if has(norm, foreignForbid) {
		return 3
	}
	for _, cue := range foreignEver {
		i := strings.Index(norm, cue)
		if i < 0 {
			continue
		}
		if strings.Count(norm[:i], " ") <= 3 || has(norm, foreignPolite) {
			return 3
		}
	}
	return 0
}
