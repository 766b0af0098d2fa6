package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/secrets"
)

// maxScanned bounds a file that scan reads whole, in bytes; larger ones are read
// in pieces of this size, cut at line ends.
const maxScanned = 32 << 20

// scanFinding is one line of `scan --json`. It never holds the secret.
type scanFinding struct {
	Rule   string `json:"rule"`
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Hint   string `json:"hint"`
}

func scanCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "scan", Category: groupSecret, ArgsUsage: "[PATH|-]...",
		Usage: "look for secrets in files",
		Description: help("Looks for secrets with the rules that guard the memory, in files, in all files below a\n"+
			"directory, or in standard input. A finding is shown by rule, place and a masked hint,\n"+
			"never by the secret. Exit code 1 says that something was found.",
			"memoir scan .", "git diff | memoir scan -", "memoir scan --json ~/.local/share/memoir/projects"),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print one JSON object"}},
		Action: func(c *cli.Context) error {
			scanner, err := p.scanner(c)
			if err != nil {
				return err
			}
			s := &secretScan{program: p, scanner: scanner, findings: []scanFinding{}}
			paths := c.Args().Slice()
			if len(paths) == 0 {
				if p.ui.inTTY {
					return usagef("`memoir scan .` looks through this directory", "scan needs a path, or text at standard input")
				}
				paths = []string{"-"}
			}
			for _, path := range paths {
				if err := s.path(c.Context, path); err != nil {
					return err
				}
			}
			return s.report(c.Bool("json"))
		},
	}
}

// scanner returns the secret scanner with a person's own rules, if they have any.
func (p *program) scanner(c *cli.Context) (*secrets.Scanner, error) {
	dir, err := p.configDir(c)
	if err != nil {
		return nil, err
	}
	return secrets.New(secrets.Options{ConfigPath: config.RulesFile(dir)})
}

// secretScan is one run of `memoir scan`.
type secretScan struct {
	*program
	scanner  *secrets.Scanner
	findings []scanFinding
	files    int
	unread   int
}

func (s *secretScan) path(ctx context.Context, path string) error {
	if path == "-" {
		return s.read(ctx, "-", s.ui.input(ctx))
	}
	info, err := os.Stat(path)
	if err != nil {
		return memoir.Errorf(memoir.CodeNotFound, "", "scan %s: %w", path, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return s.file(ctx, path)
	}
	return filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			s.unread++
			s.ui.warn("", "not scanned: %v", err)
			return nil
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		if err := s.file(ctx, path); err != nil {
			if ctx.Err() != nil {
				return err
			}
			s.unread++
			s.ui.warn("", "not scanned: %v", err)
		}
		return nil
	})
}

func (s *secretScan) file(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.read(ctx, path, f)
}

// read scans a text piece by piece.
func (s *secretScan) read(ctx context.Context, path string, r io.Reader) error {
	s.files++
	line := 0
	return pieces(ctx, r, maxScanned, func(piece string) error {
		for _, f := range s.scanner.Find(piece) {
			s.findings = append(s.findings, scanFinding{f.Rule, path, line + f.Line, f.Column, f.Hint})
		}
		line += strings.Count(piece, "\n")
		return nil
	})
}

// pieces hands a text on in pieces of about size bytes that end at line ends,
// where there are any.
func pieces(ctx context.Context, r io.Reader, size int, fn func(string) error) error {
	buffer := make([]byte, 0, 64<<10)
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(buffer) == cap(buffer) {
			buffer = append(make([]byte, 0, min(2*cap(buffer), size+1)), buffer...)
		}
		n, err := r.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if err != nil && err != io.EOF {
			return err
		}
		if err == io.EOF {
			if len(buffer) == 0 {
				return nil
			}
			return fn(string(buffer))
		}
		if len(buffer) < size {
			continue
		}
		cut := bytes.LastIndexByte(buffer, '\n') + 1
		if cut == 0 {
			cut = len(buffer)
		}
		if err := fn(string(buffer[:cut])); err != nil {
			return err
		}
		buffer = append(buffer[:0], buffer[cut:]...)
	}
}

func (s *secretScan) report(asJSON bool) error {
	if asJSON {
		if err := s.ui.json(struct {
			Findings []scanFinding `json:"findings"`
		}{s.findings}); err != nil {
			return err
		}
	} else {
		for _, f := range s.findings {
			s.ui.printf("%s:%d:%d: %s %s\n", oneLine(f.Path), f.Line, f.Column, f.Rule, oneLine(f.Hint))
		}
	}
	switch {
	case len(s.findings) > 0:
		s.ui.say("%s in %s", count(len(s.findings), "secret"), count(s.files, "file"))
		return status(exitFailed)
	case s.unread > 0:
		return memoir.Errorf(memoir.CodeUnreadable, "", "%s could not be scanned", count(s.unread, "path"))
	}
	s.ui.say("no secrets in %s", count(s.files, "file"))
	return nil
}
