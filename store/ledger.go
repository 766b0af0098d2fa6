package store

import (
	"context"
	"math"
	"time"

	"memoir"
)

// The outcomes of work without a result.
const (
	OutcomeUnfinished  = "unfinished" // it is under way, or its process crashed
	OutcomeFailed      = "failed"
	OutcomeRefused     = "refused"     // the answer was not usable
	OutcomeLost        = "lost"        // another process has taken over the work
	OutcomeInterrupted = "interrupted" // by a signal, a time limit or an internal error
	OutcomeLimit       = "limit"       // a spending limit stopped it
)

// EndWork enters the outcome of work into the ledger: stored, empty, kept, unchanged, withdrawn,
// published, or one of the constants above. Methods that end a claim with a result or a failure enter it
// themselves; EndWork is for all other work, such as that of a lost claim.
func (s *Store) EndWork(ctx context.Context, work, projectID, outcome string) error {
	err := s.durably(ctx, func(t tx) { endWork(t, work, projectID, outcome) })
	return s.explain(err, "recording the outcome of work in the ledger")
}

func endWork(t tx, work, projectID, outcome string) {
	t.exec(`UPDATE ledger SET outcome = ?, project_id = ?
		WHERE work = ? AND work <> '' AND outcome = 'unfinished'`, outcome, projectID, work)
}

// Spent sums the usage of a run, and of all runs on the current UTC day. Unfinished calls count by their estimate.
func (s *Store) Spent(ctx context.Context, run string) (ofRun, today memoir.Usage, err error) {
	err = s.read(ctx, func(t tx) { ofRun, today = s.spentBy(t, run) })
	return ofRun, today, s.explain(err, "adding up the ledger")
}

func (s *Store) spentBy(t tx, run string) (ofRun, today memoir.Usage) {
	return s.spent(t, run, time.Time{}), s.spent(t, "", s.now().UTC().Truncate(24*time.Hour))
}

// spent sums the usage since a time, of one run or, if run is empty, of all. The zero time means all calls.
func (s *Store) spent(t tx, run string, since time.Time) (u memoir.Usage) {
	t.get(`SELECT coalesce(sum(calls), 0), coalesce(sum(input_tokens), 0), coalesce(sum(cached_tokens), 0),
			coalesce(sum(output_tokens), 0), coalesce(sum(cost), 0.0)
		FROM ledger WHERE at >= ?1 AND at <= ?2 AND (?3 = '' OR run = ?3)`,
		[]any{millis(since), s.latest(since), run},
		&u.Calls, &u.InputTokens, &u.CachedTokens, &u.OutputTokens, &u.Cost)
	return u
}

// latest is the latest time, in ms, that counts as since a time. A call that is dated more than a day
// ahead was entered by a wrong clock; it would otherwise count for each day until then.
func (s *Store) latest(since time.Time) int64 {
	if since.IsZero() {
		return math.MaxInt64
	}
	return millis(s.now().Add(24 * time.Hour))
}

// Call is a call to a model, as it begins.
type Call struct {
	Work       string // token of the claim that it is made for; empty: none, and no outcome is entered
	Once       bool   // refuse it if another run has entered a call for the work
	Run        string // id of the run
	Phase      string // "extract", "consolidate" or "journal"
	SessionKey string // empty in a consolidation
	ProjectID  string
	Model      string
	Expected   memoir.Usage // estimate
}

// CallEnd is the result of a call for the ledger.
type CallEnd struct {
	Usage     memoir.Usage // Calls may be 2 if the API was called twice
	Duration  time.Duration
	Estimated bool // the model reported no usage, so Usage is an estimate
}

