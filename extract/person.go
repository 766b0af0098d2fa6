package extract

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"memoir"
)

// An ask is what a person said at one item, told apart from what they pasted.
type ask struct {
	item      int
	own       []string // sentences in their own words, in order
	quoted    string   // how what they pasted begins
	pasted    bool     // logs, code, reviews or documents follow their words
	document  bool     // what follows is a plan or other document with headings
	rejection bool     // said while refusing a tool call
	trivial   bool     // a greeting, an assent, a bare command of the agent's prompt
	denies    bool     // refuses what the agent said or did just before
	confirms  bool     // says that it worked
}

// personal reads one message of a person.
func personal(it memoir.Item) ask {
	a := ask{item: it.N, rejection: it.Origin == memoir.OriginRejection}
	text := strings.TrimSpace(clean(withoutMiddle(it.Text)))
	if agentCommand(text) {
		text = ""
	}
	if note, ok := strings.CutPrefix(text, "# "); ok && !strings.Contains(note, "\n") { // a note for the agent to remember, no heading
		text = note
	}
	intro := false
	fence, numbered := false, false
	var own []string
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			fence = !fence
			a.pasted = true
			continue
		}
		if trimmed == "" || interruption(trimmed) {
			continue
		}
		if strings.HasPrefix(trimmed, "# ") || strings.HasPrefix(trimmed, "## ") || strings.HasPrefix(trimmed, "### ") {
			a.document = true
			a.paste(strings.TrimLeft(trimmed, "# "))
			break
		}
		if fence || strings.HasPrefix(trimmed, ">") || paste(line, trimmed) || numbered && line[0] == ' ' {
			numbered = numbered && line[0] == ' ' || numberedDiff(trimmed) // a long line goes on in the next one
			a.paste(trimmed)
			continue
		}
		if a.pasted && closesBlock(trimmed) {
			continue
		}
		numbered = false
		if intro && len(strings.Join(lines[i:], " ")) > 160 {
			a.paste(trimmed)
			own = append(own, behindPaste(lines, i)...)
			break
		}
		entry, bullet := listEntry(trimmed)
		if !bullet {
			entry = trimmed
		}
		if head, ok := introduces(entry); ok && !bullet {
			intro = true
			if head != "" {
				own = append(own, sentences(head)...)
				if rest := strings.TrimSpace(entry[len(head):]); rest != "" {
					a.paste(rest)
				}
				continue
			}
		}
		own = append(own, sentences(entry)...)
	}
	for _, s := range own {
		if s = strings.TrimSpace(strings.Trim(s, "*_")); s != "" && hasLetter(s) {
			a.own = append(a.own, s)
		}
	}
	a.judge()
	return a
}

// numberedDiff reports whether a line is one of a diff with line numbers, as agents show it.
func numberedDiff(trimmed string) bool {
	rest := strings.TrimLeft(trimmed, "0123456789+- ")
	head := trimmed[:len(trimmed)-len(rest)]
	return strings.ContainsAny(head, "+-") && strings.ContainsAny(head, "0123456789")
}

// closesBlock reports whether a line is no more than what ends a block of code.
func closesBlock(trimmed string) bool {
	switch strings.TrimRight(trimmed, ";,") {
	case "fi", "done", "esac", "end", "}", "})", "];", "]", ")":
		return true
	}
	return false
}

// behindPaste returns what a person typed behind code or a log that they pasted:
// the lines from a place on, after its last line, in which they speak of themselves.
func behindPaste(lines []string, from int) []string {
	last := -1
	for i, line := range lines {
		if trimmed := strings.TrimSpace(line); trimmed != "" && paste(line, trimmed) {
			last = i
		}
	}
	if last < 0 {
		return nil
	}
	var out []string
	for _, line := range lines[max(from, last+1):] {
		if norm := words(line); has(norm, phrases("i|i'd|i'm|i've|me|my")) && !strings.HasPrefix(line, ">") {
			out = append(out, sentences(strings.TrimSpace(line))...)
		}
	}
	return out
}

// paste notes that a text was pasted, and how it begins.
func (a *ask) paste(text string) {
	a.pasted = true
	if a.quoted == "" && hasLetter(text) {
		a.quoted = shorten(strings.Trim(text, "*_> "), 140)
	}
}

