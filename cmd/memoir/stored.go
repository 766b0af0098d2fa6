package main

import (
	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/pipeline"
	"memoir/store"
)

// scanStored is `scan --stored`.
func (p *program) scanStored(c *cli.Context) error {
	if c.NArg() > 0 {
		return usagef("", "--stored scans what memoir has stored, and takes no path")
	}
	opts, err := p.options(c, nil)
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
	if err := p.printFindings(c, report.Places); err != nil {
		return err
	}
	p.warnUnread(report.Unread)
	if n := len(report.Places); n > 0 {
		p.ui.say("%s in %s", count(n, "secret"), count(report.Texts, "stored text"))
		p.ui.sayHint("`memoir redact --stored` removes them")
		return status(exitFailed)
	}
	if n := len(report.Unread); n > 0 {
		return memoir.Errorf(memoir.CodeUnreadable, "", "%s could not be scanned", count(n, "path"))
	}
	p.ui.say("no secrets in %s", count(report.Texts, "stored text"))
	return nil
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

func (p *program) warnUnread(unread []string) {
	for _, what := range unread {
		p.ui.warn("", "not scanned: %s", what)
	}
}

// redactStoredJSON is what `redact --stored --json` prints.
type redactStoredJSON struct {
	DryRun      bool                   `json:"dry_run,omitempty"`
	Findings    []pipeline.StoredPlace `json:"findings"`    // that were, or would be, redacted
	Rows        int                    `json:"rows"`        // texts of the database
	Archives    int                    `json:"archives"`    // of earlier generations that were removed
	Generations []pipeline.RedactedIn  `json:"generations"` // published without the secrets
	Removed     []string               `json:"removed"`     // logs and copies of the database
	Redactions  map[string]int         `json:"redactions"`  // by rule
	Unread      []string               `json:"unread"`
}

// redactStored is `redact --stored`.
func (p *program) redactStored(c *cli.Context) error {
	if c.NArg() > 0 {
		return usagef("", "--stored redacts what memoir has stored, and takes no file")
	}
	opts, st, err := p.openToChange(c)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := p.limitToProject(c, st, &opts); err != nil {
		return err
	}
	dryRun := c.Bool("dry-run")
	if !dryRun {
		if err := p.confirm(c, "every secret in what is stored, and earlier generations that hold one,",
			opts.Home); err != nil {
			return err
		}
	}
	done, err := pipeline.RedactStored(c.Context, st, opts, dryRun)
	p.ui.stopBar()
	if err != nil {
		return err
	}
	return p.reportRedaction(c, done)
}

func (p *program) reportRedaction(c *cli.Context, done pipeline.StoredRedaction) error {
	out := redactStoredJSON{DryRun: c.Bool("dry-run"), Findings: list(done.Found.Places), Rows: done.Rows,
		Archives:    done.Archives,
		Generations: done.Generations, Removed: list(done.Removed), Redactions: done.Redactions, Unread: list(done.Unread)}
	if c.Bool("json") {
		if err := p.ui.json(out); err != nil {
			return err
		}
	} else if out.DryRun {
		for _, f := range out.Findings {
			p.printFinding(f)
		}
	}
	p.warnUnread(out.Unread)
	switch texts := count(done.Found.Texts, "stored text"); {
	case len(out.Findings) == 0:
		p.ui.say("no secrets in %s", texts)
	case out.DryRun:
		p.ui.say("would redact %s in %s", count(len(out.Findings), "secret"), texts)
	default:
		for _, g := range out.Generations {
			p.ui.say("%s: generation %d is generation %d without secrets", p.redact(g.Project), g.Generation, g.From)
		}
		for _, path := range out.Removed {
			p.ui.say("removed %s", path)
		}
		p.ui.say("redacted %s: %s rewritten, %s removed", byRule(out.Redactions), count(out.Rows, "text"),
			count(out.Archives, "earlier generation"))
	}
	if len(out.Unread) > 0 && !out.DryRun {
		return memoir.Errorf(memoir.CodeUnreadable, "what they hold is still there", "%s could not be read",
			count(len(out.Unread), "path"))
	}
	return nil
}
