package extract

import (
	"path"
	"slices"
	"strings"

	"memoir"
)

// Bounds of what is taken of a specification.
const (
	maxSpecLines  = 6
	maxSpecBytes  = 64 << 10
	maxSpecified  = 60  // statements of all specifications
	laterTurns    = 200 // in which a person may speak of an entry again
	earlyCalls    = 8   // attachments are read at once
	specLineBytes = 420
)

// specifications finds the constraints of a specification that the person gave the
// agent: pasted behind their words, handed over as a plan, or attached as a text
// that the agent read at once. What they set aside in their own words is left out.
func specifications(r *reading) []found {
	var out []found
	for i, t := range r.turns {
		if t.ask == nil || len(out) >= maxSpecified {
			continue
		}
		if t.said.document {
			out = append(out, specified(clean(t.ask.Text), t, t.said.item, r.turns[i:])...)
		}
		if i > 1 {
			continue
		}
		for _, run := range t.runs[:min(len(t.runs), earlyCalls)] {
			if !run.failed && attachment(run.line, r.root) {
				out = append(out, specified(clean(run.output), t, run.item, r.turns[i:])...)
			}
		}
	}
	return out
}

// attachment reports whether a command line reads a text that a person attached:
// agents keep those in hidden directories of their own. What lies in the repository,
// whatever its directories are called, was attached by nobody.
func attachment(line, root string) bool {
	for _, s := range splitShell(line) {
		if !readers()[unquote(s.words[0])] {
			continue
		}
		for _, w := range s.words[1:] {
			w = unquote(w)
			if !strings.HasPrefix(w, "/") && !strings.HasPrefix(w, "~/") || root != "" && strings.HasPrefix(w, root+"/") {
				continue
			}
			if strings.Contains(w, "/.") && (strings.Contains(w, "/attachments/") || strings.Contains(path.Base(w), "pasted-text") || strings.Contains(path.Base(w), "pasted_text")) {
				return true
			}
		}
	}
	return false
}

// specified reads the sections of a specification that bind: each gives one line,
// its entries joined; and the sentences elsewhere that say what must be.
func specified(text string, t *turn, item int, later []*turn) []found {
	text = text[:min(len(text), maxSpecBytes)]
	var out []found
	add := func(line string, weight float64) {
		if len(out) < maxSpecLines && line != "" && !setAside(line, t.said.own) {
			out = append(out, found{memoir.Statement{Kind: memoir.StatementDecision, Text: line + elsewhere(t.away()), Items: []int{item}}, weight})
		}
	}
	heading, entries := "", []string(nil)
	var must []string
	flush := func() {
		if heading != "" && len(entries) > 0 {
			add(section(heading, entries), 3.6)
		}
		heading, entries = "", nil
	}
	again := spoken(later)
	fence := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fence = !fence
			continue
		}
		if fence || line == "" || line[0] == '|' || line[0] == '>' {
			continue
		}
		if name, ok := headingOf(line); ok {
			flush()
			if has(words(name), bindingHeads) {
				heading = name
			}
			continue
		}
		entry, _ := listEntry(line)
		if entry == "" {
			entry = line
		}
		entry = strings.ReplaceAll(entry, "**", "")
		if heading != "" {
			if symbols(withoutCode(entry)) < 0.2 && !reopened(entry, again) {
				entries = append(entries, entry)
			}
			continue
		}
		for _, s := range sentences(entry) {
			if norm := words(s); len(s) < 320 && anchors(s) > 0 && has(norm, phrases("must|must not|must never|may only|never|no exceptions|is not allowed")) && !has(norm, passing) && symbols(withoutCode(s)) < 0.2 {
				must = append(must, s)
			}
		}
	}
	flush()
	for _, s := range must {
		add("the user's specification: "+quote(shorten(s, 260)), 3.2)
	}
	return out
}

