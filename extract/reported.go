package extract

import (
	"fmt"
	"slices"
	"strings"

	"memoir"
)

// maxReported is how many failures that a person reported are told of a session.
const maxReported = 3

// maxMatter is how many turns go on with one matter.
const maxMatter = 20

// reported finds the errors that a person pasted, with the cause that the agent
// found and what it edited before the person said no more of it.
func reported(r *reading) []found {
	var out []found
	for i, t := range r.turns {
		if t.ask == nil || len(out) == maxReported {
			continue
		}
		line := pastedError(t.ask.Text, r.root)
		if line == "" {
			continue
		}
		// An answer, a refusal or an assent goes on with the same matter.
		turns := []*turn{t}
		for _, later := range r.turns[i+1:] {
			if len(turns) == maxMatter || !continues(later) && !grantsFault(later) {
				break
			}
			turns = append(turns, later)
		}
		from := t.ask.N
		to := 1 << 30
		if j := i + len(turns); j < len(r.turns) && r.turns[j].ask != nil {
			to = r.turns[j].ask.N
		}
		var files []string
		first := 0
		named := map[string]bool{}
		for _, e := range r.editsAfter(from) {
			if e.item >= to {
				break
			}
			if first == 0 {
				first = e.item
			}
			if name := code(baseOf(e.path)); !named[name] {
				named[name] = true
				files = append(files, name)
			}
		}
		why := r.explained(from, to, line)
		if why.text == "" && (len(files) == 0 || len(files) > 3) {
			continue
		}
		s := memoir.Statement{Kind: memoir.StatementFailure, Items: []int{from}}
		s.Text = fmt.Sprintf("the user saw: %s", line)
		if why.text != "" {
			s.Text += " — " + why.text
			s.Items = mergeItems(s.Items, []int{why.item})
		}
		switch {
		case len(files) > 3:
			s.Text += fmt.Sprintf(" — mended by editing %s and %d more", strings.Join(files[:2], ", "), len(files)-2)
		case len(files) > 0:
			s.Text += " — mended by editing " + strings.Join(files, ", ")
		}
		if first > 0 {
			s.Items = mergeItems(s.Items, []int{first})
		} else {
			s.Text += " — nothing was changed then"
		}
		out = append(out, found{s, 3.5})
	}
	return out
}

// unseen tells what lay between two runs of one command where the session shows no
// change: what the person said then, who may have mended it, or that it is not known.
func (r *reading) unseen(from, to int) (how string, items []int) {
	for _, t := range r.turns {
		if t.ask == nil || t.said.item <= from || t.said.item >= to || t.said.pasted || rules(t.said) {
			continue
		}
		if text := strings.Join(t.said.own, " "); !trivial(words(text)) && len(text) > 0 {
			return ", after the user said: " + quote(shorten(tidy(text), 120)), []int{t.said.item}
		}
	}
	return "; what had changed is not known", nil
}

func baseOf(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// pastedError is the first line of an error in what a person pasted; empty if a
// person only speaks of errors, or pasted code, a plan or a review.
func pastedError(text, root string) string {
	if len(text) > 32<<10 {
		text = text[:32<<10]
	}
	fence := 0
	for line := range strings.Lines(clean(text)) {
		raw := strings.TrimRight(line, "\r\n")
		line = trimLine(raw)
		if strings.HasPrefix(line, "```") {
			fence++
			continue
		}
		if len(line) < 12 || len(line) > 400 || strings.HasPrefix(strings.TrimSpace(raw), "#") || strings.HasPrefix(strings.TrimSpace(raw), "- ") {
			continue
		}
		switch {
		case exception(line), strings.HasPrefix(line, "--- FAIL"), strings.HasPrefix(line, "panic:"), strings.HasPrefix(line, "fatal:"), strings.HasPrefix(line, "error["),
			strings.HasPrefix(line, "Error: "), strings.HasPrefix(line, "error: "), strings.HasPrefix(line, "ERROR: "), strings.HasPrefix(line, "npm ERR!"), strings.HasPrefix(line, "npm error") && !strings.HasPrefix(line, "npm error code"),
			strings.Contains(line, "panicked at"), strings.Contains(line, "): error TS"), strings.Contains(line, ": command not found"), strings.HasPrefix(line, "Fatal error"), strings.HasPrefix(line, "PHP Fatal error"),
			strings.HasPrefix(line, "FAILED "), located(line) && !onlyName(line) && errorRank(line) >= 6 && strings.Contains(line, "error"):
			return shorten(strings.ReplaceAll(local(line, root), "`", "'"), 180)
		}
	}
	return ""
}

// grantsFault reports whether the agent soon said in a turn that it had been wrong.
func grantsFault(t *turn) bool {
	return slices.ContainsFunc(t.says[:min(len(t.says), 4)], func(s said) bool { return begins(words(s.text), concessions) })
}

var (
	discoveries = newPhrases("i see the issue|i see the problem|i see it|i see what|now i see|i found the|i found it|found it|found the|here's the issue|here is the issue|here's the problem|that's the issue|that explains")
)

// announced is what follows a sentence that only says that the cause was found:
// the next sentences, and the list that they lead to.
func announced(text string) string {
	var out []string
	open, size := false, 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "```") {
			if len(out) > 0 && !strings.HasSuffix(out[len(out)-1], ":") && !open {
				break
			}
			continue
		}
		entry, listed := listEntry(line)
		if !listed {
			entry = line
		}
		for _, s := range sentences(entry) {
			norm := words(s)
			switch {
			case !open && begins(norm, discoveries):
				open = true
				continue
			case !open || begins(norm, planStarts) || has(norm, hedges):
				if open && len(out) > 0 {
					return strings.Join(out, " ")
				}
				continue
			}
			if size += len(s); size > maxCause+100 {
				return strings.Join(out, " ")
			}
			if listed {
				s = strings.TrimRight(s, ". ") + ";"
			}
			out = append(out, s)
		}
		if listed {
			continue
		}
		if len(out) > 0 && !strings.HasSuffix(out[len(out)-1], ":") {
			break
		}
	}
	return strings.Join(out, " ")
}

// explained is the last sentence between two items in which the agent told the
// cause of an error: what it found after a first guess.
func (r *reading) explained(from, to int, line string) cause {
	about := nameWords(line)
	var best cause
	most := 1
	at, _ := slices.BinarySearchFunc(r.says, from+1, func(s said, item int) int { return s.item - item })
	for _, s := range r.says[at:] {
		if s.item >= to {
			break
		}
		if begins(words(s.text), concessions) {
			most, best = 1, cause{}
		}
		if found := announced(s.text); anchors(found) > 0 {
			most, best = 6, cause{strings.TrimRight(tidy(local(found, r.root)), ".; "), s.item}
		}
		for l := range strings.Lines(s.text) {
			if l = strings.TrimSpace(l); l == "" || strings.HasPrefix(l, "#") {
				continue
			}
			if entry, ok := listEntry(l); ok {
				l = entry
			}
			for _, sentence := range sentences(l) {
				n := diagnostic(sentence)
				if n == 0 {
					continue
				}
				if shares(about, nameWords(sentence)) {
					n++
				}
				if n >= most && n > 1 {
					most, best = n, cause{strings.TrimRight(tidy(local(sentence, r.root)), ". "), s.item}
				}
			}
		}
	}
	return best
}
