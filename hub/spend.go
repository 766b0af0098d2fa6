package hub

import (
	"context"
	"errors"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"memoir"
	"memoir/config"
	"memoir/consolidate"
	"memoir/model"
	"memoir/secrets"
)

// Policy is how the memories of an organisation are made. A limit of 0 is none.
type Policy struct {
	Model       string // provider/model; empty or builtin: the built-in one
	KeyEnv      string // the variable of the workers' environment that has its key; empty: the provider's usual one
	BaseURL     string // empty: the provider's own
	DailyTokens int64  // on a UTC day
	DailyCost   float64
	InputPrice  float64 // US dollars per million tokens
	OutputPrice float64
	Review      bool // generations wait until they are accepted
}

const policyColumns = `model, key_env, base_url, daily_tokens, daily_cost, input_price, output_price, review`

// policyOf reads the policy of an organisation.
func policyOf(ctx context.Context, tx pgx.Tx, org int64) (Policy, error) {
	rows, _ := tx.Query(ctx, `SELECT `+policyColumns+` FROM memoir.organisation WHERE id = $1`, org) // rows have its error
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Policy])
}

// SetPolicy changes how the memories of an organisation are made. What waits there for a model or a limit is tried at
// once.
func (a Admin) SetPolicy(ctx context.Context, change func(*Policy)) error {
	return a.do(ctx, "org set", "", func(tx pgx.Tx, org int64) error {
		_, err := tx.Exec(ctx, `SELECT FROM memoir.organisation WHERE id = $1 FOR UPDATE`, org)
		var p Policy
		if err == nil {
			p, err = policyOf(ctx, tx, org)
		}
		if err != nil {
			return err
		}
		change(&p)
		if err = p.check(a.hub.scanner); err == nil {
			_, err = tx.Exec(ctx, `UPDATE memoir.organisation SET (`+policyColumns+`) = ($2, $3, $4, $5, $6, $7, $8, $9)
				WHERE id = $1`, org, p.Model, p.KeyEnv, p.BaseURL, p.DailyTokens, p.DailyCost, p.InputPrice, p.OutputPrice,
				p.Review)
		}
		if err != nil {
			return err
		}
		return a.hub.queueDue(ctx, tx, org)
	})
}

// variable matches the name of a variable, and hardly a key.
var variable = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,99}$`)

// check refuses what no worker could use.
func (p Policy) check(s *secrets.Scanner) error {
	wrong := func(hint, what string) error { return memoir.Errorf(memoir.CodeUsage, hint, "%s", what) }
	_, unusable := p.choice()
	at, err := url.Parse(p.BaseURL)
	_, unknown := model.SpecOf(config.Settings{}, p.Model)
	switch {
	case !p.builtin() && unknown != nil:
		return wrong("PROVIDER/MODEL with a provider of docs/models.md; openai/MODEL with --base-url is a server of yours",
			"--model names no model that a hub can call")
	case p.KeyEnv != "" && (!variable.MatchString(p.KeyEnv) || len(s.Find(p.KeyEnv)) > 0): // it is not repeated
		return wrong("for example --key-env LOCAL_KEY; the key is in the workers' environment",
			"--key-env is the name of a variable, in capitals")
	case p.BaseURL != "" && (err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.User != nil):
		return wrong("for example https://models.example.com/v1", "--base-url is an address of http or https")
	case p.DailyTokens < 0, !(min(p.DailyCost, p.InputPrice, p.OutputPrice) >= 0), // also of no number
		max(p.DailyCost, p.InputPrice, p.OutputPrice) > 1e9:
		return wrong("0 is no limit", "limits and prices are numbers from 0")
	case !p.builtin() && unusable != nil:
		return unusable
	case p.DailyCost > 0 && p.OutputPrice <= 0:
		return wrong("pass --input-price and --output-price", "a limit on costs needs prices")
	}
	return nil
}

func (p Policy) builtin() bool { return p.Model == "" || p.Model == model.Builtin }

// outputTokens is the cap on an answer. The limits need one.
const outputTokens = 16_000

// choice returns the model of a policy, without its key.
func (p Policy) choice() (model.Choice, error) {
	provider := config.Provider{KeyEnv: p.KeyEnv, BaseURL: p.BaseURL, MaxOutputTokens: outputTokens,
		InputPrice: p.InputPrice, OutputPrice: p.OutputPrice}
	name, _, _ := strings.Cut(p.Model, "/")
	settings := config.Settings{Providers: map[string]config.Provider{name: provider}}
	c, err := model.Find(settings, model.Role{Model: p.Model})
	if err == nil && c.Options.API == model.APIExec {
		err = memoir.Errorf(memoir.CodeUsage, "choose a model that is called over HTTP", "a hub runs no programs")
	}
	return c, err
}

// consolidatorOf returns what consolidates a project: the organisation's model, or the built-in one.
func (h *Hub) consolidatorOf(ctx context.Context, w *work) (consolidate.Consolidator, error) {
	m, err := h.modelOf(ctx, w.policy, w.project)
	if m == nil || err != nil {
		return consolidate.NewBuiltin(), err
	}
	return consolidate.LLM{Model: m, MaxOutput: outputTokens}, nil
}

// modelOf returns an organisation's model for work on a project; nil is the built-in one.
func (h *Hub) modelOf(ctx context.Context, p Policy, project int64) (model.Model, error) {
	if p.builtin() {
		return nil, nil
	}
	c, err := p.choice()
	if err != nil {
		return nil, err
	}
	if c.Options.Key, err = c.Key.Read(ctx, os.Getenv); err != nil {
		return nil, err
	}
	c.Options.Redact = h.scanner.Message
	called, err := model.Open(c.Spec, c.Options)
	if err != nil {
		return nil, err
	}
	counted := metered{called, h, project, c.Options}
	return model.Retrying(counted, model.RetryPolicy{Attempts: 4, Base: time.Second, MaxWait: time.Minute}), nil
}

// metered is an organisation's model. Each call is in the ledger, with all that it may take, before it is made.
type metered struct {
	model.Model
	hub     *Hub
	project int64
	options model.Options
}

// Call makes the call unless it would exceed a limit; then the error has the code memoir.CodeLimit. Secrets are removed
// from what is asked and from the answer.
func (m metered) Call(ctx context.Context, q model.Request) (model.Answer, error) {
	redact := func(text string) string { text, _ = m.hub.scanner.Redact(text); return text }
	q = q.Changed(redact)
	if q.MaxOutput == 0 {
		q.MaxOutput = max(m.options.MaxOutput, q.Output)
	}
	most := m.most(q)
	id, err := m.enter(ctx, most)
	if err != nil {
		return model.Answer{}, err
	}
	answer, err := m.Model.Call(ctx, q)
	answer.Text = redact(answer.Text)
	used := answer.Usage
	if failed, ok := errors.AsType[*model.Error](err); ok && failed.Unreported {
		used = most
	} else if ok {
		used = failed.Usage
	}
	ctx = context.WithoutCancel(ctx) // the worker may be stopping
	failed := m.hub.asWorker(ctx, m.project, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE memoir.ledger SET tokens = $2, cost = $3, ended = true WHERE id = $1`,
			id, used.InputTokens+used.OutputTokens, m.options.Price.Cost(used))
		return err
	})
	if failed != nil {
		m.hub.log.Warn("the ledger has only an estimate for a call", "error", asError(failed).Error())
	}
	return answer, err
}

