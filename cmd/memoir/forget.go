package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/store"
	"memoir/team"
)

func forgetCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "forget", Category: groupUse, ArgsUsage: "[SESSION]...",
		Usage: "remove sessions, notes, a project or a text from memory",
		Description: help("Forgets sessions, named by id or file; notes and lines of journals, named by the\n"+
			"number that `remember` or `journal add` printed (`memoir search --json` shows it as\n"+
			"memoir:journal-N); a project with all its sessions; or, with --match, sessions that contain a\n"+
			"text, and the lines of memory, history and journals with it. It publishes a new generation\n"+
			"without them at once, without a language model, and verifies it. Lines that depend only on\n"+
			"forgotten sessions are removed, as are hand edits that cite them. A forgotten session is not\n"+
			"read again until --undo; the agents' own files stay, and `memoir sessions --reason forgotten`\n"+
			"lists it. Notes, journals and conversations cannot be brought back. Earlier generations, logs\n"+
			"and database copies stay, except with --purge, or if a note, a journal line or a conversation is\n"+
			"forgotten: then generations that contain it, logs and database copies are removed, and the\n"+
			"database's free pages are cleared. Of a project, all is removed except the ids of its sessions,\n"+
			"which --undo needs; the repository stays. While another process holds a project, its memory is\n"+
			"not rewritten, and the exit code is 4: the next run does it. Asks first; without a terminal it\n"+
			"needs --yes, with which an id must be whole.",
			"memoir forget 019f1fd6-2f7c-7d10-9c55-0a1b2c3d4e5f", "memoir forget '#12'",
			"memoir forget --project . --purge", "memoir forget --match 'acme corp'",
			"memoir forget --undo 019f1fd6-2f7c-7d10-9c55-0a1b2c3d4e5f"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "project",
				Usage: "forget the project `REF` (id, name or path); with --match or a SESSION: only in it"},
			&cli.StringFlag{Name: "match", Usage: "forget sessions and lines that contain `TEXT`, ignoring case"},
			&cli.StringFlag{Name: "line", Usage: "remove the one line of MEMORY.md that contains `TEXT`; its sessions stay"},
			&cli.BoolFlag{Name: "purge", Usage: "also remove it from earlier generations, logs and database copies"},
			&cli.BoolFlag{Name: "undo", Usage: "make sessions readable again, and read them at once"},
			&cli.BoolFlag{Name: "dry-run", Usage: "show what would be removed, and remove nothing"},
			waitFlag(), yesFlag(), jsonFlag(),
		},
		Action: p.forget,
	}
}

