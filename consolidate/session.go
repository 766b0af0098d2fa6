package consolidate

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"memoir"
)

// A session is an extraction with its citation and statements.
type session struct {
	memoir.Extraction
	short      string // id in citations
	date       string
	rank       int // position among the sessions, oldest first
	statements []memoir.Statement
	support    *support // nil until it is used
}

func (s *session) cite() string { return s.short + " " + s.date }

// asked returns the title of a session, else its first task.
func (s *session) asked() string {
	if t := oneLine(s.Title); t != "" {
		return t
	}
	for _, st := range s.statements {
		if st.Kind == memoir.StatementTask {
			return cut(st.Text, 100)
		}
	}
	return "a session"
}

// unsure reports whether a session is an unconfirmed entry, which cannot support a line.
func (s *session) unsure() bool { return Unsure(s.Extraction) }

// Unsure reports whether an extraction is an entry that MEMORY.md does not count: unconfirmed, replaced, or said by the
// project's own files.
func Unsure(e memoir.Extraction) bool {
	return memoir.IsEntry(e.SessionKey) && !slices.ContainsFunc(e.Statements, func(st memoir.Statement) bool {
		return st.Kind != memoir.StatementClaim && inMemory(st)
	})
}

// inMemory reports whether a statement may stand in MEMORY.md: the raw memory has the others.
func inMemory(st memoir.Statement) bool {
	overturned := st.Kind == memoir.StatementRefuted && (st.Outcome != "" || st.Signal == memoir.SignalMaybe)
	said := st.Stands != "" && st.Kind != memoir.StatementCommand // an example in commands stands for others
	return st.Text != "" && !overturned && !said
}

// arrange sorts the extractions, oldest first. Empty ones are left out.
func arrange(extractions []memoir.Extraction) []*session {
	short := ShortIDs(extractions)
	var out []*session
	for _, e := range extractions {
		if e.Empty() {
			continue
		}
		s := &session{Extraction: e, short: short[e.SessionKey], date: day(e)}
		for _, st := range e.Statements {
			for _, text := range []*string{&st.Text, &st.Command, &st.Outcome, &st.Detail} {
				*text = uncitable(*text)
			}
			if st.Text = oneLine(st.Text); inMemory(st) {
				s.statements = append(s.statements, st)
			}
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *session) int {
		return cmp.Or(a.EndedAt.Compare(b.EndedAt), strings.Compare(a.SessionKey, b.SessionKey))
	})
	out = slices.CompactFunc(out, func(a, b *session) bool { return a.SessionKey == b.SessionKey })
	for i, s := range out {
		s.rank = i
	}
	return out
}

// cut shortens a line to limit bytes at a word, outside code spans.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head := memoir.CutBytes(text, limit-len("…"), "")
	if space := strings.LastIndexByte(head, ' '); space > limit/2 {
		head = head[:space]
	}
	if strings.Count(head, "`")%2 == 1 {
		head = head[:strings.LastIndexByte(head, '`')]
	}
	head = strings.TrimRight(head, " ,;:([") + "…"
	if strings.Count(head, "“") > strings.Count(head, "”") {
		head += "”"
	}
	return head
}

// shortLen is the least number of characters of a thread id in a citation.
const shortLen = 8

// summaryDir is the folder of the sessions' summaries, relative to the root.
const summaryDir = "rollout_summaries/"

// ShortIDs returns for each session key the shortID of its thread id, longer if it is not unique among the
// extractions. Threads of different agents with the same id get the agent's name and the whole id.
func ShortIDs(extractions []memoir.Extraction) map[string]string {
	out := map[string]string{}
	left := map[string]string{} // whole ids
	for _, e := range extractions {
		_, id := memoir.SplitKey(e.SessionKey)
		left[e.SessionKey] = citable(id)
	}
	for n := shortLen; len(left) > 0; n++ {
		same := map[string]int{}
		for key, id := range left {
			same[shortID(key, id, n)]++
		}
		for key, id := range left {
			switch short := shortID(key, id, n); {
			case same[short] == 1:
				out[key] = short
			case n > len(id):
				source, _ := memoir.SplitKey(key)
				out[key] = string(source) + "-" + id
			default:
				continue
			}
			delete(left, key)
		}
	}
	return out
}

// Citation returns the citation of a session, whose id is as long as among other sessions.
func Citation(session memoir.Session, others []memoir.Session) string {
	all := []memoir.Extraction{{SessionKey: session.Key()}}
	for _, s := range others {
		if s.Key() != session.Key() {
			all = append(all, memoir.Extraction{SessionKey: s.Key()})
		}
	}
	return "[" + ShortIDs(all)[session.Key()] + " " + session.UpdatedAt.UTC().Format(time.DateOnly) + "]"
}

// shortID returns the first n characters of a thread id, n being shortLen or more. A conversation's id is its name
// and the time at which it began: all are added but the fraction of a second. A member's name is added to its session.
func shortID(key, id string, n int) string {
	switch source, _ := memoir.SplitKey(key); source {
	case memoir.SourceConversation:
		n += max(0, len(id)-len(".000000")-shortLen)
	case memoir.SourceTeam:
		n += len(memoir.MemberOf(key)) + len("-")
	}
	return id[:min(n, len(id))]
}

// citable replaces characters that are not legal in a citation or file name.
func citable(id string) string {
	id = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, id)
	if id = strings.TrimLeft(id, ".-"); id == "" {
		return "session"
	}
	return id
}

// SummaryFileName returns the name of the file of a session's summary, relative to the root:
// rollout_summaries/<YYYY-MM-DD>-<slug>-<short id>.md. The date is the UTC day on which the session ended. An id
// longer than a UUID is replaced by a hash, since file names have a maximum length.
func SummaryFileName(e memoir.Extraction, short string) string {
	if len(short) > len("019f6782-0000-7000-8000-000000000000") {
		short = fmt.Sprintf("%.8x", sha256.Sum256([]byte(e.SessionKey)))
	}
	slug := e.RolloutSlug
	if !memoir.LegalSkill(slug) { // the same form
		slug = "session"
	}
	return summaryDir + day(e) + "-" + slug + "-" + citable(short) + ".md"
}

func day(e memoir.Extraction) string {
	at := e.EndedAt
	if at.IsZero() {
		at = e.StartedAt
	}
	return at.UTC().Format("2006-01-02")
}
