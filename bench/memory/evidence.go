package main

import (
	"encoding/json"
	"regexp"
	"strings"

	"memoir"
	"memoir/bench/memory/marks"
)

// kept counts the patch and error lines of sessions that survive fitting, of the sessions in
// which these take at most half of the budget.
type kept struct {
	Lines     int `json:"lines"`
	LinesKept int `json:"lines_kept"`
}

func (k *kept) add(items []memoir.Item, fitted string, budget int) {
	if evidenceTokens(items) > budget/2 {
		return
	}
	for _, it := range items {
		for _, line := range evidenceLines(it) {
			k.Lines++
			if strings.Contains(fitted, line) {
				k.LinesKept++
			}
		}
	}
}

// evidenceTokens is what the patches and error lines of a session take.
func evidenceTokens(items []memoir.Item) int {
	bytes := 0
	for _, it := range items {
		for _, line := range evidenceLines(it) {
			bytes += len(line)
		}
	}
	return bytes / 4
}

var (
	addedLine = regexp.MustCompile(`(?m)^\+(.+)$`)
	tellsWhy  = regexp.MustCompile(`(?i)^\W*(?:error|fatal|panic|fail|exception)\b` +
		`|\b(?:error|exception|panicked|not found|no such|denied|cannot|undefined|unknown|unexpected)\b`)
)

// evidenceLines are the lines that a patch adds, or the lines that tell why a call failed; those
// of fewer than 8 characters say nothing.
func evidenceLines(it memoir.Item) (out []string) {
	if it.Kind != memoir.ItemTool {
		return nil
	}
	var lines []string
	if it.Failed {
		for line := range strings.Lines(it.Output) {
			if len(line) <= 400 && tellsWhy.MatchString(line) {
				lines = append(lines, line)
			}
		}
	} else {
		for _, match := range addedLine.FindAllStringSubmatch(patchIn(it), -1) {
			lines = append(lines, match[1])
		}
	}
	for _, line := range lines {
		if line = marks.FoldSpace(strings.TrimSpace(line)); len(line) >= 8 {
			out = append(out, line)
		}
	}
	return out
}

// patchIn is the patch that a call carries, as a diff without the lines that stay.
func patchIn(it memoir.Item) string {
	if strings.Contains(it.Input, "*** Begin Patch") {
		return it.Input
	}
	var args struct {
		Old1    string `json:"old_string"`
		New1    string `json:"new_string"`
		Old2    string `json:"oldText"`
		New2    string `json:"newText"`
		Content string `json:"content"`
		Path    string `json:"file_path"`
		Path2   string `json:"path"`
	}
	if json.Unmarshal([]byte(it.Input), &args) != nil || args.Path+args.Path2 == "" {
		return ""
	}
	old := map[string]bool{}
	for line := range strings.SplitSeq(args.Old1+args.Old2, "\n") {
		old[line] = true
	}
	var b strings.Builder
	for line := range strings.SplitSeq(args.New1+args.New2+args.Content, "\n") {
		if !old[line] {
			b.WriteString("+" + line + "\n")
		}
	}
	return b.String()
}
