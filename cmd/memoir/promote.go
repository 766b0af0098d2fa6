package main

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/project"
	"memoir/store"
	"memoir/team"
)

func promoteCommands(p *program) []*cli.Command {
	return []*cli.Command{
		{Name: "promote", ArgsUsage: "ID...", Usage: "add statements to the team memory of this repository",
			Description: help("Writes a file below .memoir-team of this checkout for each statement, as it is shown, after\n"+
				"it asked. IDs are those of statements in `memoir why --json`, or of lines in `memoir review`.\n"+
				"It is refused if it has a secret. The team gets it once the file is on the default branch.\n"+
				"A wish of yours reaches other people only so; `memoir team share` lets it go to your own machines.",
				"memoir team promote 6af2da0a36", "memoir team promote 6af2da0a36 91bc0d7e55 --yes"),
			Flags: []cli.Flag{yesFlag(), jsonFlag()}, Action: p.promote},
		{Name: "demote", ArgsUsage: "ID", Usage: "hide a statement of the team memory of this repository",
			Description: help("Adds a file below .memoir-team of this checkout that has a hash of the id. Once that file is\n"+
				"on the default branch, nobody has the statement from there. Its own file stays, and so does\n"+
				"what the machine that learned it knows, and shares through a hub.",
				"memoir team demote 6af2da0a36"),
			Flags: []cli.Flag{yesFlag(), jsonFlag()}, Action: p.demote},
	}
}

// checkout returns the repository of this directory.
func (p *program) checkout(c *cli.Context, branch string) (project.Upstream, error) {
	here, err := p.placeAt(c, "")
	u, ok := project.FindUpstream(here.dir, branch)
	if err == nil && !ok {
		err = usagef("change to a checkout", "%s is in no repository of git", here.dir)
	}
	return u, err
}

func (p *program) promote(c *cli.Context) error {
	u, err := p.checkout(c, "")
	if err != nil {
		return err
	}
	st, err := p.openForReading(c)
	if err != nil {
		return err
	}
	defer st.Close()
	row, errRow := p.projectOf(c, st)
	scanner, errScanner := p.scanner(c)
	if err := cmp.Or(errRow, errScanner); err != nil {
		return err
	}
	who := team.UserName(c.Context, u)
	if who == "" {
		return usagef("git config user.name NAME", "git has no user.name for the files")
	}
	statements, sessions, err := p.access(c).Named(c.Context, st, row.ID, c.Args().Slice())
	row.Directories = append(row.Directories, u.Top)
	var files []team.File
	for i, s := range statements {
		day := cmp.Or(s.At, sessions[i].EndedAt.UTC().Format(time.DateOnly))
		f, failed := team.Promote(s, sessions[i].SessionKey, day, who, row.Project, config.UserHome(p.environ),
			scanner.Session().Text)
		if team.Demoted(u.Top, f.ID) {
			failed = usagef("remove "+team.Tombstone(f.ID)+" first", "%s was demoted", f.ID)
		}
		err = errors.Join(err, failed)
		files = append(files, f)
	}
	if err != nil {
		return err
	}
	if !c.Bool("json") {
		if !c.Bool("yes") {
			p.ui.say("this would be written below %s; nothing is written yet", filepath.Join(u.Top, team.Folder))
		}
		for _, f := range files {
			p.ui.printf("%s", f.Encode())
		}
	}
	if err := p.confirm(c, "promote "+count(len(files), "statement")+" of "+row.ID, u.Top); err != nil {
		return err
	}
	contents := map[string][]byte{}
	for _, f := range files {
		contents[f.Name()] = f.Encode()
	}
	return p.addToTeam(c, u.Top, contents)
}

func (p *program) demote(c *cli.Context) error {
	id := c.Args().First()
	u, err := p.checkout(c, "")
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(team.Promoted(u.Top), func(name string) bool { return team.IDOf(name) == id }) {
		return notFoundf("its files are in "+team.Folder, "no statement there has the id %q", id)
	}
	if err := p.confirm(c, "demote "+id, u.Top); err != nil {
		return err
	}
	name := team.Tombstone(id)
	return p.addToTeam(c, u.Top, map[string][]byte{name: []byte(name + "\n")})
}

