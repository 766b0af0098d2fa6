package extract

import (
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/internal/lazyregexp"
)

// answered matches a pair of question and answer, as agents record it.
var answered = lazyregexp.New(`"([^"]+)"="([^"]+)"`)

// chosen is the signal of a person's choices: a question about the design, the option that the person chose and those
// that they did not. Of several answers to a question, or against an option, the last one counts.
func chosen(s *session) []candidate {
	var out []candidate
	for _, t := range s.turns {
		if t.ask.origin != memoir.OriginAnswer || t.before == nil {
			continue
		}
		answers := map[string]string{}
		for _, m := range answered.FindAllStringSubmatch(straight.Replace(clean(t.before.Output)), -1) {
			answers[m[1]] = m[2]
		}
		for _, q := range gjson.Get(t.before.Input, "questions").Array() {
			question := straight.Replace(clean(q.Get("question").Str))
			answer, _, _ := strings.Cut(answers[question], " (Recommended)")
			if answer == "" || len(question)+len(answer) > 2*maxRule || hasAny(lowerWords(question), nextSteps...) ||
				!strings.Contains(straight.Replace(t.ask.text), answer) {
				continue
			}
			var others []string
			for _, option := range q.Get("options.#.label").Array() {
				label, _, _ := strings.Cut(clean(option.Str), " (Recommended)")
				if label != "" && !strings.Contains(answer, label) && len(label) <= maxOption {
					others = append(others, quoteTitle(label))
				}
			}
			if len(others) == 0 {
				continue
			}
			text := "chose " + quote(answer) + " for " + quoteTitle(question) + ", not " + strings.Join(others, " or ")
			c := state(signalChosen, memoir.StatementDecision, text, t.before.N, t.ask.item)
			c.Quote = answer
			out = append(slices.DeleteFunc(out, func(earlier candidate) bool {
				return slices.ContainsFunc(append(others, quoteTitle(question)), func(w string) bool {
					w, _, _ = strings.Cut(w, " (")
					return strings.Contains(w, " ") && strings.Contains(earlier.Text, w)
				})
			}), c)
		}
	}
	return out
}

// maxOption bounds, in bytes, the options that are shown.
const maxOption = 80

// nextSteps are words of questions about the course of the work.
var nextSteps = []string{"next", "first", "now", "proceed", "continue", "ready", "commit", "branch", "start"}

// refused is the signal of a refused call after which another one for the same job was accepted, with the person's
// words. What was accepted is not told: the agent chose it.
func refused(s *session) []candidate {
	var out []candidate
	for _, t := range s.turns {
		if text, ok := instead(t); ok {
			words := wholeSentences(t.ask.own, maxRule)
			c := state(SignalRefused, memoir.StatementDecision, refusedText+text+": "+quote(words), t.before.N, t.ask.item)
			c.Quote = words
			out = append(out, c)
		}
	}
	return out
}

const refusedText = "refused "

// Refused returns the command of a refused call, in code marks. It is empty for other statements.
func Refused(st memoir.Statement) string {
	text, ok := strings.CutPrefix(st.Text, refusedText)
	was, _, _ := strings.Cut(text, ": “")
	if !ok || st.Signal != SignalRefused || strings.Contains(was, "` in `") { // a line of a file
		return ""
	}
	return was
}

// instead returns what was refused before a turn if its first call was accepted: another command for the same job, or
// an edit of the same file of which one line differs, if the person's words say more than that line.
func instead(t *turn) (text string, ok bool) {
	words := wholeSentences(t.ask.own, maxRule)
	if t.ask.origin != memoir.OriginRejection || t.before == nil || t.next == nil || t.next.Failed || words == "" ||
		strings.Contains(words, "?") || begins(t.next.Output, refusals) {
		return "", false
	}
	if !t.before.Shell() || !t.next.Shell() {
		return otherLine(t, memoir.WordsOf(words))
	}
	a, b := runsOf(t.before.Input), runsOf(t.next.Input)
	if len(a) == 0 || len(b) == 0 || !a[0].likens(b[0]) || a[0].text == b[0].text ||
		len(a[0].text) > maxCommand || len(b[0].text) > maxCommand {
		return "", false
	}
	return code(a[0].text), true
}

// likens reports whether a command does the same job as another one of its program: by its purpose, else by the
// subcommand, target or script.
func (r *run) likens(other *run) bool {
	purpose, _ := r.purpose()
	also, _ := other.purpose()
	a, b, n := r.operands(), other.operands(), 2 // such as "pr create"
	if r.program == "git" {
		n = 1
	}
	return r.program == other.program && purpose == also && (purpose != "" && purpose != forRun ||
		slices.Equal(a[:min(n, len(a))], b[:min(n, len(b))]))
}

// otherLine returns the one line of a refused edit that differs in the edit after it, which has one of the words that
// were asked for there and that the refused line lacks.
func otherLine(t *turn, asked memoir.Words) (text string, ok bool) {
	was, edited := EditOf(t.before)
	is, again := EditOf(t.next)
	if !edited || !again {
		return "", false
	}
	old, fresh := strings.Split(was, "\n"), strings.Split(is, "\n")
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(was, addFile), updateFile), "\n")
	gone, came := without(old, fresh), without(fresh, old)
	if !slices.Contains(fresh, old[0]) || len(gone) != 1 || len(came) != 1 || len(gone[0])+len(came[0]) > 2*maxCommand {
		return "", false
	}
	if line := memoir.WordsOf(came[0]); less(line, memoir.WordsOf(gone[0])).Shared(asked) == 0 || within(asked, line) {
		return "", false
	}
	return code(strings.TrimLeft(gone[0], "+- ")) + " in " + code(path.Base(name)), true
}
