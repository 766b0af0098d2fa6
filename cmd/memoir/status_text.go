package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"memoir"
	"memoir/store"
)

// What status shows of long lists and texts without -v.
const (
	maxListed = 10
	maxError  = 200 // characters
	maxTitle  = 60
)

// labelled is how many columns stand before the texts of a view.
const labelled = 11

// view is a text for a terminal, or for whoever reads standard output.
type view struct {
	width   int // columns; 0: no limit
	color   bool
	verbose bool
	lines   []string
	hints   []string
}

// colors of labels, for those who look for trouble.
var colors = map[string]string{"running": "32", "stale": "33", "suspect": "33", "failed": "31", "dead": "31", "rules": "31", "unfinished": "33"}

// line adds a text with a label, wrapped to the width below the label.
func (v *view) line(label, text string) {
	lines := []string{oneLine(text)}
	if v.width > labelled+20 {
		lines = wrap(lines[0], v.width-labelled)
	}
	head := pad(label, max(labelled, utf8.RuneCountInString(label)+1))
	if code := colors[label]; code != "" && v.color {
		head = "\x1b[" + code + "m" + label + "\x1b[0m" + head[len(label):]
	}
	v.lines = append(v.lines, head+lines[0])
	for _, more := range lines[1:] {
		v.lines = append(v.lines, strings.Repeat(" ", labelled)+more)
	}
}

// hint adds something that can be done, once.
func (v *view) hint(text string) {
	if !slices.Contains(v.hints, text) {
		v.hints = append(v.hints, text)
	}
}

// each adds a line for each of n, as many as are listed.
func (v *view) each(n int, what string, line func(i int)) {
	for i := range n {
		if i == maxListed && !v.verbose && n > maxListed+1 {
			v.line("", fmt.Sprintf("… and %d more %s: -v shows all", n-i, what))
			return
		}
		line(i)
	}
}

// wrap breaks a text at blanks into lines of at most width characters.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		for utf8.RuneCountInString(word) > width {
			if line != "" {
				lines, line = append(lines, line), ""
			}
			r := []rune(word)
			lines, word = append(lines, string(r[:width])), string(r[width:])
		}
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}

// printStatus shows the state to a person.
func (p *program) printStatus(s statusJSON) {
	v := view{width: p.ui.width(), color: p.ui.outColor, verbose: p.ui.verbose}
	v.status(s)
	p.ui.put(strings.Join(v.lines, "\n") + "\n")
	for _, hint := range v.hints {
		p.ui.sayHint(hint)
	}
}

// status is the whole state, the most general first.
func (v *view) status(s statusJSON) {
	var due []string
	for _, p := range s.Projects {
		if p.Due {
			due = append(due, p.ID)
		}
	}
	projects := fmt.Sprintf("%d, %d due", len(s.Projects), len(due))
	if len(due) > 0 && v.verbose {
		projects += ": " + strings.Join(due, ", ")
	} else if len(due) > 0 {
		projects += ": " + shortened(due)
	}
	for _, l := range [][2]string{
		{"sessions", sayReasons(s.Sessions)}, {"jobs", byRule(s.Jobs)},
		{"projects", projects}, {"redacted", byRule(s.Redactions)},
	} {
		v.line(l[0], cmp.Or(l[1], "none"))
	}
	if s.Usage.Calls > 0 {
		v.line("usage", sayUsage(s.Usage))
	}
	for _, l := range s.Limits {
		amount := func(n float64) string { return fmt.Sprintf("%.0f tokens", n) }
		if strings.Contains(l.Limit, "cost") {
			amount = dollars
		}
		v.line("limit", fmt.Sprintf("%s %s: %s spent today, %s left", l.Limit, amount(l.Most), amount(l.Spent), amount(l.Left)))
	}
	v.lastRun(s)
	v.next(s)
	v.jobs(s)
	v.each(len(s.Unfinished), "unfinished", func(i int) {
		u := s.Unfinished[i]
		v.line("unfinished", strings.TrimSpace(u.What+" "+u.Project)+": "+u.Detail+" ("+u.Hint+")")
	})
	v.each(len(s.Misruled), "projects whose rules are invalid", func(i int) {
		m := s.Misruled[i]
		v.line("rules", m.Project+" waits: "+m.Error)
		v.hint(m.Hint)
	})
	v.projects(s)
}

