package extract

import (
	"slices"
	"strings"

	"memoir"
)

// uncommitted lists the files of the repository that were changed after the
// session's last commit: a later one finds them so, or finds that a person
// committed them.
func uncommitted(r *reading, posts []*posting) (found, bool) {
	git, last := r.git, 0
	for _, run := range r.runs {
		for _, s := range run.whole {
			if unquote(s.words[0]) != "git" {
				continue
			}
			git = true
			if !run.failed && slices.ContainsFunc(s.words, func(w string) bool {
				return settling[w]
			}) {
				last = run.item
			}
		}
	}
	if !git {
		return found{}, false
	}
	for _, p := range posts { // a pull request has what it is of, however it was made
		if p.kind == postPull || p.kind == postCommit {
			last = max(last, p.item)
		}
	}
	const most = 4
	var files []string
	var items []int
	seen := map[string]bool{}
	for _, e := range slices.Backward(r.edits) {
		if e.item > last && !strings.HasPrefix(e.path, "/") && !strings.HasPrefix(e.path, "~") && !strings.HasPrefix(e.path, "..") && !seen[e.path] && !r.revisions.undone(e.path) {
			seen[e.path] = true
			files, items = append(files, code(e.path)), append(items, e.item)
		}
	}
	if len(files) == 0 {
		return found{}, false
	}
	others := ""
	if len(files) > most {
		files, items, others = files[:most], items[:most], " and other files"
	}
	slices.Reverse(files)
	slices.Reverse(items)
	text := "Not committed in the session: changes of " + strings.Join(files, ", ") + others
	return found{memoir.Statement{Kind: memoir.StatementOutcome, Text: text, Items: items}, 2}, true
}

// settling are the subcommands of git after which changes are no longer open: they
// are in a commit, which a push and a tag presuppose, or gone.
var settling = map[string]bool{"commit": true, "push": true, "tag": true, "merge": true, "reset": true, "checkout": true, "stash": true, "restore": true}
