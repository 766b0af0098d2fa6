package pipeline

import (
	"fmt"
	"time"
)

// stillEvery is how often work that goes on is reported: a call to a model can take minutes.
const stillEvery = 30 * time.Second

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

// warn reports a problem that does not stop the run, now and in the report.
func (r *run) warn(message, hint string) { r.tell(Progress{Warn: message, Hint: hint}) }

// mention is warn for what is no trouble, such as a file that is no session.
func (r *run) mention(message, hint string) {
	r.tell(Progress{Warn: message, Hint: hint, Minor: true})
}

func (r *run) tell(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Warnings = append(r.report.Warnings, Warning{Message: p.Warn, Hint: p.Hint})
	r.log.Warn(p.Warn, "hint", p.Hint)
	r.send(p)
}

// A foldedWarning is what one or more sessions failed of.
type foldedWarning struct {
	session       string // the first
	others        int
	message, hint string
}

// fold keeps a warning about a session until Phase 1 has ended, so that what many
// sessions failed of is one line. Which session failed of what is in the registry.
func (r *run) fold(session, message, hint string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.folded {
		if f := &r.folded[i]; f.message == message && f.hint == hint {
			f.others++
			return
		}
	}
	r.folded = append(r.folded, foldedWarning{session: session, message: message, hint: hint})
}

// sayFolded says what was kept.
func (r *run) sayFolded() {
	r.mu.Lock()
	folded := r.folded
	r.folded = nil
	r.mu.Unlock()
	for _, f := range folded {
		whose := "session " + f.session
		if f.others == 1 {
			whose += " and 1 other"
		} else if f.others > 1 {
			whose += fmt.Sprintf(" and %d others", f.others)
		}
		r.warn(whose+": "+f.message, f.hint)
	}
}
