package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
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
			"sessions; or, with --match, sessions whose extraction contains a text, and the lines of\n"+
			"memory that contain it. A new generation without them is published at once, without a\n"+
			"language model, and checked. Lines that depend only on forgotten sessions are removed, hand\n"+
			"edits that cite them included. A forgotten session is never read again; the agents' own\n"+
			"files stay. Earlier generations stay unless --purge is given, which also removes logs and\n"+
			"copies of the database and clears its free pages. Asks first; without a terminal it needs\n"+
			"--yes.",
			"memoir forget 019f1fd6", "memoir forget codex:019f1fd6 --purge", "memoir forget --project .",
			"memoir forget --match 'acme corp' --dry-run", "memoir forget --list", "memoir forget --undo 019f1fd6"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "project", Usage: "the whole project `REF` (id, name or path); with --match: only there"},
			&cli.StringFlag{Name: "match", Usage: "sessions and memory lines that contain `TEXT`, ignoring case"},
			&cli.BoolFlag{Name: "purge", Usage: "also from earlier generations, logs, copies and free pages of the database"},
			&cli.BoolFlag{Name: "dry-run", Usage: "show what would be forgotten, and change nothing"},
			&cli.BoolFlag{Name: "list", Usage: "list forgotten sessions"},
			&cli.BoolFlag{Name: "undo", Usage: "stop forgetting sessions: the next run reads them again"},
			waitFlag(), yesFlag(), jsonFlag(),
		},
		Action: p.forget,
	}
}

// forgetJSON is what `forget --json` prints.
type forgetJSON struct {
	DryRun   bool                   `json:"dry_run,omitempty"`
	Sessions []string               `json:"sessions"` // keys
	Lines    []pipeline.FoundLine   `json:"lines"`    // of live memory that contain the text
	Projects []pipeline.ForgottenIn `json:"projects"`
	Removed  []string               `json:"removed"` // files, by --purge
}

