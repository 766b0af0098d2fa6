package consolidate

import (
	"regexp"
	"strings"
	"sync"

	"memoir"
)

// name is what a session is called in a list: what it was asked, or, where those words
// name nothing, the title of the change that it made. It needs none if the list says what
// came of it.
func (s *session) name(came string) string {
	asked := s.asked()
	if naming(asked) {
		return asked
	}
	for _, st := range s.statements {
		if st.Kind == memoir.StatementOutcome && elsewhere(st.Text) == "" {
			if title := changeTitle(st.Text); title != "" {
				return title
			}
		}
	}
	if substantial(came) {
		return ""
	}
	return asked
}

// maxAsked is how much is told of what a session was asked beyond its name.
const maxAsked = 160

// further tells what else a session was asked, in the person's words: all of it of one
// that is called by its change, else how the work was to go on.
func (s *session) further(name string) string {
	var asked []string
	renamed := s.asked() != name
	if renamed {
		asked = append(asked, s.asked())
	}
	first := true
	for _, st := range s.statements {
		if st.Kind != memoir.StatementTask {
			continue
		}
		if first {
			first = false
			continue
		}
		text := strings.TrimSpace(strings.TrimSuffix(st.Text, "(fixed in the session)"))
		if strings.HasPrefix(text, "http") || strings.Contains(text, "“") || !renamed && naming(text) {
			continue
		}
		asked = append(asked, cut(text, 70))
	}
	n, size := 0, 0
	for n < len(asked) && size+len(asked[n]) <= maxAsked {
		size += len(asked[n])
		n++
	}
	if n == 0 {
		return ""
	}
	return " (asked: “" + strings.Join(asked[:n], "”, “") + "”)"
}

var (
	titledPull = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:PR|MR|pull request|merge request) [#!]\d+ “([^”]+)”|\[(?:PR )?[#!]\d+: ([^\]]+)\]`)
	})
	titledCommit = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("^Committed (?:`[0-9a-f]+` )?“([^”]+)”")
	})
	address = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`https?://\S+|[\w.-]+/[\w.-]+(?:/(?:discussions|issues|pull|pulls)/\d+|#\d+)|#\d+|\b\d+\b`)
	})
)

// changeTitle is the title of the pull request, else of the commit, of which an outcome tells.
func changeTitle(outcome string) string {
	for _, form := range []*regexp.Regexp{titledPull(), titledCommit()} {
		if m := form.FindStringSubmatch(outcome); m != nil {
			return strings.Join(m[1:], "")
		}
	}
	return ""
}

// naming reports whether a request names what it is about, beyond what any session
// may be asked: "address the feedback", "make a pr to fix it".
func naming(asked string) bool {
	n := 0
	for _, w := range tokens(address().ReplaceAllString(asked, " ")) {
		if !requestWords[w] {
			n++
		}
	}
	return n >= 2
}

var requestWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`address feedback comment review reviewer pr prs pull request issue discussion bug bot fix make create open
		look at check take see think thought why what whats how fail failing ci build branch local change changes this here there it
		explain summarize summary continue go work working task get got help want need know let tell me plan implement following follow
		new again now next last one some any all more add update do doing deal with about s t m re ll ve not`) {
		m[w] = true
		m[stem(w)] = true
	}
	return m
}()
