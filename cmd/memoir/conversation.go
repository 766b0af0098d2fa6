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
	"memoir/pipeline"
)

func messageCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "message", Category: groupNotes, ArgsUsage: "TEXT...|-",
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

func recapCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "recap", Category: groupNotes,
		Usage: "print the last messages of the last session, to continue it",
		Description: help("Prints the last 10 messages, redacted, of the last session of this directory's project, or of\n"+
			"--session, which `memoir run` must have found before. A heading says that they are context only.",
			"memoir recap", "memoir recap --session 019f1fd6 --json"),
		Flags: []cli.Flag{
			projectRefFlag(), jsonFlag(),
			&cli.StringFlag{Name: "session", Usage: "use the `SESSION` with this id, or beginning of an id"},
		},
		Action: p.recap,
	}
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
	if ref := c.String("session"); ref != "" {
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
