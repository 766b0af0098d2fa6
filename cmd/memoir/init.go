package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/integrate"
	"memoir/internal/lazyregexp"
	"memoir/model"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/store"
	"memoir/team"
)

func initCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "init", Category: groupStart,
		Usage: "set memoir up: find sessions, choose a model, create the first memory",
		Description: help("Lists the agents' sessions, and estimates the work and cost of a first run. Then\n"+
			"it writes config.yml, runs, and shows the memory of the current project, or the largest. It asks\n"+
			"which model to use, if there is a choice, and before it writes or sends anything. Existing\n"+
			"settings stay, except the model if you choose another. With --yes and without --model, it spends\n"+
			"and sends nothing: it runs if only the built-in model is configured, else it leaves the run to\n"+
			"`memoir run`. The built-in model finds rules, causes and open ends in English only.",
			"memoir init", "memoir init --yes", "memoir init --model exec/claude", "memoir init --no-run --json --yes"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "model", Usage: "use the `MODEL`: builtin, exec/claude, openai/gpt-5, …"},
			&cli.BoolFlag{Name: "no-run", Usage: "write config.yml and do not run"},
			yesFlag(), jsonFlag(),
			&cli.StringFlag{Name: "project", Hidden: true, Usage: "show the project `REF`"},
		},
		Action: func(c *cli.Context) error {
			if !c.Bool("yes") && !p.ui.canAsk() {
				return usagef("pass --yes", "init asks before it writes, and standard input is not a terminal")
			}
			return (&setup{program: p, c: c, ctx: c.Context}).do()
		},
	}
}

// offerInit asks whether to set memoir up, if there is no database, no config.yml, and a terminal.
func (p *program) offerInit(c *cli.Context) (wanted bool, err error) {
	home, noHome := p.home(c)
	o, noConfig := p.configOptions(c)
	if noHome != nil || noConfig != nil || !p.ui.canAsk() || store.Exists(filepath.Join(home, databaseName)) {
		return false, nil
	}
	if _, err := os.Lstat(filepath.Join(o.ConfigDir, config.FileName)); err == nil {
		return false, nil
	}
	if wanted, err = p.ui.askYes(c.Context, "set up memoir now?"); err != nil || !wanted {
		return false, err
	}
	return true, p.execute(c.Context, append([]string{"init"}, p.args...))
}

type setup struct {
	*program
	c     *cli.Context
	ctx   context.Context
	store *store.Store
	opts  pipeline.Options
	file  *config.File
	noRun bool // nothing is run, sent or spent
	out   setupJSON
}

// setupJSON is what `init --json` prints.
type setupJSON struct {
	pipeline.Survey
	Model  string           `json:"model"`
	Config string           `json:"config"` // the path of config.yml
	Plan   pipeline.Report  `json:"plan"`
	Report *pipeline.Report `json:"report"` // null: no run
	View   string           `json:"view"`   // the context of the next session
}

func (s *setup) do() error {
	o, err := s.configOptions(s.c)
	if err == nil {
		s.file, err = config.ReadFile(o)
	}
	if err == nil {
		s.opts, err = s.runOptions(s.c)
	}
	if err = cmp.Or(err, team.MayRun(s.opts.Home)); err != nil {
		return err
	}
	s.noRun = s.c.Bool("no-run") || s.unagreed()
	limitHeap(s.opts.Settings.Memories)
	if s.store, err = s.openStore(s.ctx, s.opts.Home, s.opts.Settings); err != nil {
		return err
	}
	defer s.store.Close()
	for _, step := range []func() error{s.find, s.choose, s.plan} {
		if err := step(); err != nil {
			return err
		}
	}
	run := !s.noRun && len(s.out.Plan.Would) > 0
	if yes, err := s.confirm(run); err != nil || !yes {
		return notConfirmed(s.ui, err, declined)
	}
	if s.file.Changed() {
		if err := locked(o.ConfigDir, s.file.Save); err != nil {
			return err
		}
		s.ui.say("wrote settings to %s", s.file.Path)
	}
	if run {
		report, err := pipeline.Run(s.ctx, s.store, s.opts)
		if err != nil {
			return err
		}
		s.sayReport(report, s.again(), nil)
		s.out.Report = &report
	}
	if err := s.show(); err != nil || s.out.Report == nil || !s.out.Report.Partly() {
		return err
	}
	return status(exitPartly)
}

