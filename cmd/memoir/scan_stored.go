package main

import (
	"errors"
	"os"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/pipeline"
	"memoir/store"
)

// scanStored is `scan --stored`.
func (p *program) scanStored(c *cli.Context) error {
	if c.NArg() > 0 {
		return usagef("", "--stored looks through all that memoir keeps, and takes no path")
	}
	opts, err := p.storedOptions(c)
	if err != nil {
		return err
	}
	scanner, err := p.scanner(c)
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
	p.ui.stopBar()
	if err != nil {
		return err
	}
	if err := p.showFindings(c, scanner, report.Places, len(report.Unread) == 0); err != nil {
		return err
	}
	p.warnUnread(report)
	if n := len(report.Places); n > 0 {
		p.ui.say("%s in %s that memoir keeps", count(n, "secret"), count(report.Texts, "text"))
		if kept := n - report.Redactable(); kept > 0 {
			p.sayKept(report, kept)
		}
		if report.Redactable() > 0 {
			p.ui.sayHint("`memoir redact --stored` takes them out")
		}
		return status(exitFailed)
	}
	if n := len(report.Unread); n > 0 {
		return memoir.Errorf(memoir.CodeUnreadable, "", "%s could not be scanned", count(n, "path"))
	}
	p.ui.say("no secrets in %s that memoir keeps", count(report.Texts, "text"))
	if len(opts.ProjectIDs) > 0 {
		return nil
	}
	return p.noteRules(c, opts)
}

// noteRules keeps which rules found nothing; a home that cannot be written does without.
func (p *program) noteRules(c *cli.Context, opts pipeline.Options) error {
	st, err := p.openForWriting(c)
	if err != nil {
		p.ui.detail("which rules were used is not recorded: %v", err)
		return nil
	}
	defer st.Close()
	if err := pipeline.NoteRules(c.Context, st, opts); err != nil {
		p.ui.detail("which rules were used is not recorded: %v", err)
	}
	return nil
}

// storedOptions are those of scan and redact with --stored.
func (p *program) storedOptions(c *cli.Context) (pipeline.Options, error) {
	opts, err := p.changeOptions(c)
	if err != nil {
		return opts, err
	}
	opts.Progress = p.ui.progress
	if _, err := os.Stat(opts.Home); errors.Is(err, os.ErrNotExist) {
		return opts, memoir.Errorf(memoir.CodeNotFound, "`memoir run` makes it", "nothing is stored in %s", opts.Home)
	}
	return opts, nil
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

func (p *program) warnUnread(report pipeline.StoredReport) {
	for _, what := range report.Unread {
		p.ui.warn("", "not scanned: %s", what)
	}
}

// sayKept says what redacting leaves, and why.
func (p *program) sayKept(report pipeline.StoredReport, kept int) {
	why := map[string]bool{}
	p.ui.say("%d of these stay when the others are taken out", kept)
	for _, f := range report.Places {
		if f.Kept != "" && !why[f.Kept] {
			why[f.Kept] = true
			p.ui.warn(f.Kept, "%s stays", placeText(f))
		}
	}
}
