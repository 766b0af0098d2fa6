package extract

import (
	"path"
	"strings"

	"memoir"
)

// How the results of calls begin that a person refused or stopped, in lower case.
var refusedResults = []string{
	"the user doesn't want to", "permission for this tool use was denied", "the agent proposed a plan that was rejected by the user", "user rejected", "user denied",
	"user declined", "user cancelled", "user canceled", "the user rejected", "the user denied", "the user declined", "the user cancelled", "rejected by user",
	"rejected by the user", "denied by user", "denied by the user", "declined by user", "cancelled by user", "cancelled by the user", "exec command rejected by user",
	"patch rejected by user", "operation cancelled by user", "plan rejected", "tool call rejected", "tool use rejected",
}

// refusedCall names what a call was about to do, if a person refused it; else it
// is empty. The first words of the result tell.
func refusedCall(it *memoir.Item, root string) string {
	head := strings.ToLower(strings.TrimLeft(it.Output[:min(len(it.Output), 120)], " \t\n\"'([<"))
	head = strings.TrimPrefix(head, "error: ")
	refused := false
	for _, start := range refusedResults {
		refused = refused || strings.HasPrefix(head, start)
	}
	if !refused {
		return ""
	}
	if it.Shell() {
		line, _, _ := strings.Cut(strings.TrimSpace(clean(it.Input)), "\n")
		return "the command " + code(shorten(line, 80))
	}
	for _, p := range patched(it.Input) {
		return "an edit of " + code(path.Base(p))
	}
	p := argument(it.Input)
	switch {
	case p != "" && writes(strings.ToLower(it.Tool)):
		return "an edit of " + code(path.Base(locate(p, it.CWD, root))) + offeredLine(it)
	case strings.Contains(strings.ToLower(it.Tool), "plan"):
		return "a plan"
	}
	return "a call"
}

// offeredLine tells the one line that a refused edit would have put in; empty if
// there were more.
func offeredLine(it *memoir.Item) string {
	var l revisions
	for _, c := range changesOf(it.Input) {
		if c.before == "" {
			return ""
		}
		l.note(1, c.path, c.before, c.after)
	}
	if len(l.list) != 1 || l.list[0].added != 1 {
		return ""
	}
	if line := l.putIn(1, 1); line != "" {
		return " that put in " + line
	}
	return ""
}
