package extract

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoir"
	"memoir/internal/lazyregexp"
)

// An ask is a person's message at the beginning of a turn.
type ask struct {
	item   int // 0: the turn began without a person
	origin memoir.Origin
	text   string   // as typed, cleaned
	own    []string // sentences that the person wrote, in order
	pasted bool     // it also holds a log, code, a list, a quotation or a review
}

func readAsk(it *memoir.Item) ask {
	a := ask{item: it.N, origin: it.Origin, text: clean(withoutMiddle(it.Text))}
	if it.Origin == memoir.OriginSlashCommand || it.Origin == memoir.OriginPlanHandover {
		return a
	}
	a.own, a.pasted = ownSentences(a.text)
	return a
}

// typed reports whether a person typed the ask, rather than chose, refused or ran something.
func (a ask) typed() bool {
	return a.item > 0 && (a.origin == memoir.OriginTyped || a.origin == memoir.OriginQueued)
}

// maxParagraph bounds, in bytes, a line that counts as typed; a longer one was pasted.
const maxParagraph = 700

// ownSentences splits a person's own text into sentences. It leaves out fences, quotations,
// tables, logs, code, list items and all text after a line with a colon at its end.
func ownSentences(text string) (own []string, pasted bool) {
	fence, after := false, false // after: the line before was pasted
	open := ""                   // a line that continues in the next one
	flush := func() {
		for _, s := range sentences(open) {
			if strings.ContainsFunc(s, unicode.IsLetter) {
				own = append(own, s)
			}
		}
		open = ""
	}
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			flush()
			fence, pasted = !fence, true
			continue
		case fence || trimmed == "":
			flush()
			continue
		case len(trimmed) > maxParagraph || looksPasted(line, trimmed) || after && !strings.Contains(trimmed, " "):
			flush()
			pasted, after = true, true
			continue
		}
		if after && trimmed[0] >= 'a' && trimmed[0] <= 'z' { // a wrapped line of the paste
			continue
		}
		after = false
		if strings.HasSuffix(trimmed, ":") {
			flush()
			return append(own, trimmed), true
		}
		if first, _ := utf8.DecodeRuneInString(trimmed); !unicode.IsLower(first) ||
			strings.ContainsAny(open[max(0, len(open)-1):], ".!?:") {
			flush()
		}
		open = strings.TrimSpace(open + " " + trimmed)
	}
	flush()
	return own, pasted
}

// looksPasted reports whether a line is a log, code, a quotation, a table or an item of
// a list rather than a sentence that a person typed.
func looksPasted(line, trimmed string) bool {
	if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") || listItem(trimmed) {
		return true
	}
	switch trimmed[0] {
	case '{', '}', '<', '|', '^', '>', '#', '$', '%', '@', '"', '\'', '+':
		return true
	case '[':
		return !strings.Contains(trimmed, "](")
	}
	if r, _ := utf8.DecodeRuneInString(trimmed); r >= 0x2190 && r <= 0x2bff {
		return true
	}
	for _, p := range []string{"at ", "File ", "Traceback", "FAIL", "PASS", "panic:", "error", "warning:",
		"npm ", "fatal:", "diff --git", "import ", "Pasted", "Caused by", "*", "_"} {
		if strings.HasPrefix(trimmed, p) && (p != "at " || strings.ContainsAny(trimmed, "(:")) {
			return true
		}
	}
	if thrown.MatchString(trimmed) {
		return true
	}
	switch trimmed[len(trimmed)-1] {
	case ';', '{', '}', '\\', '|':
		return true
	}
	return symbols(trimmed) > 0.3
}

// thrown matches a line of an error: its type and message, a place in a file, or a field of it, as Node prints them.
var thrown = lazyregexp.New(`^(?:Uncaught )?[\w.$]*(?:Error|Exception)(?: \[\w+\])?: |^\S+:\d+$|` +
	`^\w+: (?:'[^']*'|-?\d+),?$`)

func listItem(trimmed string) bool {
	if strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "* ") || strings.HasPrefix(trimmed, "• ") {
		return true
	}
	rest := strings.TrimLeft(trimmed, "0123456789")
	return len(rest) < len(trimmed) && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") "))
}

// symbols returns the share of characters that are neither letters, digits nor spaces; 0 for
// fewer than 12 characters.
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

// lowerWords returns the words of a sentence in lower case with straight apostrophes. A space
// is before, between and after them, so that " word " finds whole words.
func lowerWords(s string) string {
	var b strings.Builder
	b.WriteByte(' ')
	space := true
	for _, r := range strings.ToLower(strings.ReplaceAll(s, "’", "'")) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'' || r == '-' || r == '_' {
			b.WriteRune(r)
			space = false
		} else if !space {
			b.WriteByte(' ')
			space = true
		}
	}
	if !space {
		b.WriteByte(' ')
	}
	return b.String()
}

// hasAny reports whether a result of lowerWords has one of some words or phrases.
func hasAny(words string, phrases ...string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(words, " "+p+" ") })
}

// startsAny reports whether a result of lowerWords begins with one of some words or phrases.
func startsAny(words string, phrases ...string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.HasPrefix(words, " "+p+" ") })
}

const (
	maxRequest          = 160 // bytes of a request that are shown
	maxRequestSentences = 2
)

// A request is a person's request with the turns that continue it: those after an assent, a
// correction or a refusal, and those of messages queued while the agent was busy.
type request struct {
	text  string
	item  int
	turns []*turn
}

func (s *session) requests() (out []request) {
	for _, t := range s.turns {
		if text := requestOf(t); text != "" && (len(out) == 0 || t.ask.origin != memoir.OriginQueued) {
			out = append(out, request{text: text, item: t.ask.item})
		}
		if n := len(out); n > 0 {
			out[n-1].turns = append(out[n-1].turns, t)
		}
	}
	return out
}

// minRequest is the least number of words of a request; "yes" and "fix it" continue the previous one.
const minRequest = 3

// requestOf returns the new request of a turn in one line; empty if it has none.
func requestOf(t *turn) string {
	if t.ask.origin == memoir.OriginPlanHandover {
		_, rest, _ := strings.Cut(t.ask.text, "# ")
		title, _, _ := strings.Cut(rest, "\n")
		return shorten(strings.TrimSpace(title), maxRequest)
	}
	own := slices.DeleteFunc(slices.Clone(t.ask.own), lasting) // a rule asks for nothing
	if !t.ask.typed() || len(own) == 0 || corrects(t.ask.own) ||
		startsAny(lowerWords(own[0]), "yes", "continue") {
		return ""
	}
	text := wholeSentences(own[:min(len(own), maxRequestSentences)], maxRequest)
	if text == "" {
		text = shorten(own[0], maxRequest)
	}
	text = strings.TrimRight(shortLinks(withoutOpening(text)), ".: ")
	if len(strings.Fields(text)) < minRequest {
		return ""
	}
	return text
}

// became returns the last pull request, else the last commit, of the items in [from, until); nil if there is none.
func (s *session) became(from, until int) (last *post) {
	for i := range s.posts {
		p := &s.posts[i]
		if p.item >= from && p.item < until && p.delivers() &&
			(last == nil || p.kind == postPull || last.kind == postCommit) {
			last = p
		}
	}
	return last
}

// delivers reports whether a post is a pull request or a commit that is the result of work.
func (p *post) delivers() bool {
	return !p.void && (p.kind == postPull || p.kind == postCommit && !housekeeping(p.title))
}
