package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/extract"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/rollout"
)

func showCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "show", Aliases: []string{"recap"}, Category: groupLook, ArgsUsage: "SESSION|FILE",
		Usage: "show a session as Phase 1 reads it, redacted, or its last messages",
		Description: help("Shows the redacted items of a session from which Phase 1 extracts: messages of people and the\n"+
			"agent, tool calls with their results. Name a session by its id, the\n"+
			"beginning of its id, or source:id. A file, or FILE#ID for a session in a database, need not be\n"+
			"registered. One of several files of a Codex thread shows the whole thread.\n"+
			"With a budget, the least important items are omitted first.\n"+
			"With --last, or called as `memoir recap`, it prints the last 10 messages of a session, by default\n"+
			"of the last one of this directory's project. A heading says that they are context only.",
			"memoir show 019f1fd6", "memoir show ~/.claude/projects/-src-app/2b9ad815.jsonl",
			"memoir show codex:019f1fd6 --budget 8000 --json", "memoir show codex:019f1fd6 --at 12",
			"memoir show --last"),
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "budget", DefaultText: "none",
				Usage: "omit the least important items beyond `TOKENS` (4 bytes each)"},
			&cli.IntFlag{Name: "at", DefaultText: "the first", Usage: "begin at item `N`"},
			&cli.IntFlag{Name: "context", Aliases: []string{"C"}, DefaultText: "all that follow",
				Usage: "only the item of --at, and `N` items before and after it"},
			&cli.BoolFlag{Name: "last", Usage: "the last messages of a session, to continue it"},
			&cli.StringFlag{Name: "session", Hidden: true, Usage: "with --last: the `SESSION`"},
			&cli.StringFlag{Name: "project", Usage: "with --last: of the project `REF` (default: this directory's)"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			if c.Bool("last") {
				return p.recap(c)
			} else if c.IsSet("project") || c.IsSet("session") {
				return usagef("name the session instead", "show takes --project and --session with --last only")
			}
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
	session, parts, err := p.sessionOrFile(c, c.Args().First())
	scanner, errScanner := p.scanner(c)
	_, forgotten, errForgotten := pipeline.Tombstones(p.access(c).Home)
	var loaded pipeline.Loaded
	if err = cmp.Or(err, errScanner, errForgotten); err == nil {
		if session.Reason == "" { // it is of a file
			session.Title = parts[0].Head.CleanTitle(p.redact)
		}
		loaded, err = pipeline.Load(c.Context, scanner, parts, "", forgotten)
	} else if st, closed := p.openForReading(c); closed == nil {
		loaded, err = pipeline.LoadStored(c.Context, st, session, p.access(c).Scanner, err)
		st.Close()
	}
	if err != nil {
		return err
	}
	form := operation.SessionOf(session, p.redact)
	form.Error = cmp.Or(loaded.Gone, form.Error)
	first := slices.IndexFunc(loaded.Items, func(it memoir.Item) bool { return it.N >= c.Int("at") })
	if first < 0 && len(loaded.Items) > 0 {
		return notFoundf("", "the session ends before item %d", c.Int("at"))
	}
	all, after := loaded.Items[max(first, 0):], 0
	if n := c.Int("context"); c.IsSet("context") {
		end := min(first+n+1, len(loaded.Items))
		all, after = loaded.Items[max(first-n, 0):max(end, 0)], len(loaded.Items)-end
	}
	items := all
	if c.IsSet("budget") {
		items, _ = extract.Fit(all, c.Int("budget"))
	}
	omitted := len(all) - len(items)
	out := operation.ReadingOf(form, items, omitted)
	return p.result(c, nil, out, func() {
		p.printItems(all, items)
		left := ""
		if omitted > 0 {
			left = fmt.Sprintf(", %d left out", omitted)
		}
		if before := len(loaded.Items) - len(all) - after; before > 0 {
			left += fmt.Sprintf(", %d before item %d", before, all[0].N)
		}
		if after > 0 {
			left += fmt.Sprintf(", %d after item %d", after, all[len(all)-1].N)
		}
		p.ui.say("%s, %s: %s, %d tokens%s", form.Key(), orUntitled(form.Title), count(len(items), "item"), out.Tokens, left)
		p.sayOrigin(form, loaded)
	})
}

// sayOrigin says where a session was read from, its project, and what is not shown.
func (p *program) sayOrigin(s operation.Session, loaded pipeline.Loaded) {
	if loaded.Gone != "" {
		p.ui.say("%s", loaded.Gone)
	}
	if len(s.Files) > 1 {
		p.ui.say("read from %s", count(len(s.Files), "file"))
	}
	if s.Project != "" {
		p.ui.say("project %s", s.Project)
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
		return memoir.Session{}, nil, usagef("name a file in it, or a session id", "%s is a directory", name)
	case err == nil:
		return onlySession(c.Context, name)
	case strings.ContainsRune(name, '#'): // perhaps one of a database
		if f, err := rollout.Stat(name); err == nil {
			return fileSession(rollout.Entry{File: f})
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
			"%s contains no session, or is part of one", name)
	case len(found) == 1:
		return fileSession(found[0])
	}
	slices.SortStableFunc(found, func(a, b rollout.Entry) int { return b.ModTime.Compare(a.ModTime) })
	ids := memoir.Map(found, func(e rollout.Entry) string { return oneLine(strings.TrimPrefix(e.Path, name+"#")) })
	return memoir.Session{}, nil, usagef(fmt.Sprintf("name one of them: `memoir show '%s'`", oneLine(found[0].Path)),
		"%s contains %d sessions, newest first: %s", name, len(found), shortened(ids))
}

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

func (p *program) printItems(all, shown []memoir.Item) {
	left := 0
	for i := 0; i <= len(all); i++ {
		if i < len(all) && (len(shown) == 0 || shown[0].N != all[i].N) {
			left++
			continue
		}
		if left > 0 {
			p.ui.printf("[… %s left out …]\n\n", count(left, "item"))
			left = 0
		}
		if i < len(all) {
			p.ui.write(plain(operation.ItemText(shown[0])) + "\n\n") // also for a pipe, which may end at a terminal
			shown = shown[1:]
		}
	}
}

func orUntitled(title string) string { return cmp.Or(title, "untitled") }