// unagreed reports, with a warning, whether nobody agreed to the language models of the settings. The built-in model
// cannot take their place: it would remove from memory what only they wrote.
func (s *setup) unagreed() bool {
	one, two := model.Phases(s.opts.Settings.ModelRoles)
	builtin := one.Model == model.Builtin && two.Model == model.Builtin
	if builtin || !s.c.Bool("yes") || s.c.String("model") != "" {
		return false
	}
	s.ui.warn("`memoir run` uses the configured models; `memoir init --model MODEL` uses one that you name",
		"no run: --yes alone agrees to no language model")
	return true
}

func (s *setup) find() (err error) {
	usual := s.opts
	s.out.Survey, err = pipeline.Look(s.ctx, s.store, &s.opts)
	if s.noRun { // `memoir run` has the limits of age
		s.opts = usual
	}
	switch {
	case err != nil:
		return err
	case s.out.Sessions == 0:
		s.ui.say("no sessions of coding agents were found")
		s.ui.sayHint("`memoir doctor` lists the directories of agents' sessions; `memoir run --sessions DIR` reads others")
		return nil
	}
	for i := range s.out.Projects {
		s.out.Projects[i].Name = s.redact(s.out.Projects[i].Name)
	}
	s.ui.say("found %s: %s", count(s.out.Sessions, "session"), listed(s.out.Agents))
	s.ui.say("in %s: %s", count(len(s.out.Projects), "project"), listed(s.out.Projects))
	if s.out.Widened && s.noRun {
		s.ui.say("no session is idle and recent enough")
		s.ui.sayHint("`memoir run --max-age 0 --min-idle 0` reads them whatever their age")
	} else if s.out.Widened {
		s.ui.say("no session is idle and recent enough; this run reads them whatever their age, except active ones")
	}
	return nil
}

func listed(all []pipeline.Counted) string {
	return shortened(memoir.Map(all, func(c pipeline.Counted) string { return fmt.Sprintf("%s %d", c.Name, c.Sessions) }))
}

func (s *setup) choose() (err error) {
	roles := s.opts.Settings.ModelRoles
	name := s.c.String("model")
	if name == "" && s.c.Bool("yes") {
		name = roles.Default // nothing is sent
	} else if name == "" {
		offers := model.Offers(s.getenv)
		configured := model.Offer{Model: roles.Default, Why: s.opts.Settings.Origin("modelRoles.default")}
		if i := slices.IndexFunc(offers, func(o model.Offer) bool { return o.Model == roles.Default }); i >= 0 {
			configured = offers[i]
			offers = slices.Delete(offers, i, i+1)
		}
		offers = slices.Insert(offers, 0, configured) // what Enter takes
		if name, err = s.askModel(offers); err != nil {
			return err
		}
	}
	s.out.Model = name
	if _, err := model.SpecOf(s.opts.Settings, name); err != nil {
		return err
	}
	only := config.ModelRoles{Default: name}
	if roles == only || roles.Default == name && (name != model.Builtin || s.noRun) {
		return nil
	}
	s.opts.Settings.ModelRoles = only
	if err := s.checkModels(); err != nil {
		return err
	}
	if roles.Default != name {
		return s.file.Set("modelRoles.default", name)
	}
	return nil
}

