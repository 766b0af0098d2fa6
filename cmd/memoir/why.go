package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/entry"
	"memoir/operation"
	"memoir/store"
)

func whyCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "why", Category: groupUse, ArgsUsage: "ID|TEXT...",
		Usage: "show where a line of a memory comes from",
		Description: help("Shows the statements that the lines of MEMORY.md and memory_summary.md with a text were made\n"+
			"from: the rule that wrote each, whose word it is, and the sessions with the items that show it.\n"+
			"Lines that have it only within other words are shown if no line has it as whole words. If none\n"+
			"has it at all, it shows extracted statements that do. A statement can be named by its id. A line\n"+
			"that a person wrote has no statements; one that a language model wrote in its own words has the\n"+
			"sessions that it cites. Of several statements it shows two sessions each, their items cut; of a\n"+
			"single one, all. Of more than ten lines it shows the first ten.",
			"memoir why never push to main", "memoir why 6af2da0a36 --json", "memoir why 'make lint' --project mise"),
		Flags: []cli.Flag{projectRefFlag(), jsonFlag()},
		Action: func(c *cli.Context) error {
			ref := strings.TrimSpace(strings.Join(c.Args().Slice(), " "))
			_, id, err := p.projectID(c)
			if err != nil {
				return err
			}
			st, err := p.openForReading(c)
			if err != nil {
				return err
			}
			defer st.Close()
			out, err := p.access(c).Why(c.Context, st, id, ref)
			return p.result(c, err, out, func() { p.printWhy(out) })
		},
	}
}

func (p *program) printWhy(out operation.Why) {
	for _, line := range out.Lines {
		p.ui.printf("%s\n", line)
	}
	if out.HandWritten {
		by := "a person wrote this line"
		if len(out.Lines) == 1 && strings.HasSuffix(out.Lines[0], memoir.Unconfirmed) {
			by = "an agent added this line, and nobody confirmed it"
		}
		p.ui.printf("%s\n", by)
	}
	for _, s := range out.Statements {
		p.ui.printf("\n%s  %s: %s\n  rule: %s, by: %s\n", s.ID, s.Kind, s.Text, s.Signal, s.By)
		if s.Replaces != "" {
			p.ui.printf("  replaces: %s\n", s.Replaces)
		}
		if s.Stands != "" {
			p.ui.printf("  stands in %s: MEMORY.md does not repeat it\n", s.Stands)
		}
		if s.Edit != nil {
			what := map[bool]string{true: "removed", false: "changed"}[s.Edit.Became == ""]
			p.ui.printf("  %s %s its line for all members %s\n", s.Edit.By, what, s.Edit.Day)
		}
		most, left := -1, 0
		if len(out.Statements) > 1 {
			most, left = maxText, max(0, len(s.Sessions)-maxEvidence)
		}
		p.printEvidence(s.Sessions[:len(s.Sessions)-left], most)
		if left > 0 {
			p.ui.printf("  %s\n", count(left, "more session"))
		}
	}
	if n := len(out.Statements); n > 0 {
		p.ui.say("%s%s", count(n, "statement"), map[bool]string{true: "; no line of the memory says it"}[len(out.Lines) == 0])
	}
	if len(out.Statements) > 1 {
		p.ui.sayHint("`memoir why ID` shows one of them with all its sessions")
	}
	if out.More > 0 {
		p.ui.say("%d more have the text", out.More)
		p.ui.sayHint("give more words of one of them; `memoir cat MEMORY.md` and `memoir cat raw_memories.md` print all")
	}
}

// maxEvidence are the sessions that are shown of each statement of several.
const maxEvidence = 2

// printEvidence prints sessions with the items that show a statement, each cut to a number of characters; -1: whole.
func (p *program) printEvidence(sessions []operation.Evidence, most int) {
	for _, e := range sessions {
		p.ui.printf("  %s  %s  %s\n", e.At, e.ID, e.Title)
		if e.Error != "" {
			p.ui.printf("    %s\n", e.Error)
		}
		for _, it := range e.Items {
			if most >= 0 {
				it.Text = memoir.Cut(oneLine(it.Text), most)
			}
			p.ui.printf("    %s\n", strings.ReplaceAll(it.Text, "\n", "\n    "))
		}
		if e.More > 0 {
			p.ui.printf("    %s\n", count(e.More, "more item"))
		}
	}
}

func reviewCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "review", Category: groupUse,
		Usage: "answer what is new in a memory",
		Description: help("Shows the lines of MEMORY.md that are new or changed since you answered, the oldest first, with\n"+
			"their evidence, and takes one key for each: keep, drop (as a deletion by hand), edit, skip until the\n"+
			"next review, or quit. It asks to confirm what an agent noted or patched, and whether what you said\n"+
			"once should hold: a yes makes it a note of yours, a no keeps it away for good. The answers are\n"+
			"carried out at the end, also after Ctrl-C; what others said, and what was said once, follows with the\n"+
			"next run. A line of others that you keep is accepted: agents are told its commands, and what\n"+
			"passed after its failure. Without a terminal it only lists. --yes keeps all that is new or changed,\n"+
			"lines of others, too; it confirms nothing, since that would then be told as your word.",
			"memoir review", "memoir review --project mise --json", "memoir review --yes"),
		Flags: []cli.Flag{projectRefFlag(), waitFlag(), yesFlag(), jsonFlag(),
			&cli.BoolFlag{Name: "once", Usage: "ask about all that was said once, though little of the rest is a rule"}},
		Action: p.review,
	}
}

