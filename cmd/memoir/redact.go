package main

import (
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/pipeline"
	"memoir/secrets"
)

func redactCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "redact", Category: groupSecret, ArgsUsage: "[FILE|-]",
		Usage: "copy text without its secrets, or take them out of all that is stored",
		Description: help("Copies a file or standard input to standard output and replaces each secret by\n"+
			"[REDACTED:rule-id]. What was replaced is counted on standard error. With --diff it shows\n"+
			"the lines that change instead, the secrets masked.\n"+
			"With --stored it takes the secrets that memoir scan --stored finds out of all that memoir\n"+
			"keeps: the database and its free pages, logs, every generation, and the live files, of\n"+
			"which a new generation is made. Nothing is extracted or consolidated because of it. Asks\n"+
			"first; without a terminal it needs --yes. Exit code 3 says that something had to stay.",
			"memoir redact < session.jsonl > shareable.jsonl", "kubectl logs app | memoir redact", "memoir redact --diff notes.md",
			"memoir redact --stored --dry-run", "memoir redact --stored --yes --wait 1m"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "diff", Usage: "show the lines that change as a unified diff, secrets masked"},
			&cli.BoolFlag{Name: "stored", Usage: "take secrets out of all that memoir keeps, generations too"},
			&cli.StringFlag{Name: "project", Usage: "with --stored: only what is kept of the project `REF`: an id, a name or a path"},
			&cli.BoolFlag{Name: "dry-run", Usage: "with --stored: list what would change, and change nothing"},
			&cli.StringFlag{Name: "wait", Usage: "with --stored: wait up to `TIME` for other processes that hold work"},
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
	for _, name := range []string{"project", "dry-run", "wait", "yes", "json"} {
		if c.IsSet(name) {
			return usagef("", "--%s needs --stored", name)
		}
	}
	path, err := optional(c)
	if err != nil {
		return err
	}
	scanner, err := p.scannerHere(c)
	if err != nil {
		return err
	}
	in := p.ui.input(c.Context)
	if path != "" && path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return memoir.Errorf(memoir.CodeNotFound, "", "redact: %w", err)
		}
		defer f.Close()
		in = f
	} else if path == "" && p.ui.inTTY {
		p.ui.say("reading standard input; end it with ctrl-d")
	}
	// One Redactor for all pieces: a secret seen in one is removed from the next.
	redactor := scanner.Session()
	if c.Bool("diff") {
		err = p.diffRedacted(c, path, in, redactor)
	} else {
		err = pipeline.Pieces(c.Context, in, maxScanned, func(piece string) error {
			p.ui.write(redactor.Text(piece))
			return p.ui.outBroken
		})
	}
	if n := redactor.Counts(); len(n) > 0 {
		p.ui.say("redacted %s", byRule(n))
	}
	return err
}

// diffRedacted shows what redacting changes. Lines keep their number, so they need not be
// compared; and those that go are shown as they will be, but for a mask where the
// rule's name will stand.
func (p *program) diffRedacted(c *cli.Context, path string, in io.Reader, redactor *secrets.Redactor) error {
	if path == "" {
		path = "-"
	}
	d := maskedDiff{name: oneLine(redactor.Text(path)), write: p.ui.diff}
	err := pipeline.Pieces(c.Context, in, maxScanned, func(piece string) error {
		d.add(piece, redactor.Text(piece))
		return p.ui.outBroken
	})
	d.flush()
	return err
}
