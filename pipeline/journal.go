package pipeline

import (
	"context"

	"memoir"
	"memoir/consolidate"
	"memoir/entry"
	"memoir/extract"
)

// takeInJournals makes what is new in the journals of the last days inputs of the consolidations of this run. A project
// that another process holds is left for a later run.
func (p *phase2) takeInJournals(ctx context.Context) error {
	projects, err := p.store.Projects(ctx)
	if err != nil {
		return err
	}
	for _, row := range projects {
		project, b := row.Project, p.book(row.Project)
		if days, err := b.Days(row.ID); err != nil || len(days) == 0 || !p.selected(row.ID) {
			continue
		}
		settings, fault := p.settingsOf(project) // faults are told by who consolidates
		_, invalid := p.projectScanners(project)
		if fault != nil || invalid != nil || !settings.MemConsolidate.Enabled {
			continue
		}
		week, err := b.Week(ctx, row.ID, p.now(), p.statesOf(project))
		if err != nil {
			return err
		}
		since := p.now().Sub(week.Last)
		if !week.Fresh() || since >= 0 && since.Hours() < settings.MemConsolidate.IntervalHours {
			continue
		}
		err = p.holding(ctx, project, 0, func(ctx context.Context, _ *consolidation) error {
			return b.TakeIn(ctx, row.ID, p.now(), p.statesOf(project))
		})
		if code := memoir.CodeOf(err); err != nil && code != memoir.CodeBusy && code != memoir.CodeNotFound {
			return err
		}
	}
	return nil
}

// book is what is written down in a project, redacted by its rules.
func (r *run) book(project memoir.Project) entry.Book {
	return entry.Book{Store: r.store, Home: r.opts.Home,
		Redact: func(text string) string { return r.redactFor(project, text) }}
}

// statesOf says what a line of a project's journal states: of a person's the rules that the signals find in it. To a
// language model the whole line is stated, that of others as a claim.
func (r *run) statesOf(project memoir.Project) func(memoir.Entry) []memoir.Statement {
	asks := r.consolidatorOf(project.ID).Name() != consolidate.BuiltinName
	return func(e memoir.Entry) []memoir.Statement {
		whole := memoir.Statement{Kind: memoir.StatementClaim, Text: e.Text, Items: []int{1}}
		if e.Author == memoir.AuthorUser {
			said := memoir.Item{N: 1, Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: e.Text}
			found, _, err := extract.NewBuiltin().Extract(context.Background(), extract.Input{Items: []memoir.Item{said}})
			if err == nil && found.RawMemory != "" {
				return memoir.ParseStatements(found.RawMemory)
			}
			whole.Kind = memoir.StatementFinding
		}
		if !asks {
			return nil
		}
		return []memoir.Statement{whole}
	}
}
