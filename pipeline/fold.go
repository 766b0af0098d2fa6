package pipeline

import "fmt"

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
