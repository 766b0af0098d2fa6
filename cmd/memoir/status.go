package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/operation"
	"memoir/store"
	"memoir/team"
)

func statusCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "status", Category: groupLook,
		Usage: "show running, failed and dead jobs, and what the next run would do",
		Description: help("Shows session counts, running jobs with their processes, failed jobs with the time of the\n"+
			"next attempt, dead jobs, the result of the last run (one with nothing to do is recorded only\n"+
			"after one that failed), projects with new lines for `memoir review`, and what the next run would\n"+
			"do with the registered sessions;\n"+
			"`memoir run --dry-run` also looks for new ones. Long lists are cut; -v shows all.\n"+
			"--usage instead shows the use of language models by day, project and model; --delivered what\n"+
			"sessions were told at failures, edits and prompts, and whether they ran what had passed, but\n"+
			"not what they were told at their starts.",
			"memoir status", "memoir status --json", "memoir status --usage", "memoir status --delivered"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "usage", Usage: "show the use of language models"},
			&cli.BoolFlag{Name: "delivered", Usage: "show what sessions were told at failures, edits and prompts"},
			nowFlag(), jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			opts, err := p.runOptions(c)
			if err != nil {
				return err
			}
			st, err := p.openForListing(c)
			if err != nil {
				return err
			}
			if c.Bool("delivered") {
				if st != nil {
					defer st.Close()
				}
				out, err := p.access(c).Delivered(c.Context, st)
				return p.result(c, err, out, func() { p.printDelivered(out) })
			}
			project := p.redact
			if !c.Bool("json") { // the text shows ids alone, and is to be quick
				project = func(text string) string { return text }
			}
			if st != nil {
				defer st.Close()
			}
			out, err := operation.ReadStatus(c.Context, st, opts, p.redact, project)
			if err == nil && st != nil && c.Bool("usage") {
				var spent operation.Spending
				spent, err = operation.ReadSpending(c.Context, st)
				out.UsageBy = spent.UsageBy
			}
			return p.result(c, err, out, func() {
				switch {
				case c.Bool("usage"):
					p.printUsage(out)
				case st != nil:
					p.printStatus(out)
				}
			})
		},
	}
}

// Limits of lists and texts without -v.
const (
	maxListed = 10
	maxText   = 200 // characters
)

const readsAnyAge = "`memoir run --max-age 0` reads sessions of any age"

// awaited returns the projects that wait for a run, and those that wait for a review, with the number of lines.
func awaited(s operation.Status) (due, fresh []string) {
	for _, project := range s.Projects {
		if project.New > 0 {
			fresh = append(fresh, fmt.Sprintf("%s %d new", project.ID, project.New))
		}
		if project.Due {
			due = append(due, project.ID)
		}
	}
	return due, fresh
}

func (p *program) printStatus(s operation.Status) {
	due, fresh := awaited(s)
	p.statusLine("sessions", cmp.Or(sayReasons(s.Sessions), "none"))
	if s.Sessions[memoir.ReasonTooOld] > 0 {
		p.ui.sayHint(readsAnyAge)
	}
	if len(s.Entries) > 0 {
		p.statusLine("entries", byRule(s.Entries))
	}
	if s.Entries["unconfirmed"] > 0 {
		p.ui.sayHint("notes of agents wait: `memoir notes` lists them, `memoir remember '#N'` confirms one")
	}
	p.statusLine("jobs", cmp.Or(strings.Replace(byRule(s.Jobs), "error ", "failed ", 1), "none"))
	which := shortened(due)
	if p.ui.verbose {
		which = strings.Join(due, ", ")
	}
	projects := fmt.Sprintf("%d, %d due: %s", len(s.Projects), len(due), which)
	p.statusLine("projects", strings.TrimSuffix(projects, ": "))
	p.statusLine("review", cmp.Or(shortened(fresh), "none"))
	index := megabytes(s.Index.Bytes)
	if s.Index.Unread > 0 {
		index += fmt.Sprintf("; %s not read yet", countAre(s.Index.Unread, "session"))
	}
	p.statusLine("search", index)
	p.statusLine("redacted", cmp.Or(byRule(s.Redactions), "none"))
	if s.Usage.Calls > 0 {
		p.statusLine("usage", sayUsage(s.Usage))
	}
	for _, l := range s.Limits {
		p.statusLine("limit", fmt.Sprintf("%s: %.6g spent today, %.6g left", l.Limit, l.Spent, l.Left))
	}
	hint := ""
	if r := s.LastRun; r != nil {
		at := cmp.Or(r.EndedAt, r.BeganAt, &s.At)
		text := strings.TrimSuffix(r.Outcome+": "+r.Reason, ": ")
		text = strings.TrimPrefix(text, string(store.RunInterrupted)+": ") // the reason says by what
		p.statusLine("last run", fmt.Sprintf("%s by %s: %s", operation.Zoned(*at), r.Holder, text))
		hint = r.Hint
	}
	p.statusLine("next run", sayNext(s.Next))
	p.statusOfTeam(s.Team, s.TeamMemories)
	statusList(p, "running", s.Running, sayRunning)
	statusList(p, "failed", s.Failed, sayFailed)
	statusList(p, "dead", s.Dead, sayFailed)
	statusList(p, "unfinished", s.Unfinished, func(u operation.Unfinished) string {
		return fmt.Sprintf("%s: %s (%s)", strings.TrimSpace(u.What+" "+u.Project), u.Detail, u.Hint)
	})
	statusList(p, "unreadable", s.Unreadable, func(u operation.Unreadable) string { return u.Error })
	p.ui.sayHint(cmp.Or(s.Next.Hint, hint))
	p.ui.sayHint(sayAgain(s.Again))
	if len(s.Dead) > 0 {
		p.ui.sayHint("`memoir retry SESSION` or `memoir retry --all` retries dead jobs")
	}
}