func (p *program) forget(c *cli.Context) error {
	refs, match := c.Args().Slice(), strings.TrimSpace(c.String("match"))
	if err := checkForget(c, refs, match); err != nil {
		return err
	}
	if c.Bool("list") {
		return p.listForgotten(c)
	}
	opts, err := p.options(c, nil)
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
	if c.Bool("undo") {
		return p.undoForgetting(c, st, refs)
	}
	if c.IsSet("project") {
		ref, err := projectFlag(c)
		if err != nil {
			return err
		}
		if match == "" {
			return p.forgetProject(c, st, opts, ref)
		}
		project, err := p.projectNamed(c, st, ref)
		if err != nil {
			return err
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

// checkForget rejects combinations of arguments and flags that have no meaning.
func checkForget(c *cli.Context, refs []string, match string) error {
	alone := len(refs) == 0 && !c.IsSet("project") && !c.IsSet("match")
	switch {
	case c.Bool("list") && (!alone || c.Bool("undo")):
		return usagef("", "--list takes no sessions and no other selection")
	case c.Bool("list"):
		return nil
	case c.Bool("undo") && len(refs) == 0:
		return usagef("`memoir forget --list` lists forgotten sessions", "--undo needs sessions")
	case c.IsSet("match") && !longEnough(match):
		return usagef("use a longer text: it is also matched inside words",
			"--match needs a text with at least three letters or digits")
	case len(refs) > 0 && (c.IsSet("project") || c.IsSet("match")):
		return usagef("", "sessions and --project or --match exclude each other")
	case alone:
		return usagef("`memoir sessions` lists sessions", "forget needs a session, --project or --match")
	case slices.Contains(refs, ""):
		return usagef("", "the session is empty")
	}
	return nil
}

// longEnough reports whether a text is long enough to be searched for: three letters or digits, or
// two of a script whose letters are words or syllables.
func longEnough(text string) bool {
	n, bytes := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n, bytes = n+1, bytes+len(string(r))
		}
	}
	return n >= 3 || n == 2 && bytes >= 6
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
func (p *program) forgetFound(c *cli.Context, st *store.Store, opts pipeline.Options, found pipeline.Found,
	match string) error {
	out := forgetJSON{DryRun: c.Bool("dry-run"), Sessions: []string{}, Lines: []pipeline.FoundLine{},
		Projects: []pipeline.ForgottenIn{}, Removed: []string{}}
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
	result := func(err error) error {
		if c.Bool("json") {
			if failed := p.ui.json(out); err == nil {
				return failed
			}
		}
		return err
	}
	if found.Empty() {
		p.ui.say("no match")
		return result(nil)
	}
	if !c.Bool("json") {
		p.showForgetting(found.Sessions, out.Lines)
	}
	if out.DryRun {
		p.ui.say("would forget %s", what)
		return result(nil)
	}
	if err := p.confirm(c, "what memory has of "+what, opts.Home); err != nil {
		return err
	}
	report, err := pipeline.Forget(c.Context, st, opts,
		pipeline.Forgetting{Keys: out.Sessions, Text: match, Projects: found.Projects, Purge: c.Bool("purge")})
	if err != nil && len(report.Projects) == 0 {
		return err
	}
	out.Projects, out.Removed = list(report.Projects), list(report.Removed)
	p.sayForgotten(out.Projects, c.Bool("purge"))
	if err == nil {
		p.sayRemoved(out.Removed)
		p.ui.say("forgot %s", what)
	}
	return result(err)
}

// showForgetting shows what is to be forgotten before it is.
func (p *program) showForgetting(sessions []memoir.Session, lines []pipeline.FoundLine) {
	t := newTable("session", "updated", "project", "title")
	t.narrower = []step{{"title", 18}, {"session", 16}, {"project", 12}, {"title", 8}}
	for _, s := range sessions {
		p.cleanSession(&s)
		t.row(s.Key(), when(s.UpdatedAt), orDash(s.ProjectID), orDash(s.Title))
	}
	p.ui.table(t)
	for _, line := range lines {
		p.ui.printf("%s %s:%d: %s\n", line.Project, line.Path, line.Line, oneLine(line.Text))
	}
}

// sayForgotten reports the state of each memory, and which archives still hold what was forgotten.
func (p *program) sayForgotten(projects []pipeline.ForgottenIn, purge bool) {
	for _, project := range projects {
		name := p.redact(project.Name)
		switch project.Outcome {
		case pipeline.OutcomeBusy, pipeline.OutcomeFailed:
			p.ui.say("%s: not forgotten", name)
			continue
		case pipeline.OutcomePublished:
			p.ui.say("%s: published generation %d without it", name, project.Generation)
		default:
			p.ui.say("%s: the live memory did not contain it", name)
		}
		if n := len(project.Archives); n > 0 && purge {
			p.ui.say("%s: removed %s: %s", name, count(n, "earlier generation"), shortened(project.Archives))
		} else if n > 0 {
			p.ui.warn("--purge removes it there, too", "%s: still in %s: %s", name, count(n, "file"),
				shortened(project.Archives))
		}
	}
}

func (p *program) sayRemoved(paths []string) {
	for _, path := range paths {
		p.ui.say("removed %s", path)
	}
}

// forgetProject is `forget --project`.
func (p *program) forgetProject(c *cli.Context, st *store.Store, opts pipeline.Options, ref string) error {
	if !c.Bool("dry-run") {
		if err := pipeline.FinishMoves(c.Context, st, opts.Home); err != nil {
			return err
		}
	}
	project, err := p.projectNamed(c, st, ref)
	if err != nil {
		return err
	}
	what := "the memory of " + project.ID + " and forget its " + count(project.Sessions, "session")
	sessions := project.Sessions
	var removed []string
	if c.Bool("dry-run") {
		p.ui.say("would remove %s", what)
	} else {
		if err := p.confirm(c, what, opts.Home); err != nil {
			return err
		}
		sessions, removed, err = pipeline.ForgetProject(c.Context, st, opts, project.ID, c.Bool("purge"))
		if err != nil {
			return err
		}
		p.ui.say("forgot %s with %s", project.ID, count(sessions, "session"))
		p.sayRemoved(removed)
		if len(project.Directories) > 0 && filepath.IsAbs(project.Directories[0]) {
			p.ui.sayHint("new sessions there start a new project; to prevent that, add " +
				p.redact(project.Directories[0]) + " to exclude in config.yml")
		}
	}
	type forgotten struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Sessions int    `json:"sessions"`
	}
	return p.result(c, struct {
		DryRun    bool      `json:"dry_run,omitempty"`
		Forgotten forgotten `json:"forgotten"`
		Removed   []string  `json:"removed"`
	}{c.Bool("dry-run"), forgotten{project.ID, p.redact(project.Name), sessions}, list(removed)}, func() {})
}

// tombstoneJSON is a session that was forgotten.
type tombstoneJSON struct {
	Session string     `json:"session"` // its key
	Project string     `json:"project"` // whose memory it was removed from
	At      *time.Time `json:"at"`
}

// listForgotten prints the tombstones.
func (p *program) listForgotten(c *cli.Context) error {
	out := struct {
		Forgotten []tombstoneJSON `json:"forgotten"`
	}{[]tombstoneJSON{}}
	st, err := p.openForListing(c)
	if err != nil {
		return err
	}
	t := newTable("session", "forgotten", "project")
	t.narrower = []step{{"session", 16}, {"project", 12}}
	if st != nil {
		defer st.Close()
		tombstones, err := st.Tombstones(c.Context)
		if err != nil {
			return err
		}
		for _, s := range tombstones {
			key := p.redact(s.Key)
			out.Forgotten = append(out.Forgotten, tombstoneJSON{key, s.ProjectID, timeJSON(s.At)})
			t.row(key, when(s.At), orDash(s.ProjectID))
		}
	}
	return p.result(c, out, func() {
		p.ui.table(t)
		if st != nil {
			p.ui.say("%s forgotten", count(len(out.Forgotten), "session"))
		}
	})
}

// tombstone finds the one that a person names.
func (p *program) tombstone(ctx context.Context, st *store.Store, ref string) (store.Tombstone, error) {
	tombstones, err := st.Tombstones(ctx)
	if err != nil {
		return store.Tombstone{}, err
	}
	found := pipeline.TombstonesNamed(tombstones, ref)
	switch len(found) {
	case 0:
		return store.Tombstone{}, notFoundf("`memoir forget --list` lists them", "no forgotten session matches %q", ref)
	case 1:
		return found[0], nil
	}
	return store.Tombstone{}, usagef("use more of the id", "%q matches %s", ref, count(len(found), "forgotten session"))
}

// undoForgetting removes tombstones.
func (p *program) undoForgetting(c *cli.Context, st *store.Store, refs []string) error {
	keys := []string{}
	for _, ref := range refs {
		tombstone, err := p.tombstone(c.Context, st, ref)
		if err != nil {
			return err
		}
		keys = append(keys, tombstone.Key)
	}
	for _, key := range keys {
		if c.Bool("dry-run") {
			p.ui.say("%s would no longer be forgotten", key)
			continue
		}
		if err := st.SetForgotten(c.Context, key, false); err != nil {
			return err
		}
		p.ui.say("%s is no longer forgotten", key)
	}
	p.ui.sayHint("the next run reads it again if its files still exist and are not too old")
	return p.result(c, struct {
		Undone []string `json:"undone"`
	}{keys}, func() {})
}

// orDash is a text for the cell of a table.
func orDash(text string) string {
	if text == "" {
		return none
	}
	return text
}

// shortened lists the first of some names.
func shortened(names []string) string {
	if len(names) > 5 {
		return strings.Join(names[:5], ", ") + fmt.Sprintf(" and %d more", len(names)-5)
	}
	return strings.Join(names, ", ")
}
