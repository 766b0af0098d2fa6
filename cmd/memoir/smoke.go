package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/store"
	"memoir/testdata"
)

func smokeCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "smoke", Category: groupProgram, ArgsUsage: "[DIR]",
		Usage: "test a run over sessions in a temporary home",
		Description: help("For continuous integration. Runs both phases with the built-in model over the sessions in\n"+
			"DIR, or over built-in sessions. It checks that all promised files exist as\n"+
			"published, that no file contains a secret, and that a second run does nothing. Exit code 1\n"+
			"means that a check failed. Settings, agents' sessions and the network are not used. With -q only\n"+
			"the checks that failed are listed.",
			"memoir smoke", "memoir smoke fixtures/sessions --json"),
		Flags:  []cli.Flag{jsonFlag()},
		Action: p.smoke,
	}
}

type smokeTest struct {
	*program
	checklist
	home    string
	dir     string
	planted []string // secrets that must not appear in the home
}

func (p *program) smoke(c *cli.Context) error {
	temp, err := os.MkdirTemp("", "memoir-smoke-")
	if err != nil {
		return memoir.Errorf(memoir.CodeStorage, "", "make a temporary home: %w", err)
	}
	defer os.RemoveAll(temp)
	s := &smokeTest{program: p, home: filepath.Join(temp, "home"), dir: filepath.Join(temp, "sessions")}
	if dir := c.Args().First(); dir == "" {
		s.planted, err = testdata.Write(s.dir)
	} else {
		s.dir, err = directory("smoke", dir, hintSessions)
	}
	if err != nil {
		return err
	}
	report, err := s.examine(c.Context)
	if err == nil {
		err = s.report(p, c, map[string]any{"run": report})
	}
	if err == nil {
		p.ui.say("smoke test passed: %s", count(len(s.checks), "check"))
	}
	return err
}

func (s *smokeTest) examine(ctx context.Context) (pipeline.Report, error) {
	first, err := s.run(ctx)
	if err != nil {
		return first, err
	}
	s.checkRun(first)
	before, err := s.checkStored(ctx)
	if err != nil {
		return first, err
	}
	second, err := s.run(ctx)
	if err != nil {
		return first, err
	}
	var problem error
	if second.Phase1.Claimed > 0 || second.Scan.Changed > 0 || len(second.Phase2) > 0 {
		problem = fmt.Errorf("%s changed, %d claimed, %s consolidated",
			count(second.Scan.Changed, "session"), second.Phase1.Claimed, count(len(second.Phase2), "project"))
	}
	for root, files := range before {
		if snap, err := root.Current(); err != nil || !files.Equal(snap.Files) {
			problem = fmt.Errorf("%s has changed", root.Link())
		}
	}
	s.verify("second run", "has nothing to do", problem)
	return first, nil
}

func (s *smokeTest) run(ctx context.Context) (pipeline.Report, error) {
	settings := config.Default()
	st, err := s.openStore(ctx, s.home, settings)
	if err != nil {
		return pipeline.Report{}, err
	}
	defer st.Close()
	var now time.Time // zero: the current time, for sessions of a person
	if s.planted != nil {
		now = testdata.Now
	}
	return pipeline.Run(ctx, st, pipeline.Options{
		Home: s.home, Settings: settings, Env: s.env(), SessionsDir: s.dir,
		Now: now, Limit: 1 << 20, Progress: s.ui.progress,
	})
}

func (s *smokeTest) checkRun(r pipeline.Report) {
	var problem error
	if r.Scan.Sessions-r.Scan.Reasons[memoir.ReasonUnreadable] == 0 {
		problem = fmt.Errorf("no session was found in %s in %s", count(r.Scan.Files, "file"), s.dir)
	}
	s.verify("scan", fmt.Sprintf("%s in %s", count(r.Scan.Sessions, "session"), count(r.Scan.Files, "file")), problem)
	problem = nil
	if r.Phase1.Failed > 0 || r.Phase1.Released > 0 || r.Left > 0 {
		problem = fmt.Errorf("%d failed, %d released, %d left", r.Phase1.Failed, r.Phase1.Released, r.Left)
	}
	s.verify("phase 1", sayPhase1(r.Phase1), problem)
	published := 0
	problem = nil
	for _, project := range r.Phase2 {
		switch project.Outcome {
		case pipeline.OutcomePublished:
			published++
		case pipeline.OutcomeEmpty:
		default:
			problem = errors.New(sayProject(project))
		}
	}
	if published == 0 && problem == nil {
		problem = errors.New("no memory was published")
	}
	s.verify("phase 2", count(published, "project")+" published", problem)
}

func (s *smokeTest) checkStored(ctx context.Context) (map[memory.Root]memory.Files, error) {
	st, err := store.Open(ctx, filepath.Join(s.home, databaseName), store.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer st.Close()
	rows, err := st.Projects(ctx)
	if err != nil {
		return nil, err
	}
	live := map[memory.Root]memory.Files{}
	for _, row := range rows {
		if row.Generation == 0 {
			continue
		}
		root := memory.At(s.home, row.ID)
		snap, err := root.Current()
		if err != nil {
			s.verify(row.ID, "", err)
			continue
		}
		live[root] = snap.Files
		s.verify(row.ID+" files", count(len(snap.Files), "file")+" as promised", missing(snap))
	}
	return live, s.checkSecrets(ctx, st)
}

// missing is an error if a file is absent, empty or not as in the manifest.
func missing(snap memory.Snapshot) error {
	for _, name := range []string{memoir.MemoryFile, memoir.SummaryFile, "raw_memories.md"} {
		if len(bytes.TrimSpace(snap.Files[name])) == 0 {
			return fmt.Errorf("%s is missing or empty", name)
		}
	}
	for path, content := range snap.Files {
		if len(content) == 0 {
			return fmt.Errorf("%s is empty", path)
		}
	}
	if len(snap.Edited) > 0 {
		return fmt.Errorf("%s differs from manifest.json", snap.Edited[0].Path)
	}
	return nil
}

// checkSecrets scans the stored texts by the rules, and every byte of the home for the planted secrets.
func (s *smokeTest) checkSecrets(ctx context.Context, st *store.Store) error {
	report, err := pipeline.ScanStored(ctx, st, pipeline.Options{Home: s.home, Settings: config.Default()})
	if err != nil {
		return err
	}
	var found error
	for _, place := range report.Places {
		found = fmt.Errorf("%s: %s", placeText(place), place.Rule)
	}
	err = filepath.WalkDir(s.home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, secret := range s.planted {
			if bytes.Contains(content, []byte(secret)) {
				found = fmt.Errorf("%s contains a planted secret", path)
			}
		}
		return err
	})
	good := fmt.Sprintf("none in %s", count(report.Texts, "text"))
	if n := len(s.planted); n > 0 {
		good += fmt.Sprintf(", nor any of %d that were planted", n)
	}
	s.verify("secrets", good, found)
	return err
}
