package consolidate

import (
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

const citing = `\[[A-Za-z0-9][\w.-]* \d{4}-\d{2}-\d{2}(?:, (?:[A-Za-z0-9][\w.-]* \d{4}-\d{2}-\d{2}|\+\d+))*\]`

// Brackets that have the form of citations. Whether one is a citation, its ids
// tell: people write [release 2026-12-01] as well.
var (
	brackets    = lazyregexp.New(citing)
	lastBracket = lazyregexp.New(citing + `$`)
)

// cites lists the ids in the bracket at the end of a line.
func cites(line string) []string {
	line = strings.TrimRight(line, " \t\r\n.")
	if !strings.HasSuffix(line, "]") {
		return nil
	}
	return bracketIDs(lastBracket.FindString(line))
}

func bracketIDs(bracket string) []string {
	if bracket == "" {
		return nil
	}
	var out []string
	for part := range strings.SplitSeq(bracket[1:len(bracket)-1], ", ") {
		if id, _, ok := strings.Cut(part, " "); ok {
			out = append(out, id)
		}
	}
	return out
}

// uncited is a line without its citations and surrounding space; own tells which
// ids are those of sessions.
func uncited(line string, own func(id string) bool) string {
	line = strings.TrimRight(line, " \t\r\n")
	if strings.HasSuffix(line, "]") {
		bracket := lastBracket.FindString(line)
		ids := bracketIDs(bracket)
		all := len(ids) > 0
		for _, id := range ids {
			all = all && own(id)
		}
		if all {
			line = strings.TrimSuffix(line, bracket)
		}
	}
	return strings.Join(strings.Fields(line), " ")
}

var threadID = lazyregexp.New(`^(?:(?:codex|claude|pi|omp|opencode|gemini|unknown)-.+|ses_\w+|[0-9a-f]{8}[0-9a-f-]*)$`)

// looksOwn reports whether an id has the form of a session's: agents number their
// threads in hexadecimal.
func looksOwn(id string) bool { return threadID.MatchString(id) }

// A register tells the sessions that may be cited from those that may not.
type register struct{ inputs, gone []thread }

type thread struct {
	source memoir.Source
	id     string // as citations have it
	whole  string // as the agent has it
}

func (in Input) register() register {
	gone := map[string]bool{}
	for _, key := range in.Withdrawn {
		gone[key] = true
	}
	var r register
	add := func(to *[]thread, key string) {
		source, id := memoir.SplitKey(key)
		*to = append(*to, thread{source, citable(id), id})
	}
	for _, e := range in.Extractions {
		if !gone[e.SessionKey] {
			add(&r.inputs, e.SessionKey)
		}
	}
	for _, key := range in.Known {
		if !gone[key] {
			add(&r.inputs, key)
		}
	}
	for _, key := range in.Withdrawn {
		add(&r.gone, key)
	}
	return r
}

// cited reports whether a short id belongs to a session that is an input.
func (r register) cited(short string) bool { return among(r.inputs, short) }

// withdrawn reports whether a short id belongs to withdrawn sessions alone.
func (r register) withdrawn(short string) bool { return !r.cited(short) && among(r.gone, short) }

func among(threads []thread, short string) bool {
	for _, t := range threads {
		if len(short) >= min(shortLen, len(t.id)) && strings.HasPrefix(t.id, short) || short == string(t.source)+"-"+t.id {
			return true
		}
	}
	return false
}

// names returns the withdrawn thread id that a text contains, if any.
func (r register) names(text string) string {
	for _, t := range r.gone {
		if len(t.whole) >= shortLen && strings.Contains(text, t.whole) {
			return t.whole
		}
	}
	return ""
}

// live returns a line that a person wrote as it may stand: without the citations
// of withdrawn sessions. A line that rests on such sessions alone, or that names
// one in full, may not stand: forgetting beats a hand edit.
func (r register) live(line string) (string, bool) {
	if r.names(line) != "" {
		return "", false
	}
	gone, left := false, false
	out := brackets.ReplaceAllStringFunc(line, func(bracket string) string {
		var kept []string
		dropped := false
		for part := range strings.SplitSeq(bracket[1:len(bracket)-1], ", ") {
			id, _, ok := strings.Cut(part, " ")
			if ok && r.withdrawn(id) {
				dropped = true
				continue
			}
			left = left || ok && r.cited(id)
			kept = append(kept, part)
		}
		gone = gone || dropped
		switch {
		case !dropped:
			return bracket
		case len(kept) == 0 || strings.HasPrefix(kept[0], "+"):
			return ""
		}
		return "[" + strings.Join(kept, ", ") + "]"
	})
	if !gone {
		return line, true
	}
	body := strings.ReplaceAll(strings.TrimRight(out, " \t\r\n"), "  [", " [")
	return body + line[len(strings.TrimRight(line, "\r\n")):], left
}
