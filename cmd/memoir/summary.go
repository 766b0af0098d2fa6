package main

import (
	"cmp"
	"fmt"
	"strings"

	"memoir"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/store"
)

// sayScan says what a scan found. No session is new to a run whose command has scanned before, as init does.
func sayScan(r pipeline.ScanReport) string {
	text := fmt.Sprintf("scanned %s: %s", count(r.Files, "file"), count(r.Found, "session"))
	if files := r.Files - r.NotSessions; files != r.Found {
		text += " in " + count(files, "file")
	}
	if r.Changed > 0 {
		text += fmt.Sprintf(", %d new or changed", r.Changed)
	}
	if r.NotSessions > 0 {
		text += fmt.Sprintf("; %s not sessions (-v names them)", countAre(r.NotSessions, "file"))
	}
	return text
}

// sayReport prints the result of a run that ended with err, without what sayLeft says; again is the command that
// continues it.
func (p *program) sayReport(r pipeline.Report, again string, err error) {
	u := p.ui
	u.say("%s", sayScan(r.Scan))
	if reasons := sayReasons(r.Scan.Reasons); reasons != "" {
		u.say("sessions: %s", reasons)
	}
	worked := r.Phase1.Claimed+r.Phase1.Released+r.Phase1.Unchanged > 0
	if err == nil && !worked && len(r.Phase2)+len(r.Would)+r.Left == 0 {
		u.sayNothing(r.Scan)
	}
	if r.DryRun {
		return
	}
	if worked {
		u.say("%s", sayPhase1(r.Phase1))
	}
	names := map[string]int{}
	for _, project := range r.Phase2 {
		names[project.Name]++
	}
	for _, project := range r.Phase2 {
		if names[project.Name] > 1 {
			project.Name = project.Project
		}
		if u.outTTY && u.errTTY {
			project.Root = "" // it is printed as a result on the same terminal
		}
		u.say("%s", sayProject(project))
		if project.Outcome == pipeline.OutcomeBusy {
			hint := "--wait 5m waits; the other process probably does the same work"
			if strings.Contains(again, " --wait") {
				hint = "it is still busy: run again later"
			}
			u.sayHint(hint)
		}
	}
	if r.Edits > 0 {
		u.say("sent to the team: %s of its lines, for all members", count(r.Edits, "edit"))
	}
	if len(r.Redactions) > 0 {
		u.say("redacted: %s", byRule(r.Redactions))
	}
	if r.Usage.Calls > 0 {
		u.say("model: %s", sayUsage(r.Usage))
	}
	if g := r.Grounding; g != nil {
		u.detail("answers: kept %s and %s of memory; dropped: %s", count(g.Statements, "statement"), count(g.Lines, "line"),
			cmp.Or(strings.Replace(byRule(g.Dropped), "missing", "citing items that were not shown", 1), "none"))
		if text := g.Unsupported(); text != "" {
			u.say("%s", text)
		}
		if g.Cut > 0 {
			u.say("%s too large for a call: %d of %s not read", countAre(g.Cut, "session"), g.Omitted,
				count(g.CutItems, "item"))
			u.sayHint("raise memories.phase1InputTokenLimit if the model accepts more")
		}
	}
}

// sayLeft says which sessions a run left; again is the command that reads them.
func (p *program) sayLeft(r pipeline.Report, again string) {
	left := count(r.Left, "session")
	switch {
	case r.Left == 0 || r.DryRun: // a plan says it
	case r.Stopped != nil:
		p.ui.say("%s leaves %s for a later run", r.Stopped.Limit, left) // the warning about the limit has the hint
	case len(r.Unserved) > 0:
		p.ui.say("%s left for a later run: %s is not usable", left, r.Unserved[0].Model)
	default:
		p.ui.say("the cap leaves %s unread", left)
		p.ui.sayHint("`" + again + "` reads more; --limit N changes the cap (default: memories.maxRolloutsPerStartup)")
	}
}

// sayEstimate is sayUsage for calls that are not made yet; the person must know that their price is unknown.
func sayEstimate(u memoir.Usage) string {
	if u.Calls > 0 && u.Cost == 0 {
		return sayUsage(u) + " (price unknown)"
	}
	return sayUsage(u)
}

// sayUsage returns calls, tokens and cost as text, without the cost if it is unknown.
func sayUsage(u memoir.Usage) string {
	text := fmt.Sprintf("%s, %d tokens in, %d out", count(u.Calls, "call"), u.InputTokens, u.OutputTokens)
	if u.Cost > 0 {
		text += ", " + dollars(u.Cost)
	}
	return text
}

func dollars(cost float64) string { return fmt.Sprintf("$%.4f", cost) }

// sayNothing says that a run did nothing, and why. Other runs have the eligible sessions.
func (u *ui) sayNothing(scan pipeline.ScanReport) {
	if eligible := scan.Reasons[memoir.ReasonEligible]; eligible > 0 {
		u.say("another run reads %s", count(eligible, "session"))
		u.sayHint("`memoir status` names its process")
		return
	}
	u.say("nothing to do")
	u.sayHint(whyNothing(scan))
}

