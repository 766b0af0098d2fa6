package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/pipeline"
	"memoir/secrets"
	"memoir/testdata"
)

func smokeCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "smoke", Category: groupSetup, ArgsUsage: "[DIR]",
		Usage: "run everything once over sessions in a throwaway home, and check the result",
		Description: help("For continuous integration: runs both phases with the built-in model over the sessions in\n"+
			"DIR, or over those that are built in, and checks that every promised file is there and as\n"+
			"published, that no secret is in any file, and that a second run does nothing. A line a\n"+
			"check; exit code 1 if one fails. No settings, agents' sessions or network are used.",
			"memoir smoke", "memoir smoke fixtures/sessions --json", "memoir smoke --keep /tmp/memoir-home"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "keep", Usage: "use `DIR`, which must be new or empty, as the home and leave it there"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object"},
		},
		Action: p.smoke,
	}
}

// smokeTest is one run of `memoir smoke`.
type smokeTest struct {
	*program
	checklist
	home    string
	dir     string
	planted []string // that must not turn up
	scanner *secrets.Scanner
}

func (p *program) smoke(c *cli.Context) error {
	dir, err := optional(c)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "memoir-smoke-")
	if err != nil {
		return memoir.Errorf(memoir.CodeStorage, "", "make a throwaway home: %w", err)
	}
	defer os.RemoveAll(scratch)
	s := &smokeTest{program: p, home: filepath.Join(scratch, "home"), dir: dir}
	if keep := c.String("keep"); keep != "" {
		if s.home, err = emptyDirectory(keep); err != nil {
			return err
		}
	}
	if dir == "" {
		s.dir = filepath.Join(scratch, "sessions")
		if s.planted, err = testdata.Write(s.dir); err != nil {
			return err
		}
	} else if info, err := os.Stat(dir); err != nil {
		return usagef("name a directory with session files", "smoke %s: %w", dir, errors.Unwrap(err))
	} else if !info.IsDir() {
		return usagef("name a directory with session files", "%s is not a directory", dir)
	} else if s.dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if s.scanner, err = secrets.New(secrets.Options{}); err != nil {
		return err
	}
	report, err := s.examine(c.Context)
	p.ui.stopBar()
	s.clean(p.redact)
	if err != nil {
		return err
	}
	ok := s.failed() == 0
	if c.Bool("json") {
		err := p.ui.json(struct {
			OK     bool            `json:"ok"`
			Home   string          `json:"home"`
			Checks []check         `json:"checks"`
			Run    pipeline.Report `json:"run"`
		}{ok, s.home, list(s.checks), report})
		if err != nil {
			return err
		}
	} else {
		p.ui.printChecks(s.checks)
	}
	if !ok {
		p.ui.say("smoke test failed: %s", count(s.failed(), "check"))
		return status(exitFailed)
	}
	p.ui.say("smoke test passed: %s", count(len(s.checks), "check"))
	return nil
}

// examine runs twice and checks what is there after each run.
func (s *smokeTest) examine(ctx context.Context) (pipeline.Report, error) {
	first, err := s.runOnce(ctx)
	if err != nil {
		return first, err
	}
	s.checkRun(first)
	if err := s.checkStored(ctx); err != nil {
		return first, err
	}
	before, err := fingerprints(s.home)
	if err != nil {
		return first, err
	}
	second, err := s.runOnce(ctx)
	if err != nil {
		return first, err
	}
	after, err := fingerprints(s.home)
	if err != nil {
		return first, err
	}
	work := ""
	if second.Phase1.Claimed > 0 || second.Scan.Changed > 0 || len(second.Phase2) > 0 {
		work = fmt.Sprintf("%s changed, %d claimed, %s consolidated",
			count(second.Scan.Changed, "session"), second.Phase1.Claimed, count(len(second.Phase2), "project"))
	}
	s.verify("second run", "has nothing to do", work)
	s.verify("second run's files", fmt.Sprintf("%s, not a byte changed", count(len(after), "file")), differing(before, after))
	return first, nil
}

// runOnce runs the pipeline over everything, with nothing but defaults.
func (s *smokeTest) runOnce(ctx context.Context) (pipeline.Report, error) {
	settings := config.Default()
	st, err := s.openStore(ctx, s.home, settings)
	if err != nil {
		return pipeline.Report{}, err
	}
	defer st.Close()
	var now time.Time // the clock's: other people's sessions may be of today
	if s.planted != nil {
		now = testdata.Now
	}
	return pipeline.Run(ctx, st, pipeline.Options{
		Home: s.home, Settings: settings, Env: s.env(), SessionsDir: s.dir,
		Now: now, Limit: 1 << 20, Progress: s.ui.progress,
	})
}

// emptyDirectory makes sure that a directory is there and holds nothing.
func emptyDirectory(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", memoir.Errorf(memoir.CodeStorage, "", "make %s: %w", dir, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(entries) > 0 {
		return "", usagef("name a new directory: a home with data is never touched by a test", "--keep: %s is not empty", dir)
	}
	return dir, nil
}
