package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/entry"
	"memoir/internal/lazyregexp"
	"memoir/memory"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/project"
	"memoir/store"
)

func categoryFlag(usual string) cli.Flag {
	return &cli.StringFlag{Name: "category", Value: usual, DefaultText: usual,
		Usage: "`CATEGORY`: " + strings.Join(memoir.Categories, ", ")}
}

func rememberCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "remember", Category: groupUse, ArgsUsage: "TEXT...",
		Usage: "store a note for later sessions",
		Description: help("Stores a note for this directory's project, or with --user for all projects, and prints its\n"+
			"number. A connected agent (`memoir install`) gets it in its next session; the next run adds it\n"+
			"to MEMORY.md. Secrets are redacted before it is stored. The same text is not stored again,\n"+
			"unless --category differs. '#N' confirms an agent's note, which no session gets before.\n"+
			"With --replaces, no session gets the replaced note, and only `memoir search --replaced` finds it.",
			"memoir remember --category preference 'use pnpm, not npm'", "memoir remember --user I prefer short answers",
			"memoir remember --replaces '#12' use bun, not pnpm", "memoir forget '#12'"),
		Flags: []cli.Flag{
			projectRefFlag(), categoryFlag("fact"),
			&cli.BoolFlag{Name: "user", Usage: "for all projects"},
			&cli.StringFlag{Name: "replaces", Usage: "instead of the note `#N`, whose category it gets by default"},
			nowFlag(), jsonFlag(),
		},
		Action: func(c *cli.Context) (err error) {
			e := memoir.Entry{Kind: memoir.EntryNote}
			if c.IsSet("category") {
				e.Category = c.String("category")
			}
			if c.IsSet("replaces") {
				if e.Replaces, err = entry.Number(c.String("replaces")); err != nil {
					return err
				}
			}
			return p.writeEntry(c, e)
		},
	}
}

// writeEntry stores the arguments as an entry and prints its number, or that of the same one if there is one already.
func (p *program) writeEntry(c *cli.Context, e memoir.Entry) error {
	e.Author, e.Text = memoir.AuthorUser, strings.Join(c.Args().Slice(), " ")
	if err := entry.Worded(e.Text); err != nil { // before the project is registered
		return err
	}
	opts, st, project, err := p.openToAdd(c)
	if err != nil {
		return err
	}
	defer st.Close()
	e.ProjectID = project.ID
	if e.Kind == memoir.EntryNote && strings.HasPrefix(e.Text, "#") {
		named, found, err := p.entryNamed(c.Context, st, e.Text)
		if err != nil {
			return err
		}
		if replaced, err := st.ReplacedNotes(c.Context); err != nil {
			return err
		} else if by, ok := replaced[named.Key()]; ok && found {
			return memoir.Errorf(memoir.CodeUsage, "`memoir forget` of that note brings it back; `memoir notes` has its number",
				"%s was replaced by the note %q", e.Text, by)
		}
		if found && named.Kind == memoir.EntryNote { // to confirm it
			e.ProjectID, e.Category, e.Text = named.ProjectID, named.Category, named.Text
		}
	}
	if e.CreatedAt, err = timeFlag(c, "now"); err != nil {
		return err
	}
	out, added, err := p.access(c).Remember(c.Context, st, opts, e)
	return p.result(c, err, out, func() {
		if out.ID != 0 {
			p.ui.printf("#%d\n", out.ID)
		}
		if out.Note != "" {
			p.ui.say("%s", out.Note)
		}
		if !added && e.Kind == memoir.EntryNote {
			p.ui.say("already note #%d", out.ID)
		} else if !added {
			p.ui.say("today's journal already has this line")
		}
	})
}

func notesCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "notes", Aliases: []string{"memories", "recall"}, Category: groupUse, ArgsUsage: "[WORDS]...",
		Usage: "print notes, those that contain some words, or a day's journal",
		Description: help("Prints the notes of this directory's project and of the user, by category. With words, or\n"+
			"called as `memoir recall`, it prints at most 20 that contain all words, most recently recalled\n"+
			"first.",
			"memoir notes", "memoir notes pnpm --category preference --json", "memoir notes --journal yesterday"),
		Flags: []cli.Flag{
			projectRefFlag(), categoryFlag(""),
			&cli.BoolFlag{Name: "recent", Usage: "at most 20, most recently recalled first, also without words"},
			&cli.StringFlag{Name: "journal", Usage: "instead, the project's journal of the `DAY`"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			words := c.Args().Slice()
			if c.IsSet("journal") && len(words) > 0 {
				return usagef("`memoir journal search` searches journals", "--journal and words exclude each other")
			} else if c.IsSet("journal") {
				return p.printPage(c, c.String("journal"))
			}
			list := len(words) == 0 && !c.Bool("recent")
			read := func(b entry.Book, ids []string) ([]memoir.Entry, error) {
				if list {
					return b.Notes(c.Context, ids, c.String("category"))
				}
				return b.Recall(c.Context, ids, c.String("category"), words)
			}
			notes, err := p.readNotes(c, !list, read)
			if !list && memoir.CodeOf(err) == memoir.CodeStorage { // the access cannot be recorded
				notes, err = p.readNotes(c, false, read)
			}
			return p.printNotes(c, err, notes, list)
		},
	}
}

func (p *program) printNotes(c *cli.Context, err error, notes []memoir.Entry, byCategory bool) error {
	return p.result(c, err, operation.EntriesOf(notes), func() {
		for i, n := range notes {
			if byCategory && (i == 0 || n.Category != notes[i-1].Category) {
				p.ui.write("## " + n.Category + "\n")
			}
			p.ui.write(p.noteLine(n) + "\n")
		}
		if len(notes) == 0 {
			p.ui.say("no note matches")
			p.ui.sayHint("`memoir remember TEXT` adds one")
		}
	})
}

func (p *program) noteLine(n memoir.Entry) string {
	line := "#" + strconv.FormatInt(n.ID, 10) + "  " + when(n.CreatedAt) + "  " + n.Category + "  "
	if n.ProjectID == memoir.UserProjectID {
		line += "(all projects) "
	}
	if n.Author != memoir.AuthorUser {
		line += "(not confirmed) "
	}
	if n.Replaces != 0 {
		line += fmt.Sprintf("(replaces #%d) ", n.Replaces)
	}
	return oneLine(line + n.Text)
}

// openToAdd opens the store to add an entry; the caller closes it. It returns the project, or with --user the user's.
// It registers the project of this directory, or of the directory that --project names, if it is new.
func (p *program) openToAdd(c *cli.Context) (
	opts pipeline.Options, st *store.Store, to memoir.Project, err error) {
	if opts, err = p.options(c, nil); err != nil {
		return opts, nil, to, err
	}
	settings := opts.Settings // the project's own apply only here
	ref, err := projectFlag(c)
	here := place{}
	if err == nil && !c.Bool("user") {
		here, err = p.placeToAdd(c, ref, &settings)
	}
	if err != nil {
		return opts, nil, to, err
	}
	if st, err = p.openStore(c.Context, opts.Home, settings); err != nil {
		return opts, nil, to, err
	}
	row, err := p.registered(c, st, ref, here)
	if err != nil {
		st.Close()
	}
	return opts, st, row.Project, err
}

// placeToAdd returns the place of ref if that is a directory or empty, and applies the project's own settings. It fails
// if memory is off there.
func (p *program) placeToAdd(c *cli.Context, ref string, settings *config.Settings) (here place, err error) {
	if ref != "" && !(isPath(ref) && isDirectory(ref)) {
		return here, nil
	}
	if here, err = p.placeAt(c, ref); err == nil {
		if why := p.switchedOff(c, settings, here); why != "" {
			err = memoir.Errorf(memoir.CodeConfig, otherProject(c.Command.Name), "no memory here: %s", why)
		}
	}
	return here, err
}