// BeginCall enters a call, with its estimated usage, before it is made. A call that cannot be entered must
// not be made. If allow is not nil, it gets the results of Spent; its error refuses the call and is
// returned. Check and entry are one transaction, so that processes cannot exceed a limit together. If
// c.Once is set and another run has entered a call of the work, the error has the code memoir.CodeChanged.
//
// The entry survives a crash of the process, and a loss of power once the work has ended. A consolidation
// may take many calls, so each of its entries is durable.
func (s *Store) BeginCall(
	ctx context.Context, c Call, allow func(ofRun, today memoir.Usage) error,
) (id int64, err error) {
	how := quick
	if c.Phase == kindConsolidate {
		how = durable
	}
	err = s.write(ctx, how, func(t tx) {
		if allow != nil {
			if ofRun, today := s.spentBy(t, c.Run); t.ok() {
				t.fail(allow(ofRun, today))
			}
		}
		if c.Once && t.exists(`SELECT 1 FROM ledger WHERE work = ? AND run <> ?`, c.Work, c.Run) {
			t.fail(memoir.Errorf(memoir.CodeChanged, "", "the model was already asked"))
		}
		t.get(`INSERT INTO ledger (at, run, phase, session_key, project_id, model, calls, input_tokens, cached_tokens,
				output_tokens, cost, duration_ms, outcome, call, estimated, work)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 'begun', 1, ?) RETURNING id`,
			[]any{millis(s.now()), c.Run, c.Phase, c.SessionKey, c.ProjectID, c.Model, c.Expected.Calls, c.Expected.InputTokens,
				c.Expected.CachedTokens, c.Expected.OutputTokens, c.Expected.Cost, OutcomeUnfinished, c.Work}, &id)
	})
	return id, s.explain(err, "adding a call to the ledger")
}

// EndCall replaces the estimate of a call by its usage. If Usage.Calls is 0, the call reached no model, and
// its entry is removed. The work that it was made for may already have ended.
//
// The usage survives a loss of power once the work has ended, which usually follows at once.
func (s *Store) EndCall(ctx context.Context, id int64, e CallEnd) error {
	return s.explain(s.quickly(ctx, func(t tx) {
		if e.Usage.Calls == 0 {
			t.exec(`DELETE FROM ledger WHERE id = ?`, id)
			return
		}
		t.exec(`UPDATE ledger SET calls = ?, input_tokens = ?, cached_tokens = ?, output_tokens = ?, cost = ?,
				duration_ms = ?, call = 'ended', estimated = ? WHERE id = ?`,
			e.Usage.Calls, e.Usage.InputTokens, e.Usage.CachedTokens, e.Usage.OutputTokens, e.Usage.Cost,
			e.Duration.Milliseconds(), e.Estimated, id)
	}), "recording the usage of a call in the ledger")
}

// UsageRow is the usage of the calls of one day that agree in the first five fields.
type UsageRow struct {
	Day     string `json:"day"`     // UTC day on which the calls began, 2006-01-02
	Project string `json:"project"` // its id; empty: no project
	Model   string `json:"model"`
	Phase   string `json:"phase"`   // "extract", "consolidate" or "journal"
	Outcome string `json:"outcome"` // of the work; unfinished: it is running, or its process died
	memoir.Usage
	Estimated  int   `json:"estimated"`   // number of Usage.Calls whose tokens and cost are an estimate
	DurationMS int64 `json:"duration_ms"` // of the calls, or of the work if single calls are not known
}

// UsageRows lists the ledger since a time, ordered by the first five fields of a row. The zero time means
// the whole ledger.
func (s *Store) UsageRows(ctx context.Context, since time.Time) ([]UsageRow, error) {
	return fetchAll(ctx, s, "listing usage", func(scan scanner, r *UsageRow) {
		scan(&r.Day, &r.Project, &r.Model, &r.Phase, &r.Outcome, &r.Calls, &r.InputTokens,
			&r.CachedTokens, &r.OutputTokens, &r.Cost, &r.Estimated, &r.DurationMS)
	}, `SELECT strftime('%Y-%m-%d', at / 1000, 'unixepoch'), project_id, model, phase, outcome,
			sum(calls), sum(input_tokens), sum(cached_tokens), sum(output_tokens), sum(cost), sum(calls * estimated),
			sum(duration_ms)
		FROM ledger WHERE at >= ? GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`, millis(since))
}