func (p *program) forget(c *cli.Context) error {
	if c.IsSet("line") {
		return p.forgetLine(c)
	}
	refs, match := c.Args().Slice(), strings.TrimSpace(c.String("match"))
	switch {
	case c.IsSet("match") && !longEnough(match):
		return usagef("use a longer text, since it also matches parts of words",
			"--match needs a text with at least three letters or digits")
	case len(refs) > 0 && c.IsSet("match"):
		return usagef("", "a SESSION cannot be combined with --match")
	case c.Bool("undo") && len(refs) == 0:
		return usagef("`memoir sessions --reason forgotten` lists them", "--undo needs a session")
	case len(refs) == 0 && !c.IsSet("project") && !c.IsSet("match"):
		return usagef("`memoir sessions` lists sessions; a note is written '#12', in quotes",
			"forget needs a session, --project or --match")
	case slices.Contains(refs, ""):
		return usagef("", "the session is empty")
	}
	opts, st, err := p.openToChange(c)
	if err != nil {
		return err
	}
	defer st.Close()
	what := store.Forgetting{Text: match, Purge: c.Bool("purge")}
	var found pipeline.Found
	switch {
	case match != "":
		if err := p.limitToProject(c, st, &opts); err != nil {
			return err
		}
		found, err = pipeline.FindText(c.Context, st, opts, match)
	case len(refs) == 0:
		var project store.ProjectRow
		if project, err = p.projectOf(c, st); err == nil {
			what.Project = project.ID
			found.Sessions, err = st.Sessions(c.Context, store.Filter{Project: project.ID})
		}
	default:
		found.Sessions, err = p.sessionsToForget(c, st, refs)
	}
	if err != nil {
		return err
	}
	if c.Bool("undo") {
		return p.undoForgetting(c, st, opts, found.Sessions)
	}
	return p.forgetFound(c, st, opts, found, what)
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

// sessionsToForget finds the named sessions. A session that is not registered may be named by its file.
func (p *program) sessionsToForget(c *cli.Context, st *store.Store, refs []string) ([]memoir.Session, error) {
	var out []memoir.Session
	for _, ref := range refs {
		if c.Bool("undo") && entryRef.MatchString(ref) {
			return nil, usagef("--undo takes sessions", "notes and journal lines cannot be brought back")
		}
		if e, found, err := p.entryNamed(c.Context, st, ref); err != nil {
			return nil, err
		} else if found {
			ref = e.Key()
		}
		session, err := p.findSession(c.Context, st, ref)
		if memoir.CodeOf(err) == memoir.CodeNotFound && isFile(ref) {
			session, _, err = onlySession(c.Context, ref)
		}
		switch whole := ref == session.Key() || ref == session.ID || isFile(ref); {
		case err != nil || whole:
		case entryRef.MatchString(ref):
			err = notFoundf(findsEntries, "no session matches %q", ref)
		case c.Bool("yes"): // nobody sees which one it is
			err = notFoundf("`memoir forget "+session.Key()+" --yes`",
				"%q is only the beginning of an id; --yes needs the whole id", ref)
		}
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(out, func(s memoir.Session) bool { return s.Key() == session.Key() }) {
			out = append(out, session)
		}
	}
	return out, p.allOf(c, st, out)
}

// allOf returns an error unless all sessions are of the project of --project, if it was given.
func (p *program) allOf(c *cli.Context, st *store.Store, sessions []memoir.Session) error {
	if !c.IsSet("project") {
		return nil
	}
	row, err := p.projectOf(c, st)
	for _, s := range sessions {
		if err == nil && s.ProjectID != row.ID {
			err = usagef("it is of "+cmp.Or(s.ProjectID, "no project"), "%s is not of %s", s.Key(), row.ID)
		}
	}
	return err
}

// forgottenJSON is what `forget --json` prints.
type forgottenJSON struct {
	Sessions []string `json:"sessions"`
	Lines    int      `json:"lines"`
	DryRun   bool     `json:"dry_run"`
	pipeline.ForgetReport
}

// forgetFound shows the sessions and lines, asks, and forgets them.
func (p *program) forgetFound(c *cli.Context, st *store.Store, opts pipeline.Options, found pipeline.Found,
	forget store.Forgetting) error {
	dry, nothing := c.Bool("dry-run"), pipeline.ForgetReport{Projects: []pipeline.ForgottenIn{}, Removed: []string{}}
	if found.Empty() && forget.Project == "" {
		p.ui.say("no match")
		return p.result(c, nil, forgottenJSON{[]string{}, 0, dry, nothing}, func() {})
	}
	forget.Keys, forget.Projects = memoir.Map(found.Sessions, memoir.Session.Key), found.Projects
	do := "remove all memory of " + cmp.Or(kinds(forget.Keys, found.Lines), "the text")
	if forget.Project != "" {
		do = "remove the memory of " + forget.Project + " with " + cmp.Or(kinds(forget.Keys, nil), "no session")
	}
	kept := slices.ContainsFunc(forget.Keys, memoir.IsKept)
	if kept || forget.Project != "" {
		do += " (notes, journals and conversations cannot be brought back)"
	}
	if forget.Purge = forget.Purge || kept; forget.Purge {
		do += ", and the earlier generations, logs and database copies that contain it"
	}
	if !c.Bool("json") {
		if err := st.Entitle(c.Context, found.Sessions); err != nil {
			return err
		}
		p.showFound(found, forget.Text)
	}
	if dry {
		p.ui.say("would %s", do)
		return p.result(c, nil, forgottenJSON{forget.Keys, len(found.Lines), dry, nothing}, func() {})
	}
	if err := p.confirm(c, do, opts.Home); err != nil {
		return err
	}
	before, err := st.Forgotten(c.Context)
	if err = cmp.Or(err, p.sayPromoted(c, st, forget)); err != nil {
		return err
	}
	report, err := pipeline.Forget(c.Context, st, opts, forget)
	if p.sayForgotten(report.Projects, forget.Purge); err != nil {
		return err
	}
	p.sayRemoved(report.Removed)
	found.Sessions = slices.DeleteFunc(found.Sessions, func(s memoir.Session) bool { return before[s.Key()] })
	switch left := kinds(memoir.Map(found.Sessions, memoir.Session.Key), found.Lines); {
	case forget.Project != "":
		p.ui.say("forgot %s with %s", forget.Project, cmp.Or(left, "no session"))
		p.ui.sayHint("new sessions there create a new project; to prevent this, add its directory to exclude in config.yml")
	case left != "":
		p.ui.say("forgot %s", left)
	case len(forget.Keys) > 0:
		p.ui.say("%s forgotten already", countAre(len(forget.Keys), "session"))
	default:
		p.ui.say("nothing else to forget")
	}
	p.withdrawForgotten(c, st, opts)
	for i := range report.Projects {
		report.Projects[i].Name = p.redact(report.Projects[i].Name)
	}
	return p.result(c, nil, forgottenJSON{forget.Keys, len(found.Lines), false, report}, func() {})
}

// withdrawForgotten tells the hub what to withdraw. A failure is a warning: the next run tries again.
func (p *program) withdrawForgotten(c *cli.Context, st *store.Store, opts pipeline.Options) {
	t, err := operation.ReadTeam(c.Context, st, opts.Home, p.redact)
	if t != nil && t.Waiting+len(t.Withdrawals) > 0 && err == nil {
		err = pipeline.Team(c.Context, st, opts, func(o team.Options) error {
			_, err := team.Sync(c.Context, o, team.Push)
			return err
		})
	}
	if err != nil {
		p.ui.warn("if this machine cannot, an admin can: `memoir team erase` removes the member with all that they sent",
			"the hub keeps what was sent until it is told, which fails: %s", p.redact(err.Error()))
	}
}

// showFound lists what would be forgotten.
func (p *program) showFound(found pipeline.Found, match string) {
	t := newTable("session or entry", "updated", "project", "title")
	for _, s := range found.Sessions {
		one := operation.SessionOf(s, p.redact)
		t.row(entryRef.ReplaceAllString(one.Key(), "#$2"), when(s.UpdatedAt), orDash(s.ProjectID), orDash(one.Title))
	}
	p.ui.table(t)
	for _, line := range found.Lines {
		text := fmt.Sprintf(":%d: %s", line.Line, excerpt(oneLine(p.redact(line.Text)), match))
		if line.Line == 0 {
			text = " (its name)"
		}
		p.ui.printf("%s %s%s\n", line.Project, p.redact(line.Path), text)
	}
}

// sayForgotten reports the state of each memory.
func (p *program) sayForgotten(projects []pipeline.ForgottenIn, purge bool) {
	for _, project := range projects {
		name := p.redact(project.Name)
		switch project.Outcome {
		case pipeline.OutcomeBusy, pipeline.OutcomeFailed:
			p.ui.say("%s: its memory still contains it", name)
			continue
		case pipeline.OutcomePublished:
			p.ui.say("%s: published generation %d without it", name, project.Generation)
		default:
			p.ui.say("%s: the live memory did not contain it", name)
		}
		if n := len(project.Archives); n > 0 {
			p.ui.say("%s: removed %s: %s", name, count(n, "earlier generation"), shortened(project.Archives))
		}
	}
	if !purge && len(projects) > 0 {
		p.ui.sayHint("earlier generations may contain it (`memoir log` shows them): --purge removes it there")
	}
}

func (p *program) sayRemoved(paths []string) {
	for _, path := range paths {
		p.ui.say("removed %s", path)
	}
}

// undoForgetting removes tombstones and reads the sessions again, whatever their age.
func (p *program) undoForgetting(
	c *cli.Context, st *store.Store, opts pipeline.Options, sessions []memoir.Session,
) error {
	forgotten, err := st.Forgotten(c.Context)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if forgotten[s.Key()] && memoir.IsKept(s.Key()) {
			return notFoundf("", "%s cannot be brought back: its messages are deleted", s.Key())
		}
	}
	for _, s := range sessions {
		if !forgotten[s.Key()] {
			p.ui.say("%s was not forgotten", s.Key())
			continue
		}
		if err := pipeline.Unforget(c.Context, st, opts.Home, s.Key()); err != nil {
			return err
		}
		opts.Only = append(opts.Only, s.Key())
		p.ui.say("%s is no longer forgotten", s.Key())
	}
	if len(opts.Only) == 0 {
		return p.result(c, nil, pipeline.Report{}, func() {})
	}
	err = pipeline.Scan(c.Context, st, opts)
	sessions, failed := st.Sessions(c.Context, store.Filter{Keys: opts.Only})
	if err = cmp.Or(err, failed); err != nil {
		return err
	}
	for _, s := range sessions {
		if s.ProjectID != "" {
			opts.ProjectIDs = append(opts.ProjectIDs, s.ProjectID)
		}
	}
	if len(opts.ProjectIDs) == 0 {
		p.ui.sayHint("`memoir sessions` shows the reason why it is not read")
		return p.result(c, nil, pipeline.Report{}, func() {})
	}
	opts.Limit = len(opts.Only)
	report, err := pipeline.Run(c.Context, st, opts)
	if report.Scan.Reasons == nil {
		return err
	}
	return p.reportRun(c, report, err)
}
