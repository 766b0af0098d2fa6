package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/ask"
	"memoir/config"
	"memoir/extract"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/rollout"
	"memoir/serve"
	"memoir/store"
)

func showCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "show", Category: groupSession, ArgsUsage: "SESSION|FILE",
		Usage: "show a session as Phase 1 sees it, without its secrets",
		Description: help("Shows the items of a session that an extraction works from: what people typed, what the\n"+
			"agent said, tool calls with their results; redacted. A session is named by its id, the\n"+
			"beginning of its id, or source:id; a file needs no registry, nor does a session in a\n"+
			"database, named as FILE#ID. One file of a Codex thread in several shows the whole thread.\n"+
			"With a budget, what counts least is left out first.",
			"memoir show 019f1fd6", "memoir show ~/.claude/projects/-src-app/2b9ad815.jsonl",
			"memoir show codex:019f1fd6 --budget 8000 --json", "memoir show codex:019f1fd6 --at 12"),
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "budget", DefaultText: "none", Usage: "omit the least important beyond `TOKENS` (4 bytes each)"},
			&cli.IntFlag{Name: "at", DefaultText: "the first", Usage: "begin at item `N`"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			if ref := c.Args().First(); entryRef.MatchString(ref) {
				if done, err := p.showEntry(c, ref); done || err != nil {
					return err
				}
			}
			return p.show(c)
		},
	}
}

func (p *program) show(c *cli.Context) error {
	name, err := argument(c, "session or a file")
	if err != nil {
		return err
	}
	budget := c.Int("budget")
	if c.IsSet("budget") && budget < 1 {
		return usagef("", "--budget: must be at least 1, not %d", budget)
	}
	if c.IsSet("at") && c.Int("at") < 1 {
		return usagef("", "--at: must be at least 1, not %d", c.Int("at"))
	}
	session, parts, err := p.sessionOrFile(c, name)
	if err != nil {
		return err
	}
	scanner, err := p.scanner(c, session.CWD)
	if err != nil {
		return err
	}
	loaded, err := pipeline.Load(c.Context, scanner, parts, "")
	if err != nil {
		return err
	}
	serve.CleanSession(&session, p.redact)
	session.Title = memoir.ShortTitle(session.Title)
	items, omitted, tokens := loaded.Items, 0, 0
	if budget > 0 {
		items, omitted = extract.Fit(items, budget)
	}
	all := len(items)
	items = slices.DeleteFunc(items, func(it memoir.Item) bool { return it.N < c.Int("at") })
	if len(items) == 0 && all > 0 {
		return notFoundf("", "the session has no item %d or later", c.Int("at"))
	}
	out := struct {
		Session serve.Session `json:"session"`
		Items   []serve.Item  `json:"items"`
		Omitted int           `json:"omitted"`
		Tokens  int           `json:"tokens"`
	}{Session: serve.SessionOf(session), Items: []serve.Item{}, Omitted: omitted}
	for _, it := range items {
		tokens += memoir.Tokens(ask.ItemText(it))
		out.Items = append(out.Items, serve.ItemOf(it))
	}
	out.Tokens = tokens
	return p.result(c, out, func() {
		p.printItems(items, budget > 0)
		left := ""
		if omitted > 0 {
			left = fmt.Sprintf(", %d left out", omitted)
		}
		p.ui.say("%s, %s: %s, %d tokens%s", session.Key(), orUntitled(session.Title), count(len(items), "item"), tokens, left)
		p.sayOrigin(session, loaded)
	})
}

// sayOrigin says where a session was read from, its project, and what is not shown.
func (p *program) sayOrigin(s memoir.Session, loaded pipeline.Loaded) {
	if len(s.Files) > 1 {
		p.ui.say("read from %s", count(len(s.Files), "file"))
	}
	if s.ProjectID != "" {
		p.ui.say("project %s", s.ProjectID)
	}
	if len(loaded.Redactions) > 0 {
		p.ui.say("redacted: %s", byRule(loaded.Redactions))
	}
	if n := loaded.Stats.Malformed; n > 0 {
		p.ui.say("%s could not be read", count(n, "record"))
	}
}

