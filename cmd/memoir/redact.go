package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"memoir"
)

func redactCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "redact", Category: groupSecret, ArgsUsage: "[FILE|-]",
		Usage: "copy text to standard output without its secrets",
		Description: help("Copies a file or standard input to standard output and replaces each secret by\n"+
			"[REDACTED:rule-id]. What was replaced is counted on standard error.",
			"memoir redact < session.jsonl > shareable.jsonl", "kubectl logs app | memoir redact"),
		Action: func(c *cli.Context) error {
			path, err := optional(c)
			if err != nil {
				return err
			}
			scanner, err := p.scanner(c)
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
			err = pieces(c.Context, in, maxScanned, func(piece string) error {
				p.ui.write(redactor.Text(piece))
				return p.ui.outBroken
			})
			if n := redactor.Counts(); len(n) > 0 {
				p.ui.say("redacted %s", byRule(n))
			}
			return err
		},
	}
}
