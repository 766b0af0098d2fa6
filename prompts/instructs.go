package prompts

import (
	"slices"
	"strings"
	"unicode"

	"memoir/internal/lazyregexp"
)

// instructions match texts that pose as an agent's user, as its system prompt or as a preference to remember: verbs
// with their objects, speakers' labels at the beginning, and images whose address carries data.
var instructions = []*lazyregexp.Regexp{
	lazyregexp.New(`(?i)\b(?:ignore|disregard|forget|override|bypass|drop)\b[^.!?\n]{0,30}\b(?:previous|prior` +
		`|above|earlier|preceding|other|existing|all|any|your|system)\b[^.!?\n]{0,30}\b(?:instructions?|prompts?|rules?` +
		`|guidelines?|directions?|context|polic(?:y|ies)|guardrails?)\b`),
	lazyregexp.New(`(?i)\b(?:new|updated|revised|hidden|real|actual|important|urgent|system|admin` +
		`|developer)\s+(?:system\s+)?(?:instructions?|prompts?|directives?)\b\s*(?:[:!-]|(?:for|to)\s+(?:the\s+|an?\s+` +
		`|all\s+)?(?:ai|llm|agents?|assistants?|models?)\b)`),
	lazyregexp.New(`(?i)\b(?:remember|memori[sz]e|note|keep in mind|don't forget` +
		`|do not forget)\b[^.!?\n]{0,40}\b(?:the|this|that|your|my)\s+(?:user|human|owner|person|customer)\b`),
	lazyregexp.New(`(?i)\bremember\s+(?:to\s+(?:always|never)|that\s+(?:you|i|we|always|never)|(?:this` +
		`|the following)\s*(?:[:!]|for|in|as|always|forever)|forever|permanently|for (?:all|every|future))`),
	lazyregexp.New(`(?i)\b(?:save|store|add|write|record|persist|commit|update|put|append|insert|include|keep` +
		`|preserve)\b[^.!?\n]{0,60}\b(?:to|in|into|from|of|across|with)?\s*(?:your|the (?:agent|assistant|user|model` +
		`|ai)['’]s|long[- ]term|persistent|permanent|saved|the bio|bio tool|all future)\s+(?:memor(?:y|ies)|bio|context` +
		`|summar(?:y|ies)|sessions?|conversations?)\b`),
	lazyregexp.New(`(?i)\b(?:memory|bio|to=bio)\s+(?:updated?|tool|write)\s*[:=(]`),
	lazyregexp.New(`(?i)\b(?:the|this|your)\s+(?:user|human)\s+(?:always|never|wants|prefers|likes|would like` +
		`|has (?:asked|requested|approved|authori[sz]ed|agreed|consented)|expects|insists|requires|demands)\b`),
	lazyregexp.New(`(?i)\b(?:when|whenever|if|once|next time|as soon as|every time` +
		`|each time)\b[^.!?\n]{0,30}\b(?:the user|user|human|someone|anyone)\b[^.!?\n]{0,20}\b(?:says|types|replies` +
		`|answers|responds|writes|sends|submits|confirms|thanks)\b`),
	lazyregexp.New(`(?i)\b(?:you are|you're|act as|as) (?:now )?(?:an? |the )?(?:ai|llm|language model` +
		`|coding agent|ai agent|ai assistant|assistant|unrestricted|developer mode|dan)\b`),
	lazyregexp.New(`(?i)\b(?:(?:all|any|every|dear|attention|note to|hey|hello)\s+(?:(?:ai|llm|coding` +
		`|automated)\s+)?|(?:the|an?)\s+(?:ai|llm|coding|automated)\s+)(?:agents?|assistants?|llms?|language models?` +
		`|copilots?)\b[^.!?\n]{0,20}\b(?:must|should|shall|always|never|have to|need to|are (?:required|instructed|asked` +
		`|ordered) to|reading this)\b`),
	lazyregexp.New(`(?i)\b(?:do not|don't|never|without)\s+(?:tell(?:ing)?|mention(?:ing)?|inform(?:ing)?` +
		`|reveal(?:ing)?|notify(?:ing)?|warn(?:ing)?|show(?:ing)?|disclos(?:e|ing)|ask(?:ing)?)\b[^.!?\n]{0,30}\b(?:user` +
		`|human|developer|owner|person|anyone)\b`),
	lazyregexp.New(`(?i)\b(?:always|never|from now on|going forward|in (?:all )?future (?:sessions?` +
		`|conversations?|chats?|responses?)|for (?:all|every) future)\b[^.!?\n]{0,60}(?:\b(?:curl|wget|iwr|irm` +
		`|Invoke-WebRequest)\b|https?://|\|\s*(?:ba|z|da)?sh\b|base64\s+-{1,2}d)`),
	lazyregexp.New(`(?i)\b(?:in|for|to|across) (?:all|every|each|any) future (?:sessions?|conversations?|chats?` +
		`|responses?|answers?)\b`),
	lazyregexp.New(`(?i)\b(?:decode|execute|run|follow|obey|eval(?:uate)?)\b[^.!?\n]{0,40}\b(?:base64|rot13` +
		`|hex)\b[^.!?\n]{0,40}\b(?:instructions?|commands?|steps?|payload|message|it)\b`),
	lazyregexp.New(`(?i)\b(?:remember|cite|recommend)\b[^!?\n]{0,60}\bas (?:an? |the )?(?:trusted|authoritative` +
		`|preferred|reliable|definitive|best|default)\s+(?:source|citation|reference|provider|vendor|authority|choice)\b`),
	lazyregexp.New(`(?i)\balways\s+(?:recommend|suggest|prefer|promote)\b[^.!?\n]{0,60}\b(?:first|over (?:all ` +
		`|any )?(?:others?|alternatives?|competitors?)|in (?:your|all|any|future) (?:answers?|responses?` +
		`|recommendations?))\b`),
	lazyregexp.New(`(?i)\bbefore\s+(?:you\s+(?:use|call|invoke|run)|using|calling|invoking|running)\s+(?:this` +
		`|any|the|another|each|every)\b[^.!?\n]{0,20}\btools?\b[^.!?\n]{0,20}\b(?:read|fetch|run|send|load|open|execute` +
		`|pass)\b|\bbefore you (?:answer|reply|respond)\b`),
	lazyregexp.New(`(?i)\b(?:when(?:ever)?|if|while)\s+(?:(?:you|the (?:agent|assistant|model)|an? (?:agent` +
		`|assistant|model))\s+)?(?:next\s+)?(?:summari[sz]|compress|compact|consolidat|extract)\w*\s+(?:this|the` +
		`|your)\s+(?:session|conversation|chat|transcript|thread|memory|context)\b|\b(?:repeat|include|keep|copy|preserve` +
		`|quote|list)\b[^.!?\n]{0,40}\b(?:verbatim|word for word)\b[^.!?\n]{0,30}\b(?:summar(?:y|ies)|memor(?:y|ies))\b`),
	lazyregexp.New(`(?i)\b(?:user|human|owner|person|maintainers?|admins?` +
		`|administrators?)\b[^.!?\n]{0,20}\b(?:already\s+|pre-?)(?:consented|approved|authori[sz]ed|agreed|granted)\b`),
	lazyregexp.New(`(?i)\b(?:system|admin|developer|operator)\s+override\b\s*[:!\]-]|\b(?:supersedes?` +
		`|overrides?|replaces?)\b[^.!?\n]{0,20}\b(?:any|all|previous|earlier|prior)\b[^.!?\n]{0,20}\b(?:instructions?` +
		`|system prompts?|guardrails?)\b`),
	lazyregexp.New(`(?i)\b(?:(?:at|on|from) the (?:start|beginning) of|in|during|before|with)\s+(?:the next` +
		`|your next|each|every|any|each new|every new|any new)\s+(?:session|conversation|chat)s?\b[^.!?\n]{0,20}\b(?:run` +
		`|fetch|execute|download|install|curl|load|call|visit)\b|\bnext time you\b[^.!?\n]{0,40}\b(?:run|fetch|execute` +
		`|download|install|curl|load|call|visit)\b`),
	lazyregexp.New(`(?i)\b(?:treat|take|consider|regard)\b[^.!?\n]{0,30}\bas\s+(?:coming from|if (?:it` +
		`|they) came from|(?:an? )?(?:message|request|instructions?) (?:from|of)|the words of)\s+the\s+(?:user|human` +
		`|owner|person|developer|system)\b|\b(?:these|this|the following)\s+(?:instructions?|message|request` +
		`|text)\b[^.!?\n]{0,20}\bfrom the (?:user|human|owner|developer|system administrator)\b`),
	lazyregexp.New(`(?i)\b(?:instructions?|notes?|messages?|notices?|directives?|orders)\s+(?:for` +
		`|to)\s+(?:all\s+|any\s+|the\s+)?(?:ai|llms?|(?:ai|coding|automated|llm)\s+(?:agents?|assistants?)` +
		`|language models?)\b|\bai\s+(?:agents?|assistants?)\b[^.!?\n]{0,40}\b(?:must|should|shall|have to|need to` +
		`|are required)\b`),
	lazyregexp.New(`(?i)\b(?:exfiltrate|leak|send|post|append|encode|upload|forward` +
		`|embed)\b[^.!?\n]{0,40}(?:\.env\b|\b(?:environment variables?|credentials?|secrets?|(?:api|private|ssh) keys?` +
		`|id_rsa|tokens?|passwords?)\b)[^.!?\n]{0,30}\b(?:to|into|in|as)\b[^.!?\n]{0,15}(?:https?://|\b(?:(?:the|this` +
		`|an?) (?:url|query|webhook|endpoint|link)|image)\b)`),
	lazyregexp.New(`(?i)\b(?:reveal|print|output|repeat|show|leak|disclose)\b[^.!?\n]{0,20}\b(?:your` +
		`|the)\s+(?:system prompt|initial (?:instructions|prompt)|instructions above|hidden (?:prompt|instructions))\b`),
	lazyregexp.New(`(?i)\bstop what you are doing\b|\b(?:the|your) (?:real|new|actual|true) (?:task|goal|role` +
		`|objective|mission) is\b|\bfrom now on,? you (?:are|will|must|shall)\b`),
	lazyregexp.New(`(?i)\[/?(?:user|human|system|assistant|developer|inst)\]`),
	lazyregexp.New(`(?:^|\n|[.!?]["'”)]?\s)\s*(?:#{1,4}\s*)?(?:\*\*)?(?:[Hh]uman|HUMAN|User|USER|System|SYSTEM` +
		`|Developer|DEVELOPER|Assistant|ASSISTANT|(?:[Ss]ystem|SYSTEM) (?:[Pp]rompt|PROMPT|[Mm]essage|MESSAGE)|(?:[Uu]ser` +
		`|USER) (?:[Mm]essage|MESSAGE)|[Ee]nd of (?:document|context|tool output|transcript))(?:\*\*)?:\s*\S`),
	lazyregexp.New(`(?i)(?:<|‹|&lt;)\s*/?\s*(?:\||system[-_](?:reminder|prompt|message)|(?:system|user|human` +
		`|assistant|developer|important|instructions?|transcript|conversation|raw-memories|hand-edits` +
		`|current-memory)\s*(?:>|›|&gt;))`),
	lazyregexp.New(`!\[[^\]]*\]\((?:https?:)?//`),
}