// sayPromoted names what was promoted of what is forgotten: it is the team's.
func (p *program) sayPromoted(c *cli.Context, st *store.Store, what store.Forgetting) error {
	rows, err := st.Projects(c.Context)
	forgotten, errKeys := st.Derived(c.Context, what)
	for _, row := range rows {
		for _, dir := range row.Directories {
			for _, name := range team.PromotedFrom(dir, forgotten) {
				hint := "`memoir team demote " + team.IDOf(name) + "` there ends that; the history of git keeps it"
				if team.Demoted(dir, team.IDOf(name)) {
					hint = "it is demoted: nobody is told it once that is on the default branch; the history of git keeps it"
				}
				p.ui.warn(hint, "%s remains: it was promoted", filepath.Join(dir, team.Folder, name))
			}
		}
	}
	return cmp.Or(err, errKeys)
}

// addToTeam adds files to the team memory of a checkout.
func (p *program) addToTeam(c *cli.Context, top string, contents map[string][]byte) error {
	out := map[string][]string{"added": {}, "there": {}}
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		path, added, err := team.Write(top, name, contents[name])
		if err != nil {
			return err
		}
		state := map[bool]string{true: "added", false: "there"}[added]
		out[state] = append(out[state], path)
	}
	return p.result(c, nil, out, func() {
		for _, path := range out["there"] {
			p.ui.say("%s is there already, and is not changed", path)
		}
		for _, path := range out["added"] {
			p.ui.say("added %s", path)
		}
		if len(out["added"]) > 0 {
			p.ui.sayHint("`git add " + team.Folder + "` and commit; the team gets it from the default branch")
		}
	})
}

// trustTeam trusts the team memory of this directory's repository, or revokes that.
func (p *program) trustTeam(c *cli.Context, home, branch string) error {
	u, err := p.checkout(c, branch)
	switch {
	case err != nil:
		return err
	case c.Bool("undo"):
		err = locked(home, func() error { return config.TrustTeam(home, u.Common, "", false) })
	case u.Ref == "":
		err = usagef("memoir trust --team BRANCH", "%s has no remote: name the branch that has the team memory", u.Top)
	case strings.ContainsAny(branch, " \t\n^~:?*[\\") || path.Clean(u.Ref) != u.Ref:
		err = usagef("", "%q is no branch", branch)
	default:
		do := "receive the team memory of " + u.Top + " from " + u.Ref + ", now and later"
		if err = p.confirm(c, do, ""); err == nil {
			err = p.registerHere(c)
		}
		if err == nil {
			err = locked(home, func() error { return config.TrustTeam(home, u.Common, branch, true) })
		}
	}
	if err == nil && c.Bool("json") {
		return p.listTrusted(c, home)
	}
	if err == nil {
		undo := c.Bool("undo")
		p.ui.say("the team memory of %s is %strusted", u.Common, map[bool]string{true: "not "}[undo])
		p.ui.sayHint(map[bool]string{false: "`memoir run` reads it", true: "`memoir run` removes what came from it"}[undo])
	}
	return err
}

// registerHere registers the project of this directory if it is new: a run reads the team memory of no other one.
func (p *program) registerHere(c *cli.Context) error {
	_, st, _, err := p.openToAdd(c)
	if err == nil {
		err = st.Close()
	}
	return err
}

func containerFlags(more ...cli.Flag) []cli.Flag {
	return append(more, caFlag(),
		&cli.StringFlag{Name: "token-env", Usage: "the environment `VARIABLE` that has the token"},
		&cli.StringFlag{Name: "as", Usage: "the project's `NAME` at the hub, instead of its remote"})
}

// hubNamed returns the hub of the command line; the zero Hub if it names none.
func (p *program) hubNamed(c *cli.Context) (h team.Hub, err error) {
	names := slices.ContainsFunc([]string{"token-env", "ca", "as", "transcripts"}, c.IsSet)
	at := c.Args().First()
	if at == "" && !names {
		return h, nil
	}
	if at == "" || c.String("token-env") == "" {
		return h, usagef("`memoir-hub token add` prints the token; an argument would show it to all users",
			"%s needs a URL and --token-env VARIABLE", calledAs(c))
	}
	h, err = hubAt(c, at)
	h.Token = strings.TrimSpace(p.getenv(c.String("token-env")))
	return h, err
}

