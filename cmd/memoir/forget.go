package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/pipeline"
	"memoir/store"
)

func forgetCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "forget", Category: groupMemory, ArgsUsage: "[SESSION]...",
		Usage: "withdraw sessions, a project or a text from memory, for good",
		Description: help("Forgets sessions, named by id, the beginning of one, or file; all sessions of a project,\n"+
			"with its memory; or those that say a text, whose transcripts are searched for it, together\n"+
			"with the lines of live memory that hold it. The memory is rid of them at once, by code and\n"+
			"without a language model: lines that rest on them alone go, by hand or not, and the live\n"+
			"files are checked. A tombstone keeps each session out, also after memoir clear; the\n"+
			"agents' own files stay. Earlier generations keep what they hold unless --purge is given,\n"+
			"which also removes logs of background runs and copies of the database made before\n"+
			"upgrades, and empties its free pages. Asks first; without a terminal it needs --yes.",
			"memoir forget 019f1fd6", "memoir forget session codex:019f1fd6 --purge", "memoir forget --project .",
			"memoir forget --match 'acme corp' --dry-run", "memoir forget --list", "memoir forget --undo 019f1fd6",
			"memoir forget --give-up mise               # a line that it cannot get rid of was looked at"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "project", Usage: "the whole project `REF`: an id, a name or a path; with --match: only there"},
			&cli.StringFlag{Name: "match", Usage: "the sessions, and lines of live memory, that say `TEXT`, in upper or lower case"},
			&cli.BoolFlag{Name: "purge", Usage: "also from earlier generations, logs, and the database's copies and free pages"},
			&cli.BoolFlag{Name: "dry-run", Usage: "show what would be forgotten, and forget nothing"},
			&cli.BoolFlag{Name: "list", Usage: "list what was forgotten"},
			&cli.BoolFlag{Name: "undo", Usage: "let sessions in again that were forgotten: the next run reads them anew"},
			&cli.StringFlag{Name: "give-up", Usage: "end forgetting that the project `REF` cannot finish; status says which and why"},
			&cli.StringFlag{Name: "wait", Usage: "wait up to `TIME` for a project that another process holds"},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object"},
		},
		Action: p.forget,
	}
}

// forgetJSON is what `forget --json` prints.
type forgetJSON struct {
	DryRun   bool                    `json:"dry_run,omitempty"`
	Sessions []string                `json:"sessions"` // keys
	Lines    []pipeline.FoundLine    `json:"lines"`    // of live memory that hold the text
	Notes    []string                `json:"notes"`    // ids of projects with changes by hand that hold it
	Archives []pipeline.FoundArchive `json:"archives"` // earlier generations that hold it
	Projects []pipeline.ForgottenIn  `json:"projects"`
	Forks    []string                `json:"forks"`           // sessions that began as copies of them, and are not forgotten
	Removed  []string                `json:"removed"`         // files, by --purge
	Would    []pipeline.WouldForget  `json:"would,omitempty"` // with --dry-run: what memories have of it
}

