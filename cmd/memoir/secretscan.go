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

func scanCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "scan", Category: groupProgram, ArgsUsage: "[PATH|-]...",
		Usage: "find secrets in files or in stored data",
		Description: help("Finds secrets in files, in all files below a directory, in standard input, or with\n"+
			"--stored in all stored data: the database, live files, generations, logs. A\n"+
			"finding shows the rule, place and a masked hint, never the secret. File names are\n"+
			"scanned, too. Below a directory, .git and symbolic links are skipped. UTF-16 needs a byte\n"+
			"order mark; archives are not unpacked. Your own rules are in .gitleaks.toml beside\n"+
			"config.yml, in the format of gitleaks; those of a repository are not read. Exit code 1 means\n"+
			"that a secret was found, or a file could not be read.",
			"memoir scan .", "git diff | memoir scan -", "memoir scan --stored"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stored", Usage: "scan stored data, including generations"},
			&cli.StringFlag{Name: "project", Usage: "with --stored: only the project `REF`: an id, a name or a path"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			if c.Bool("stored") {
				return p.scanStored(c)
			}
			if c.IsSet("project") {
				return usagef("", "--project needs --stored")
			}
			scanner, err := p.scanner(c)
			if err != nil {
				return err
			}
			paths := c.Args().Slice()
			if len(paths) == 0 {
				if p.ui.inTTY {
					return usagef("`memoir scan .` scans this directory", "scan needs a path, or text on standard input")
				}
				paths = []string{"-"}
			}
			s := &secretScan{program: p, scanner: scanner, names: scanner.Session(), json: c.Bool("json")}
			for _, path := range paths {
				if err := s.path(c.Context, path); err != nil {
					return err
				}
			}
			return s.report(c)
		},
	}
}

// scanner limits the heap, for commands that read texts of any length, and returns a secret scanner
// with a person's own rules. `scan` and `redact` warn of conditions that have no effect.
func (p *program) scanner(c *cli.Context) (*secrets.Scanner, error) {
	limitHeap(p.memories(c))
	own, err := p.configDir(c)
	if err != nil {
		return nil, err
	}
	options := secrets.Options{ConfigPath: config.RulesFile(own)}
	if p.ui.command == "scan" || p.ui.command == "redact" { // a server or hook would repeat it
		options.Warn = func(what string) { p.ui.warn("use regexes or stopwords in the allowlist", "%s", what) }
	}
	return secrets.New(options)
}

type secretScan struct {
	*program
	scanner  *secrets.Scanner
	names    *secrets.Redactor // takes secrets out of paths that are shown
	json     bool
	findings []pipeline.StoredPlace // with --json; else they are printed at once
	found    int
	files    int
	unread   []error
}

// path scans a file, a directory or standard input. An unreadable file does not end the scan.
func (s *secretScan) path(ctx context.Context, path string) error {
	if path == "-" {
		return s.file(ctx, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		err = notFoundf("", "%s: %w", path, errors.Unwrap(err))
		s.unread = append(s.unread, err)
		return nil
	}
	top := path
	if info.IsDir() {
		top += string(filepath.Separator) // a link that a person names is followed, others are not
	}
	return filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err == nil && entry.IsDir() && entry.Name() == ".git" && path != top:
			return fs.SkipDir
		case err == nil:
			for _, f := range s.scanner.Find(filepath.Base(path)) {
				s.add(pipeline.StoredPlace{Rule: f.Rule, Path: s.shown(path), Hint: f.Hint})
			}
			if entry.Type().IsRegular() || path == top && !info.IsDir() {
				err = s.file(ctx, path)
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			s.unread = append(s.unread, err)
		}
		return s.ui.outBroken
	})
}

func (s *secretScan) file(ctx context.Context, path string) error {
	shown, decode := s.shown(path), decoded
	if path == "-" { // it cannot be read twice
		decode = lossless
	}
	in, err := s.openInput(ctx, path, shown, decode)
	if err != nil {
		return err
	}
	defer in.close()
	s.files++
	if err := s.text(ctx, path, shown, in.text); err != nil || !in.utf16 || path == "-" {
		return err
	}
	// A text that begins like UTF-16 may contain a secret as plain bytes.
	if _, err := in.file.Seek(0, io.SeekStart); err != nil {
		return nil // a pipe
	}
	return s.text(ctx, path, shown, in.file)
}

func (s *secretScan) text(ctx context.Context, path, shown string, text io.Reader) error {
	return secrets.Pieces(ctx, text, maxPiece, func(piece secrets.Piece) error {
		s.ui.progress(pipeline.Progress{Stage: pipeline.StageSearch, Done: s.files})
		name := ""
		if piece.Line == 0 && piece.Column == 0 {
			name = path
		}
		for _, f := range s.scanner.FindFile(name, piece.Text) {
			if f.Start < piece.Start || f.Start >= piece.End {
				continue
			}
			at := pipeline.StoredPlace{Rule: f.Rule, Path: shown, Line: piece.Line + f.Line, Column: f.Column, Hint: f.Hint}
			if f.Line == 1 {
				at.Column += piece.Column
			}
			s.add(at)
		}
		return s.ui.outBroken
	})
}

func (s *secretScan) shown(path string) string {
	parts := memoir.Map(strings.Split(path, string(filepath.Separator)), s.names.Text)
	return s.names.Text(strings.Join(parts, string(filepath.Separator)))
}

func (s *secretScan) add(f pipeline.StoredPlace) {
	s.found++
	if s.json {
		s.findings = append(s.findings, f)
		return
	}
	s.printFinding(f)
	if s.ui.outTTY {
		s.ui.push()
	}
}

func (s *secretScan) report(c *cli.Context) error {
	if s.files == 0 && len(s.unread) == 1 {
		return s.unread[0]
	}
	return s.reportFindings(c, s.findings, s.found, count(s.files, "file"), "", incomplete(s.ui, s.unread, ""))
}

// reportFindings prints findings, and says how many there are in all, where, and what to do.
func (p *program) reportFindings(c *cli.Context, findings []pipeline.StoredPlace, all int, where, hint string,
	incomplete error) error {
	out := map[string][]pipeline.StoredPlace{"findings": append([]pipeline.StoredPlace{}, findings...)}
	err := p.result(c, nil, out, func() {
		for _, f := range findings {
			p.printFinding(f)
		}
	})
	if err != nil {
		return err
	}
	if all == 0 {
		p.ui.say("no secrets in %s", where)
		return incomplete
	}
	p.ui.say("%s in %s", count(all, "secret"), where)
	p.ui.sayHint(hint)
	return status(exitFailed)
}

func (p *program) printFinding(f pipeline.StoredPlace) {
	p.ui.printf("%s: %s %s\n", oneLine(placeText(f)), f.Rule, oneLine(f.Hint))
}

func placeText(f pipeline.StoredPlace) string {
	if f.Line == 0 {
		return f.Path + " (its name)"
	}
	return fmt.Sprintf("%s:%d:%d", f.Path, f.Line, f.Column)
}
