package consolidate

import (
	"slices"
	"strings"
	"sync"

	"memoir"
	"memoir/internal/lazyregexp"
)

// titleOf names a project: owner and name of its repository if its remote says them, or
// the addresses of its pull requests, issues and discussions, all alike.
func titleOf(p memoir.Project, sessions []*session) string {
	owner, name, ok := ownerOf(p.Remote)
	switch {
	case p.Name == "" || ok && name != p.Name: // a person gave it another name
		return p.Name
	case ok:
		return owner + "/" + name
	}
	found := ""
	for _, s := range sessions {
		for _, st := range s.statements {
			if !strings.Contains(st.Text, "/"+p.Name) || elsewhere(st.Text) != "" {
				continue
			}
			for _, m := range repository.FindAllStringSubmatch(st.Text, -1) {
				switch full := m[1] + "/" + p.Name; {
				case m[2] != p.Name || full == found:
				case found != "":
					return p.Name // a fork among them
				default:
					found = full
				}
			}
		}
	}
	if found == "" {
		return p.Name
	}
	return found
}

// titleAmong is titleOf for sessions that nobody has marked for what they say of other
// repositories; it leaves them as they are.
func titleAmong(p memoir.Project, sessions []*session) string {
	marked := make([]*session, len(sessions))
	for i, s := range sessions {
		one := *s
		one.statements = slices.Clone(s.statements)
		marked[i] = &one
	}
	markAbroad(marked, p)
	return titleOf(p, marked)
}

// ownerOf splits a remote, which is HOST/OWNER/…/NAME, with or without a scheme.
func ownerOf(remote string) (owner, name string, ok bool) {
	_, rest, scheme := strings.Cut(remote, "://")
	if !scheme {
		rest = remote
	}
	rest = strings.TrimSuffix(strings.Trim(rest, "/"), ".git")
	if _, after, scp := strings.Cut(rest, "@"); scp {
		rest = strings.Replace(after, ":", "/", 1)
	}
	host, rest, _ := strings.Cut(rest, "/")
	parts := strings.Split(rest, "/")
	if !strings.Contains(host, ".") || len(parts) < 2 {
		return "", "", false
	}
	return parts[len(parts)-2], parts[len(parts)-1], true
}

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
		if len(strings.Fields(text)) < 3 || strings.HasPrefix(text, "http") || strings.Contains(text, "“") || !renamed && naming(text) {
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
	titledPull   = lazyregexp.New(`(?:PR|MR|pull request|merge request) [#!]\d+ “([^”]+)”|\[(?:PR )?[#!]\d+: ([^\]]+)\]`)
	titledCommit = lazyregexp.New("^Committed (?:`[0-9a-f]+` )?“([^”]+)”")
	// repository is one that an address or a command names with what is only there: a pull
	// request, an issue, a discussion.
	repository = lazyregexp.New(`(?:\b|/)([\w.-]+)/([\w.-]+?)(?:/-)?(?:/(?:pull|pulls|issues|discussions|merge_requests|actions)/|#\d)`)
	address    = lazyregexp.New(`https?://\S+|[\w.-]+/[\w.-]+(?:/(?:discussions|issues|pull|pulls)/\d+|#\d+)|#\d+|\b\d+\b`)
)

// changeTitle is the title of the pull request, else of the commit, of which an outcome tells.
func changeTitle(outcome string) string {
	for _, form := range []*lazyregexp.Regexp{titledPull, titledCommit} {
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
	for _, w := range tokens(address.ReplaceAllString(asked, " ")) {
		if !workWords()[w] {
			n++
		}
	}
	return n >= 2
}

var workWords = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`address feedback comment review reviewer pr prs pull request issue discussion bug bot fix make create open
		look at check take see think thought why what whats how fail failing ci build branch local change changes this here there it
		explain summarize summary continue go work working task get got help want need know let tell me plan implement following follow
		new again now next last one some any all more add update do doing deal with about s t m re ll ve not`) {
		m[w] = true
		m[stem(w)] = true
	}
	return m
})