func (p *program) review(c *cli.Context) error {
	st, err := p.openForReading(c)
	if err != nil {
		return err
	}
	defer st.Close()
	a := p.access(c)
	project, err := p.projectOf(c, st)
	if err != nil {
		return err
	}
	found, err := a.Review(c.Context, st, project.ID, c.Bool("json") || c.Bool("once"))
	var answers []operation.Answer
	switch {
	case err != nil:
	case c.Bool("yes"):
		for _, l := range found.Lines {
			if l.Takes()[0] == "keep" {
				answers = append(answers, operation.Answer{Line: l, Answer: "keep"})
			}
		}
	case c.Bool("json"):
		err = a.Evidence(c.Context, st, found.Lines...)
	default:
		answers, err = p.askAbout(c.Context, a, st, found)
	}
	found.Lines = slices.DeleteFunc(found.Lines, func(l operation.ReviewLine) bool {
		return slices.ContainsFunc(answers, func(one operation.Answer) bool { return one.Line.ID == l.ID })
	})
	if len(answers) > 0 {
		opts, to, failed := p.openToChange(c)
		if failed == nil {
			defer to.Close()
			failed = a.Answer(context.WithoutCancel(c.Context), to, opts, project.Project, answers...)
		}
		if failed == nil {
			project, failed = p.projectOf(c, to) // its last generation has the answers
		}
		err = cmp.Or(failed, err)
	}
	return p.result(c, err, found, func() {
		p.ui.say("%s answered, %s", countAre(len(answers), "line"), found.Text())
		p.sayAnswered(project, answers)
		if !c.Bool("yes") && !p.ui.canAsk() && len(found.Lines) > 0 {
			p.ui.sayHint("answers need a terminal, or --yes, which keeps what is new; --json lists all with evidence")
		}
		if found.Left > 0 {
			p.ui.sayHint(fmt.Sprintf("%d of these, said once, were not shown: `memoir review --once` shows all", found.Left))
		}
		news, _ := operation.ReadNews(c.Context, st, a.Home, memoir.UserProjectID)
		if news.New > 0 && project.ID != memoir.UserProjectID {
			p.ui.sayHint(fmt.Sprintf("%d new for all projects: `memoir review --project user` asks", news.New))
		}
	})
}

// sayAnswered says what becomes of answers about a project, and how to take drops of lines back.
func (p *program) sayAnswered(project store.ProjectRow, answers []operation.Answer) {
	once, accepted, dropped := 0, 0, 0
	for _, one := range answers {
		switch {
		case one.Line.State == "once":
			once++
		case one.Line.Others && one.Answer == "keep":
			accepted++
		case one.Answer == "drop" && one.Line.State != "unconfirmed":
			dropped++
		}
	}
	if dropped > 0 {
		p.ui.sayHint(fmt.Sprintf("`memoir restore %d --project %s` takes back what was dropped or edited just now",
			project.Generation-1, project.ID))
	}
	if accepted > 0 {
		p.ui.say("accepted %s of others: after the next `memoir run`, agents are told them, with commands and fixes",
			count(accepted, "line"))
	}
	if once > 0 {
		p.ui.sayHint("`memoir run` moves what was said once")
	}
}

// askAbout shows lines, and on a terminal asks about each. After a quit or an error it returns the answers so far.
func (p *program) askAbout(ctx context.Context, a operation.Access, st *store.Store, r operation.Review) (
	answers []operation.Answer, err error) {
	for i, l := range r.Lines {
		if err := a.Evidence(ctx, st, l); err != nil {
			return answers, err
		}
		p.ui.printf("\n%s  %s, %s\n%s\n", l.ID, l.Kind, l.State, l.Text)
		if l.Was != "" {
			p.ui.printf("  was: %s\n", memoir.Cut(oneLine(l.Was), maxText))
		}
		p.printEvidence(l.Sessions[:min(len(l.Sessions), maxEvidence)], maxText)
		if !p.ui.canAsk() {
			continue
		}
		keep := map[bool]string{true: "keep and let agents be told it", false: "keep"}[l.Others]
		question, keys := keep+", drop, edit", "kdesq"
		switch l.State {
		case "once":
			question, keys = "should this hold? yes, no, edit", "ynesq"
		case "unconfirmed":
			question, keys = "confirm, drop, edit", "cdesq"
		}
		if l.Drop != "" {
			question = keep + ", drop for " + map[string]string{"here": "you", "all": "all members"}[l.Drop] +
				", edit for all members"
		}
		key, err := p.ui.key(ctx, fmt.Sprintf("%d of %d: %s, skip, quit [%s]", i+1, len(r.Lines), question, keys), keys)
		if err != nil || key == "q" {
			return answers, err
		}
		if key == "s" {
			continue
		}
		one := operation.Answer{Line: l, Answer: l.Takes()[strings.Index(keys, key)]}
		if key == "e" {
			if one.Text, err = p.ui.words(ctx, "the new text (empty: skip):", ""); err != nil {
				return answers, err
			}
			if entry.Worded(one.Text) != nil {
				continue
			}
		}
		answers = append(answers, one)
	}
	if !p.ui.canAsk() && p.ui.hasInput() {
		return nil, usagef("run it in a terminal, use the page that `memoir serve` prints, or --yes, which keeps what is new",
			"nothing is answered: standard input is not a terminal, and what it has was not read as answers")
	}
	return answers, nil
}