// sessionOrFile finds the session of an argument, which is a file if it exists or contains a
// separator.
func (p *program) sessionOrFile(c *cli.Context, name string) (memoir.Session, []rollout.Part, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return memoir.Session{}, nil, usagef("name a file in it, or a session's id", "%s is a directory", name)
	case err == nil:
		return p.entitled(onlySession(c.Context, name))
	case strings.ContainsRune(name, '#'): // perhaps one of a database
		if f, err := rollout.Stat(name); err == nil {
			return p.entitled(fileSession(rollout.Entry{File: f}))
		} else if memoir.CodeOf(err) == memoir.CodeUnreadable {
			return memoir.Session{}, nil, err
		}
	}
	if strings.ContainsRune(name, os.PathSeparator) {
		return memoir.Session{}, nil, notFoundf("", "show %s: %w", name, errors.Unwrap(err))
	}
	st, err := p.openForReading(c)
	if err != nil {
		return memoir.Session{}, nil, err
	}
	defer st.Close()
	session, err := p.findSession(c.Context, st, name)
	if err != nil {
		return memoir.Session{}, nil, err
	}
	parts, err := pipeline.Parts(c.Context, session, rollout.Probe)
	return session, parts, err
}

// entitled redacts the title of a session that was read from a file.
func (p *program) entitled(session memoir.Session, parts []rollout.Part, err error) (memoir.Session, []rollout.Part,
	error) {
	if err == nil {
		session.Title = parts[0].Head.CleanTitle(p.redact)
	}
	return session, parts, err
}

// onlySession is the session in a file; several are an error that lists them.
func onlySession(ctx context.Context, name string) (memoir.Session, []rollout.Part, error) {
	var found []rollout.Entry
	err := rollout.WalkDir(ctx, name, func(e rollout.Entry) error {
		found = append(found, e)
		return e.Err
	})
	switch {
	case err != nil:
		return memoir.Session{}, nil, err
	case len(found) == 0:
		return memoir.Session{}, nil, usagef("name the database, or the session's own file",
			"%s contains no session, or is part of another file", name)
	case len(found) == 1:
		return fileSession(found[0])
	}
	slices.SortStableFunc(found, func(a, b rollout.Entry) int { return b.ModTime.Compare(a.ModTime) })
	var ids []string
	for _, e := range found {
		ids = append(ids, oneLine(strings.TrimPrefix(e.Path, name+"#")))
	}
	return memoir.Session{}, nil, usagef(fmt.Sprintf("name one of them: `memoir show '%s'`", oneLine(found[0].Path)),
		"%s contains %d sessions, newest first: %s", name, len(found), shortened(ids))
}

// fileSession is the session of a file, or of a row of a database.
func fileSession(entry rollout.Entry) (memoir.Session, []rollout.Part, error) {
	f := entry.File
	head, err := rollout.Probe(entry)
	if err != nil {
		return memoir.Session{}, nil, err
	}
	parts := rollout.Thread(rollout.Part{Path: f.Path, Head: head})
	session := memoir.Session{
		ID: head.ID, Source: head.Source, Kind: head.Kind, ParentID: head.ParentID,
		Title: parts[0].Head.Title, CWD: parts[0].Head.CWD,
		Branch: head.Branch, Remote: head.Remote, CreatedAt: parts[0].Head.CreatedAt,
	}
	for _, part := range parts {
		f, err := rollout.Stat(part.Path)
		if err != nil {
			return memoir.Session{}, nil, err
		}
		session.Files = append(session.Files, f)
		session.Bytes += part.Head.Size
		if part.Head.UpdatedAt.After(session.UpdatedAt) {
			session.UpdatedAt = part.Head.UpdatedAt
		}
	}
	return session, parts, nil
}

// printItems writes items; with marks, omitted items are marked.
func (p *program) printItems(items []memoir.Item, marks bool) {
	last := 0
	for _, it := range items {
		if marks && it.N > last+1 {
			p.ui.printf("[… %s left out …]\n\n", count(it.N-last-1, "item"))
		}
		last = it.N
		p.ui.write(plain(ask.ItemText(it)) + "\n\n") // also for a pipe, which may end at a terminal
	}
}

func orUntitled(title string) string { return cmp.Or(title, "untitled") }

// Bounds of a recap.
const (
	recapMessages = 10
	recapText     = 800 // characters of a message
	overflowText  = 200 // the same, where it is injected
	overflowTime  = time.Second
)

// recapHead begins a recap, so that an agent takes it for what it is.
const (
	recapHead    = "## The end of an earlier session\n\n" + contextOnly
	overflowHead = "## The last messages of this session\n\n" + contextOnly
	contextOnly  = "Context only: do not answer these messages.\n\n"
)

func recapCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "recap", Category: groupNotes,
		Usage: "print the last messages of the last session, to go on where it was lost",
		Description: help("Prints the last 10 messages of the last session of this directory's project that a scan has\n"+
			"seen, or of another, without secrets, under a heading that says they are context only.",
			"memoir recap", "memoir recap --session 019f1fd6 --json"),
		Flags: []cli.Flag{
			projectRefFlag(), jsonFlag(),
			&cli.StringFlag{Name: "session", Usage: "of `SESSION` instead: an id or the beginning of one"},
		},
		Action: p.recap,
	}
}

