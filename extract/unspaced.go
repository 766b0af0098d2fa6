package extract

import (
	"strings"
	"unicode/utf8"
)

// Marks of a rule in Chinese, Japanese and Korean, which part no words with
// spaces or not at every one: they are looked up anywhere in a sentence.
var (
	// What forbids or prefers by its form.
	cjkBinds = []string{
		"不要", "不许", "不准", "不得", "禁止", "请勿", "切勿", "别", "必须", "务必", "一律", "统一", "只能", "只用", "而不是", "而非", "代替", "改用", "都要用", "都用", "保持不变", "不能用", "不用", "優先", "优先",
		"不准", "必須", "務必",
		"しないで", "ないでください", "てはいけ", "てはなら", "てはだめ", "禁止", "ではなく", "じゃなくて", "使わない", "変えない", "必ず", "絶対", "べき", "ようにして", "そのままに", "は避けて", "統一して", "代わりに", "以外は使",
		"하지 마", "하지마", "지 마", "마세요", "말아", "말고", "금지", "대신", "반드시", "절대", "그대로 두", "그대로 유지", "만 사용", "만 써", "우선",
	}
	// What happens always, or shall.
	cjkEver = []string{"总是", "始终", "永远", "每次", "今后", "以后都", "以后", "總是", "从现在起", "从今以后", "常に", "いつも", "毎回", "今後", "これから", "항상", "언제나", "매번", "앞으로", "이제부터"}
	cjkNow  = []string{
		"暂时", "暂且", "现在先", "这次", "这一次", "先不", "先别", "临时", "目前先", "还不要", "今天", "今回", "とりあえず", "ひとまず", "一旦", "いったん", "まだ", "今は", "今のところ", "今日", "一時的",
		"이번", "일단", "아직", "지금은", "당분간", "임시", "오늘",
	}
	cjkThese = []string{"这样", "这个", "那个", "它", "これ", "それ", "あれ", "이거", "그거", "이것", "그것"}
	cjkFails = []string{"失败", "失敗", "崩溃", "报错", "出错", "错误", "卡住", "エラー", "落ちる", "落ちます", "壊れ", "실패", "오류", "에러", "깨집", "깨져"}
	cjkOther = strings.NewReplacer("别的", "", "特别", "", "区别", "", "级别", "", "分别", "", "类别", "", "识别", "", "别人", "", "个别", "", "别名", "", "差别", "", "不用谢", "", "要不要", "", "不用担心", "", "不用管", "", "別の", "", "特別", "", "個別", "", "不用说", "")
)

func unspacedStanding(s string) float64 {
	s = cjkOther.Replace(s)
	runes := utf8.RuneCountInString(s)
	if holdsAny(s, cjkNow) || runes < 5 || holdsAny(s, cjkThese) && runes < 12 {
		return 0
	}
	if holdsAny(s, cjkBinds) {
		return 3
	}
	if holdsAny(s, cjkEver) && !holdsAny(s, cjkFails) {
		return 3
	}
	return 0
}