func (v *view) lastRun(s statusJSON) {
	r := s.LastRun
	if r == nil {
		return
	}
	at := cmp.Or(r.EndedAt, r.BeganAt)
	if at == nil {
		at = &s.At
	}
	text := fmt.Sprintf("%s (%s) by %s: ", when(*at), ago(s.At, *at), r.Holder)
	switch r.Outcome {
	case "running":
		text += "under way"
	case "died":
		text += "its process died; the next run goes on"
	case "done":
		text += "done"
	default:
		text += cmp.Or(v.short(r.Reason, maxError), r.Outcome)
		if r.Outcome == "failed" {
			text = strings.Replace(text, ": ", ": failed: ", 1)
		}
	}
	if r.Left > 0 {
		text += fmt.Sprintf(", %s left", count(r.Left, "session"))
	}
	v.line("last run", text)
	if r.Hint != "" {
		v.hint(r.Hint)
	}
}

func (v *view) next(s statusJSON) {
	n := s.Next
	if n.Error != "" {
		v.line("next run", "would not begin: "+v.short(n.Error, maxError))
		if n.Hint != "" {
			v.hint(n.Hint)
		}
		return
	}
	with, consolidate := 0, 0
	for _, p := range n.Projects {
		if p.Sessions > 0 {
			with++
		}
		if p.Consolidate && !p.blocked() {
			consolidate++
		}
	}
	text := "nothing to do"
	if n.Sessions > 0 {
		text = fmt.Sprintf("would extract from %s in %s and consolidate %s", count(n.Sessions, "session"), count(with, "project"), count(consolidate, "project"))
	} else if consolidate > 0 {
		text = fmt.Sprintf("would consolidate %s", count(consolidate, "project"))
	}
	if text == "nothing to do" {
		if waiting := sayReasons(notTaken(n.Reasons)); waiting != "" {
			text += " by the settings: " + waiting
		}
	}
	if n.Left > 0 {
		text += fmt.Sprintf("; %s left by the cap", countAre(n.Left, "session"))
	}
	if n.Estimate != nil && n.Estimate.Calls > 0 {
		text += "; about " + sayUsage(*n.Estimate)
	}
	v.line("next run", text)
	for _, w := range n.Warnings {
		v.line("", "warning: "+v.short(w.Message, maxError))
		if w.Hint != "" {
			v.hint(w.Hint)
		}
	}
	v.each(len(n.Projects), "projects", func(i int) { v.line("", n.Projects[i].say(s.At)) })
}

// notTaken are the sessions that would be taken at another time, or by another window.
func notTaken(reasons map[memoir.Reason]int) map[memoir.Reason]int {
	out := map[memoir.Reason]int{}
	for _, r := range []memoir.Reason{memoir.ReasonActive, memoir.ReasonTooRecent, memoir.ReasonTooOld, memoir.ReasonBackoff, memoir.ReasonDead} {
		if reasons[r] > 0 {
			out[r] = reasons[r]
		}
	}
	return out
}

// blocked reports that a consolidation waits, or was given up, unless a session brings news.
func (p nextProjectJSON) blocked() bool { return p.Sessions == 0 && (p.Waits != nil || p.Dead) }

func (p nextProjectJSON) say(now time.Time) string {
	var parts []string
	if p.Sessions > 0 {
		parts = append(parts, "extract from "+count(p.Sessions, "session"))
	}
	if p.Consolidate {
		text := "consolidate"
		why := slices.Clone(p.Why)
		if p.Sessions > 0 {
			why = append(why, "what is extracted")
		}
		if len(why) > 0 {
			text += " (" + strings.Join(why, ", ") + ")"
		}
		if p.Waits != nil {
			text += ", but not before it is tried again " + until(now, p.Waits)
		} else if p.Dead && p.Sessions == 0 {
			text += ", but it was given up: `memoir retry " + p.Project + "`"
		}
		parts = append(parts, text)
	}
	return p.Project + ": " + strings.Join(parts, "; ")
}