// messageJSON is a message as `recap --json` gives it.
type messageJSON struct {
	Item    int    `json:"item"`
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (p *program) recap(c *cli.Context) error {
	if c.NArg() > 0 {
		return usagef("", "recap takes no argument")
	}
	session, err := p.sessionToRecap(c)
	if err != nil {
		return err
	}
	messages, _, err := p.lastMessages(c.Context, c, session, recapText)
	if err != nil {
		return err
	}
	return p.result(c, struct {
		Session  string        `json:"session"`
		Messages []messageJSON `json:"messages"`
	}{session.Key(), messages}, func() {
		if len(messages) == 0 {
			p.ui.say("%s has no messages", session.Key())
			return
		}
		p.ui.write(recapHead)
		for _, m := range messages {
			p.ui.write("- " + m.Role + ": " + strings.ReplaceAll(m.Content, "\n", "\n  ") + "\n")
		}
		p.ui.say("%s, item %d and later; `memoir show` has all", session.Key(), messages[0].Item)
	})
}

// lastMessages are the last messages of a session, at most so many characters of each, and how many it has in all.
func (p *program) lastMessages(ctx context.Context, c *cli.Context, session memoir.Session, most int) (
	messages []messageJSON, said int, err error) {
	parts, err := pipeline.Parts(ctx, session, rollout.Probe)
	if err != nil {
		return nil, 0, err
	}
	scanner, err := p.scanner(c, session.CWD)
	if err != nil {
		return nil, 0, err
	}
	loaded, err := pipeline.Load(ctx, scanner, parts, "")
	if err != nil {
		return nil, 0, err
	}
	messages = []messageJSON{}
	for _, it := range loaded.Items {
		if it.Kind == memoir.ItemMessage && (it.Origin.ByPerson() || it.Origin == memoir.OriginAgent) {
			text := memoir.Cut(memory.Neutralise(strings.TrimSpace(it.Text)), most)
			messages = append(messages, messageJSON{it.N, it.Role, text})
		}
	}
	return messages[max(0, len(messages)-recapMessages):], len(messages), nil
}

// findOverflow completes the input of a hook: a session that is compacted or goes on, and has more messages than
// memories.memoryWindow, is to be extracted from now, and told its last messages. One that takes long to read is told
// none.
func (p *program) findOverflow(c *cli.Context, settings config.Settings, in *hookInput) {
	window := settings.Memories.MemoryWindow
	if window == 0 || in.session() == "" || in.Source != "compact" && in.Source != "resume" {
		return
	}
	home, err := p.home(c)
	if err != nil {
		return
	}
	st, err := p.openToInject(c, home)
	if err != nil || st == nil {
		return
	}
	session, err := p.findSession(c.Context, st, in.session())
	st.Close()
	if err != nil || session.ID != in.session() || session.ProjectID == "" || !recapped(session) {
		return
	}
	ctx, cancel := context.WithTimeout(c.Context, overflowTime)
	defer cancel()
	messages, said, err := p.lastMessages(ctx, c, session, overflowText)
	if err == nil && said <= window {
		return
	}
	in.overflow = session.Key()
	for _, m := range messages {
		in.recap = append(in.recap, "- "+m.Role+": "+oneLine(m.Content)+"\n")
	}
}

// recapped reports whether a session may be told: a main one that is neither disabled nor forgotten.
func recapped(s memoir.Session) bool {
	return s.Kind == memoir.KindMain && s.Reason != memoir.ReasonDisabled && s.Reason != memoir.ReasonForgotten &&
		s.Reason != memoir.ReasonUnreadable
}

// sessionToRecap is the session that is meant: the one that is named, else the last main session of the project that is
// neither disabled nor forgotten.
func (p *program) sessionToRecap(c *cli.Context) (memoir.Session, error) {
	st, err := p.openForReading(c)
	if err != nil {
		return memoir.Session{}, err
	}
	defer st.Close()
	if ref := c.String("session"); ref != "" {
		return p.findSession(c.Context, st, ref)
	}
	project, err := p.projectOf(c, st)
	if err != nil {
		return memoir.Session{}, err
	}
	sessions, err := st.Sessions(c.Context, store.Filter{Project: project.ID})
	i := slices.IndexFunc(sessions, recapped)
	if err == nil && i < 0 {
		err = notFoundf("`memoir run` looks for sessions", "%s has no session to recap", project.ID)
	}
	if err != nil {
		return memoir.Session{}, err
	}
	return sessions[i], nil
}
