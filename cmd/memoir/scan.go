package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/pipeline"
	"memoir/secrets"
)

// maxScanned bounds a file that scan reads whole, in bytes; larger ones are read
// in pieces of this size, cut at line ends.
const maxScanned = 1 << 20

func scanCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "scan", Category: groupSecret, ArgsUsage: "[PATH|-]...",
		Usage: "look for secrets in files, or in all that is stored",
		Description: help("Looks for secrets with the rules that guard the memory, in files, in all files below a\n"+
			"directory, in standard input, or with --stored in all that memoir keeps: the database,\n"+
			"live files, every generation, logs. A finding is shown by rule, place and a masked hint,\n"+
			"never by the secret. Rules of your own stand in .gitleaks.toml beside config.yml, in the\n"+
			"form of gitleaks; one in this directory or above it adds rules, and its allow-lists count\n"+
			"after `memoir trust`. Exit code 1 says that something was found.",
			"memoir scan .", "git diff | memoir scan -", "memoir scan --stored", "memoir scan --sarif . > secrets.sarif"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stored", Usage: "look through all that memoir keeps, generations too"},
			&cli.StringFlag{Name: "project", Usage: "with --stored: only what is kept of the project `REF`: an id, a name or a path"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object"},
			&cli.BoolFlag{Name: "sarif", Usage: "print a SARIF 2.1.0 log, as code hosts show it"},
		},
		Action: func(c *cli.Context) error {
			if c.Bool("json") && c.Bool("sarif") {
				return usagef("", "--json and --sarif exclude each other")
			}
			if c.Bool("stored") {
				return p.scanStored(c)
			}
			if c.IsSet("project") {
				return usagef("", "--project needs --stored")
			}
			scanner, err := p.scannerHere(c)
			if err != nil {
				return err
			}
			s := &secretScan{program: p, scanner: scanner, findings: []pipeline.StoredPlace{}}
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
			return s.report(c)
		},
	}
}

// scanner returns the secret scanner with a person's own rules, if they have any.
func (p *program) scanner(c *cli.Context) (*secrets.Scanner, error) { return p.scannerIn(c, "") }

// scannerHere is scanner with the rules of the project in this directory, too.
func (p *program) scannerHere(c *cli.Context) (*secrets.Scanner, error) {
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // it was removed, with what was in it
	}
	return p.scannerIn(c, dir)
}

// scannerIn is scanner with the rules of the project in a directory, too: all of a file
// that is trusted, else what it adds.
func (p *program) scannerIn(c *cli.Context, dir string) (*secrets.Scanner, error) {
	own, err := p.configDir(c)
	if err != nil {
		return nil, err
	}
	options := secrets.Options{ConfigPath: config.RulesFile(own)}
	if dir != "" {
		trusted := config.TrustStore{}
		if home, err := p.home(c); err == nil { // without a home, nothing was trusted
			if trusted, err = config.LoadTrust(home); err != nil {
				return nil, err
			}
		}
		options.ProjectPath, options.ProjectTrusted, _ = pipeline.ProjectRules(dir, trusted)
	}
	return secrets.New(options)
}

// secretScan is one run of `memoir scan`.
type secretScan struct {
	*program
	scanner  *secrets.Scanner
	findings []pipeline.StoredPlace
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
	return pipeline.Pieces(ctx, r, maxScanned, func(piece string) error {
		for _, f := range s.scanner.Find(piece) {
			s.findings = append(s.findings, pipeline.StoredPlace{Rule: f.Rule, Path: path, Line: line + f.Line, Column: f.Column, Hint: f.Hint})
		}
		line += strings.Count(piece, "\n")
		return nil
	})
}

func (s *secretScan) report(c *cli.Context) error {
	if err := s.showFindings(c, s.scanner, s.findings); err != nil {
		return err
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

// showFindings prints what was found in the form that was asked for.
func (p *program) showFindings(c *cli.Context, scanner *secrets.Scanner, findings []pipeline.StoredPlace) error {
	switch {
	case c.Bool("sarif"):
		return p.ui.json(sarifOf(scanner.Rules(), findings))
	case c.Bool("json"):
		return p.ui.json(struct {
			Findings []pipeline.StoredPlace `json:"findings"`
		}{findings})
	}
	for _, f := range findings {
		p.ui.printf("%s: %s %s\n", oneLine(placeText(f)), f.Rule, oneLine(f.Hint))
	}
	return nil
}

// placeText is a place as a person reads it.
func placeText(f pipeline.StoredPlace) string {
	if f.Line == 0 {
		return f.Path + " (its name)"
	}
	return fmt.Sprintf("%s:%d:%d", f.Path, f.Line, f.Column)
}
