package pipeline

import (
	"context"
	"fmt"

	"memoir"
	"memoir/consolidate"
	"memoir/entry"
	"memoir/extract"
)

// takeInJournals makes what is new in the journals of the last days inputs of the consolidations of this run. That a
// project's cannot be read keeps no other from its turn.
func (r *run) takeInJournals(ctx context.Context) error {
	projects, err := r.store.Projects(ctx)
	for _, row := range projects {
		err := r.takeInJournal(ctx, row.Project)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			r.warn(fmt.Sprintf("project %s: its journals are left out: %s", row.Name, r.redact(err.Error())), memoir.HintOf(err))
		}
	}
	return err
}

// takeInJournal leaves a project that another process holds to that one.
func (r *run) takeInJournal(ctx context.Context, project memoir.Project) error {
	b := r.book(project)
	if days, err := b.Days(project.ID); err != nil || len(days) == 0 || !r.selected(project.ID) {
		return err
	}
	settings, fault := r.settingsOf(project) // faults are told by who consolidates
	_, invalid := r.projectScanners(project)
	if fault != nil || invalid != nil || settings.Off || !settings.MemConsolidate.Enabled {
		return nil
	}
	week, err := b.Week(ctx, project.ID, r.now(), r.statesOf(project))
	since := r.now().Sub(week.Last)
	if err != nil || !week.Fresh() || since >= 0 && since.Hours() < settings.MemConsolidate.IntervalHours {
		return err
	}
	err = r.holding(ctx, project, 0, func(ctx context.Context, _ *consolidation) error {
		return b.TakeIn(ctx, project.ID, r.now(), r.statesOf(project))
	})
	if code := memoir.CodeOf(err); code == memoir.CodeBusy || code == memoir.CodeNotFound {
		return nil
	}
	return err
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
