package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/entry"
	"memoir/memory"
	"memoir/operation"
	"memoir/pipeline"
)

func messageCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "message", Category: groupProgram, ArgsUsage: "TEXT...|-",
		Usage: "add a message to a conversation of an application that keeps no transcripts",
		Description: help("Stores a redacted message in a conversation of this directory's project,\n"+
			"and prints its session. It is a session like an agent's: runs extract from it, search and\n"+
			"recap find it. The newest 200 messages of a project are kept, and older\n"+
			"ones until a run has read them. - reads standard input.",
			"memoir message --role user 'deploy to staging first, please'",
			"memoir message --role assistant --conversation support-17 --source telegram - < answer.txt"),
		Flags: []cli.Flag{
			projectRefFlag(), jsonFlag(), &cli.StringFlag{Name: "now", Usage: "`TIME` at which the message was written"},
			&cli.StringFlag{Name: "role", Value: memoir.RoleUser,
				Usage: "author's `ROLE`: user, assistant, system (stored, but neither shown nor extracted)"},
			&cli.StringFlag{Name: "source", Usage: "`NAME` of the channel"},
			&cli.StringFlag{Name: "key", Usage: "`KEY` of the message: repeated, it is not stored; another text is refused"},
			&cli.StringFlag{Name: "conversation", DefaultText: "one for each day", Usage: "`NAME` of the conversation"},
		},
		Action: p.message,
	}
}

func (p *program) message(c *cli.Context) error {
	text := strings.Join(c.Args().Slice(), " ")
	if text == "-" {
		content, err := io.ReadAll(io.LimitReader(os.Stdin, pipeline.MaxMessage+1))
		if err != nil {
			return notFoundf("", "read the message: %w", err)
		}
		text = string(content)
	}
	at, err := timeFlag(c, "now")
	if err != nil {
		return err
	}
	opts, st, project, err := p.openToAdd(c)
	if err != nil {
		return err
	}
	defer st.Close()
	opts.Now = at // the conversation is that of the day
	out, err := p.access(c).Say(c.Context, st, opts, project.ID, c.String("conversation"),
		[]pipeline.Message{{Role: c.String("role"), Content: text, Source: c.String("source"), At: at, Key: c.String("key")}})
	return p.result(c, err, out, func() { p.ui.printf("%s\n", out.Session) })
}

// extractFrom starts a run in the background for each of some sessions, if memories.enabled.
func (p *program) extractFrom(c *cli.Context, keys []string) error {
	settings, err := p.settings(c, nil)
	if err != nil || !settings.Memories.Enabled {
		return err
	}
	for _, key := range keys {
		if err := p.background(c, "--only="+key); err != nil {
			return err
		}
	}
	return nil
}

// Bounds of injected recaps.
const (
	overflowText = 200 // characters of an injected message
	overflowTime = time.Second
)

func (p *program) recap(c *cli.Context) error {
	session, err := p.sessionToRecap(c)
	if err != nil {
		return err
	}
	out, err := p.access(c).Recap(c.Context, session)
	return p.result(c, err, out, func() {
		if len(out.Messages) == 0 {
			p.ui.say("%s has no messages", out.Session)
			return
		}
		p.ui.write(pipeline.RecapHead)
		for _, m := range out.Messages {
			p.ui.write(m.Line())
		}
		p.ui.say("from item %d; `memoir show %s` prints all items", out.Messages[0].Item, out.Session)
	})
}

// findOverflow completes the input of a hook: a session that is compacted or goes on, and has more messages than
// memories.memoryWindow, is to be extracted from now, and told its last messages. One that takes long to read is told
// none.
func (p *program) findOverflow(c *cli.Context, opts pipeline.Options, in *hookInput) {
	settings := opts.Settings
	window := settings.Memories.MemoryWindow
	if p.reading == nil || window == 0 || in.session() == "" || in.Source != "compact" && in.Source != "resume" {
		return
	}
	session, err := p.findSession(c.Context, p.reading, in.session())
	if err != nil || session.ID != in.session() || session.ProjectID == "" || !pipeline.Recapped(session) ||
		p.switchedOff(c, &settings, p.identify(settings, session.CWD)) != "" {
		return
	}
	ctx, cancel := context.WithTimeout(c.Context, overflowTime)
	defer cancel()
	a := p.access(c)
	loaded, err := pipeline.LoadSession(ctx, a.Home, session, a.Scanner)
	if err != nil { // of what was read some may be secrets yet
		loaded.Items = nil
	}
	said, all := pipeline.Recap(loaded.Items, overflowText, p.redact)
	if err == nil && all <= window {
		return
	}
	in.overflow = session.Key()
	for _, m := range said {
		m.Content = oneLine(m.Content)
		in.recap = append(in.recap, m.Line())
	}
}

// sessionToRecap is the session that is meant: the one that is named, else the last of the project.
func (p *program) sessionToRecap(c *cli.Context) (memoir.Session, error) {
	st, err := p.openForReading(c)
	if err != nil {
		return memoir.Session{}, err
	}
	defer st.Close()
	if ref := cmp.Or(c.String("session"), c.Args().First()); ref != "" {
		session, err := p.findSession(c.Context, st, ref)
		if err == nil && session.Reason == memoir.ReasonForgotten {
			err = notFoundf("`memoir help forget` explains --undo", "%s is forgotten", session.Key())
		}
		if _, id, unknown := p.projectID(c); err == nil && c.IsSet("project") && id != session.ProjectID {
			err = cmp.Or(unknown, usagef("", "%s is not a session of %s", session.Key(), c.String("project")))
		}
		return session, err
	}
	project, err := p.projectOf(c, st)
	if err != nil {
		return memoir.Session{}, err
	}
	return pipeline.LastSession(c.Context, st, project.ID)
}

// journalHits bounds the lines that `journal search` prints.
const journalHits = 5

func journalCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "journal", Category: groupProgram, ArgsUsage: "[DAY]",
		Usage: "add a line to a project's journal, read or search it",
		Description: help("Prints the journal of a day of this directory's project, by default of today. DAY is today,\n"+
			"yesterday or YYYY-MM-DD, in UTC. A journal is a Markdown file that may be edited,\n"+
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
		Action: func(c *cli.Context) error { return p.printPage(c, c.Args().First()) },
	}
}

// printPage prints the journal of a day, by default of today.
func (p *program) printPage(c *cli.Context, name string) error {
	day, err := entry.Day(name, time.Now())
	b, id, errProject := p.pages(c)
	if err = cmp.Or(err, errProject); err != nil {
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
}

func (p *program) searchJournal(c *cli.Context) error {
	words := strings.TrimSpace(strings.Join(c.Args().Slice(), " "))
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
		Name: "history", Category: groupUpkeep,
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
		if here, unknown := p.placeAt(c, ""); unknown == nil && here.status.OK() {
			id, err = here.project.ID, nil
		}
	}
	return entry.Book{Home: home, Redact: p.redact}, id, err
}
