package pipeline

import (
	"context"
	"errors"
	"maps"
	"sync"

	"memoir"
	"memoir/config"
	"memoir/model"
	"memoir/secrets"
	"memoir/store"
)

// An account belongs to one piece of work: it says in which name its calls are entered into
// the ledger, by whose rules their answers are redacted, and why one was refused.
type account struct {
	of store.Call // what the ledger is told of each call: which work it is for

	mu       sync.Mutex
	charged  bool               // a call has ended that cost something
	refused  error              // why a call was not made; nil: all were
	scanners []*secrets.Scanner // by whose rules answers are redacted; none: the run's
	counts   secrets.Counts     // what that took out of the answers that were used
}

type accountKey struct{}

// begin opens an account for what is done with the context.
func begin(ctx context.Context, of store.Call) (context.Context, *account) {
	a := &account{of: of}
	return context.WithValue(ctx, accountKey{}, a), a
}

// accountOf is the account of a context; one that nobody reads if there is none.
func accountOf(ctx context.Context) *account {
	if a, ok := ctx.Value(accountKey{}).(*account); ok {
		return a
	}
	return &account{}
}

// charge enters what a call spent.
func (a *account) charge(u memoir.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.charged = a.charged || u.InputTokens+u.OutputTokens > 0
}

// paid reports whether a call has ended that cost something.
func (a *account) paid() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.charged
}

// refuse enters why a call was not made.
func (a *account) refuse(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused = err
}

// refusal is why a call was not made; nil if all were.
func (a *account) refusal() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refused
}

// redactBy names the rules that count for the work, which begins: what was taken out of
// answers before does not count for it.
func (a *account) redactBy(scanners ...*secrets.Scanner) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.scanners, a.counts = scanners, secrets.Counts{}
}

func (a *account) scannersOr(scanner *secrets.Scanner) []*secrets.Scanner {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.scanners) == 0 {
		return []*secrets.Scanner{scanner}
	}
	return a.scanners
}

// redacted enters what was taken out of an answer that is used.
func (a *account) redacted(counts secrets.Counts) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.counts == nil {
		a.counts = secrets.Counts{}
	}
	a.counts.Merge(counts)
}

// redactions are what was taken out of the answers that were used.
func (a *account) redactions() secrets.Counts {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.counts)
}

const (
	phaseExtract     = "extract"
	phaseConsolidate = "consolidate"
)

// What calls are estimated to take.
const (
	bytesPerToken     = 4
	extractOutput     = 1500 // tokens of an answer
	consolidateOutput = 6000
)

// inputTokens estimates the tokens of a number of bytes.
func inputTokens(bytes int64) int64 { return (bytes + bytesPerToken - 1) / bytesPerToken }

// outputTokens is how many tokens an answer has as a rule.
func outputTokens(phase string) int64 {
	if phase == phaseConsolidate {
		return consolidateOutput
	}
	return extractOutput
}

// priced fills in what tokens cost: nothing where the price is not known.
func (m *metered) priced(u memoir.Usage) memoir.Usage {
	u.Cost = m.price.Cost(u)
	return u
}

// expected is what a call may spend: its answer as long as its cap allows, if it has one.
func (m *metered) expected(phase string, q model.Request) memoir.Usage {
	u := memoir.Usage{Calls: 1, InputTokens: inputTokens(asked(q)), OutputTokens: int64(q.MaxOutput)}
	if u.OutputTokens == 0 {
		u.OutputTokens = int64(m.maxOutput)
	}
	if u.OutputTokens == 0 {
		u.OutputTokens = outputTokens(phase)
	}
	return m.priced(u)
}

// question is what a call spends that is asked and does not answer.
func (m *metered) question(q model.Request) memoir.Usage {
	return m.priced(memoir.Usage{Calls: 1, InputTokens: inputTokens(asked(q))})
}

// asked is how many bytes a request has.
func asked(q model.Request) int64 {
	n := len(q.System) + len(q.Input) + len(q.Schema)
	for _, e := range q.Earlier {
		n += len(e.Answer) + len(e.Objection)
	}
	return int64(n)
}

// warnOfPrice says that a limit on costs may not hold.
func (r *run) warnOfPrice() {
	limited := r.meter.limits.CostPerRun+r.meter.limits.CostPerDay > 0
	for _, m := range r.meter.models {
		if limited && m.price == (model.Price{}) {
			r.warn("a limit on costs may not hold: the price of "+m.Name()+" is not known",
				"set the provider's inputPrice and outputPrice, or use limits.tokensPerRun and limits.tokensPerDay")
			return
		}
	}
}

// Unpriced names a model whose price is not known, though a limit on costs is set; empty: none.
func Unpriced(s config.Settings) string {
	if s.Limits.CostPerRun+s.Limits.CostPerDay == 0 {
		return ""
	}
	one, two := model.Phases(s.ModelRoles)
	for _, role := range []model.Role{one, two} {
		c, err := model.Choose(s, role) // what is wrong with a role is told with it
		if err == nil && !c.Spec.Builtin() && c.Options.Price == (model.Price{}) {
			return c.Spec.String()
		}
	}
	return ""
}

// endWork enters into the ledger what became of work of which nothing is stored.
func (r *run) endWork(ctx context.Context, token, projectID, outcome string) {
	ctx, cancel := lasting(ctx, endWithin)
	defer cancel()
	if err := r.store.EndWork(ctx, token, projectID, outcome); err != nil {
		r.log.Warn("what became of work is not in the ledger", "error", err)
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