func (p *program) statusLine(label, text string) {
	if text = oneLine(text); !p.ui.verbose {
		text = memoir.Cut(text, maxText)
	}
	p.ui.printf("%-11s%s\n", label, text)
}

// statusList prints a line for each element of a list, at most maxListed without -v.
func statusList[T any](p *program, label string, all []T, say func(T) string) {
	for i, one := range all {
		if i == maxListed && !p.ui.verbose {
			p.statusLine("", fmt.Sprintf("… and %d more %s: -v shows all", len(all)-i, label))
			return
		}
		p.statusLine(label, say(one))
	}
}

func sayTeam(t team.Memory) string {
	text := t.Project + ": " + count(t.Lines, "line")
	if !t.Trusted {
		return text + ", not trusted: `memoir trust --team` there reads them"
	}
	return strings.TrimSuffix(text+"; ignored files: "+byRule(t.Ignored), "; ignored files: ")
}

func sayNext(n operation.Next) string {
	text := fmt.Sprintf("would extract from %s and consolidate %s", count(n.Sessions, "session"),
		count(n.Projects, "project"))
	text = strings.NewReplacer(" extract from 0 sessions and", "", " and consolidate 0 projects", "").Replace(text)
	switch {
	case n.Error != "":
		return "cannot start: " + n.Error
	case n.Sessions+n.Projects == 0:
		text = "nothing to do for the registered sessions"
	}
	if n.Left > 0 {
		text += fmt.Sprintf("; the cap leaves %s unread", count(n.Left, "session"))
	}
	if n.Estimate != nil && n.Estimate.Calls > 0 && n.Sessions+n.Projects > 0 {
		text += "; about " + sayEstimate(*n.Estimate)
	}
	return text
}

// sayAgain offers what a language model could read again; "" if there is nothing.
func sayAgain(n operation.Next) string {
	if n.Sessions == 0 || n.Estimate == nil {
		return ""
	}
	return "other models read sessions before: `memoir run --again` " + sayNext(n)
}

func sayRunning(j operation.Running) string {
	text := fmt.Sprintf("%s %s by %s", j.Kind, j.Key, j.Holder)
	if j.Since != nil && j.Until != nil {
		text += " since " + operation.Zoned(*j.Since) + ", lease until " + operation.Zoned(*j.Until)
	}
	if j.Stale {
		text += ", stale: the next run takes over"
	}
	return text + titled(j.Title)
}

func sayFailed(j store.FailedJob) string {
	about := ""
	if j.Crashes > 0 {
		about = fmt.Sprintf(", %d of %d crashes", j.Crashes, store.MaxCrashes)
	}
	if j.Suspect {
		about += ", next attempt last and alone"
	} else if j.Next != nil {
		about += ", next attempt at " + operation.Zoned(*j.Next)
	}
	return fmt.Sprintf("%s %s (%s%s): %s%s", j.Kind, j.Key, count(j.Attempts, "attempt"), about, j.Error,
		titled(j.Title))
}

func titled(title string) string {
	if title == "" {
		return ""
	}
	return ", “" + title + "”"
}

// statusOfTeam prints the lines of `memoir status`: of the hub and of repositories.
func (p *program) statusOfTeam(t *operation.Team, repositories []team.Memory) {
	if t != nil {
		p.statusLine("team", fmt.Sprintf("%s shared; sync: %s", count(len(t.Shares), "project"), saySync(*t)))
		p.sayWithdrawals(*t)
		statusList(p, "kept here", t.Held, sayHeld)
	}
	statusList(p, "team", repositories, sayTeam)
}

