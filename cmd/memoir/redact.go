package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/internal/disk"
	"memoir/pipeline"
	"memoir/secrets"
	"memoir/store"
)

func redactCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "redact", Category: groupProgram, ArgsUsage: "[FILE|-]",
		Usage: "redact secrets in text or in stored data",
		Description: help("Copies a file or standard input to standard output and replaces each secret with\n"+
			"[REDACTED:rule-id]. All else is unchanged, except that a text with a byte order mark\n"+
			"becomes UTF-8 without one. A file that has the mark of UTF-16 and is not UTF-16 is refused.\n"+
			"The number of replacements goes to standard error. A long file is read twice: a value that\n"+
			"one place identifies as a secret is replaced everywhere. In a long pipe, it is replaced only\n"+
			"in later places.\n"+
			"With --stored it removes the secrets that `memoir scan --stored` finds from all stored data:\n"+
			"the database and its free pages, logs, and the live files, which are published again.\n"+
			"Earlier generations with a secret are removed. Nothing is extracted again; a project whose\n"+
			"name has a secret gets another id.\n"+
			"Asks first; without a terminal it needs --yes.",
			"memoir redact < session.jsonl > shareable.jsonl", "kubectl logs app | memoir redact",
			"memoir redact --stored --yes --wait 1m"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stored", Usage: "redact stored data, including generations"},
			&cli.StringFlag{Name: "project", Usage: "with --stored: only the project `REF`: an id, a name or a path"},
			&cli.StringFlag{Name: "wait", Usage: "with --stored: wait up to `DURATION` for projects locked by other processes"},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "with --stored: do not ask"},
			&cli.BoolFlag{Name: "json", Usage: "with --stored: print one JSON object"},
		},
		Action: p.redactText,
	}
}

func (p *program) redactText(c *cli.Context) error {
	if c.Bool("stored") {
		return p.redactStored(c)
	}
	for _, name := range []string{"project", "wait", "yes", "json"} {
		if c.IsSet(name) {
			return usagef("", "--%s needs --stored", name)
		}
	}
	scanner, err := p.scanner(c)
	if err != nil {
		return err
	}
	// One Redactor for all pieces: a secret seen in one is removed from the others.
	redactor := scanner.Session()
	path := cmp.Or(c.Args().First(), "-")
	most := int(p.memories(c).Heap() / bytesPerSecret)
	clean, err := p.learn(c.Context, path, redactor, most)
	if err != nil {
		return fmt.Errorf("redact: %w", err)
	}
	in, err := p.openInput(c.Context, path, path, lossless)
	if err != nil {
		return fmt.Errorf("redact: %w", err)
	}
	defer in.close()
	err = p.pieces(c.Context, in.text, func(piece secrets.Piece) error {
		text := piece.Part()
		if !clean {
			if piece.Line == 0 && piece.Column == 0 {
				redactor.File(path, piece.Text)
			}
			text = redactor.Part(piece.Text, piece.Start, piece.End)
		}
		p.ui.write(text)
		return tooMany(redactor, most)
	})
	if n := redactor.Counts(); len(n) > 0 {
		p.ui.say("redacted %s", secretsOf(n))
	}
	return err
}

// learn reads a file that is longer than one piece before it is redacted, so that a value that only the last piece
// identifies as a secret is removed from the first piece, too. It returns true if the file has no secrets. It skips
// pipes, which cannot be read twice.
func (p *program) learn(ctx context.Context, path string, redactor *secrets.Redactor, most int) (
	clean bool, err error,
) {
	file := p.ui.stdin
	if path != "-" {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return false, nil // openInput reports an error
		}
		if file, err = os.Open(path); err != nil {
			return false, nil
		}
		defer file.Close()
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false, nil
	}
	from, err := file.Seek(0, io.SeekCurrent)
	if err != nil || info.Size()-from <= maxPiece {
		return false, nil
	}
	clean = true
	err = p.pieces(ctx, lossless(file), func(piece secrets.Piece) error {
		clean = !redactor.Learn(piece.Text) && clean
		return tooMany(redactor, most)
	})
	if err == nil {
		_, err = file.Seek(from, io.SeekStart)
	}
	return clean, err
}

// bytesPerSecret estimates the heap that a remembered secret takes, with its forms and the collector's share.
const bytesPerSecret = 1 << 10

// tooMany returns an error if a text has more different secrets than can be remembered.
func tooMany(redactor *secrets.Redactor, most int) error {
	if redactor.Secrets() <= most {
		return nil
	}
	return memoir.Errorf(memoir.CodeInvalid, "raise memories.maxResidentMegabytes",
		"more than %d different secrets", most)
}

// scanStored is `scan --stored`.
func (p *program) scanStored(c *cli.Context) error {
	if c.NArg() > 0 {
		return usagef("", "--stored takes no path")
	}
	opts, err := p.options(c, nil)
	if err != nil {
		return err
	}
	st, err := p.openForReading(c)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := p.limitToProject(c, st, &opts); err != nil {
		return err
	}
	report, err := pipeline.ScanStored(c.Context, st, opts)
	if err != nil {
		return err
	}
	return p.reportFindings(c, report.Places, len(report.Places), count(report.Texts, "stored text"),
		"`memoir redact --stored` removes them", incomplete(p.ui, report.Unread, stillStored))
}

// limitToProject applies --project.
func (p *program) limitToProject(c *cli.Context, st *store.Store, opts *pipeline.Options) error {
	ref, err := projectFlag(c)
	if err != nil || ref == "" {
		return err
	}
	project, err := p.projectNamed(c, st, ref)
	opts.ProjectIDs = []string{project.ID}
	return err
}

// incomplete warns of files that were not scanned. Any of these is an error.
func incomplete[T any](u *ui, unread []T, hint string) error {
	for _, file := range unread {
		u.warn("", "not scanned: %v", file)
	}
	if len(unread) == 0 {
		return nil
	}
	return memoir.Errorf(memoir.CodeUnreadable, hint, "%s could not be scanned", count(len(unread), "path"))
}

const stillStored = "secrets in unread files are still stored"

// redactStored is `redact --stored`.
func (p *program) redactStored(c *cli.Context) error {
	if c.NArg() > 0 {
		return usagef("", "--stored takes no file")
	}
	opts, st, err := p.openToChange(c)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := p.limitToProject(c, st, &opts); err != nil {
		return err
	}
	do := "remove all secrets from stored data, and earlier generations that contain one"
	if err := p.confirm(c, do, opts.Home); err != nil {
		return err
	}
	done, err := pipeline.RedactStored(c.Context, st, opts)
	if err != nil {
		return err
	}
	if err := p.result(c, nil, done, func() {}); err != nil {
		return err
	}
	err = incomplete(p.ui, done.Unread, stillStored)
	if len(done.Places) == 0 {
		p.ui.say("no secrets in %s", count(done.Texts, "stored text"))
		return err
	}
	p.sayRemoved(done.Removed)
	rules := map[string]int{}
	for _, f := range done.Places {
		rules[f.Rule]++
	}
	p.ui.say("redacted %s: %s rewritten, %s removed", secretsOf(rules), count(done.Rows, "text"),
		count(done.Archives, "earlier generation"))
	return err
}

// secretsOf counts secrets, in all and by rule: "3 secrets (aws-access-token 1, github-pat 2)".
func secretsOf[K ~string](counts map[K]int) string {
	all := 0
	for _, n := range counts {
		all += n
	}
	return fmt.Sprintf("%s (%s)", count(all, "secret"), byRule(counts))
}

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
