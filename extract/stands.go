package extract

import (
	"path"
	"slices"
	"strings"
)

// stands is the one veto: it reports whether what a signal found still holds at the end
// of the session. It does not where a file that it depends on was removed or restored
// later, and where a person or the agent took the words back.
func (s *session) stands(c candidate) bool {
	last := c.Items[len(c.Items)-1]
	for _, p := range c.paths {
		if s.gone[p] > last {
			return false
		}
	}
	return c.said == "" || !s.takenBack(c.said, last)
}

// retractions begin a sentence that takes back what was said before.
var retractions = []string{
	"never mind", "nevermind", "scratch that", "forget that", "forget about", "forget what",
	"on second thought", "actually no", "i changed my mind", "changed my mind", "i was wrong",
	"i misread", "that was wrong", "correction", "undo that", "revert that", "wait no",
}

// takenBack reports whether a later sentence takes back words that were said at an item.
func (s *session) takenBack(text string, item int) bool {
	if s.retracted == nil {
		s.retracted = s.retracting()
	}
	var words map[string]bool
	for _, r := range s.retracted {
		if r.item <= item {
			continue
		}
		if words == nil {
			words = contentWords(text)
		}
		if held(words, contentWords(r.text)) >= 2 {
			return true
		}
	}
	return false
}

// retracting are the sentences of the session that take something back.
func (s *session) retracting() []say {
	out := []say{}
	add := func(item int, text string) {
		if startsAny(withoutLead(lowerWords(text)), retractions...) {
			out = append(out, say{item, text})
		}
	}
	for _, t := range s.turns {
		for _, text := range t.ask.own {
			add(t.ask.item, text)
		}
		for _, says := range t.says {
			for _, p := range paragraphs(says.text) {
				for _, text := range sentences(p.text) {
					add(says.item, text)
				}
			}
		}
	}
	return out
}

// remove notes the files that a command removes or restores to their former state.
func (s *session) remove(r *run) {
	words := r.words()
	switch {
	case r.status == statusFailed || r.dynamic:
		return
	case r.program == "rm" || r.program == "mv":
		words = words[1:]
		if r.program == "mv" && len(words) > 1 {
			words = words[:len(words)-1]
		}
	case r.program == "git" && len(words) > 2 && (words[1] == "rm" || words[1] == "restore"):
		if _, staged := r.option("--staged"); staged {
			return
		}
		words = words[2:]
	case r.program == "git" && len(words) > 2 && words[1] == "checkout" && slices.Index(r.args, "--") >= 0:
		words = r.args[slices.Index(r.args, "--")+1:]
	default:
		return
	}
	for _, w := range words {
		s.gone[path.Join(r.dir, w)] = r.item
	}
}

// undo marks the commits that a git command takes back.
func (s *session) undo(r *run) {
	words := r.words()
	if len(words) < 3 {
		return
	}
	target := words[len(words)-1]
	switch words[1] {
	case "reset":
		if strings.HasPrefix(target, "HEAD~") || strings.HasPrefix(target, "HEAD^") {
			if last := s.standing(postCommit, ""); last != nil {
				last.void = true
			}
		}
	case "revert":
		for i := range s.posts {
			p := &s.posts[i]
			if p.kind == postCommit && (target == "HEAD" && p == s.standing(postCommit, "") || p.hash != "" &&
				(strings.HasPrefix(target, p.hash) || strings.HasPrefix(p.hash, target))) {
				p.void = true
			}
		}
	}
}
