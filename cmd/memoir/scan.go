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

// maxScanned bounds, in bytes, a file that scan and redact read whole; larger ones are read
// in pieces of this size.
const maxScanned = 1 << 20

func scanCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "scan", Category: groupSecret, ArgsUsage: "[PATH|-]...",
		Usage: "find secrets in files, or in what is stored",
		Description: help("Looks for secrets with the rules that guard the memory, in files, in all files below a\n"+
			"directory, in standard input, or with --stored in all that memoir keeps: the database,\n"+
			"live files, every generation, logs. A finding is shown by rule, place and a masked hint,\n"+
			"never by the secret, also where the name of a file holds one. Below a directory, .git and\n"+
			"what links lead to are left out. UTF-16 is read as text where a byte order mark tells it;\n"+
			"archives are not unpacked. Rules of your own stand in .gitleaks.toml beside config.yml,\n"+
			"in the form of gitleaks; one in this directory or above it adds rules, and its allow-lists\n"+
			"count after `memoir trust`. Exit code 1 says that something was found, or could not be read.",
			"memoir scan .", "git diff | memoir scan -", "memoir scan --stored", "memoir scan --sarif . > secrets.sarif"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stored", Usage: "scan what memoir has stored, generations included"},
			&cli.StringFlag{Name: "project", Usage: "with --stored: only of the project `REF`: an id, a name or a path"},
			jsonFlag(),
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
			s := &secretScan{program: p, scanner: scanner, names: scanner.Session(), held: c.Bool("json") || c.Bool("sarif"), findings: []pipeline.StoredPlace{}}
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
	names    *secrets.Redactor // takes secrets out of paths that are shown
	held     bool              // findings are shown together, when all are known
	findings []pipeline.StoredPlace
	found    int
	files    int
	unread   []error
}

// path scans what a person named. What cannot be read does not end the scan.
func (s *secretScan) path(ctx context.Context, path string) error {
	if path == "-" {
		return s.read(ctx, "-", s.ui.input(ctx))
	}
	info, err := os.Stat(path)
	if err != nil {
		return s.leave(ctx, memoir.Errorf(memoir.CodeNotFound, "", "scan %s: %w", path, errors.Unwrap(err)))
	}
	if !info.IsDir() {
		s.name(path)
		return s.leave(ctx, s.file(ctx, path))
	}
	top := path + string(filepath.Separator) // a link that a person names is followed, others are not
	return filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return s.leave(ctx, err)
		case entry.IsDir() && entry.Name() == ".git" && path != top:
			return fs.SkipDir
		}
		s.name(path)
		if !entry.Type().IsRegular() {
			return nil
		}
		return s.leave(ctx, s.file(ctx, path))
	})
}

// leave takes note of what could not be scanned, unless it was an interrupt that ended it.
func (s *secretScan) leave(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	s.unread = append(s.unread, err)
	return nil
}

func (s *secretScan) file(ctx context.Context, path string) error {
	f, err := openInput(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.read(ctx, path, f)
}

// read scans a text piece by piece.
func (s *secretScan) read(ctx context.Context, path string, r io.Reader) error {
	s.files++
	text, _, err := pipeline.Decode(s.ui.readable(s.shown(path), r))
	if err != nil {
		return err
	}
	return pipeline.Pieces(ctx, text, maxScanned, func(piece pipeline.Piece) error {
		s.ui.progress(pipeline.Progress{Stage: pipeline.StageSecrets, Done: s.files})
		name := ""
		if piece.Line == 0 && piece.Column == 0 {
			name = path
		}
		for _, f := range s.scanner.FindFile(name, piece.Text) {
			if f.Start < piece.Start || f.Start >= piece.End {
				continue
			}
			at := pipeline.StoredPlace{Rule: f.Rule, Path: s.shown(path), Line: piece.Line + f.Line, Column: f.Column, Hint: f.Hint}
			if f.Line == 1 {
				at.Column += piece.Column
			}
			s.add(at)
		}
		return s.ui.outBroken
	})
}

// name looks for secrets in the name of a file.
func (s *secretScan) name(path string) {
	name := filepath.Base(path)
	found := s.scanner.Find(name)
	if len(found) == 0 {
		return
	}
	for _, f := range found {
		s.add(pipeline.StoredPlace{Rule: f.Rule, Path: s.shown(path), Hint: f.Hint})
	}
}

// shown is a path without the secrets in it.
func (s *secretScan) shown(path string) string {
	parts := strings.Split(path, string(filepath.Separator))
	for i, part := range parts {
		parts[i] = s.names.Text(part)
	}
	return s.names.Text(strings.Join(parts, string(filepath.Separator)))
}

func (s *secretScan) add(f pipeline.StoredPlace) {
	if s.found++; s.held {
		s.findings = append(s.findings, f)
		return
	}
	s.ui.stopBar()
	s.showFinding(f)
	if s.ui.outTTY {
		s.ui.push()
	}
}

func (s *secretScan) report(c *cli.Context) error {
	s.ui.stopBar()
	if s.files == 0 && len(s.unread) == 1 {
		return s.unread[0]
	}
	if s.held {
		if err := s.showFindings(c, s.scanner, s.findings, len(s.unread) == 0); err != nil {
			return err
		}
	}
	for _, err := range s.unread {
		s.ui.warn("", "not scanned: %v", err)
	}
	switch {
	case s.found > 0:
		s.ui.say("%s in %s", count(s.found, "secret"), count(s.files, "file"))
		return status(exitFailed)
	case len(s.unread) > 0:
		return memoir.Errorf(memoir.CodeUnreadable, "", "%s could not be scanned", count(len(s.unread), "path"))
	}
	s.ui.say("no secrets in %s", count(s.files, "file"))
	return nil
}

// showFindings prints what was found in the form that was asked for; whole says that
// everything could be read.
func (p *program) showFindings(c *cli.Context, scanner *secrets.Scanner, findings []pipeline.StoredPlace, whole bool) error {
	switch {
	case c.Bool("sarif"):
		return p.ui.json(sarifOf(scanner.Rules(), findings, whole))
	case c.Bool("json"):
		return p.ui.json(struct {
			Findings []pipeline.StoredPlace `json:"findings"`
		}{findings})
	}
	for _, f := range findings {
		p.showFinding(f)
	}
	return nil
}

func (p *program) showFinding(f pipeline.StoredPlace) {
	p.ui.printf("%s: %s %s\n", oneLine(placeText(f)), f.Rule, oneLine(f.Hint))
}

// placeText is a place as a person reads it.
func placeText(f pipeline.StoredPlace) string {
	if f.Line == 0 {
		return f.Path + " (its name)"
	}
	return fmt.Sprintf("%s:%d:%d", f.Path, f.Line, f.Column)
}
