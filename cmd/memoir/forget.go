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
		Usage: "remove sessions, a project or a text from memory, for good",
		Description: help("Forgets sessions, named by id, the beginning of an id, or file; a project with all its\n"+
			"sessions; or, with --match, sessions whose extraction holds a text, and the lines of memory\n"+
			"that hold it. A new generation without them is published at once, without a language model,\n"+
			"and checked. Lines that rest only on what is forgotten go, hand edits that cite it included.\n"+
			"A forgotten session is never read again; the agents' own files stay. Earlier generations\n"+
			"stay unless --purge is given, which also removes logs and copies of the database and\n"+
			"clears its free pages. Asks for confirmation; without a terminal it needs --yes.",
			"memoir forget 019f1fd6", "memoir forget codex:019f1fd6 --purge", "memoir forget --project .",
			"memoir forget --match 'acme corp' --dry-run", "memoir forget --list", "memoir forget --undo 019f1fd6"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "project", Usage: "the whole project `REF` (id, name or path); with --match: only there"},
			&cli.StringFlag{Name: "match", Usage: "sessions and memory lines that hold `TEXT`, ignoring case"},
			&cli.BoolFlag{Name: "purge", Usage: "also from earlier generations, logs, copies and free pages of the database"},
			&cli.BoolFlag{Name: "dry-run", Usage: "show what would be forgotten, and change nothing"},
			&cli.BoolFlag{Name: "list", Usage: "list forgotten sessions"},
			&cli.BoolFlag{Name: "undo", Usage: "let forgotten sessions in again: the next run reads them anew"},
			waitFlag(),
			yesFlag(),
			jsonFlag(),
		},
		Action: p.forget,
	}
}

// forgetJSON is what `forget --json` prints.
type forgetJSON struct {
	DryRun   bool                   `json:"dry_run,omitempty"`
	Sessions []string               `json:"sessions"` // keys
	Lines    []pipeline.FoundLine   `json:"lines"`    // of live memory that hold the text
	Projects []pipeline.ForgottenIn `json:"projects"`
	Removed  []string               `json:"removed"` // files, by --purge
}

// checkForget rejects combinations of arguments and flags that mean nothing.
func checkForget(c *cli.Context, refs []string, match string) error {
	alone := len(refs) == 0 && !c.IsSet("project") && !c.IsSet("match")
	switch {
	case c.Bool("list") && (!alone || c.Bool("undo")):
		return usagef("", "--list takes no sessions and no other selection")
	case c.Bool("list"):
		return nil
	case c.Bool("undo") && len(refs) == 0:
		return usagef("`memoir forget --list` lists forgotten sessions", "--undo needs sessions")
	case c.IsSet("match") && !tellingText(match):
		return usagef("use a longer text: it is also matched inside words", "--match needs a text with at least three letters or digits")
	case len(refs) > 0 && (c.IsSet("project") || c.IsSet("match")):
		return usagef("", "sessions and --project or --match exclude each other")
	case alone:
		return usagef("`memoir sessions` lists sessions", "forget needs a session, --project or --match")
	case slices.Contains(refs, ""):
		return usagef("", "the session is empty")
	}
	return nil
}

func (p *program) forget(c *cli.Context) error {
	refs := c.Args().Slice()
	if len(refs) > 1 && (refs[0] == "session" || refs[0] == "sessions") {
		refs = refs[1:]
	}
	match := strings.TrimSpace(c.String("match"))
	if err := checkForget(c, refs, match); err != nil {
		return err
	}
	if c.Bool("list") {
		return p.listForgotten(c)
	}
	opts, err := p.changeOptions(c)
	if err != nil {
		return err
	}
	opts.Progress = p.ui.progress
	open := p.openForWriting
	if c.Bool("dry-run") {
		open = p.openForReading
	}
	st, err := open(c)
	if err != nil {
		return err
	}
	defer st.Close()
	if c.Bool("undo") {
		return p.undoForgetting(c, st, refs)
	}
	if c.IsSet("project") {
		project, err := p.projectToForget(c, st, opts)
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
	} else {
		found.Sessions, err = p.sessionsToForget(c.Context, st, refs)
	}
	if err != nil {
		return err
	}
	return p.forgetFound(c, st, opts, found, match)
}

// tellingText reports whether a text is long enough to be searched for. Scripts whose letters
// are syllables or words need two of them.
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