// pullTeam receives, or gets a memory from a hub that this home has not joined. The latter is a step of a setup, which
// must not fail since there is no memory.
func (p *program) pullTeam(c *cli.Context) error {
	h, err := p.hubNamed(c)
	if err != nil || h.URL == "" {
		return cmp.Or(err, p.syncs(team.Pull)(c))
	}
	opts, here, key, err := p.container(c)
	if err == nil && h.Token == "" {
		err = errNoToken
	}
	scanner, errScanner := p.scanner(c)
	n, why, hint := 0, "", "" // the generation, if it is new here
	var told team.Told
	if err = cmp.Or(err, errScanner); err == nil {
		err = locked(opts.Home, func() (err error) {
			n, told, err = team.PullMemory(c.Context, opts.Home, h, here.project.ID, key, scanner)
			return err
		})
	}
	if code := memoir.CodeOf(err); err != nil && code != memoir.CodeUsage && code != memoir.CodeConfig &&
		c.Context.Err() == nil {
		why, hint, err = p.redact(err.Error()), p.redact(memoir.HintOf(err)), nil
	}
	p.warnTold(h.URL, key, told)
	all, _ := team.ReadPulled(opts.Home) // a home without has none
	return p.result(c, err, map[string]any{"project": key, "generation": all[here.project.ID].Generation, "new": n > 0,
		"why": why}, func() {
		switch {
		case why != "":
			p.ui.warn(hint, "no memory is pulled: %s", why)
		case n == 0:
			p.ui.say("the memory of %s is up to date", key)
		default:
			p.ui.say("pulled generation %d of %s", n, key)
		}
	})
}

var errNoToken = notFoundf("", "the variable of --token-env is empty")

// container returns the project of this directory and its key at a hub. A home that has joined one is refused, and to
// push, one with a database that has not pulled: there a person may have disabled sessions.
func (p *program) container(c *cli.Context) (opts pipeline.Options, here place, key string, err error) {
	if opts, err = p.options(c, nil); err != nil {
		return opts, here, "", err
	}
	_, errJoined := team.Load(opts.Home)
	_, errDatabase := os.Lstat(filepath.Join(opts.Home, databaseName))
	ofPerson := errDatabase == nil && c.IsSet("transcripts") && team.SayPulled(opts.Home) == ""
	if !errors.Is(errJoined, team.ErrNone) || ofPerson {
		return opts, here, "", usagef("`memoir team join` and `memoir team sync` share what is here",
			"%s has a database or has joined a hub: a URL is for containers", opts.Home)
	}
	if here, err = p.here(opts.Settings); err != nil {
		return opts, here, "", err
	}
	if !here.status.OK() {
		return opts, here, "", notFoundf("", "%s is not a project: %s", here.dir, here.status)
	}
	key, err = p.keyToShare(c, opts, store.ProjectRow{Project: here.project}, "")
	if err != nil && !c.IsSet("as") {
		err = notFoundf(memoir.HintOf(err), "%v", err)
	}
	return opts, here, key, err
}

// projectToShare is sharedProject, also for a directory that is a project and not registered yet; here is its place.
func (p *program) projectToShare(c *cli.Context, st *store.Store, settings config.Settings, ref string) (
	row store.ProjectRow, as store.Share, here place, err error) {
	row, as, err = p.sharedProject(c, st, ref)
	if memoir.CodeOf(err) != memoir.CodeNotFound {
		return row, as, here, err
	}
	here, errPlace := p.placeToAdd(c, ref, &settings)
	if errPlace != nil || !here.status.OK() {
		return row, as, here, cmp.Or(errPlace, err)
	}
	row.Project = project.Changed(here.project, p.redact)
	return row, as, here, nil
}