// registered returns the project of openToAdd, which it registers if it is new.
func (p *program) registered(c *cli.Context, st *store.Store, ref string, here place) (store.ProjectRow, error) {
	found := memoir.UserProject()
	if !c.Bool("user") {
		row, err := p.projectNamed(c, st, ref)
		if err == nil || memoir.CodeOf(err) != memoir.CodeNotFound || !here.status.OK() {
			return row, err
		}
		found = project.Changed(here.project, p.redact)
	}
	ids, err := st.Register(c.Context, found)
	if err != nil {
		return store.ProjectRow{}, err
	}
	return st.FindProject(c.Context, ids[found.ID])
}

// otherProject returns the hint of a command for a project whose memory is off.
func otherProject(command string) string {
	switch command {
	case "remember":
		return "use --user for a note for all projects, or --project for another project"
	case "mcp", "trust", "share": // an agent cannot pass flags, and the others are for this directory
		return ""
	}
	return "use --project for another project"
}

// readNotes reads the notes of the user and of --project or this directory's project, if it has one, and may record
// that. An empty home has no notes.
func (p *program) readNotes(c *cli.Context, record bool, read func(entry.Book, []string) ([]memoir.Entry, error)) (
	[]memoir.Entry, error) {
	var st *store.Store
	var err error
	if record {
		_, st, err = p.openToChange(c)
	} else {
		st, err = p.openForReading(c)
	}
	if memoir.CodeOf(err) == memoir.CodeNotFound && !c.IsSet("project") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer st.Close()
	ids := []string{memoir.UserProjectID}
	row, err := p.projectNamed(c, st, c.String("project"))
	switch {
	case err == nil && row.ID != memoir.UserProjectID:
		ids = append(ids, row.ID)
	case err != nil && (c.IsSet("project") || memoir.CodeOf(err) != memoir.CodeNotFound):
		return nil, err
	}
	return read(entry.Book{Store: st}, ids)
}

// entryRef matches the names of an entry: #12, its session's key or id, or just 12.
var entryRef = lazyregexp.New(`^(#|(?:memoir:)?(?:note|journal)-)?([1-9][0-9]{0,17})$`)

// findsEntries is the hint for a number that no entry has.
const findsEntries = "`memoir notes` lists notes; `memoir search --json` shows a journal line as memoir:journal-N"

// entryNamed returns the entry that a reference names, if there is one. A bare number that could also be the beginning
// of a session's id means the entry.
func (p *program) entryNamed(ctx context.Context, st *store.Store, ref string) (e memoir.Entry, found bool, err error) {
	parts := entryRef.FindStringSubmatch(ref)
	if parts == nil {
		return e, false, nil
	}
	id, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil {
		return e, false, nil
	}
	entries, err := st.Entries(ctx, store.EntryFilter{ID: id, Disabled: true})
	if err != nil || len(entries) == 0 {
		if err == nil && parts[1] != "" {
			err = notFoundf(findsEntries, "no note or journal line is %s", ref)
		}
		return e, false, err
	}
	return entries[0], true, nil
}

// showEntry prints the entry that a reference names, if there is one.
func (p *program) showEntry(c *cli.Context, ref string) (done bool, err error) {
	st, err := p.openForReading(c)
	if err != nil {
		return false, err
	}
	defer st.Close()
	e, found, err := p.entryNamed(c.Context, st, ref)
	if err != nil || !found {
		return false, err
	}
	return true, p.result(c, nil, operation.EntryOf(e), func() { p.ui.write(p.noteLine(e) + "\n") })
}

var noteNumber = lazyregexp.New(`^- \[#[0-9]+\] `)

// withoutRules removes from a summary the lines that the text before it has, and headings without lines.
func withoutRules(summary, before string) string {
	noted := map[string]bool{}
	for line := range strings.Lines(before) {
		noted[memoir.RuleKey(memoir.BlockKey(noteNumber.ReplaceAllString(line, "")))] = true
	}
	return memory.Without(summary, func(_ int, line string) bool {
		return len(noted) > 0 && strings.HasPrefix(line, "- ") && noted[memoir.RuleKey(memoir.BlockKey(line))]
	})
}