// whyNothing returns the hint of a run with nothing to do; "" if sessions were extracted before and
// none is too old.
func whyNothing(scan pipeline.ScanReport) string {
	switch {
	case scan.Reasons[memoir.ReasonUpToDate] > 0 && scan.Reasons[memoir.ReasonTooOld] > 0:
		return "`memoir config set memories.maxRolloutAgeDays DAYS` includes older sessions; 0: no limit"
	case scan.Reasons[memoir.ReasonUpToDate] > 0:
		return ""
	case scan.Sessions == 0:
		return "without --sessions DIR, a run reads the agents' directories, which `memoir doctor` lists"
	case scan.Reasons[memoir.ReasonTooOld]+scan.Reasons[memoir.ReasonTooRecent]+scan.Reasons[memoir.ReasonActive] > 0:
		return "--max-age 0 includes old sessions, --min-idle 0 recent ones, also active ones"
	}
	return "`memoir sessions` lists the sessions, each with its reason"
}

func countAre(n int, what string) string {
	if n == 1 {
		return count(n, what) + " is"
	}
	return count(n, what) + " are"
}

// sayReasons lists the sessions by reason, in order of precedence.
func sayReasons(reasons map[memoir.Reason]int) string {
	var parts []string
	for _, reason := range memoir.Reasons {
		if n := reasons[reason]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(string(reason), "_", " ")))
		}
	}
	return strings.Join(parts, ", ")
}

func sayPhase1(r pipeline.Phase1Report) string {
	parts := []string{fmt.Sprintf("read %s: %d stored", count(r.Claimed, "session"), r.Stored)}
	for _, part := range []struct {
		n    int
		what string
	}{
		{r.Empty, "with nothing worth keeping"},
		{r.Copied, "copied from another session"},
		{r.Failed, "failed"},
		{r.Unchanged, "touched but unchanged"},
		{r.Released - r.Postponed - r.Unread, "released"},
		{r.Unread, "unreadable"},
		{r.Postponed, "postponed"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	return strings.Join(parts, ", ")
}

func sayProject(r pipeline.ProjectReport) string {
	name := cmp.Or(r.Name, r.Project)
	text := string(r.Outcome)
	switch r.Outcome {
	case pipeline.OutcomePublished:
		text = fmt.Sprintf("published generation %d from %s", r.Generation, count(r.Inputs, "session"))
		if r.Notes > 0 {
			text += " and " + count(r.Notes, "note")
		}
		if r.Promoted > 0 {
			text += " and " + count(r.Promoted, "promoted statement")
		}
		for _, n := range r.ByHand {
			text += fmt.Sprintf("; generation %d keeps the hand edits", n)
		}
		if r.Root != "" {
			text += ": " + r.Root
		}
	case pipeline.OutcomeUnchanged:
		text = fmt.Sprintf("unchanged, generation %d stays live", r.Generation)
	case pipeline.OutcomeStopped:
		text = "not consolidated"
	case pipeline.OutcomeEmpty:
		text = "nothing worth keeping yet"
		if r.Generation > 0 {
			text = fmt.Sprintf("no session or note to consolidate, generation %d stays live", r.Generation)
		}
	case pipeline.OutcomeBackoff:
		if r.Detail != "" { // the cause, and the time of the next attempt
			return name + ": " + r.Detail
		}
		text = "failed before, retried later"
	}
	if r.Detail != "" {
		text += ": " + r.Detail
	}
	return name + ": " + text
}

func (p *program) printPlan(r pipeline.Report) {
	for _, w := range r.Would {
		about := ""
		if w.Tokens > 0 {
			about = fmt.Sprintf(", about %d tokens", w.Tokens)
		}
		if w.Cost > 0 {
			about += ", " + dollars(w.Cost)
		}
		if w.Action == "extract" {
			p.ui.printf("would extract from %s (%s%s): %s\n", memoir.SessionKey(w.Source, w.Session), w.Project, about,
				p.redact(w.Title))
		} else {
			p.ui.printf("would %s %s%s\n", w.Action, w.Project, about)
		}
	}
	if r.Estimate != nil {
		for i, phase := range []string{"extract", "consolidate"} {
			if u, ok := r.EstimateBy[phase]; ok && len(r.EstimateBy) > 1 {
				p.ui.printf("estimate of Phase %d: %s\n", i+1, sayEstimate(u))
			}
		}
		p.ui.printf("estimate: %s\n", sayEstimate(*r.Estimate))
	}
	if r.Left > 0 {
		p.ui.printf("the cap leaves %s unread\n", count(r.Left, "session"))
	}
}

func (p *program) printUsage(s operation.Status) {
	if s.Usage.Calls == 0 {
		p.ui.say("no language model was used")
		return
	}
	t := newTable("day (UTC)", "project", "model", "phase", "outcome", "calls", "in", "cached", "out", "cost")
	row := func(by store.UsageRow) {
		cost := none // unknown, or nothing
		if by.Cost > 0 {
			cost = dollars(by.Cost)
		}
		t.row(by.Day, orDash(by.Project), by.Model, by.Phase, by.Outcome, by.Calls, by.InputTokens, by.CachedTokens,
			by.OutputTokens, cost)
	}
	for _, by := range s.UsageBy {
		row(by)
	}
	row(store.UsageRow{Day: "total", Usage: s.Usage})
	p.ui.table(t)
}

func (p *program) printDelivered(d operation.Delivered) {
	if len(d.Delivered) == 0 {
		p.ui.say("nothing is recorded that a session was told at a failure, an edit or a prompt")
		return
	}
	t := newTable("at", "after", "session", "ran it", "statement")
	for _, one := range d.Delivered {
		ran := none
		if one.Ran != nil {
			ran = map[bool]string{true: "yes", false: "no"}[*one.Ran]
		}
		t.row(operation.Zoned(one.At), one.Event, one.Session, ran, orDash(one.Text))
	}
	p.ui.table(t)
	if d.More > 0 {
		p.ui.say("%d more", d.More)
	}
}