// sessionsToForget finds the sessions that are named. One that no scan has seen may be named
// by its file, one whose row is gone by its tombstone.
func (p *program) sessionsToForget(ctx context.Context, st *store.Store, refs []string) ([]memoir.Session, error) {
	var out []memoir.Session
	for _, ref := range refs {
		session, err := p.findSession(ctx, st, ref)
		if memoir.CodeOf(err) == memoir.CodeNotFound {
			if info, statErr := os.Stat(ref); statErr == nil && !info.IsDir() {
				session, _, err = onlySession(ctx, ref)
			} else if tombstone, findErr := p.tombstone(ctx, st, ref); findErr == nil {
				session.Source, session.ID = memoir.SplitKey(tombstone.Key)
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
	out := forgetJSON{DryRun: c.Bool("dry-run"), Sessions: []string{}, Lines: []pipeline.FoundLine{}, Projects: []pipeline.ForgottenIn{}, Removed: []string{}}
	for _, line := range found.Lines {
		line.Path, line.Text = p.redact(line.Path), p.redact(line.Text)
		out.Lines = append(out.Lines, line)
	}
	for _, s := range found.Sessions {
		out.Sessions = append(out.Sessions, s.Key())
	}
	what := count(len(out.Sessions), "session")
	if match != "" {
		what += " and " + count(len(out.Lines), "line")
	}
	if found.Empty() {
		p.ui.say("no match")
		return p.forgetResult(c, out)
	}
	p.showForgetting(c, found.Sessions, out.Lines)
	if out.DryRun {
		p.ui.say("would forget %s", what)
		return p.forgetResult(c, out)
	}
	if err := p.confirm(c, "what memory has of "+what, opts.Home); err != nil {
		return err
	}
	report, err := pipeline.Forget(c.Context, st, opts, pipeline.Forgetting{Keys: out.Sessions, Text: match, Projects: found.Projects, Purge: c.Bool("purge")})
	out.Projects, out.Removed = list(report.Projects), list(report.Removed)
	if err != nil && len(out.Projects) == 0 {
		return err
	}
	p.sayForgotten(out.Projects, c.Bool("purge"))
	if err == nil {
		for _, path := range out.Removed {
			p.ui.say("removed %s", path)
		}
		p.ui.say("forgot %s", what)
	}
	if failed := p.forgetResult(c, out); err == nil {
		err = failed
	}
	return err
}

func (p *program) forgetResult(c *cli.Context, out any) error {
	if !c.Bool("json") {
		return nil
	}
	return p.ui.json(out)
}

// maxShown bounds how many lines are shown before a question.
const maxShown = 40

// showForgetting shows what is to be forgotten before it is.
func (p *program) showForgetting(c *cli.Context, sessions []memoir.Session, lines []pipeline.FoundLine) {
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
	for i, line := range lines {
		if i == maxShown && !c.Bool("dry-run") {
			p.ui.say("and %s more", count(len(lines)-i, "line"))
			break
		}
		p.ui.printf("%s %s:%d: %s\n", line.Project, line.Path, line.Line, oneLine(line.Text))
	}
}

func orDash(text string) string {
	if text == "" {
		return none
	}
	return text
}

// sayForgotten reports how memories stand now, and which archives still hold what was
// forgotten.
func (p *program) sayForgotten(projects []pipeline.ForgottenIn, purge bool) {
	for _, project := range projects {
		name := p.redact(project.Name)
		switch project.Outcome {
		case pipeline.OutcomeBusy, pipeline.OutcomeFailed:
			p.ui.say("%s: not forgotten", name)
			continue
		case pipeline.OutcomePublished:
			p.ui.say("%s: forgotten with generation %d", name, project.Generation)
		default:
			p.ui.say("%s: its live memory held nothing of it", name)
		}
		if n := len(project.Archives); n > 0 && purge {
			p.ui.say("%s: removed %s: %s", name, count(n, "earlier generation"), shortened(project.Archives))
		} else if n > 0 {
			p.ui.warn("--purge removes them", "%s: still held by %s: %s", name, count(n, "earlier generation"), shortened(project.Archives))
		}
	}
}

// shortened lists the first of some names.
func shortened(names []string) string {
	if len(names) > 5 {
		return strings.Join(names[:5], ", ") + fmt.Sprintf(" and %d more", len(names)-5)
	}
	return strings.Join(names, ", ")
}