func (a *ask) judge() {
	if len(a.own) == 0 {
		a.trivial = a.quoted == ""
		a.denies = a.rejection
		return
	}
	first := words(a.own[0])
	all := words(strings.Join(a.own, " . "))
	a.trivial = !a.pasted && trivial(all)
	a.denies = a.rejection || strings.TrimSpace(first) == "no" || begins(first, refusalStarts) && !begins(first, refusalNot) || has(all, refusals)
	for _, start := range foreignRefusals {
		a.denies = a.denies || strings.HasPrefix(strings.TrimSpace(first), start)
	}
	a.confirms = !a.denies && has(all, confirmations)
}

var (
	refusalStarts = newPhrases("no ,|no .|no !|no —|no -|no that|no this|no it|no don't|no not|no use|no i|no we|no you|no please|no stop|no the|no just|no leave|nope|nah|don't|do not|dont|not|wrong|that's not|thats not|that is not|this is not|stop|undo|revert|wait , no|never|nein|doch nicht|non|нет|nee|não|nie")
	refusalNot    = newPhrases("no worries|no problem|no rush|not sure|not bad|don't worry|no idea|never mind|nevermind|not yet")
	refusals      = newPhrases("not correct|is wrong|that's wrong|thats wrong|that's not it|i undid|undid your|revert that|revert this|undo that|not what i|horrible|i said|told you not|you broke|you fucked|not like that|why did you|falsch|faux|incorrecto")
	confirmations = newPhrases("thanks|thank you|works|perfect|awesome|looks good|lgtm|amazing|well done|excellent|great|nice|good job|all good|danke|super|merci|parfait|gracias|perfecto|спасибо|отлично")
	// Languages without spaces between words.
	foreignRefusals = []string{"不要", "不是", "不对", "别", "いや", "違う", "いいえ", "아니"}
)

var trivialWords = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`yes y yep yeah yup no n nope ok okay k kk sure thanks thank you thx please pls continue go ahead do it proceed next great cool nice perfect
		good lgtm hi hello hey yo sorry done wow amazing works work it wait hmm hm alright all right on resume carry keep going that's thats fine sounds makes sense i see
		ta cheers thankyou tnx got and now then again what where were we jesus lol awesome excellent exit quit bye so well dude sleep ls pwd let's lets start this exot ya yo jep
		ja nein doch danke bitte weiter gut oui non merci continuez d'accord si sí gracias continúa vale claro sim não obrigado да нет спасибо хорошо давай 1 2 3 a b`) {
		m[w] = true
	}
	return m
})

var trivialForeign = map[string]bool{
	"好": true, "好的": true, "是": true, "是的": true, "对": true, "可以": true, "继续": true, "谢谢": true, "你好": true, "行": true,
	"はい": true, "いいえ": true, "お願いします": true, "続けて": true, "ありがとう": true, "네": true, "예": true, "계속": true, "감사합니다": true,
}

func trivial(norm string) bool {
	n := 0
	for w := range strings.FieldsSeq(norm) {
		if r, _ := utf8.DecodeRuneInString(w); !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '§' {
			continue
		}
		if !trivialWords()[w] && !trivialForeign[w] {
			return false
		}
		n++
	}
	return n <= 8
}

// agentCommand reports whether a text is a command to the agent's own prompt,
// which asks for nothing: its model, its context, its settings, its end.
func agentCommand(text string) bool {
	if !strings.HasPrefix(text, "/") {
		return false
	}
	name, _, _ := strings.Cut(text[1:], "\n")
	name, args, _ := strings.Cut(name, " ")
	if strings.ContainsAny(name, "/.") { // a path
		return false
	}
	return args == "" || agentCommands()[strings.ToLower(name)]
}

var agentCommands = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`add-dir agents allowed-tools approvals approve auth bashes branch btw bug cd changelog chat clear color compact compress config context copy cost
		debug diff directory doctor editor effort exit export extensions fast feedback fork help hooks hotkeys ide install-github-app keybindings login logout mcp memory mention model
		models name new output-style permissions personality plugin plugins privacy privacy-settings ps quit reload rename restore resume rewind sandbox scoped-models session sessions settings
		setup share skills stats status statusline stop tasks terminal-setup theme thinking title todos tools tree undo upgrade usage verbose version vim voice`) {
		m[w] = true
	}
	return m
})

func interruption(line string) bool {
	return strings.HasPrefix(line, "[Request interrupted") || strings.HasPrefix(line, "[Image") || strings.HasPrefix(line, "<image") ||
		strings.HasPrefix(line, "Operation stopped by")
}

