package main

import (
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/pipeline"
)

// redactStoredJSON is what `redact --stored --json` prints.
type redactStoredJSON struct {
	DryRun      bool                   `json:"dry_run,omitempty"`
	Findings    []pipeline.StoredPlace `json:"findings"`    // that were, or would be, taken out
	Kept        []pipeline.StoredPlace `json:"kept"`        // that stay, with the reason
	Rows        int                    `json:"rows"`        // of the database
	Files       int                    `json:"files"`       // besides memories
	Archives    int                    `json:"archives"`    // of earlier generations
	Generations []pipeline.RedactedIn  `json:"generations"` // published without the secrets
	Removed     []string               `json:"removed"`     // copies of the database
	Redactions  map[string]int         `json:"redactions"`  // by rule
	Unread      []string               `json:"unread"`
}

// redactStored is `redact --stored`.
func (p *program) redactStored(c *cli.Context) error {
	switch {
	case c.NArg() > 0:
		return usagef("", "--stored rewrites all that memoir keeps, and takes no file")
	case c.Bool("diff"):
		return usagef("`memoir redact --stored --dry-run` lists what would change", "--diff and --stored exclude each other")
	}
	opts, st, err := p.openToChange(c, p.storedOptions)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := p.limitToProject(c, st, &opts); err != nil {
		return err
	}
	dryRun := c.Bool("dry-run")
	if !dryRun {
		if err := p.confirm(c, "every secret in what is stored, earlier generations included,", opts.Home); err != nil {
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
	out := redactStoredJSON{DryRun: c.Bool("dry-run"), Findings: []pipeline.StoredPlace{}, Kept: []pipeline.StoredPlace{},
		Rows: done.Rows, Files: done.Files, Archives: done.Archives, Generations: done.Generations, Removed: list(done.Removed),
		Redactions: done.Redactions, Unread: list(done.Left.Unread)}
	for _, f := range done.Found.Places {
		if f.Kept == "" {
			out.Findings = append(out.Findings, f)
		}
	}
	for _, f := range done.Left.Places {
		if f.Kept != "" {
			out.Kept = append(out.Kept, f)
		}
	}
	if c.Bool("json") {
		if err := p.ui.json(out); err != nil {
			return err
		}
	} else if out.DryRun {
		for _, f := range out.Findings {
			p.ui.printf("%s: %s %s\n", oneLine(placeText(f)), f.Rule, oneLine(f.Hint))
		}
	}
	p.warnUnread(done.Left)
	if len(out.Kept) > 0 {
		p.sayKept(done.Left, len(out.Kept))
	}
	switch {
	case len(out.Findings) == 0:
		p.ui.say("no secrets in %s that memoir keeps", count(done.Found.Texts, "text"))
	case out.DryRun:
		p.ui.say("would take %s out of %s", count(len(out.Findings), "secret"), count(done.Found.Texts, "text"))
	default:
		for _, g := range out.Generations {
			p.ui.say("%s: generation %d is generation %d without secrets", p.redact(g.Project), g.Generation, g.From)
		}
		for _, path := range slices.Sorted(slices.Values(out.Removed)) {
			p.ui.say("removed %s", path)
		}
		p.ui.say("took %s out: %s rewritten, %s, %s", byRule(maps.Clone(out.Redactions)), count(out.Rows, "row"), count(out.Archives, "earlier generation"), count(out.Files, "file"))
	}
	switch {
	case out.DryRun:
		return nil
	case len(out.Unread) > 0:
		return memoir.Errorf(memoir.CodeUnreadable, "what they hold is still there", "%s could not be read", count(len(out.Unread), "path"))
	case len(out.Kept) > 0:
		return status(exitPartly)
	}
	return nil
}
