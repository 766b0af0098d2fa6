package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
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

// What is assumed until the ledger knows better.
const (
	tokensPerByte     = 0.25
	extractOutput     = 1500 // tokens of an answer
	consolidateOutput = 6000
)

// leastCalls is how many calls say something of the next one.
const leastCalls = 3

// The bounds of what is believed of tokens per byte. An agent that is a model's
// command adds to what it is asked, often more than that is.
const (
	fewestPerByte = 1.0 / 16
	mostPerByte   = 8.0
)

// experience is what is known of the model in a phase, nothing if it is too little.
func (m *metered) experience(phase string) store.Experience {
	if e := m.known[phase]; e.Calls >= leastCalls && e.InputBytes > 0 {
		return e
	}
	return store.Experience{}
}

// input estimates the tokens of a number of bytes.
func (m *metered) input(phase string, bytes int64) int64 {
	ratio := tokensPerByte
	if e := m.experience(phase); e.Calls > 0 {
		ratio = min(max(float64(e.InputTokens)/float64(e.InputBytes), fewestPerByte), mostPerByte)
	}
	return int64(math.Ceil(float64(bytes) * ratio))
}

// output is how many tokens an answer has as a rule.
func (m *metered) output(phase string) int64 {
	if e := m.experience(phase); e.Calls > 0 && e.OutputTokens > 0 {
		return e.OutputTokens / int64(e.Calls)
	}
	if phase == phaseConsolidate {
		return consolidateOutput
	}
	return extractOutput
}

// priced fills in what tokens cost. Where the price is unknown, it is what calls
// were said to cost so far.
func (m *metered) priced(phase string, u memoir.Usage) memoir.Usage {
	if m.price != (model.Price{}) {
		u.Cost = m.price.Cost(u)
	} else if e := m.experience(phase); e.InputTokens+e.OutputTokens > 0 {
		u.Cost = e.Cost * float64(u.InputTokens+u.OutputTokens) / float64(e.InputTokens+e.OutputTokens)
	}
	return u
}

// canPrice reports whether priced knows anything.
func (m *metered) canPrice(phase string) bool {
	return m.price != (model.Price{}) || m.experience(phase).Cost > 0
}

// expected is what a call may spend: its answer as long as its cap allows, if it has one.
func (m *metered) expected(phase string, q model.Request) memoir.Usage {
	u := memoir.Usage{Calls: 1, InputTokens: m.input(phase, asked(q)), OutputTokens: int64(q.MaxOutput)}
	if u.OutputTokens == 0 {
		u.OutputTokens = int64(m.maxOutput)
	}
	if u.OutputTokens == 0 {
		u.OutputTokens = m.output(phase)
	}
	return m.priced(phase, u)
}

// question is what a call spends that is asked and does not answer.
func (m *metered) question(phase string, q model.Request) memoir.Usage {
	return m.priced(phase, memoir.Usage{Calls: 1, InputTokens: m.input(phase, asked(q))})
}

// asked is how many bytes a request has.
func asked(q model.Request) int64 {
	n := len(q.System) + len(q.Input) + len(q.Schema)
	for _, e := range q.Earlier {
		n += len(e.Answer) + len(e.Objection)
	}
	return int64(n)
}

// recall reads what the ledger knows of the models, and says which limits cannot be kept.
func (r *run) recall(ctx context.Context) error {
	costs := r.opts.Settings.Limits.CostPerRun > 0 || r.opts.Settings.Limits.CostPerDay > 0
	for _, use := range []struct{ phase, name string }{
		{phaseExtract, r.extractor.Name()}, {phaseConsolidate, r.consolidator.Name()},
	} {
		phase, name := use.phase, use.name
		m := r.meter.named(name)
		if m == nil {
			continue
		}
		known, err := r.store.Experience(ctx, name, phase)
		if err != nil {
			return fmt.Errorf("learn from the ledger: %w", err)
		}
		for _, same := range r.meter.models {
			if same.Name() == name {
				same.known[phase] = known
			}
		}
		if costs && !m.canPrice(phase) {
			costs = false // said once
			r.warn("a limit on costs cannot be kept: what "+name+" costs is not known",
				"say the provider's price, or use limits.tokensPerRun and limits.tokensPerDay")
		}
	}
	return nil
}

// Unpriced names a model whose cost nobody knows, though a limit on costs is set: the
// limit cannot be kept. It is empty if there is none. The store may be nil.
func Unpriced(ctx context.Context, st *store.Store, s config.Settings) (string, error) {
	if s.Limits.CostPerRun+s.Limits.CostPerDay == 0 {
		return "", nil
	}
	one, two := model.Phases(s.ModelRoles)
	for phase, role := range map[string]model.Role{phaseExtract: one, phaseConsolidate: two} {
		c, err := model.Choose(s, role)
		if err != nil || c.Spec.Builtin() {
			continue // what is wrong with a role is told with it
		}
		m := &metered{price: c.Options.Price, known: map[string]store.Experience{}}
		if st != nil {
			if m.known[phase], err = st.Experience(ctx, c.Spec.String(), phase); err != nil {
				return "", err
			}
		}
		if !m.canPrice(phase) {
			return c.Spec.String(), nil
		}
	}
	return "", nil
}

// endWork enters into the ledger what became of work of which nothing is stored.
func (r *run) endWork(ctx context.Context, token, projectID, outcome string) {
	ctx, cancel := lasting(ctx, endWithin)
	defer cancel()
	entry := store.LedgerEntry{Work: token, ProjectID: projectID, Outcome: outcome}
	if err := r.store.AddLedger(ctx, entry); err != nil {
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
