package rollout

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"memoir"
	"memoir/internal/lazyregexp"
)

// OpenCode reads the sessions of OpenCode: those in its database (see
// opencode_db.go), those in the tree of files that came before it (see
// opencode_tree.go), and those that `opencode export` writes as one document. All
// give the same records: {"info":{…}} of the session, then {"info":{…},
// "parts":[…]} of each message; a message of very many parts is several of those.
type OpenCode struct{}

var _ Agent = OpenCode{}

// Source is memoir.SourceOpenCode.
func (OpenCode) Source() memoir.Source { return memoir.SourceOpenCode }

// Roots are the databases and the tree below $XDG_DATA_HOME/opencode
// (~/.local/share/opencode), and the database that $OPENCODE_DB names. Channels
// other than the released one have databases of their own beside it.
func (OpenCode) Roots(env Env) []Root {
	data := env.home(".local", "share", "opencode")
	if set := env.get("XDG_DATA_HOME"); set != "" {
		data = filepath.Join(set, "opencode")
	}
	if data == "" {
		return nil
	}
	databases := []string{filepath.Join(data, "opencode.db")}
	if set := env.get("OPENCODE_DB"); set != "" && set != ":memory:" {
		if !filepath.IsAbs(set) {
			set = filepath.Join(data, set)
		}
		databases = append(databases, set)
	}
	for _, d := range dirEntries(data) {
		if name := d.Name(); strings.HasPrefix(name, "opencode-") && strings.HasSuffix(name, ".db") {
			databases = append(databases, filepath.Join(data, name))
		}
	}
	var roots []Root
	seen := map[string]bool{}
	for _, path := range databases {
		if !seen[path] {
			seen[path] = true
			roots = append(roots, Root{path, func(string) bool { return false }})
		}
	}
	return append(roots, Root{filepath.Join(data, "storage", "session"), isSessionName})
}

// dirEntries lists a directory that may not be there.
func dirEntries(dir string) []fs.DirEntry {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	return entries
}

func isSessionName(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return strings.HasPrefix(name, "ses_") && strings.HasSuffix(name, ".json")
}

// Recognises looks for what OpenCode knows of a session. What its database holds is one.
func (OpenCode) Recognises(path string, head [][]byte) bool {
	info := get(head[0], "info")
	if !strings.HasPrefix(getText(info, "id"), "ses_") && !isMember(path) || get(info, "role") != nil {
		return false
	}
	return isObject(get(info, "time")) || isString(get(info, "directory"))
}

// Head reads the session's own record; the times of messages may be later than it
// says. A record that was put together from rows or files also says when the last
// message was written, and how many bytes there are in all.
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

// opencodeTitle is a title, unless it only stands for the one to come.
func opencodeTitle(title string) string {
	if placeholderTitle.MatchString(title) {
		return ""
	}
	return title
}

// deniesQuestions reports that the agent may not ask anything: nobody is there to
// answer. `opencode run` and the GitHub action begin their sessions so.
func deniesQuestions(rules []byte) bool {
	denied := false
	elements(rules, func(rule []byte) bool {
		if getText(rule, "permission") == "question" && getText(rule, "pattern") == "*" {
			denied = getText(rule, "action") == "deny" // the last rule counts
		}
		return true
	})
	return denied
}

func laterOf(times ...time.Time) time.Time {
	var last time.Time
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// OpenCode keeps many sessions in a database, or one in a tree of files. Each still has
// one path of its own (see memoir.File), and its records come as a stream of JSON
// values, so that all else treats it like a file.

// opencodeSessions lists the sessions that a regular file stands for: those of a
// database, itself if it begins a tree, none if it is a part of what another one
// stands for. It is not ok with a file that it knows nothing of. The error says why a
// file that it does know cannot be listed.
func opencodeSessions(path string, info fs.FileInfo) (sessions []memoir.File, ok bool, err error) {
	if tree, ok := treeOf(path); ok {
		f, err := tree.look()
		if err != nil {
			err = openError(path, err)
		}
		return []memoir.File{f}, true, err
	}
	if belongsToTree(path) || isSidecar(path) {
		return nil, true, nil
	}
	if !isDatabase(path, info) {
		return nil, false, nil
	}
	return listDatabase(path)
}

// statOpenCode looks at one session again, without reading what was said in it. The
// error is fs.ErrNotExist for one that is gone.
func statOpenCode(path string) (f memoir.File, ok bool, err error) {
	if tree, ok := treeOf(path); ok {
		f, err := tree.look()
		return f, true, err
	}
	database, id, ok := splitMember(path)
	if ok {
		f, err = statMember(database, id)
	}
	return f, ok, err
}

// openOpenCode streams the records of one session: first what is known of it, then its
// messages in order.
func openOpenCode(path string) (r io.ReadCloser, ok bool, err error) {
	if tree, ok := treeOf(path); ok {
		r, err := tree.open()
		return r, true, err
	}
	database, id, ok := splitMember(path)
	if ok {
		r, err = openMember(database, id)
	}
	return r, ok, err
}