func (p *program) forget(c *cli.Context) error {
	refs := c.Args().Slice()
	if len(refs) > 1 && (refs[0] == "session" || refs[0] == "sessions") {
		refs = refs[1:]
	}
	match := strings.TrimSpace(c.String("match"))
	switch {
	case c.Bool("list"):
		if len(refs) > 0 || c.IsSet("project") || c.IsSet("match") || c.Bool("undo") {
			return usagef("", "--list stands alone")
		}
		return p.listForgotten(c)
	case c.IsSet("give-up"):
		if len(refs) > 0 || c.IsSet("project") || c.IsSet("match") || c.Bool("undo") || c.String("give-up") == "" {
			return usagef("", "--give-up takes a project, and stands alone")
		}
	case c.Bool("undo") && len(refs) == 0:
		return usagef("`memoir forget --list` lists those that were forgotten", "--undo needs sessions")
	case c.IsSet("match") && !tellingText(match):
		return usagef("say more of it: it is looked for inside words, too", "--match needs a text with at least three letters or digits")
	case len(refs) > 0 && (c.IsSet("project") || c.IsSet("match")):
		return usagef("", "sessions and --project or --match exclude each other")
	case len(refs) == 0 && !c.IsSet("project") && !c.IsSet("match"):
		return usagef("`memoir sessions` lists sessions", "forget needs a session, --project or --match")
	case slices.Contains(refs, ""):
		return usagef("", "forget needs a session, and what was given is empty")
	}
	opts, err := p.forgetOptions(c)
	if err != nil {
		return err
	}
	open := p.openForWriting
	if c.Bool("dry-run") {
		open = p.openForReading
	}
	st, err := open(c)
	if err != nil {
		return err
	}
	defer st.Close()
	if c.IsSet("give-up") {
		return p.giveUpForgetting(c, st, opts.Home, c.String("give-up"))
	}
	if c.Bool("undo") {
		return p.undoForgetting(c, st, refs)
	}
	if c.IsSet("project") {
		ref, err := projectFlag(c)
		if err != nil {
			return err
		}
		if !c.Bool("dry-run") {
			if err := pipeline.FinishMoves(c.Context, st, opts.Home); err != nil {
				return err
			}
		}
		project, err := p.projectNamed(c, st, ref)
		if err != nil {
			return err
		}
		if match == "" {
			return p.forgetWholeProject(c, st, opts, project)
		}
		opts.ProjectIDs = []string{project.ID}
	}
	var found pipeline.Found
	if match != "" {
		found, err = pipeline.FindText(c.Context, st, opts, match)
		p.ui.stopBar()
	} else {
		found.Sessions, err = p.sessionsToForget(c.Context, st, refs)
	}
	if err != nil {
		return err
	}
	return p.forgetFound(c, st, opts, found, match)
}

// tellingText reports whether a text is long enough to be looked for in all that was
// said: a shorter one stands in most sessions. Scripts whose letters are syllables or
// words need two of them.
func tellingText(text string) bool {
	n := 0
	for _, r := range memoir.Folded(text) {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			n += 2
		case unicode.IsLetter(r), unicode.IsDigit(r):
			n++
		}
	}
	return n >= 3
}

func (p *program) forgetOptions(c *cli.Context) (pipeline.Options, error) {
	opts, err := p.changeOptions(c)
	opts.Progress = p.ui.progress
	return opts, err
}

// sessionsToForget finds the sessions that are named. One that no scan has seen may be
// named by its file, one whose row is gone by its tombstone.
func (p *program) sessionsToForget(ctx context.Context, st *store.Store, refs []string) ([]memoir.Session, error) {
	var out []memoir.Session
	for _, ref := range refs {
		session, err := p.findSession(ctx, st, ref)
		if memoir.CodeOf(err) == memoir.CodeNotFound {
			if info, statErr := os.Stat(ref); statErr == nil && !info.IsDir() {
				session, _, err = onlySession(ctx, ref)
			} else if stone, stoneErr := p.tombstone(ctx, st, ref); stoneErr == nil {
				session.Source, session.ID = memoir.SplitKey(stone.Key)
				err = nil
			}
		}
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(out, func(s memoir.Session) bool { return s.Key() == session.Key() }) {
			out = append(out, session)
		}
	}
	return out, nil
}

// forgetFound shows what is to be forgotten, asks, and forgets it.
func (p *program) forgetFound(c *cli.Context, st *store.Store, opts pipeline.Options, found pipeline.Found, match string) error {
	out := forgetJSON{DryRun: c.Bool("dry-run"), Sessions: []string{}, Lines: []pipeline.FoundLine{}, Notes: list(found.Noted), Archives: list(found.Archives),
		Projects: []pipeline.ForgottenIn{}, Forks: []string{}, Removed: []string{}}
	for _, line := range found.Lines {
		line.Path, line.Text = p.redact(line.Path), p.redact(line.Text)
		out.Lines = append(out.Lines, line)
	}
	for _, s := range found.Sessions {
		out.Sessions = append(out.Sessions, s.Key())
	}
	forks, err := pipeline.Forks(c.Context, st, out.Sessions)
	if err != nil {
		return err
	}
	for _, s := range forks {
		out.Forks = append(out.Forks, s.Key())
	}
	if found.Unread > 0 {
		p.ui.warn("`memoir sessions --reason unreadable` may tell why", "%s could not be searched", count(found.Unread, "transcript"))
	}
	if found.Empty() {
		p.ui.say("nothing says that")
		return p.forgetResult(c, out)
	}
	p.showForgetting(c, found.Sessions, out)
	if out.DryRun {
		return p.previewForgetting(c, st, opts, out, pipeline.Forgetting{Keys: out.Sessions, Text: match, Projects: found.Projects()})
	}
	if err := p.confirm(c, "what memory has of "+whatIsForgotten(out), opts.Home); err != nil {
		return err
	}
	report, err := pipeline.Forget(c.Context, st, opts, pipeline.Forgetting{Keys: out.Sessions, Text: match, Projects: found.Projects(), Purge: c.Bool("purge")})
	if report.Projects != nil {
		out.Projects, out.Removed = report.Projects, list(report.Removed)
	}
	if err == nil || len(out.Projects) > 0 {
		p.sayForgotten(c, out, err)
		if err := p.forgetResult(c, out); err != nil {
			return err
		}
	}
	return err
}

