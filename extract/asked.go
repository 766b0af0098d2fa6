package extract

import (
	"math"
	"slices"
	"strings"

	"memoir"
)

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

// requests returns the requests of the session, in order.
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

// asked is the signal of requests with their results: a pull request or a commit. Requests
// without a result are left out, since the next message may have undone the work.
func asked(s *session) []candidate {
	var out []candidate
	all := s.requests()
	for i, r := range all {
		until := math.MaxInt
		if i+1 < len(all) {
			until = all[i+1].item
		}
		if came, item := s.became(r.item, until); came != "" && !vague(r.text) {
			c := state(signalAsked, memoir.StatementTask, r.text+" → "+came, r.item, item)
			c.Outcome = came
			out = append(out, c)
		}
	}
	return out
}

// vague reports whether a request does not name its task: a question, or words that fit any
// task. Its result is kept as an outcome.
func vague(request string) bool {
	if strings.HasSuffix(request, "?") || strings.Contains(request, "REDACTED") {
		return true
	}
	for _, w := range memoir.WordsOf(request) {
		w = strings.TrimPrefix(w, "!")
		if len(w) > 3 && !slices.Contains(anyWork, w) && !strings.ContainsAny(w, "/0123456789") {
			return false
		}
	}
	return true
}

// anyWork are words of four letters and more that fit any task.
var anyWork = memoir.WordsOf("address addressed feedback failing fails check checks make pull request comment " +
	"comments commit push review reply discussion issue this that these them then there work please continue finish " +
	"separate next with what want need just changes open create")

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
		startsAny(lowerWords(own[0]), "don't", "do not", "yes", "yeah", "yep", "continue", "go on") {
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

// became returns the last pull request, else the last commit, of the items in [from, until), with its item.
func (s *session) became(from, until int) (string, int) {
	var commit, pull *post
	for i := range s.posts {
		p := &s.posts[i]
		if p.item < from || p.item >= until || p.void || p.kind == postCommit && housekeeping(p.title) {
			continue
		}
		if p.kind == postCommit {
			commit = p
		} else if p.kind == postPull {
			pull = p
		}
	}
	switch {
	case pull != nil:
		return pull.name() + ": " + pull.shown(), pull.item
	case commit != nil:
		return "committed: " + commit.shown(), commit.item
	}
	return "", 0
}
