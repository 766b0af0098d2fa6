package consolidate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

const citing = `\[[A-Za-z0-9][\w.-]* \d{4}-\d{2}-\d{2}(?:, (?:[A-Za-z0-9][\w.-]* \d{4}-\d{2}-\d{2}|\+\d+))*\]`

// Brackets with the form of citations. Only the ids show whether one is a citation: people also write
// [release 2026-12-01].
var (
	brackets    = lazyregexp.New(citing)
	lastBracket = lazyregexp.New(` *` + citing + `\.?$`)
)

func idsIn(line string) []string {
	var out []string
	for _, bracket := range brackets.FindAllString(line, -1) {
		for part := range strings.SplitSeq(strings.Trim(bracket, "[]"), ", ") {
			if id, _, ok := strings.Cut(part, " "); ok {
				out = append(out, id)
			}
		}
	}
	return out
}

// uncitable rewrites what has the form of a citation in a text from elsewhere: no memory with it would be valid.
func uncitable(text string) string {
	return brackets.ReplaceAllStringFunc(text, func(bracket string) string {
		if slices.ContainsFunc(idsIn(bracket), memoir.IsCitedID) {
			return "(" + strings.Trim(bracket, "[]") + ")"
		}
		return bracket
	})
}

// Uncited removes the citation at the end of a line and surplus space.
func Uncited(line string) string { return strings.Join(strings.Fields(memoir.BlockKey(line)), " ") }

// lineKey is the key of a line in memoir.Consolidation.Citations.
func lineKey(line string) string {
	sum := sha256.Sum256([]byte(Uncited(line)))
	return hex.EncodeToString(sum[:12])
}

// Words returns a line of MEMORY.md without its list mark and its citation.
func Words(line string) string { return withoutMark(Uncited(line)) }

// Cited lists the sessions that a line of MEMORY.md cites: by key if lists, the Citations of
// memoir.Consolidation, has the line, else by the beginnings of their ids.
func Cited(line string, lists map[string][]string) []string {
	var keys []string
	for _, one := range lists[lineKey(line)] {
		key, _, _ := strings.Cut(one, " ")
		keys = append(keys, key)
	}
	if len(keys) > 0 {
		return keys
	}
	return slices.DeleteFunc(idsIn(lastBracket.FindString(line)), func(id string) bool { return !memoir.IsCitedID(id) })
}

// Cites reports whether a reference of Cited is to the session with a key.
func Cites(ref, key string) bool {
	t := threads{}
	t.add(key)
	return ref == key || t.key(ref) == key
}

// withoutBracket removes a bracket with the form of a citation from the end of a line.
func withoutBracket(line string) string {
	return strings.TrimRight(lastBracket.ReplaceAllString(strings.TrimRight(line, " \t\r\n"), ""), " ")
}

type entry struct{ key, short, date string }

// newestFirst converts sessions, oldest first, to entries, newest first.
func newestFirst(sessions []*session) (out []entry) {
	for _, s := range slices.Backward(sessions) {
		out = append(out, entry{s.SessionKey, s.short, s.date})
	}
	return out
}

// cited adds the citation of sessions, newest first, to a line: the newest one and the number of others. It adds
// all of them to lists.
func cited(text string, entries []entry, lists map[string][]string) string {
	return withCitation(memoir.WithoutTeam(text)+fromTeam(entries), entries, lists)
}

func withCitation(text string, entries []entry, lists map[string][]string) string {
	line := text + " [" + entries[0].short + " " + entries[0].date
	if more := countOf(entries) - 1; more > 0 {
		line += fmt.Sprintf(", +%d", more)
	}
	if len(entries) > 1 {
		lists[lineKey(line+"]")] = memoir.Map(entries, func(e entry) string { return e.key + " " + e.date })
	}
	return line + "]"
}

// countOf counts sessions.
func countOf(entries []entry) int {
	return len(distinct(memoir.Map(entries, func(e entry) string { return memoir.CountedAs(e.key) })))
}