// most is the usage that a call may have: a token for two bytes, and the longest answer.
func (m metered) most(q model.Request) memoir.Usage {
	u := memoir.Usage{Calls: 1, InputTokens: int64(q.Bytes()+1) / 2, OutputTokens: int64(q.MaxOutput)}
	u.Cost = m.options.Price.Cost(u)
	return u
}

// enter enters a call into the ledger, unless it could exceed a limit of the day. The lock of the organisation's row
// makes workers enter their calls one after the other.
func (m metered) enter(ctx context.Context, most memoir.Usage) (id int64, err error) {
	next := most.InputTokens + most.OutputTokens
	err = m.hub.asWorker(ctx, m.project, func(tx pgx.Tx) error {
		var tokens, spentTokens int64
		var cost, spentCost float64
		b := &pgx.Batch{}
		b.Queue(`SELECT daily_tokens, daily_cost FROM memoir.organisation WHERE id = memoir.current_organisation()
			FOR NO KEY UPDATE`).QueryRow(into(&tokens, &cost))
		b.Queue(`SELECT coalesce(sum(tokens), 0)::bigint, coalesce(sum(cost), 0) FROM memoir.ledger
			WHERE organisation = memoir.current_organisation() AND day = (now() AT TIME ZONE 'UTC')::date`).
			QueryRow(into(&spentTokens, &spentCost))
		err := tx.SendBatch(ctx, b).Close()
		switch {
		case err != nil:
			return err
		case tokens > 0 && next > tokens, cost > 0 && most.Cost > cost:
			return memoir.Errorf(memoir.CodeInvalid, "raise --daily-tokens or --daily-cost with `memoir-hub org set`",
				"one call may take %d tokens and %s, more than the organisation may spend on a day", next,
				memoir.Dollars(most.Cost))
		case tokens > 0 && spentTokens+next > tokens:
			return memoir.Errorf(memoir.CodeLimit, "", "%d of the day's %d tokens are spent, and the next call may take %d",
				spentTokens, tokens, next)
		case cost > 0 && spentCost+most.Cost > cost:
			return memoir.Errorf(memoir.CodeLimit, "", "%s of the day's %s are spent, and the next call may cost %s",
				memoir.Dollars(spentCost), memoir.Dollars(cost), memoir.Dollars(most.Cost))
		}
		return tx.QueryRow(ctx, `INSERT INTO memoir.ledger (organisation, project, model, tokens, cost)
			VALUES (memoir.current_organisation(), $1, $2, $3, $4) RETURNING id`, m.project, m.Name(), next, most.Cost).
			Scan(&id)
	})
	return id, err
}