// foreign are the first of these forms in other languages.
var foreign = []*lazyregexp.Regexp{
	lazyregexp.New(`(?i)\bignor(?:ier(?:e|en sie|t)?|ez|er|a|ar|ad|á|e|en|eer)\s[^.!?\n]{0,40}\b(?:anweisung(?:en)?` +
		`|instruktion(?:en)?|vorgaben|instructions|consignes|instruc(?:ciones|ções|c[ií]ones)|istruzioni` +
		`|instructies)\b`),
	lazyregexp.New(`(?:忽略|无视|無視)[^。！？\n]{0,20}(?:指令|指示|提示|说明|規則|规则)`),
	lazyregexp.New(`(?:指示|命令|プロンプト|指令)[^。！？\n]{0,10}無視`),
	lazyregexp.New(`(?:지시|명령|지침|프롬프트)[^.!?\n]{0,10}무시`),
	lazyregexp.New(`(?i)игнорир(?:уй|уйте|овать)[^.!?\n]{0,40}(?:инструкци|указани|правил)`),
}

// Instructs reports whether a text reads as an instruction to the model or agent that reads it.
// It matches published forms of prompt injection, which programs and documents do not normally
// contain. The prompts mark all other text as data, too.
func Instructs(text string) bool {
	plain := legible(text)
	return slices.ContainsFunc(foreign, func(form *lazyregexp.Regexp) bool { return form.MatchString(text) }) ||
		slices.ContainsFunc(instructions, func(form *lazyregexp.Regexp) bool { return form.MatchString(plain) })
}

// legible returns a text without invisible characters, and with ASCII for look-alike letters.
func legible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x80:
			return r
		case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Mn, r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return Plain(r)
	}, text)
}
