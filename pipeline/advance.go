package pipeline

import "time"

// stillEvery is how often work that goes on is reported: a call to a model can take minutes.
const stillEvery = 30 * time.Second

// extracting reports how far Phase 1 is, and what of it begins or goes on.
func (r *run) extracting(session string, alone bool, since time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.report.Phase1
	done := p.Claimed + p.Unchanged
	r.send(Progress{Stage: StageExtract, Done: done, Total: max(r.total, done), What: session, Since: since, Alone: alone})
}

// finished reports that a session of Phase 1 is done.
func (r *run) finished() { r.extracting("", false, 0) }

// during reports work as begun, and from then on as going on, until it is told to stop.
func during(report func(since time.Duration)) (stop func()) {
	began, over, ended := time.Now(), make(chan struct{}), make(chan struct{})
	report(0)
	go func() {
		defer close(ended)
		ticker := time.NewTicker(stillEvery)
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case <-ticker.C:
				report(time.Since(began))
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

func (r *run) progress(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.send(p)
}

// send calls the listener; mu is held, so it is called by one goroutine at a time.
func (r *run) send(p Progress) {
	if r.opts.Progress != nil {
		r.opts.Progress(p)
	}
}
