package rollout

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/internal/lazyregexp"
)

// OpenCode reads the sessions of OpenCode, from its database (see opencode_db.go) and from documents of
// `opencode export`. Both have the same records: {"info":{…}} of the session, then {"info":{…},"parts":[…]} of
// each message. A message with many parts has several records.
type OpenCode struct{}

func (OpenCode) Source() memoir.Source { return memoir.SourceOpenCode }

// Roots are the databases in $XDG_DATA_HOME/opencode (~/.local/share/opencode), and the one in $OPENCODE_DB.
// Each release channel has a database of its own.
func (OpenCode) Roots(env Env) []Root {
	data := env.data()
	if data == "" {
		return nil
	}
	data = filepath.Join(data, "opencode")
	databases := []string{filepath.Join(data, "opencode.db")}
	if set := env.get("OPENCODE_DB"); set != "" && set != ":memory:" {
		if !filepath.IsAbs(set) {
			set = filepath.Join(data, set)
		}
		databases = append(databases, set)
	}
	entries, _ := os.ReadDir(data) // it may not exist
	for _, d := range entries {
		if name := d.Name(); strings.HasPrefix(name, "opencode-") && strings.HasSuffix(name, ".db") {
			databases = append(databases, filepath.Join(data, name))
		}
	}
	var roots []Root
	slices.Sort(databases)
	for _, path := range slices.Compact(databases) {
		roots = append(roots, Root{path, func(string) bool { return false }})
	}
	return roots
}

// Recognises looks for the record of a session, in a database or with an id of OpenCode.
func (OpenCode) Recognises(path string, head [][]byte) bool {
	info := get(head[0], "info")
	if !strings.HasPrefix(getText(info, "id"), "ses_") && !isMember(path) || get(info, "role") != nil {
		return false
	}
	return isObject(get(info, "time")) || isString(get(info, "directory"))
}

// Head reads the session's record; messages may be later than the times in it. A record from a database also
// has the time of the last message and the number of bytes.
func (OpenCode) Head(h *Head, _ string, head, tail [][]byte) {
	info := get(head[0], "info")
	h.ID = getText(info, "id")
	h.CWD = getText(info, "directory")
	h.ParentID = getText(info, "parentID")
	h.Title = opencodeTitle(getText(info, "title"))
	h.CreatedAt = instant(get(info, "time", "created"))
	h.UpdatedAt = laterOf(instant(get(info, "time", "updated")), instant(get(head[0], "last")))
	if n, ok := integer(get(head[0], "bytes")); ok {
		h.Size = n
	}
	for _, raw := range append(head[1:len(head):len(head)], tail...) {
		m := get(raw, "info")
		h.UpdatedAt = laterOf(h.UpdatedAt, instant(get(m, "time", "created")), instant(get(m, "time", "completed")))
		if h.CWD == "" {
			h.CWD = getText(m, "path", "cwd")
		}
	}
	switch {
	case h.ParentID != "" || subagentTitle.MatchString(h.Title):
		h.Kind = memoir.KindSubagent
	case deniesQuestions(get(info, "permission")):
		h.Kind = memoir.KindAutomation
	}
}

var (
	placeholderTitle = lazyregexp.New(`^(New|Child) session - \d{4}-\d{2}-\d{2}T[0-9:.]+Z?( \(fork #\d+\))?$`)
	forkTitle        = lazyregexp.New(`\(fork #\d+\)$`)
	subagentTitle    = lazyregexp.New(`\(@[^()]+ subagent\)$`)
)

// opencodeTitle returns a title, "" for a placeholder.
func opencodeTitle(title string) string {
	if placeholderTitle.MatchString(title) {
		return ""
	}
	return title
}

// deniesQuestions reports whether the agent must not ask questions, because no person can answer: sessions of
// `opencode run` and the GitHub action begin so.
func deniesQuestions(rules []byte) bool {
	denied := false
	for rule := range elements(rules) {
		if getText(rule, "permission") == "question" && getText(rule, "pattern") == "*" {
			denied = getText(rule, "action") == "deny" // the last rule counts
		}
	}
	return denied
}

func laterOf(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }
