package consolidate

import (
	"errors"

	"memoir"
)

// Partly is a consolidation that failed when a part of it was made: what earlier
// answers made of some sessions, or what is left without those that were withdrawn. It
// holds all that Verify asks for.
type Partly struct {
	Result memoir.Consolidation
	Open   []string // keys of the sessions that are yet to be folded in
	Steps  int      // questions whose answers are in it
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
	p := &Partly{Result: made, Steps: r.steps, Err: err}
	for _, s := range r.due {
		p.Open = append(p.Open, s.SessionKey)
	}
	return p
}

// A Pruner takes withdrawn sessions out of a memory without asking anybody.
type Pruner interface {
	// Prune returns the memory without what rests on withdrawn sessions; nil if there is
	// no trace of them, or what is left is no memory.
	Prune(in Input) *Partly
}

var _ Pruner = (*llm)(nil)

// Prune does what Consolidate does before it asks.
func (m *llm) Prune(in Input) *Partly {
	in.Extractions = without(in.Extractions, in.Withdrawn)
	if len(in.Extractions) == 0 || in.Current == nil {
		return nil
	}
	var part *Partly
	if !errors.As(newRenewal(in, arrange(in.Extractions)).partly(errors.New("only what was withdrawn is taken out")), &part) {
		return nil
	}
	return part
}
