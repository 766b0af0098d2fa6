package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"memoir/pipeline"
	"memoir/store"
)

// rulesHint is what to do since the rules are others than those that all that is stored was
// held against; empty if they are not, or that cannot be told: who asks is busy with
// something else.
func (p *program) rulesHint(ctx context.Context, c *cli.Context, st *store.Store) string {
	dir, err := p.configDir(c)
	if err != nil {
		return ""
	}
	if changed, err := pipeline.RulesChanged(ctx, st, dir); err != nil || !changed {
		return ""
	}
	return "the rules for secrets changed since all that is stored was looked through: `memoir scan --stored`"
}

// storedRules is doctor's check of the same.
func (d *doctor) storedRules(c *cli.Context, st *store.Store) {
	if hint := d.rulesHint(c.Context, c, st); hint != "" {
		d.add(checkWarn, "stored secrets", "`memoir scan --stored`, then `memoir redact --stored` if it finds some", "the rules changed since all that is stored was looked through")
	}
}
