package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir/pipeline"
	"memoir/secrets"
)

func redactCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "redact", Category: groupSecret, ArgsUsage: "[FILE|-]",
		Usage: "print text without its secrets, or redact what is stored",
		Description: help("Copies a file or standard input to standard output and replaces each secret by\n"+
			"[REDACTED:rule-id]. What was replaced is counted on standard error. Everything else stays\n"+
			"as it is: line ends, JSON, UTF-16, bytes that are no text. A file is read twice if it is\n"+
			"long, so that a value goes from all of it wherever it is told to be a secret; of a pipe\n"+
			"it goes from there on. With --diff it shows the lines that change instead, the secrets\n"+
			"masked: that is to be read, not to be applied.\n"+
			"With --stored it takes the secrets that memoir scan --stored finds out of all that memoir\n"+
			"keeps: the database and its free pages, logs, every generation, and the live files, of\n"+
			"which a new generation is made. Nothing is extracted or consolidated because of it. Asks\n"+
			"first; without a terminal it needs --yes. Exit code 3 says that something had to stay.",
			"memoir redact < session.jsonl > shareable.jsonl", "kubectl logs app | memoir redact", "memoir redact --diff notes.md",
			"memoir redact --stored --dry-run", "memoir redact --stored --yes --wait 1m"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "diff", Usage: "show the lines that change as a unified diff, secrets masked"},
			&cli.BoolFlag{Name: "stored", Usage: "redact what memoir has stored, generations included"},
			&cli.StringFlag{Name: "project", Usage: "with --stored: only of the project `REF`: an id, a name or a path"},
			&cli.BoolFlag{Name: "dry-run", Usage: "with --stored: list what would change, and change nothing"},
			&cli.StringFlag{Name: "wait", Usage: "with --stored: wait up to `DURATION` for other processes that hold work"},
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
	in := io.Reader(p.ui.input(c.Context))
	file := p.ui.stdin
	if path != "" && path != "-" {
		f, err := openInput(c.Context, path)
		if err != nil {
			return fmt.Errorf("redact: %w", err)
		}
		defer f.Close()
		in = f
		file, _ = f.(*os.File)
	} else if path == "" && p.ui.inTTY {
		p.ui.say("reading standard input; end it with ctrl-d")
	}
	// One Redactor for all pieces: a secret seen in one is removed from the others.
	redactor := scanner.Session()
	clean, err := p.learn(c.Context, file, redactor)
	if err != nil {
		return err
	}
	redact := func(piece pipeline.Piece) string {
		if clean {
			return piece.Part()
		}
		if piece.Line == 0 && piece.Column == 0 {
			redactor.File(path, piece.Text)
		}
		return redactor.Part(piece.Text, piece.Start, piece.End)
	}
	text, encoding, err := pipeline.Decode(p.ui.readable(path, in))
	if err != nil {
		return err
	}
	if c.Bool("diff") {
		if path == "" {
			path = "-"
		}
		err = p.diffRedacted(c.Context, redactor.Text(path), text, redact)
	} else {
		if p.ui.outTTY {
			encoding = pipeline.Encoding{}
		}
		p.ui.write(encoding.Mark())
		err = p.eachPiece(c.Context, text, func(piece pipeline.Piece) {
			p.ui.write(encoding.Encode(redact(piece)))
		})
	}
	if n := redactor.Counts(); len(n) > 0 {
		p.ui.say("redacted %s", byRule(n))
	}
	return err
}

// learn reads a file that is longer than one piece once before it is redacted, so that a value
// goes from the first piece, too, that only the last one tells to be a secret; it
// reports whether there is nothing to redact. What cannot be read twice, such as a pipe, is left alone.
func (p *program) learn(ctx context.Context, f *os.File, redactor *secrets.Redactor) (clean bool, err error) {
	if f == nil {
		return false, nil
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false, nil
	}
	from, err := f.Seek(0, io.SeekCurrent)
	if err != nil || info.Size()-from <= maxScanned {
		return false, nil
	}
	text, _, err := pipeline.Decode(f)
	if err != nil {
		return false, err
	}
	clean = true
	err = p.eachPiece(ctx, text, func(piece pipeline.Piece) { clean = !redactor.Learn(piece.Text) && clean })
	if err == nil {
		_, err = f.Seek(from, io.SeekStart)
	}
	return clean, err
}

// eachPiece goes through a text, and says how far it is.
func (p *program) eachPiece(ctx context.Context, text io.Reader, fn func(pipeline.Piece)) error {
	done := 0
	defer p.ui.stopBar()
	return pipeline.Pieces(ctx, text, maxScanned, func(piece pipeline.Piece) error {
		if done++; !p.ui.outTTY {
			p.ui.progress(pipeline.Progress{Stage: pipeline.StageSecrets, Done: done})
		}
		fn(piece)
		return p.ui.outBroken
	})
}

// diffRedacted shows what redacting changes. Lines keep their number, so they need not be
// compared; and those that go are shown as they will be, but for a mask where the
// rule's name will stand.
func (p *program) diffRedacted(ctx context.Context, name string, text io.Reader, redact func(pipeline.Piece) string) error {
	d := maskedDiff{name: strings.TrimLeft(oneLine(name), "/"), write: p.ui.diff}
	err := p.eachPiece(ctx, text, func(piece pipeline.Piece) { d.add(piece.Part(), redact(piece)) })
	d.flush()
	return err
}
