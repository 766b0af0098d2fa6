package main

import (
	"fmt"
	"slices"
	"strings"

	"memoir"
	"memoir/pipeline"
)

// sayReport tells a person what a run did; limited says that they chose the cap.
func (p *program) sayReport(r pipeline.Report, limited bool) {
	u := p.ui
	line := fmt.Sprintf("scanned %s: %s, %d new or changed", count(r.Scan.Files, "file"), count(r.Scan.Sessions, "session"), r.Scan.Changed)
	u.say("%s", line)
	if reasons := sayReasons(r.Scan.Reasons); reasons != "" {
		u.say("sessions: %s", reasons)
	}
	if r.DryRun {
		p.sayPlan(r)
		return
	}
	one := r.Phase1
	if one.Claimed+one.GivenBack+one.Unchanged > 0 {
		u.say("%s", sayPhase1(one))
	}
	for _, project := range r.Phase2 {
		if len(r.Phase2) > 1 && sameName(r.Phase2, project.Name) {
			project.Name = project.Project
		}
		if u.outTTY && u.errTTY {
			project.Root = "" // the same terminal shows it as a result
		}
		u.say("%s", sayProject(project))
		if project.Outcome == pipeline.OutcomeBusy {
			u.sayHint("--wait 5m waits for it; the other process may well do the work")
		}
	}
	if len(r.Redactions) > 0 {
		u.say("redacted: %s", byRule(r.Redactions))
	}
	if r.Usage.Calls > 0 {
		u.say("model: %s", sayUsage(r.Usage))
	}
	if r.Grounding != nil {
		u.detail("%s", sayGrounding(*r.Grounding))
		if r.Grounding.Cut > 0 {
			u.say("%s", sayCut(*r.Grounding))
			u.sayHint("raise memories.maxPassesPerSession to read one in more calls, or memories.phase1InputTokenLimit if the model takes more")
		}
	}
	left := r.Left
	if left > 0 && r.Stopped != nil {
		u.say("%s left by %s", countAre(left, "session"), r.Stopped.Limit) // what to do is said with the limit
	} else if left > 0 && len(r.StoppedProjects) > 0 {
		u.say("%s left by limits of %s", countAre(left, "session"), count(len(r.StoppedProjects), "project"))
	} else if left > 0 && len(r.Unserved) > 0 {
		u.say("%s left: %s does not serve", countAre(left, "session"), r.Unserved[0].Model)
	} else if left > 0 {
		u.say("%s left by the cap", countAre(left, "session"))
		if limited {
			u.sayHint("run again, or raise --limit")
		} else {
			u.sayHint("run again, or say --limit N; memories.maxRolloutsPerStartup is the default")
		}
	}
	if one.Claimed+one.GivenBack+one.Unchanged == 0 && len(r.Phase2) == 0 && r.Left == 0 {
		u.say("nothing to do")
		u.sayHint(whyNothing(r.Scan))
	}
}

// whyDropped says for what reasons something of an answer is dropped.
var whyDropped = map[string]string{
	pipeline.DroppedUncited:    "citing no item",
	pipeline.DroppedMissing:    "citing items that were not shown",
	pipeline.DroppedUngrounded: "with a quotation that the cited items do not have",
	pipeline.DroppedForeign:    "that make a wish or a step of what only a tool said",
	pipeline.DroppedUnplaced:   "under a heading that means nothing",
	pipeline.DroppedCrowded:    "repeated, or more than one answer may hold",
	pipeline.DroppedSummary:    "lines of summaries with a quotation that the session does not have",
	pipeline.DroppedLine:       "lines of memory citing no session",
}

// sayGrounding tells how sessions were read, and what was kept and dropped of models' answers.
func sayGrounding(g pipeline.Grounding) string {
	text := fmt.Sprintf("answers: %s and %s of memory kept", count(g.Statements, "statement"), count(g.Lines, "line"))
	for i, reason := range slices.DeleteFunc(slices.Clone(pipeline.DroppedReasons), func(r string) bool { return g.Dropped[r] == 0 }) {
		if i == 0 {
			text += "; dropped"
		} else {
			text += ","
		}
		text += fmt.Sprintf(" %d %s", g.Dropped[reason], whyDropped[reason])
	}
	if g.Grown > 0 {
		left := "they were"
		if g.Grown == 1 {
			left = "it was"
		}
		text += fmt.Sprintf("; %s read on from where %s left", count(g.Grown, "session"), left)
	}
	if g.InPasses > 0 {
		text += fmt.Sprintf("; %s read in several calls", count(g.InPasses, "session"))
	}
	return text
}

// sayCut tells how much of sessions was left out.
func sayCut(g pipeline.Grounding) string {
	return fmt.Sprintf("%s too large for the calls to be made: %d of %s not read", countAre(g.Cut, "session"), g.Omitted, count(g.CutItems, "item"))
}

