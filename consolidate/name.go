package consolidate

import (
	"cmp"
	"slices"
	"strings"

	"memoir"
)

// shortLen is how many characters of a thread id a citation carries at least.
const shortLen = 8

// summaryDir is where the summaries of sessions lie, relative to the root.
const summaryDir = "rollout_summaries/"

// ShortIDs returns for each session key the first 8 characters of its thread id,
// longer until it is unique among the extractions. Threads of different agents
// with the same id keep the whole id, with the agent in front.
func ShortIDs(extractions []memoir.Extraction) map[string]string {
	type thread struct{ key, id string }
	threads := make([]thread, 0, len(extractions))
	for _, e := range extractions {
		_, id := memoir.SplitKey(e.SessionKey)
		threads = append(threads, thread{e.SessionKey, citable(id)})
	}
	slices.SortFunc(threads, func(a, b thread) int {
		return cmp.Or(strings.Compare(a.id, b.id), strings.Compare(a.key, b.key))
	})
	threads = slices.Compact(threads)
	out := make(map[string]string, len(threads))
	for i, t := range threads {
		n := min(shortLen, len(t.id))
		twin := false
		for _, j := range []int{i - 1, i + 1} {
			if j < 0 || j >= len(threads) {
				continue
			}
			same := commonPrefix(t.id, threads[j].id)
			twin = twin || same == len(t.id) && same == len(threads[j].id)
			n = max(n, min(same+1, len(t.id)))
		}
		out[t.key] = t.id[:n]
		if twin {
			source, _ := memoir.SplitKey(t.key)
			out[t.key] = string(source) + "-" + t.id
		}
	}
	return out
}

// citable replaces what cannot stand in a citation or file name.
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

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// SummaryFileName names the file of a session's summary, relative to the root:
// rollout_summaries/<YYYY-MM-DD>-<slug>-<short id>.md. The date is the day on
// which the session ended, in UTC.
func SummaryFileName(e memoir.Extraction, short string) string {
	slug := slugOf(e.RolloutSlug)
	if slug == "" {
		slug = "session"
	}
	return summaryDir + day(e) + "-" + slug + "-" + citable(short) + ".md"
}

// slugOf reduces a text to [a-z0-9-], at most 60 bytes.
func slugOf(text string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(text) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(r)
		} else {
			dash = true
		}
	}
	s := b.String()
	return strings.Trim(s[:min(len(s), 60)], "-")
}

func day(e memoir.Extraction) string {
	at := e.EndedAt
	if at.IsZero() {
		at = e.StartedAt
	}
	return at.UTC().Format("2006-01-02")
}

// SlugIn is the slug in the name that SummaryFileName gave the summary of a session,
// without its folder; empty if it is no such name.
func SlugIn(name, sessionKey string) string {
	const date = len("2006-01-02-")
	name = strings.TrimSuffix(name, ".md")
	if len(name) < date {
		return ""
	}
	name = name[date:]
	source, id := memoir.SplitKey(sessionKey)
	id = citable(id)
	for at := range len(name) {
		short := name[at+1:]
		begins := len(short) >= min(shortLen, len(id)) && strings.HasPrefix(id, short)
		if name[at] == '-' && (begins || short == string(source)+"-"+id) {
			return name[:at]
		}
	}
	return ""
}
