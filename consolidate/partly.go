package consolidate

import "memoir"

// Partly is a consolidation that failed when a part of it was made: what earlier
// answers made of some sessions, or what is left without those that were withdrawn. It
// holds all that Verify asks for.
type Partly struct {
	Result memoir.Consolidation
	Open   []string // keys of the sessions that are yet to be folded in
	Err    error    // why it went no further
}

// Error is that of the failure.
func (p *Partly) Error() string { return p.Err.Error() }

// Unwrap returns the failure.
func (p *Partly) Unwrap() error { return p.Err }

// partly adds to a failure what was made before it, if anything was.
func (r *renewal) partly(err error) error {
	if r.steps == 0 && !r.pruned {
		return err
	}
	made := r.present
	if r.steps == 0 {
		var broken error
		if made, broken = r.asIs(); broken != nil {
			return err
		}
	}
	p := &Partly{Result: made, Err: err}
	for _, s := range r.due {
		p.Open = append(p.Open, s.SessionKey)
	}
	return p
}