var bindingHeads = newPhrases("principles|principle|constraints|constraint|requirements|non-goals|non goals|out of scope|rules|ground rules|guidelines|conventions|invariants|limitations|assumptions|decisions|key decisions|design decisions|must have|must haves|security|compatibility|grundsätze|vorgaben|anforderungen|nicht-ziele|contraintes|exigences|restricciones|requisitos|约束|要求|原则|制約|要件|原則|요구사항|제약")

// headingOf reports whether a line is a heading: marked as one, or a short line
// without a full stop, as texts have that were copied from a page.
func headingOf(line string) (string, bool) {
	if strings.HasPrefix(line, "#") {
		return strings.TrimSpace(strings.TrimLeft(line, "#")), true
	}
	if bold, ok := strings.CutPrefix(line, "**"); ok && strings.HasSuffix(strings.TrimRight(bold, ":"), "**") {
		return strings.Trim(bold, "*: "), true
	}
	if len(line) > 60 || strings.ContainsAny(line, "`{}=;,") || strings.HasPrefix(line, "-") || strings.HasPrefix(line, "*") || strings.HasPrefix(line, "//") {
		return "", false
	}
	name := strings.TrimRight(line, ":")
	if n := len(strings.Fields(name)); n > 6 || n == 0 || strings.ContainsAny(name[len(name)-1:], ".!?") || !hasLetter(name) {
		return "", false
	}
	return name, strings.HasSuffix(line, ":") || capital(name) == name && len(strings.Fields(name)) <= 6
}

// section joins the entries below a heading to one line, of each its first sentence.
func section(heading string, entries []string) string {
	line := "the user's specification, " + strings.TrimSpace(strings.Trim(heading, "*#: ")) + ":"
	for k, e := range entries {
		all := sentences(e)
		if len(all) == 0 {
			continue
		}
		first := withoutAside(all[0])
		if len(strings.Fields(first)) < 5 && len(all) > 1 {
			first += " " + all[1]
		}
		first = strings.TrimRight(shorten(first, 130), ".;, ")
		if len(line)+len(first)+2 > specLineBytes {
			break
		}
		if k > 0 {
			line += ";"
		}
		line += " " + first
	}
	return line
}

// withoutAside takes what stands in parentheses out of a sentence.
func withoutAside(s string) string {
	for {
		from := strings.Index(s, " (")
		if from < 0 {
			return s
		}
		to := strings.IndexByte(s[from:], ')')
		if to < 0 {
			return s[:from]
		}
		s = s[:from] + s[from+to+1:]
	}
}

// reopened reports whether the person spoke of an entry again in later words of
// their own: then those count.
func reopened(entry string, again []map[string]bool) bool {
	tokens := contentWords(withoutAside(firstSentence(entry)))
	if len(tokens) == 0 || len(tokens) > 3 {
		return false
	}
	return slices.ContainsFunc(again, func(said map[string]bool) bool {
		for w := range tokens {
			if !said[w] {
				return false
			}
		}
		return true
	})
}

// spoken are the words of each sentence that a person said themselves.
func spoken(turns []*turn) []map[string]bool {
	var out []map[string]bool
	for _, t := range turns[:min(len(turns), laterTurns)] {
		if t.said.document {
			continue
		}
		for _, s := range t.said.own {
			out = append(out, contentWords(s))
		}
	}
	return out
}

func firstSentence(s string) string {
	if all := sentences(s); len(all) > 0 {
		return all[0]
	}
	return s
}

// setAside reports whether the person's own words go against a line of the
// specification: "unlike what it says, publish at once".
func setAside(line string, own []string) bool {
	tokens := contentWords(line)
	for _, s := range own {
		norm := words(s)
		if !has(norm, phrases("unlike|except|instead|ignore|but|not|don't|other than|apart from|contrary|anders|außer|sauf|excepto|кроме")) {
			continue
		}
		shared := 0
		for w := range contentWords(s) {
			for o := range tokens {
				if w == o && !commonWords()[w] {
					shared++
				}
			}
		}
		if shared > 0 && len(line) < 200 {
			return true
		}
	}
	return false
}