// jobs lists what is running, what failed, what is suspected and what was given up.
func (v *view) jobs(s statusJSON) {
	v.each(len(s.Running), "running", func(i int) {
		j := s.Running[i]
		state, since, lease := "running", "", ""
		if j.Stale {
			state = "stale"
			v.hint("stale: the process is dead or its lease is over; the next run takes the work over")
		}
		if j.Since != nil {
			since = " since " + when(*j.Since) + " (" + ago(s.At, *j.Since) + ")"
		}
		if j.Until != nil {
			lease = ", lease until " + clock(s.At, *j.Until)
		}
		v.line(state, fmt.Sprintf("%s %s by %s%s%s%s", j.Kind, j.Key, j.Holder, since, lease, v.titled(j.Title)))
	})
	var failed, suspects []failedJSON
	for _, j := range s.Failed {
		if j.Suspect {
			suspects = append(suspects, j)
		} else {
			failed = append(failed, j)
		}
	}
	v.each(len(failed), "failed", func(i int) {
		j := failed[i]
		attempt := "no attempt counted"
		if j.Attempts > 0 {
			attempt = fmt.Sprintf("attempt %d", j.Attempts)
		}
		v.line("failed", fmt.Sprintf("%s %s: %s (%s, next %s)%s", j.Kind, j.Session, v.short(j.Error, maxError), attempt, until(s.At, j.Next), v.titled(j.Title)))
		if j.Other {
			v.hint("some wait for " + oneLine(j.Model) + ", which is not asked any more: `memoir retry --all`, or `memoir retry` with a name, does not wait")
		}
	})
	v.each(len(suspects), "suspects", func(i int) {
		j := suspects[i]
		v.line("suspect", fmt.Sprintf("%s %s: %s (%s, next last and alone)%s", j.Kind, j.Session, v.short(j.Error, maxError), crashes(j.Crashes), v.titled(j.Title)))
	})
	v.each(len(s.Dead), "dead", func(i int) {
		j := s.Dead[i]
		text := fmt.Sprintf("%s %s: %s", j.Kind, j.Session, v.short(j.Error, maxError))
		if j.Crashes > 0 {
			text += " (" + crashes(j.Crashes) + ")"
		}
		v.line("dead", text+v.titled(j.Title))
	})
	if len(s.Dead) > 0 {
		v.hint("`memoir retry SESSION` or `memoir retry --all` tries dead jobs again")
	}
}

// crashes says how often processes died over a job.
func crashes(n int) string { return fmt.Sprintf("%d of %d crashes", n, store.MaxCrashes) }

// projects is a table of how each memory was made; those that are due first.
func (v *view) projects(s statusJSON) {
	projects := slices.Clone(s.Projects)
	slices.SortStableFunc(projects, func(a, b projectStatusJSON) int {
		if a.Due != b.Due {
			if a.Due {
				return -1
			}
			return 1
		}
		return consolidated(b).Compare(consolidated(a))
	})
	if len(projects) == 0 {
		return
	}
	t := newTable("project", "generation", "consolidated", "from", "waits")
	t.narrower = []step{{"project", 16}, {"generation", 3}, {"consolidated", 10}, {"from", 12}}
	shown := len(projects)
	if !v.verbose && shown > maxListed+1 {
		shown = maxListed
	}
	for _, p := range projects[:shown] {
		generation, from, waits := none, none, none
		if p.Generation > 0 {
			generation, from = fmt.Sprint(p.Generation), count(p.Inputs, "session")
			if p.NewestInput != nil {
				from += " to " + p.NewestInput.Format(time.DateOnly)
			}
		}
		if p.Due {
			waits = cmp.Or(strings.Join(p.Why, ", "), "due")
			if p.Crashes > 0 {
				waits += ", " + crashes(p.Crashes)
			}
		}
		t.row(p.ID, generation, when(consolidated(p)), from, waits)
	}
	v.lines = append(v.lines, "")
	v.lines = append(v.lines, strings.Split(strings.TrimSuffix(t.format(v.width), "\n"), "\n")...)
	if shown < len(projects) {
		v.lines = append(v.lines, fmt.Sprintf("… and %d more projects: -v shows all", len(projects)-shown))
	}
}

func consolidated(p projectStatusJSON) time.Time {
	if p.ConsolidatedAt == nil {
		return time.Time{}
	}
	return *p.ConsolidatedAt
}

// short cuts a text unless all is wanted.
func (v *view) short(text string, most int) string {
	if v.verbose {
		return text
	}
	return cut(oneLine(text), most)
}

func (v *view) titled(title string) string {
	if title == "" {
		return ""
	}
	return ", “" + v.short(title, maxTitle) + "”"
}
