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

// labelWidth is how many columns stand before the texts of the status.
const labelWidth = 11

// statusText is the status as a person reads it.
type statusText struct {
	width   int // columns of the terminal; 0: no limit
	verbose bool
	lines   []string
	hints   []string
}

// line adds a text with its label.
func (v *statusText) line(label, text string) {
	v.lines = append(v.lines, pad(label, max(labelWidth, utf8.RuneCountInString(label)+1))+oneLine(text))
}

// hint adds a hint, once.
func (v *statusText) hint(text string) {
	if text != "" && !slices.Contains(v.hints, text) {
		v.hints = append(v.hints, text)
	}
}

// each adds a line for each of n, as many as are listed.
func (v *statusText) each(n int, what string, line func(i int)) {
	for i := range n {
		if i == maxListed && !v.verbose && n > maxListed+1 {
			v.line("", fmt.Sprintf("… and %d more %s: -v shows all", n-i, what))
			return
		}
		line(i)
	}
}

// all adds the whole state, the most general first.
func (v *statusText) all(s statusJSON) {
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
	v.line("sessions", cmp.Or(sayReasons(s.Sessions), "none"))
	v.line("jobs", cmp.Or(byRule(s.Jobs), "none"))
	v.line("projects", projects)
	v.line("redacted", cmp.Or(byRule(s.Redactions), "none"))
	if s.Usage.Calls > 0 {
		v.line("usage", sayUsage(s.Usage))
	}
	for _, l := range s.Limits {
		amount := func(n float64) string { return fmt.Sprintf("%.0f tokens", n) }
		if strings.Contains(l.Limit, "cost") {
			amount = dollars
		}
		v.line("limit", fmt.Sprintf("%s %s: %s spent today, %s left", l.Limit, amount(l.Most), amount(l.Spent),
			amount(l.Left)))
	}
	v.lastRun(s)
	v.nextRun(s)
	v.jobs(s)
	v.unfinished(s)
	v.projects(s)
}

func (v *statusText) lastRun(s statusJSON) {
	r := s.LastRun
	if r == nil {
		return
	}
	at := cmp.Or(r.EndedAt, r.BeganAt, &s.At)
	text := fmt.Sprintf("%s (%s) by %s: ", when(*at), ago(s.At, *at), r.Holder)
	switch reason := v.short(r.Reason, maxError); r.Outcome {
	case "died":
		text += "its process died; the next run continues"
	case "failed":
		text += "failed: " + reason
	default:
		text += cmp.Or(reason, r.Outcome)
	}
	if r.Left > 0 {
		text += fmt.Sprintf(", %s left", count(r.Left, "session"))
	}
	v.line("last run", text)
	v.hint(r.Hint)
}