// keyToShare returns the key that a project gets at the hub, or has.
func (p *program) keyToShare(
	c *cli.Context, opts pipeline.Options, row store.ProjectRow, already string,
) (string, error) {
	if c.IsSet("as") && c.String("as") == "" { // an empty variable of a script
		return "", usagef("", "--as: the name is empty")
	}
	as := cmp.Or(c.String("as"), already)
	if p.redact(as) != as {
		return "", usagef("choose another name", "--as: a secret is in the name")
	}
	for _, dir := range row.Directories { // the remote may be newer than the sessions
		if at := p.identify(opts.Settings, dir); at.top == dir { // else it is that of a repository around it
			row.Remote = cmp.Or(row.Remote, project.Changed(at.project, p.redact).Remote)
		}
	}
	if already != "" && already != as {
		return "", usagef("`memoir team unshare` ends that", "%s is shared as %s", row.ID, already)
	}
	return team.KeyOf(row.Project, as, opts.Settings)
}

// pushTeam sends, or sends the sessions below a directory to a hub that this home has not joined.
func (p *program) pushTeam(c *cli.Context) error {
	h, err := p.hubNamed(c)
	if err != nil || h.URL == "" {
		return cmp.Or(err, p.syncs(team.Push)(c))
	}
	t := operation.Transcripts{Dir: c.String("transcripts"), Named: c.IsSet("as"), UserHome: config.UserHome(p.environ)}
	if t.Dir == "" {
		return usagef("", "%s URL needs --transcripts DIR", calledAs(c))
	}
	to, errSender := team.NewSender(h, p.sleep)
	opts, here, key, err := p.container(c)
	if err = cmp.Or(errSender, err); err != nil {
		return err
	}
	t.Home, t.Project, t.Key = opts.Home, here.project, key
	t.Settings, _, err = p.projectSettings(c, opts.Settings, here.top)
	scanner, errScanner := p.scanner(c)
	switch t.Scanner = scanner; {
	case cmp.Or(err, errScanner) != nil:
		return cmp.Or(err, errScanner)
	case t.Settings.Off || !t.Settings.Team.Share:
		return usagef("", "%s, or team.share, keeps what is here", filepath.Join(here.top, config.ProjectFileName))
	case c.Bool("dry-run"):
		to = nil
	case h.Token == "":
		return errNoToken
	}
	all, became, found := []operation.Sending{}, map[string]int{}, ""
	others, err := t.Send(c.Context, to, func(s operation.Sending) {
		s.Error, s.Found = p.redact(s.Error), p.redact(s.Found)
		found = cmp.Or(found, s.Found)
		if all, became[s.Outcome] = append(all, s), became[s.Outcome]+1; s.Error != "" {
			p.ui.warn("", "%s", s.Say())
		} else if to == nil {
			p.ui.say("%s", s.Say())
		} else {
			p.ui.detail("%s", s.Say())
		}
	})
	if to != nil {
		p.warnTold(h.URL, t.Key, to.Told())
	}
	err = p.result(c, err, map[string]any{"project": t.Key, "sessions": all, "not_sessions": others}, func() {
		p.ui.say("sessions for %s: %s", t.Key, cmp.Or(byRule(became), "none"))
	})
	if err == nil && (became["failed"]+became[string(memoir.ReasonUnreadable)] > 0 ||
		became["sent"]+became["known"]+became["unsent"] == 0 && p.warnNone(t, len(all), found)) {
		err = status(exitPartly)
	}
	return err
}

// warnNone warns that no session was sent, and reports whether one of another project was found.
func (p *program) warnNone(t operation.Transcripts, sessions int, found string) bool {
	_, err := os.Stat(found)
	switch {
	case found != "" && filepath.IsAbs(found) && err != nil && !t.Named:
		p.ui.warn("--as NAME also takes sessions of a directory that is not here", noneOf, t.Key, found)
	case found != "":
		p.ui.warn("run it in a clone of that project", noneOf, t.Key, found)
	case sessions == 0:
		p.ui.warn("give the directory into which the agent wrote its sessions, such as ~/.claude/projects",
			"%s has no session", t.Dir)
	}
	return found != ""
}

const noneOf = "no session is of %s; one is of %s"