// fromTeam marks a line that rests on other members' sessions alone.
func fromTeam(entries []entry) string {
	var members []string
	for _, e := range entries {
		member := memoir.MemberOf(e.key)
		if member == "" {
			return ""
		}
		members = append(members, member)
	}
	return memoir.FromTeam(distinct(members))
}

// A register has the sessions that may be cited and those that may not.
type register struct {
	inputs, gone threads
	keys         map[string]bool // of the inputs
}

// threads has the keys of sessions by the beginning of their ids.
type threads map[string][]string

func byKey(sessions []*session) map[string]*session {
	return memoir.MapOf(sessions, func(s *session) (string, *session) { return s.SessionKey, s })
}

func (in Input) register() register {
	gone := memoir.Set(in.Withdrawn)
	r := register{threads{}, threads{}, map[string]bool{}}
	extracted := memoir.Map(in.Extractions, func(e memoir.Extraction) string { return e.SessionKey })
	for _, key := range slices.Concat(in.Known, extracted) {
		if !gone[key] && !r.keys[key] {
			r.keys[key] = true
			r.inputs.add(key)
		}
	}
	for _, key := range in.Withdrawn {
		r.gone.add(key)
	}
	for _, e := range in.baseSessions() { // also if a part of one was withdrawn
		r.keys[e.SessionKey] = true
		r.inputs.add(e.SessionKey)
	}
	if in.Base != nil {
		for _, e := range in.Base.Gone {
			if !r.keys[e.SessionKey] {
				r.gone.add(e.SessionKey)
			}
		}
	}
	return r
}

func (t threads) add(key string) {
	source, id := memoir.SplitKey(key)
	id = citable(id)
	for _, id := range []string{id, string(source) + "-" + id} {
		at := id[:min(shortLen, len(id))]
		t[at] = append(t[at], key)
	}
}

// key returns the key of the session with a short id, or empty.
func (t threads) key(short string) string {
	for _, key := range t[short[:min(shortLen, len(short))]] {
		source, id := memoir.SplitKey(key)
		id = citable(id)
		if len(short) >= min(shortLen, len(id)) && strings.HasPrefix(id, short) || short == string(source)+"-"+id {
			return key
		}
	}
	return ""
}

// cited reports whether a short id belongs to a session that is an input.
func (r register) cited(short string) bool { return r.inputs.key(short) != "" }

// withdrawn reports whether a short id belongs only to withdrawn sessions.
func (r register) withdrawn(short string) bool { return !r.cited(short) && r.gone.key(short) != "" }

// names returns the withdrawn thread id that a text contains, if any.
func (r register) names(text string) string {
	found := ""
	for _, keys := range r.gone {
		for _, key := range keys {
			_, id := memoir.SplitKey(key)
			if len(id) >= shortLen && (found == "" || id < found) && strings.Contains(text, id) &&
				strings.Contains(r.without(text, id), id) {
				found = id
			}
		}
	}
	return found
}

// without removes from a text the longer ids of inputs that an id is a part of: a member's session may have one at a
// hub and one in a repository, and one of a person's other machine gets a number.
func (r register) without(text, id string) string {
	for _, keys := range r.inputs {
		for _, key := range keys {
			if _, longer := memoir.SplitKey(key); len(longer) > len(id) && strings.Contains(longer, id) {
				text = strings.ReplaceAll(text, longer, "")
			}
		}
	}
	return text
}

// live removes the citations of withdrawn sessions from a line that a person wrote. It returns false if the line
// must be removed, because it cites only such sessions or has the full id of one, or an agent wrote it from one:
// forgetting takes precedence over a hand edit.
func (r register) live(line string) (string, bool) {
	if len(r.gone) == 0 {
		return line, true
	}
	if r.names(line) != "" {
		return "", false
	}
	gone, left := false, false
	out := brackets.ReplaceAllStringFunc(line, func(bracket string) string {
		var kept []string
		dropped := false
		for part := range strings.SplitSeq(strings.Trim(bracket, "[]"), ", ") {
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
	return body + line[len(strings.TrimRight(line, "\r\n")):], left && !isClaim(line)
}