func hasLetter(s string) bool {
	return strings.ContainsFunc(s, unicode.IsLetter)
}

// introduces reports whether a line announces pasted text, and which part of the
// line is the announcement.
func introduces(line string) (head string, ok bool) {
	i := strings.Index(line, ": ")
	if i < 0 && strings.HasSuffix(line, ":") {
		i = len(line) - 1
	}
	if i < 0 {
		return "", false
	}
	norm := words(line[:i])
	if !has(norm, announcements) {
		return "", false
	}
	if i < len(line)-1 && strings.HasSuffix(norm, " example ") { // the sentence goes on
		return "", false
	}
	if i == len(line)-1 || len(line)-i > 80 {
		return line[:i+1], true
	}
	return "", false
}

var announcements = newPhrases("feedback|error|errors|comment|comments|review|log|logs|output|following|warning|message|says|said|this is what|got this|plan|trace|traceback|crash|see below|example|prints|issue|report|diff")

// paste reports whether a line is a log, a prompt with its output, code or data
// rather than something that a person typed to the agent.
func paste(line, trimmed string) bool {
	if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") {
		if _, bullet := listEntry(trimmed); !bullet {
			return true
		}
	}
	switch c := trimmed[0]; {
	case c == '{' || c == '}' || c == '<' || c == '|' || c == '^':
		return true
	case c == '[':
		return !strings.Contains(trimmed, "](") // a link is typed
	case c == '$' || c == '%':
		if len(trimmed) > 1 && trimmed[1] == ' ' {
			return true
		}
	case c == '"':
		if strings.Contains(trimmed, `":`) {
			return true
		}
	case c == '+' || c == '-':
		if rest := strings.TrimLeft(trimmed[1:], " "); rest != "" && rest[0] >= '0' && rest[0] <= '9' && !strings.HasPrefix(rest, "1.") {
			return true
		}
	case c >= '0' && c <= '9':
		digits := strings.TrimLeft(trimmed, "0123456789")
		if strings.HasPrefix(digits, "  ") || strings.HasPrefix(digits, " +") || strings.HasPrefix(digits, " -") || strings.HasPrefix(digits, "-") && strings.Count(trimmed, ":") >= 2 {
			return true
		}
	}
	r, _ := utf8.DecodeRuneInString(trimmed)
	if r == '➜' || r == '❯' || r == '›' || r == '↑' || r == '→' || r == '✗' || r == '✓' || r == '✘' || r >= 0x2500 && r <= 0x28ff {
		return true
	}
	for _, p := range []string{"at ", "File \"", "Traceback", "FAIL", "PASS", "--- ", "=== ", "ok  \t", "panic:", "goroutine ", "error[", "warning:", "npm ERR", "npm error", "fatal:", "Caused by", "Node.js v", "node:", "diff --git", "@@ ", "~/", "import ", "#include", "package "} {
		if strings.HasPrefix(trimmed, p) {
			if p == "at " {
				return strings.Contains(trimmed, "(") || strings.Contains(trimmed, ".")
			}
			if p == "~/" {
				return !strings.Contains(strings.TrimSpace(trimmed[2:]), " ") || strings.HasSuffix(trimmed, ")")
			}
			return true
		}
	}
	word, _, _ := strings.Cut(trimmed, " ")
	if (strings.HasSuffix(word, "Error:") || strings.HasSuffix(word, "Exception:")) && len(word) > len("Error:") || word == "Error:" || word == "ERROR" || word == "WARN" || word == "INFO" || word == "DEBUG" {
		return true
	}
	switch last := trimmed[len(trimmed)-1]; {
	case last == ';' || last == '{' || last == '}' || last == '\\':
		return true
	case strings.HasSuffix(trimmed, ");") || strings.Contains(trimmed, " := ") || strings.Contains(trimmed, " => ") || strings.Contains(trimmed, " == ") && !strings.Contains(trimmed, "`"):
		return true
	}
	return symbols(trimmed) > 0.35
}

// symbols is the share of characters that are neither letters, digits nor spaces.
func symbols(s string) float64 {
	n, odd := 0, 0
	for _, r := range s {
		n++
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != ' ' && !unicode.Is(unicode.M, r) {
			odd++
		}
	}
	if n < 12 {
		return 0
	}
	return float64(odd) / float64(n)
}
