package extract

import (
	"fmt"
	"slices"
	"strings"

	"memoir"
)

// typedTitle is the form "type(scope): subject" that many projects give to titles.
var typedTitle = newPattern(`^(?:feat|fix|chore|docs|test|tests|refactor|perf|build|ci|style|revert)(?:\([\w./,-]+\))?!?: \S`)

// title finds the titles that a command line gives to commits and pull requests.
var titled = newPattern(`(?:git (?:-C \S+ )?commit\b[^\n]*? (?:-\w*m|--message)[ =]|gh pr (?:create|edit)\b[^\n]*? (?:-t|--title)[ =]|glab mr create\b[^\n]*? (?:-t|--title)[ =])(?:"([^"\n]+)|'([^'\n]+))`)

// subjects finds that all titles of a session have the typedTitle form, which
// takes two at least.
func subjects(r *reading) []found {
	var items []int
	var seen []string
	for _, run := range r.runs {
		if run.failed || !strings.Contains(run.line, "commit") && !strings.Contains(run.line, " pr ") && !strings.Contains(run.line, " mr ") {
			continue
		}
		for _, m := range titled.FindAllStringSubmatch(run.line, -1) {
			title := m[1] + m[2]
			if strings.ContainsAny(title, "$<") {
				continue
			}
			if !typedTitle.MatchString(title) {
				return nil
			}
			head, _, _ := strings.Cut(title, ": ")
			if len(seen) < 3 && !slices.Contains(seen, head) {
				seen = append(seen, head)
			}
			items = append(items, run.item)
		}
	}
	if len(items) < 2 {
		return nil
	}
	slices.Sort(items)
	text := fmt.Sprintf("commits and titles of pull requests follow the conventional commit format, such as `%s: …`", strings.Join(seen[:min(len(seen), 3)], ": …`, `"))
	return []found{{memoir.Statement{Kind: memoir.StatementDecision, Text: text, Items: slices.Compact(items)}, 3.5}}
}