func (v *statusText) nextRun(s statusJSON) {
	n := s.Next
	if n.Error != "" {
		v.line("next run", "would not begin: "+v.short(n.Error, maxError))
		v.hint(n.Hint)
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
	switch waiting := sayReasons(notTaken(n.Reasons)); {
	case n.Sessions > 0:
		text = fmt.Sprintf("would extract from %s in %s and consolidate %s",
			count(n.Sessions, "session"), count(with, "project"), count(consolidate, "project"))
	case consolidate > 0:
		text = "would consolidate " + count(consolidate, "project")
	case waiting != "":
		text += " by the settings: " + waiting
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
		v.hint(w.Hint)
	}
	v.each(len(n.Projects), "projects", func(i int) { v.line("", n.Projects[i].say(s.At)) })
}

// notTaken are the sessions that would be taken at another time, or with other limits of age.
func notTaken(reasons map[memoir.Reason]int) map[memoir.Reason]int {
	out := map[memoir.Reason]int{}
	for _, r := range []memoir.Reason{
		memoir.ReasonActive, memoir.ReasonTooRecent, memoir.ReasonTooOld, memoir.ReasonBackoff, memoir.ReasonDead,
	} {
		if reasons[r] > 0 {
			out[r] = reasons[r]
		}
	}
	return out
}

// blocked reports that a consolidation waits for its next attempt, or is dead, and no session is
// extracted that would revive it.
func (p nextProjectJSON) blocked() bool { return p.Sessions == 0 && (p.Waits != nil || p.Dead) }

func (p nextProjectJSON) say(now time.Time) string {
	var parts []string
	why := slices.Clone(p.Why)
	if p.Sessions > 0 {
		parts = append(parts, "extract from "+count(p.Sessions, "session"))
		why = append(why, "newly extracted")
	}
	if p.Consolidate {
		text := "consolidate"
		if len(why) > 0 {
			text += " (" + strings.Join(why, ", ") + ")"
		}
		if p.Waits != nil {
			text += ", next attempt " + until(now, p.Waits)
		} else if p.blocked() {
			text += ", but it is dead: `memoir retry " + p.Project + "`"
		}
		parts = append(parts, text)
	}
	return p.Project + ": " + strings.Join(parts, "; ")
}

// jobs lists the jobs that run, failed or are dead.
func (v *statusText) jobs(s statusJSON) {
	v.each(len(s.Running), "running", func(i int) { v.running(s.At, s.Running[i]) })
	v.each(len(s.Failed), "failed", func(i int) {
		j := s.Failed[i]
		if j.Suspect {
			v.job("suspect", j, crashes(j.Crashes)+", next last and alone")
			return
		}
		attempt := "no attempt counted"
		if j.Attempts > 0 {
			attempt = fmt.Sprintf("attempt %d", j.Attempts)
		}
		v.job("failed", j, attempt+", next "+until(s.At, j.Next))
	})
	v.each(len(s.Dead), "dead", func(i int) {
		about := ""
		if s.Dead[i].Crashes > 0 {
			about = crashes(s.Dead[i].Crashes)
		}
		v.job("dead", s.Dead[i], about)
		v.hint("`memoir retry SESSION` or `memoir retry --all` tries dead jobs again")
	})
}

func (v *statusText) running(now time.Time, j runningJSON) {
	state, text := "running", fmt.Sprintf("%s %s by %s", j.Kind, j.Key, j.Holder)
	if j.Stale {
		state = "stale"
		v.hint("stale: the process is dead or its lease has ended; the next run takes over")
	}
	if j.Since != nil {
		text += " since " + when(*j.Since) + " (" + ago(now, *j.Since) + ")"
	}
	if j.Until != nil {
		text += ", lease until " + clock(now, *j.Until)
	}
	v.line(state, text+v.titled(j.Title))
}

// job adds the line of a job that failed, with what is to be known about it in brackets.
func (v *statusText) job(state string, j failedJSON, about string) {
	if about != "" {
		about = " (" + about + ")"
	}
	v.line(state, fmt.Sprintf("%s %s: %s%s%s", j.Kind, j.Session, v.short(j.Error, maxError), about, v.titled(j.Title)))
}

// crashes says how many processes died while they worked on a job.
func crashes(n int) string { return fmt.Sprintf("%d of %d crashes", n, store.MaxCrashes) }

// unfinished are the lines of what a later run has to finish.
func (v *statusText) unfinished(s statusJSON) {
	v.each(len(s.Unfinished), "unfinished", func(i int) {
		u := s.Unfinished[i]
		v.line("unfinished", fmt.Sprintf("%s: %s (%s)", strings.TrimSpace(u.What+" "+u.Project), u.Detail, u.Hint))
	})
	v.each(len(s.Misruled), "projects whose rules are invalid", func(i int) {
		v.line("rules", s.Misruled[i].Project+" waits: "+s.Misruled[i].Error)
		v.hint(s.Misruled[i].Hint)
	})
}

// projects is a table of how each memory was made; those that are due first.
func (v *statusText) projects(s statusJSON) {
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
	t := newTable("project", "generation", "consolidated", "from", "due")
	t.narrower = []step{{"project", 16}, {"generation", 3}, {"consolidated", 10}, {"from", 12}}
	shown := len(projects)
	if !v.verbose && shown > maxListed+1 {
		shown = maxListed
	}
	for _, p := range projects[:shown] {
		generation, from, due := none, none, none
		if p.Generation > 0 {
			generation, from = fmt.Sprint(p.Generation), count(p.Inputs, "session")
			if p.NewestInput != nil {
				from += " to " + p.NewestInput.Format(time.DateOnly)
			}
		}
		if p.Due {
			due = cmp.Or(strings.Join(p.Why, ", "), "yes")
			if p.Crashes > 0 {
				due += ", " + crashes(p.Crashes)
			}
		}
		t.row(p.ID, generation, when(consolidated(p)), from, due)
	}
	v.lines = append(v.lines, "", strings.TrimSuffix(t.format(v.width), "\n"))
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

// short cuts a text, but not with -v.
func (v *statusText) short(text string, most int) string {
	if v.verbose {
		return text
	}
	return cut(oneLine(text), most)
}

func (v *statusText) titled(title string) string {
	if title == "" {
		return ""
	}
	return ", “" + v.short(title, maxTitle) + "”"
}
