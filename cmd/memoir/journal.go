package main

import (
	"cmp"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/entry"
	"memoir/memory"
	"memoir/operation"
)

// journalHits bounds the lines that `journal search` prints.
const journalHits = 5

func journalCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "journal", Category: groupNotes, ArgsUsage: "[today|yesterday|DATE]",
		Usage: "read, write and search a project's journal",
		Description: help("Prints the journal of a day of this directory's project, by default of today. DATE has the form\n"+
			"YYYY-MM-DD; days are in UTC. A journal is a Markdown file that may be edited,\n"+
			"projects/ID/journal/YYYY-MM-DD.md in memoir's home.",
			"memoir journal", "memoir journal 2026-07-01", "memoir journal add 'the staging database moved to eu-west'",
			"memoir journal search staging"),
		Flags: []cli.Flag{projectRefFlag(), jsonFlag()},
		Subcommands: []*cli.Command{
			{
				Name: "add", ArgsUsage: "TEXT...", Usage: "add a line to today's journal",
				Description: help("Adds a line, unless the day already has it.",
					"memoir journal add 'released 1.4'"),
				Flags:  []cli.Flag{projectRefFlag(), nowFlag(), jsonFlag()},
				Action: func(c *cli.Context) error { return p.writeEntry(c, memoir.Entry{Kind: memoir.EntryJournal}) },
			},
			{
				Name: "search", ArgsUsage: "TEXT...", Usage: "find lines of all days that contain TEXT",
				Description: help("Prints at most 5 lines that contain the text as it is, ignoring case, newest day first.\n"+
					"It also finds lines that were added by hand.",
					"memoir journal search staging"),
				Flags: []cli.Flag{projectRefFlag(), jsonFlag()}, Action: p.searchJournal,
			},
		},
		Action: func(c *cli.Context) error {
			name, err := optional(c)
			day, errDay := entry.Day(name, time.Now())
			b, id, errProject := p.pages(c)
			if err = cmp.Or(err, errDay, errProject); err != nil {
				return err
			}
			page, err := b.Page(id, day)
			return p.result(c, err, map[string]string{"project": id, "date": day, "text": page}, func() {
				if page == "" {
					p.ui.say("no journal entry for %s", day)
					return
				}
				p.ui.write("# " + day + "\n\n" + strings.TrimSpace(page) + "\n")
			})
		},
	}
}

func (p *program) searchJournal(c *cli.Context) error {
	words := strings.TrimSpace(strings.Join(c.Args().Slice(), " "))
	if words == "" {
		return usagef("", "journal search needs a text")
	}
	b, id, err := p.pages(c)
	if err != nil {
		return err
	}
	hits, unread, err := b.SearchPages(c.Context, id, words, journalHits+1)
	if err != nil {
		return err
	}
	more := len(hits) > journalHits
	hits = hits[:min(len(hits), journalHits)]
	for _, fault := range unread {
		p.ui.warn(memoir.HintOf(fault), "%v", fault)
	}
	return p.result(c, nil, map[string][]entry.PageHit{"hits": hits}, func() {
		for _, h := range hits {
			p.ui.printf("%s:%d: %s\n", h.Day, h.Line, oneLine(h.Text))
		}
		if len(hits) == 0 {
			p.ui.say("no match")
		} else if more {
			p.ui.say("the first %d matches, newest day first; a longer text narrows the search", journalHits)
		}
	})
}

func historyCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "history", Category: groupNotes,
		Usage: "print a project's history, session by session",
		Description: help("Prints HISTORY.md of this directory's project: a paragraph for each extracted session,\n"+
			"in the order of the runs. No paragraph is removed to save space; long requests are cut. It is\n"+
			"never injected.",
			"memoir history", "memoir history --month 2026-07", "memoir history --grep release"),
		Flags: []cli.Flag{
			projectRefFlag(), jsonFlag(),
			&cli.StringFlag{Name: "month", Usage: "only sessions that ended in `YYYY-MM`, by UTC"},
			&cli.StringFlag{Name: "grep", Usage: "only paragraphs that contain `TEXT`, ignoring case"},
		},
		Action: func(c *cli.Context) error {
			home, id, err := p.projectID(c)
			if err != nil {
				return err
			}
			text, err := entry.Book{Home: home, Redact: p.redact}.History(id, c.String("month"))
			if err != nil {
				return err
			}
			if want := c.String("grep"); want != "" {
				text = memory.Without(text, func(_ int, line string) bool {
					return !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" &&
						!strings.Contains(memoir.Folded(line), memoir.Folded(want))
				})
			}
			return p.result(c, nil, map[string]string{"project": id, "text": text}, func() {
				p.ui.write(entry.InZone(text, operation.Zoned))
				if text == "" && c.String("grep") != "" {
					p.ui.say("no match")
				} else if text == "" {
					p.ui.say("no history for %s", cmp.Or(c.String("month"), "this project"))
				}
			})
		},
	}
}

// pages opens the journals of --project, or of this directory's project, and returns the project's id.
func (p *program) pages(c *cli.Context) (entry.Book, string, error) {
	home, id, err := p.projectID(c)
	if memoir.CodeOf(err) == memoir.CodeNotFound && !c.IsSet("project") { // no entry yet
		if here, unknown := p.placeHere(c); unknown == nil && here.status.OK() {
			id, err = here.project.ID, nil
		}
	}
	return entry.Book{Home: home, Redact: p.redact}, id, err
}