// sayUsage leaves out the cost where it is not known.
func sayUsage(u memoir.Usage) string {
	text := fmt.Sprintf("%s, %d tokens in, %d out", count(u.Calls, "call"), u.InputTokens, u.OutputTokens)
	if u.Cost > 0 {
		text += ", " + dollars(u.Cost)
	}
	return text
}

// dollars is a cost as people read it.
func dollars(cost float64) string { return fmt.Sprintf("$%.4f", cost) }

// whyNothing says what to do where no session was ever taken, "" where some were.
func whyNothing(scan pipeline.ScanReport) string {
	old, recent := scan.Reasons[memoir.ReasonTooOld], scan.Reasons[memoir.ReasonTooRecent]
	switch {
	case scan.Reasons[memoir.ReasonUpToDate] > 0:
		return ""
	case scan.Sessions == 0:
		return "`memoir doctor` says where agents' sessions are looked for; --sessions DIR reads others"
	case old > 0 && recent > 0:
		return "--max-age 0 takes old sessions too, --min-idle 0 recent ones"
	case old > 0:
		return "--max-age 0 takes old sessions too; for good, set memories.maxRolloutAgeDays"
	case recent > 0:
		return "--min-idle 0 takes recent sessions too; for good, set memories.minRolloutIdleHours"
	}
	return "`memoir sessions` lists the sessions, each with its reason"
}

func countAre(n int, what string) string {
	if n == 1 {
		return count(n, what) + " is"
	}
	return count(n, what) + " are"
}

// sayReasons lists what became of the sessions, in order of precedence.
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
	parts := []string{fmt.Sprintf("extracted from %s: %d stored", count(r.Claimed, "session"), r.Stored)}
	for _, part := range []struct {
		n    int
		what string
	}{
		{r.Empty, "with nothing worth keeping"},
		{r.Failed, "failed"},
		{r.Unchanged, "touched but unchanged"},
		{r.GivenBack - r.Postponed - r.Unread, "given back"},
		{r.Unread, "unreadable"},
		{r.Postponed, "postponed"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	return strings.Join(parts, ", ")
}

// sameName reports whether more than one project has a name.
func sameName(projects []pipeline.ProjectReport, name string) bool {
	n := 0
	for _, p := range projects {
		if p.Name == name {
			n++
		}
	}
	return n > 1
}

func sayProject(r pipeline.ProjectReport) string {
	name := r.Name
	if name == "" {
		name = r.Project
	}
	var text string
	switch r.Outcome {
	case pipeline.OutcomePublished:
		text = fmt.Sprintf("published generation %d from %s", r.Generation, count(r.Inputs, "session"))
		for _, n := range r.ByHand {
			text += fmt.Sprintf("; generation %d keeps what was edited by hand", n)
		}
		if r.Root != "" {
			text += ": " + r.Root
		}
	case pipeline.OutcomeUnchanged:
		text = fmt.Sprintf("unchanged, generation %d stays", r.Generation)
	case pipeline.OutcomeEmpty:
		text = "nothing worth keeping yet"
		if r.Generation > 0 {
			text = fmt.Sprintf("nothing is left to make a memory of, and nobody took it out; generation %d stays", r.Generation)
		}
	case pipeline.OutcomeBusy:
		text = "busy"
	case pipeline.OutcomeBackoff:
		if r.Detail != "" { // why, and until when
			return name + ": " + r.Detail
		}
		text = "failed before, tried again later"
	case pipeline.OutcomeStopped:
		text = "stopped"
	default:
		text = string(r.Outcome)
	}
	if r.Detail != "" {
		text += ": " + r.Detail
	}
	return name + ": " + text
}

// sayPlan lists what a dry run would do.
func (p *program) sayPlan(r pipeline.Report) {
	if len(r.Would) == 0 {
		p.ui.say("nothing to do")
		p.ui.sayHint(whyNothing(r.Scan))
	}
	for _, w := range r.Would {
		switch w.Action {
		case "extract":
			p.ui.say("would extract from %s (%s, about %d tokens): %s", memoir.SessionKey(w.Source, w.Session), w.Project, w.Tokens, w.Title)
		default:
			about := ""
			if w.Tokens > 0 {
				about = fmt.Sprintf(" (about %d tokens)", w.Tokens)
			}
			p.ui.say("would %s %s%s", w.Action, w.Project, about)
		}
	}
	if r.Estimate != nil {
		for i, phase := range []string{"extract", "consolidate"} {
			if u, ok := r.EstimateBy[phase]; ok && len(r.EstimateBy) > 1 {
				p.ui.say("estimate of Phase %d: %s", i+1, sayUsage(u))
			}
		}
		p.ui.say("estimate: %s", sayUsage(*r.Estimate))
	}
	if r.Left > 0 {
		p.ui.say("%s left by the cap", countAre(r.Left, "session"))
	}
}