func (p *program) forgetResult(c *cli.Context, out forgetJSON) error {
	if !c.Bool("json") {
		return nil
	}
	return p.ui.json(out)
}

func whatIsForgotten(out forgetJSON) string {
	var parts []string
	if n := len(out.Sessions); n > 0 {
		parts = append(parts, count(n, "session"))
	}
	if n := len(out.Lines); n > 0 {
		parts = append(parts, count(n, "line"))
	}
	if n := len(out.Notes); n > 0 && len(out.Lines) == 0 {
		parts = append(parts, "what was changed by hand in "+count(n, "project"))
	}
	if n := len(out.Archives); n > 0 && len(parts) == 0 {
		parts = append(parts, "what "+count(n, "earlier generation")+" said")
	}
	return strings.Join(parts, " and ")
}

// maxShown bounds how many lines are shown before a question, of those that hold a text.
const maxShown = 40

// showForgetting shows what is to be forgotten before it is.
func (p *program) showForgetting(c *cli.Context, sessions []memoir.Session, out forgetJSON) {
	if c.Bool("json") {
		return
	}
	t := newTable("session", "updated", "project", "title")
	t.narrower = []step{{"title", 18}, {"session", 16}, {"project", 12}, {"title", 8}}
	for _, s := range sessions {
		p.cleanSession(&s)
		t.row(s.Key(), when(s.UpdatedAt), orDash(s.ProjectID), orDash(s.Title))
	}
	p.ui.table(t)
	for i, line := range out.Lines {
		if i == maxShown && !out.DryRun {
			p.ui.say("and %s more", count(len(out.Lines)-i, "line"))
			break
		}
		p.ui.printf("%s %s:%d: %s\n", line.Project, line.Path, line.Line, oneLine(line.Text))
	}
	for _, archive := range out.Archives {
		p.ui.printf("%s %s\n", archive.Project, archive.Path)
	}
}

func orDash(text string) string {
	if text == "" {
		return none
	}
	return text
}

// sayForgotten says how memories stand now, and what still holds what was forgotten.
func (p *program) sayForgotten(c *cli.Context, out forgetJSON, failed error) {
	for _, project := range out.Projects {
		name := p.redact(project.Name)
		switch {
		case project.Outcome == pipeline.OutcomeBusy, project.Outcome == pipeline.OutcomeFailed:
			p.ui.say("%s has not forgotten", name)
			continue
		case project.Outcome == pipeline.OutcomePublished:
			p.ui.say("%s has forgotten, with generation %d", name, project.Generation)
		default:
			p.ui.say("%s had nothing of it in its live memory", name)
		}
		if n := len(project.Archives); n > 0 && c.Bool("purge") {
			p.ui.say("%s: removed %s: %s", name, count(n, "earlier generation"), shortened(project.Archives))
		} else if n > 0 {
			p.ui.warn("--purge removes them", "%s: it still stands in %s: %s", name, count(n, "earlier generation"), shortened(project.Archives))
		}
	}
	if failed != nil {
		return
	}
	for _, path := range out.Removed {
		p.ui.say("removed %s", path)
	}
	if len(out.Forks) > 0 {
		p.ui.warn("forget them too if they go on about it", "%s began as copies of what is forgotten: %s; what they repeat is left out while the files of the first are there",
			count(len(out.Forks), "session"), shortened(out.Forks))
	}
	p.ui.say("forgot %s", whatIsForgotten(out))
}

// shortened names the first of some.
func shortened(names []string) string {
	if len(names) > 5 {
		return strings.Join(names[:5], ", ") + fmt.Sprintf(" and %d more", len(names)-5)
	}
	return strings.Join(names, ", ")
}
