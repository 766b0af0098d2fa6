package rollout

import "context"

// piPlan says which entries are the living conversation: of a tree, the path from
// the last entry to the root. The entries of version 1 have no ids and are a line.
type piPlan struct {
	live  map[int]bool // nil: all are
	from  int          // entries before this one have unknown relations, and stay
	reset int          // entries before the last reset are no longer the conversation
	known map[int]bool // entries with an id

	results map[uint64]bool // hashes of the ids of calls that were answered
	parent  string          // path or id of the session that the header says this was forked from
}

func planPi(ctx context.Context, t *tape) (*piPlan, error) {
	p := &piPlan{reset: -1, results: map[uint64]bool{}}
	byID := map[string]int{}
	parents := map[int]string{}
	last := -1
	var resets []int
	err := t.each(ctx, false, func(at place, raw []byte) error {
		kind, id, parent := "", "", ""
		each(raw, func(key, value []byte) bool {
			switch string(key) {
			case "type":
				kind = word(value)
			case "id":
				id = text(value)
			case "parentId":
				parent = text(value)
			case "message":
				if call := getText(value, "toolCallId"); call != "" {
					p.results[textHash(call)] = true
				}
			}
			return true
		})
		if kind == "reset_boundary" {
			resets = append(resets, at.index)
		}
		if kind == "session" && p.parent == "" {
			p.parent = piParent(raw)
		}
		if id == "" || kind == "session" || kind == "title" {
			return nil
		}
		byID[id], parents[at.index] = at.index, parent
		if kind != "model_usage" { // is attached where the call was made, wherever the conversation is
			last = at.index
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if last >= 0 {
		p.live, p.known = map[int]bool{}, map[int]bool{}
		for i := range parents {
			p.known[i] = true
		}
		for i := last; !p.live[i]; {
			p.live[i] = true
			parent := parents[i]
			if parent == "" {
				break
			}
			up, ok := byID[parent]
			if !ok {
				p.from = i // the parent was lost: what stands before is kept
				break
			}
			i = up
		}
	}
	for _, i := range resets {
		if p.live == nil || p.live[i] || !p.known[i] {
			p.reset = i
		}
	}
	return p, nil
}

func (p *piPlan) dead(i int) bool {
	return i < p.reset || p.live != nil && p.known[i] && i >= p.from && !p.live[i]
}