func (s *setup) checkModels() error {
	for _, role := range model.Roles(s.opts.Settings) {
		role.Origin = s.opts.Settings.Origin(role.Setting)
		if role.Model == s.c.String("model") {
			role.Setting, role.Origin = "--model "+role.Model, ""
		}
		choice, err := model.Find(s.opts.Settings, role)
		if err = role.Name(err); err == nil && !s.noRun {
			err = choice.Check(s.getenv)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const declined = "config.yml was not written, and nothing was run"

func (s *setup) askModel(offers []model.Offer) (string, error) {
	if len(offers) == 1 {
		return offers[0].Model, nil
	}
	s.ui.say("a model reads the sessions and writes the memory:")
	n, err := s.ui.pick(s.ctx, "which one?", memoir.Map(offers, func(o model.Offer) string {
		return fmt.Sprintf("%-28s %s", o.Model, o.Why)
	}))
	if err != nil || n == 0 {
		return "", notConfirmed(s.ui, err, declined)
	}
	return offers[n-1].Model, nil
}

func (s *setup) plan() (err error) {
	if s.out.Plan, err = pipeline.Glance(s.ctx, s.store, s.opts); err != nil {
		return err
	}
	s.ui.sayHint(sayAgain(operation.Again(s.ctx, s.store, s.opts)))
	switch {
	case s.out.Sessions == 0:
		return nil
	case len(s.out.Plan.Would) == 0:
		s.ui.say("no session is eligible: %s", sayReasons(s.out.Plan.Scan.Reasons))
		return nil
	}
	if n := s.out.Plan.Scan.Reasons[memoir.ReasonTooOld]; n > 0 {
		s.ui.say("%s older than %g days and not read", countAre(n, "session"), s.opts.Settings.Memories.MaxRolloutAgeDays)
		s.ui.sayHint(readsAnyAge)
	}
	text := "the run " + sayNext(operation.NextOf(s.out.Plan))
	if e := s.out.Plan.Estimate; e == nil || e.Calls == 0 {
		text += "; it costs nothing, and nothing leaves this machine"
	}
	s.ui.say("%s", text)
	return nil
}

func (s *setup) confirm(run bool) (bool, error) {
	var steps []string
	if s.file.Changed() {
		steps = append(steps, "write "+s.file.Path)
	}
	ask := s.ui.askYes
	if run && s.out.Plan.Estimate != nil {
		steps, ask = append(steps, "send these sessions, redacted, to "+s.out.Model), s.ui.ask
	}
	if run {
		steps = append(steps, "run")
	}
	if s.c.Bool("yes") || len(steps) == 0 {
		return true, nil
	}
	text := strings.Join(steps, ", ")
	if i := strings.LastIndex(text, ", "); i >= 0 {
		text = text[:i] + " and" + text[i+1:]
	}
	return ask(s.ctx, text+"?")
}

// show prints the memory of this directory's project, else the one with the most lines, and the next step.
func (s *setup) show() error {
	settings := s.opts.Settings
	found, err := s.contextOf(s.c, &settings, "")
	elsewhere := err != nil || found.text == ""
	if elsewhere {
		if largest, failed := s.largest(); largest.text != "" {
			found, err = largest, nil
		} else {
			err = cmp.Or(failed, err)
		}
	}
	if err != nil {
		return err
	}
	if s.out.Config, s.out.View = s.file.Path, found.text; s.c.Bool("json") {
		return s.ui.json(s.out)
	}
	if found.text != "" {
		if elsewhere {
			s.ui.say("this directory has no memory; the largest is that of %s", found.project)
		}
		s.ui.say("a new session in %s gets, once an agent is connected:", found.project)
		s.ui.write(found.text)
	}
	var here []string
	for _, a := range integrate.Agents {
		if _, ok := a.Found(integrate.Env{UserHome: config.UserHome(s.environ), Getenv: s.getenv}); ok {
			here = append(here, a.Name)
		}
	}
	if s.out.Report != nil {
		s.sayLeft(*s.out.Report, s.again()) // not above the memory, where nobody reads it any more
	}
	s.ui.say("next: `memoir install` connects your agents: %s", cmp.Or(strings.Join(here, ", "), "none found yet"))
	return s.showLesson(found.project, elsewhere)
}

// again is the command that reads the sessions which the run left.
func (s *setup) again() string {
	if s.out.Widened {
		return "memoir run --max-age 0 --min-idle 0"
	}
	return "memoir run"
}

// maxAsked bounds the words of a question, askable matches one, which no shell changes and which is no flag.
const maxAsked = 8

var askable = lazyregexp.New(`[\p{L}\p{N}_][\p{L}\p{N}_.-]*`)

// showLesson prints what an agent would have needed to know, if possible of the project that was shown, and the
// question that finds it.
func (s *setup) showLesson(shown string, elsewhere bool) error {
	rows, err := s.store.Projects(s.ctx)
	for _, id := range append([]string{cmp.Or(shown, memoir.UserProjectID)}, idsOf(rows)...) {
		k, failed := s.reader(s.c, s.opts.Home, id, "", "").Lesson()
		if err = cmp.Or(err, failed); err != nil || k.ID == "" {
			continue
		}
		question := "memoir search " + strings.Join(askable.FindAllString(cmp.Or(k.Command, k.Quote, k.Text), maxAsked), " ")
		if k.Fix != "" {
			question += " failed"
		}
		if elsewhere || id != shown {
			question += " --all"
		}
		s.ui.say("from your history, %s, what an agent would have needed: %s", k.At, oneLine(k.Text))
		s.ui.say("try it: `%s`", question)
		return nil
	}
	return err
}

// largest returns the context of the published project with the most lines; it is zero if none has a line.
func (s *setup) largest() (most injection, err error) {
	projects, err := s.store.Projects(s.ctx)
	for _, p := range projects {
		if p.Generation == 0 || p.ID == memoir.UserProjectID {
			continue
		}
		settings := s.opts.Settings
		if err := s.c.Set("project", p.ID); err != nil {
			return injection{}, err
		}
		found, failed := s.contextOf(s.c, &settings, "")
		if err = cmp.Or(err, failed); failed == nil && len(found.told) > len(most.told) {
			most = found
		}
	}
	return most, err
}
