package pipeline

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"memoir"
	"memoir/config"
	"memoir/model"
	"memoir/store"
)

func TestACallThatWaitedForRoomIsNotMadeToAModelThatServesNoMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		meter := alone(config.Limits{TokensPerRun: 150}, &now)
		made, proceed := 0, make(chan struct{})
		m := meter.of(scripted(func(model.Request) (model.Answer, error) {
			made++
			<-proceed
			return model.Answer{Usage: memoir.Usage{Calls: 1}}, nil
		}), model.Options{MaxOutput: 100}).(*metered)
		ask := func(ctx context.Context, out chan<- error) { _, err := m.Call(ctx, model.Request{}); out <- err }
		first, second := make(chan error, 1), make(chan error, 1)
		go ask(t.Context(), first)
		synctest.Wait()
		own := &budget{project: "p", limits: config.Limits{TokensPerDay: 1000}}
		ctx, account := begin(t.Context(), store.Call{Phase: phaseExtract})
		account.budget = own
		go ask(ctx, second)
		synctest.Wait()
		meter.service(m.Name()).end(errors.New("down"))
		close(proceed)
		if err := <-first; err != nil {
			t.Error(err)
		}
		if err := <-second; !errors.Is(err, errUnserved) || account.refusal() == nil || made != 1 {
			t.Errorf("%v, %d calls", err, made)
		}
		if meter.reserved != (memoir.Usage{}) || own.reserved != (memoir.Usage{}) {
			t.Errorf("%+v and %+v are under way", meter.reserved, own.reserved)
		}
	})
}

// rival is a ledger in which another process enters a call at the same moment.
type rival struct {
	entered *bool
	ended   *int
}

func (r rival) BeginCall(context.Context, store.Call) (int64, memoir.Usage, error) {
	*r.entered = true
	return 1, memoir.Usage{}, nil
}

func (r rival) EndCall(context.Context, int64, store.CallEnd) error { *r.ended++; return nil }

func TestTwoProcessesDoNotExceedAProjectsLimitAtOnce(t *testing.T) {
	t.Parallel()
	now := time.Now()
	meter := alone(config.Limits{}, &now)
	entered, ended := false, 0
	meter.ledger = rival{entered: &entered, ended: &ended}
	meter.others = func(_ context.Context, _ time.Time, project string) (memoir.Usage, error) {
		if project == "p" && entered {
			return memoir.Usage{Calls: 1, InputTokens: 80}, nil
		}
		return memoir.Usage{}, nil
	}
	made := 0
	m := meter.of(scripted(func(model.Request) (model.Answer, error) { made++; return model.Answer{}, nil }), model.Options{MaxOutput: 50})
	ctx, account := begin(t.Context(), store.Call{Phase: phaseExtract, ProjectID: "p"})
	account.budget = &budget{project: "p", name: "p", limits: config.Limits{TokensPerDay: 100}}
	_, err := m.Call(ctx, model.Request{})
	if !limited(err) || !limited(account.refusal()) || made != 0 || ended != 1 {
		t.Errorf("%v, %d calls, %d ended", err, made, ended)
	}
	if account.budget.reserved != (memoir.Usage{}) || meter.reserved != (memoir.Usage{}) || account.budget.stopped == nil || meter.stopped != nil {
		t.Errorf("%+v, stopped %+v, the run %+v", account.budget.reserved, account.budget.stopped, meter.stopped)
	}
}
