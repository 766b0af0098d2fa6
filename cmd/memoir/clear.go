package main

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/internal/disk"
	"memoir/internal/lazyregexp"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/secrets"
	"memoir/store"
)

func clearCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "clear", Aliases: []string{"reset"}, Category: groupMemory,
		Usage: "remove a project's sessions and memory from memoir",
		Description: help("Removes a project's sessions from the registry, their extractions, its notes, and\n"+
			"its directory with all generations, journals and messages of applications, which exist only\n"+
			"there. The agents' own files stay. A later run reads sessions again that are idle and not too\n"+
			"old; `memoir run --max-age 0 --min-idle 0` reads them whatever their age. Disabled sessions\n"+
			"stay disabled, and forgotten ones forgotten. Asks first; without a terminal it needs --yes.",
			"memoir clear --project mise", "memoir clear --all --yes"),
		Flags: []cli.Flag{
			projectRefFlag(),
			&cli.BoolFlag{Name: "all", Usage: "all projects, and sessions without a project"},
			yesFlag(), jsonFlag(),
		},
		Action: p.clear,
	}
}

func (p *program) clear(c *cli.Context) error {
	opts, err := p.options(c, nil)
	if err != nil {
		return err
	}
	home, all := opts.Home, c.Bool("all")
	st, err := p.openForWriting(c)
	gone := memoir.CodeOf(err) == memoir.CodeNotFound && isDirectory(filepath.Join(home, "projects"))
	if all && gone { // of the database; its folders are there
		st, err = p.openStore(c.Context, home, opts.Settings)
	}
	if all && memoir.CodeOf(err) == memoir.CodeNotFound {
		p.ui.sayError(err)
		return p.result(c, nil, map[string][]string{"cleared": {}}, func() {})
	}
	if err != nil {
		return err
	}
	defer st.Close()
	ids, err := p.projectsNamed(c, st)
	if err != nil {
		return err
	}
	if all {
		folders, err := pipeline.ProjectFolders(home) // also of projects without rows
		if err != nil {
			return err
		}
		ids = append(ids, slices.DeleteFunc(folders, func(id string) bool {
			return slices.Contains(ids, id) || !isProjectFolder(home, id)
		})...)
	}
	do := "remove the registry and the memory of all " + count(len(ids), "project") + ", with notes, journals and messages"
	if !all {
		do = "remove all stored data of " + ids[0] + ", with its notes, journals and messages"
	}
	if err := p.confirm(c, do, home); err != nil {
		return err
	}
	if err := p.clearProjects(c.Context, st, home, ids, all); err != nil {
		return err
	}
	return p.result(c, nil, map[string][]string{"cleared": append([]string{}, ids...)}, func() {
		for _, id := range ids {
			p.ui.say("cleared %s", id)
		}
		if len(ids) == 0 {
			p.ui.say("no projects")
		}
	})
}

// confirm asks whether to do something in a home, such as "remove X", unless --yes was given.
func (p *program) confirm(c *cli.Context, do, home string) error {
	if c.Bool("yes") {
		return nil
	}
	if !p.ui.canAsk() {
		return usagef("pass --yes", "cannot ask, since standard input is not a terminal: in %s, %s would %s", home,
			calledAs(c), do)
	}
	if yes, err := p.ui.ask(c.Context, do+"?"); err != nil || !yes {
		verb, _, _ := strings.Cut(do, " ")
		return notConfirmed(p.ui, err, "nothing was "+verb+"d")
	}
	return nil
}

// notConfirmed is the error of a command whose question was answered with no, or not at all.
func notConfirmed(u *ui, err error, said string) error {
	if err != nil {
		return err
	}
	u.say("%s", said)
	return status(exitFailed)
}

// clearProjects removes rows first, so that no run can publish into a folder that is being removed. After a crash,
// the next run removes the folders.
func (p *program) clearProjects(ctx context.Context, st *store.Store, home string, ids []string, all bool) error {
	of := ids
	if all {
		of = append(of, "") // sessions of no project
	}
	if err := st.Clear(ctx, of...); err != nil {
		return err
	}
	for _, id := range ids {
		if err := memory.At(home, id).Remove(); err != nil { // also without rows
			return err
		}
	}
	if err := pipeline.RemoveFolders(ctx, st, home, p.redact); err != nil {
		return err
	}
	if err := st.Backup(ctx, true); err != nil {
		p.ui.warn(memoir.HintOf(err), "cannot back up the database: %v", err)
	}
	return nil
}

// folderName matches the name of a project's folder, which is its id.
var folderName = lazyregexp.New(`^[^./\\][^/\\]*-[0-9a-f]{12}$`)

// cleaner removes secrets from messages and logs. An error quotes its subject, which may be a line
// of a transcript or an argument.
type cleaner struct {
	mu      sync.Mutex
	rules   string // path of a person's own rules; "" if it does not exist, or is not known yet
	scanner *secrets.Scanner
	words   []string          // the arguments, and MEMOIR_ variables
	given   *secrets.Redactor // knows the secrets in words and in config.yml
	whole   *strings.Replacer // replaces words that contain secrets
}

// minWord is the minimal length of a word that is replaced as a whole, in bytes.
const minWord = 8

// setArguments gives the cleaner the secrets in arguments and variables: an error may quote them
// in another form, or as a part of a path, which no rule matches.
func (c *cleaner) setArguments(args, environ []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.words, c.given = slices.Clone(args), nil
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "MEMOIR_") {
			c.words = append(c.words, value)
		}
	}
}

// setRules makes the cleaner use a person's own rules, too.
func (c *cleaner) setRules(rules string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rules != rules {
		c.rules, c.scanner, c.given = rules, nil, nil
	}
}

func (c *cleaner) clean(text string) string {
	if text == "" {
		return "" // the rules take longer to compile than most commands take
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.scanner == nil {
		var err error
		// The command that needs the rules reports their errors.
		for _, options := range []secrets.Options{{ConfigPath: c.rules}, {}} {
			if c.scanner, err = secrets.New(options); err == nil {
				break
			}
		}
		if err != nil {
			return ""
		}
	}
	if c.given == nil {
		c.given = c.scanner.Session()
		var pairs []string
		for _, word := range c.words {
			// A short password may also be a common word.
			if clean := c.given.Text(word); clean != word && len(word) >= minWord {
				quoted, path := strconv.Quote(word), filepath.Clean(word)
				pairs = append(pairs, word, clean, path, c.given.Text(path), quoted[1:len(quoted)-1], clean)
			}
		}
		c.whole = strings.NewReplacer(pairs...)
		if c.rules != "" {
			path := filepath.Join(filepath.Dir(c.rules), config.FileName)
			if settings, err := disk.ReadFile(path, config.MaxFileSize); err == nil {
				c.given.Text(string(settings))
			}
		}
	}
	return c.given.AgainText(c.scanner.Message(c.whole.Replace(text)))
}

func (p *program) redact(text string) string { return p.cleaner.clean(text) }
