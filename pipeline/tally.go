package pipeline

import (
	"context"
	"errors"
	"fmt"

	"memoir"
	"memoir/internal/failpoint"
	"memoir/store"
)

// count changes Phase 1's figures.
func (r *run) count(change func(*Phase1Report)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.report.Phase1)
}

// capLeft is how many more sessions the run may claim.
func (r *run) capLeft() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(r.opts.Limit-r.report.Phase1.Claimed, 0)
}

func (r *run) addRedactions(counts map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for rule, n := range counts {
		r.report.Redactions[rule] += n
	}
}

func (r *run) addUsage(u memoir.Usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Usage = r.report.Usage.Add(u)
}

// addLedger enters what became of work of which nothing is stored.
func (r *run) addLedger(ctx context.Context, what string, e store.LedgerEntry) {
	ctx, cancel := lasting(ctx, endWithin)
	defer cancel()
	e.At, e.Run = failpoint.Now(), r.id
	if err := r.store.AddLedger(ctx, e); err != nil && e.Usage.Calls > 0 {
		r.warn(fmt.Sprintf("%s: what became of it is not in the ledger: %v", what, err), memoir.HintOf(err))
	}
}

// outcomeOf is what the ledger calls work that failed.
func outcomeOf(err error) string {
	var answer *memoir.AnswerError
	if errors.As(err, &answer) || memoir.CodeOf(err) == memoir.CodeInvalid {
		return store.OutcomeRefused
	}
	return store.OutcomeFailed
}

// reportProject adds what became of a project; one without an outcome had nothing to do.
func (r *run) reportProject(p ProjectReport) {
	if p.Outcome == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Phase2 = append(r.report.Phase2, p)
}

// redact makes a text safe to print and to store.
func (r *run) redact(text string) string {
	return r.scanner.Message(text)
}