// sayWithdrawals prints what waits to be withdrawn.
func (p *program) sayWithdrawals(t operation.Team) {
	for _, key := range slices.Sorted(maps.Keys(t.Withdrawals)) {
		p.statusLine("withdraw", fmt.Sprintf("%s of %s, which the hub has until it is told",
			count(t.Withdrawals[key], "statement"), key))
	}
}

// saySync says how synchronising goes.
func saySync(t operation.Team) string {
	text := "never yet"
	if !t.Success.IsZero() {
		text = "last at " + operation.Zoned(t.Success)
	}
	if !t.Failing.IsZero() {
		text += "; failing since " + operation.Zoned(t.Failing) + ": " + t.Error
	}
	for _, id := range slices.Sorted(maps.Keys(t.Unaccepted)) {
		text += fmt.Sprintf("; generation %d of %s waits: `memoir team accept`", t.Unaccepted[id], id)
	}
	if t.Waiting > 0 {
		text += fmt.Sprintf("; %s waiting to be sent", countAre(t.Waiting, "session"))
	}
	return text
}

// teamStatus is `memoir team status`.
func (p *program) teamStatus(c *cli.Context) error {
	home, err := p.home(c)
	if err != nil {
		return err
	}
	st, err := p.openForReading(c)
	if err != nil && memoir.CodeOf(err) != memoir.CodeNotFound {
		return err
	}
	memories := []team.Memory{}
	if err == nil {
		defer st.Close()
		if memories, err = operation.TeamMemories(c.Context, st, home, p.redact); err != nil {
			return err
		}
	}
	pulled, errPulled := team.ReadPulled(home)
	out, err := operation.ReadTeam(c.Context, st, home, p.redact)
	return p.result(c, cmp.Or(err, errPulled), map[string]any{"joined": out != nil, "team": out,
		"team_memories": memories, "pulled": pulled}, func() {
		statusList(p, "repository", memories, sayTeam)
		for _, id := range slices.Sorted(maps.Keys(pulled)) {
			p.statusLine("pulled", pulled[id].Say())
			p.warnTold(pulled[id].URL, pulled[id].Project, team.Told{Expires: pulled[id].Expires, Limited: pulled[id].Limited})
		}
		if out == nil && len(pulled) == 0 {
			p.ui.sayError(team.ErrNone)
		}
		if out == nil {
			return
		}
		p.statusLine("hub", fmt.Sprintf("%s, as %s of %s; the token ends at the latest on %s", out.URL, out.Member,
			out.Organisation, when(out.Expires)))
		for _, s := range out.Shares {
			p.statusLine("shared", fmt.Sprintf("%s as %s: %d sent, %d received", s.ProjectID, s.Key, s.Sent, s.Received))
		}
		if len(out.Shares) == 0 {
			p.statusLine("shared", "no project; `memoir team share` shares one")
		}
		p.statusLine("sync", saySync(*out))
		p.sayWithdrawals(*out)
		p.warnLimited(out.Limited)
		statusList(p, "kept here", out.Held, sayHeld)
		p.ui.sayHint(out.Hint)
		p.warnEnding(out.URL, out.Expires, syncRenews)
	})
}

// What a person can do about a token that ends soon: of a machine that has joined, and of a container.
const (
	syncRenews     = "`memoir team sync` renews it"
	operatorRenews = "an operator adds another one with `memoir-hub token add`"
)

// warnTold warns of what a hub told a container: a token that ends soon, or a memory that waits.
func (p *program) warnTold(url, project string, told team.Told) {
	p.warnEnding(url, told.Expires, operatorRenews)
	p.warnLimited(map[string]time.Time{project: told.Limited})
}

// warnLimited warns of memories, by project, that are older than what the hub got, until a spending limit ends.
func (p *program) warnLimited(memories map[string]time.Time) {
	for _, project := range slices.Sorted(maps.Keys(memories)) {
		if until := memories[project]; time.Now().Before(until) {
			p.ui.warn("an operator raises it with `memoir-hub org set`", "the memory of %s lacks what was sent last: the "+
				"hub has reached its spending limit, until %s", project, when(until))
		}
	}
}

// warnEnding warns of a token that ends within 14 days, or has ended. A hub of the release before does not say when.
func (p *program) warnEnding(url string, expires time.Time, hint string) {
	if !expires.IsZero() && time.Until(expires) < 14*24*time.Hour {
		p.ui.warn(hint, "the token for %s ends at the latest on %s", url, when(expires))
	}
}
