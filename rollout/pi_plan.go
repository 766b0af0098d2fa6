package rollout

import "context"

// piPlan says which entries are the living conversation: of a tree, the path from
// the last entry to the root, after the last reset on it. The entries of version 1
// have no ids and are a line.
type piPlan struct {
	*tree
	reset   int             // records before the last reset are no longer the conversation
	results map[uint64]bool // hashes of the ids of calls that were answered
	parent  string          // path or id of the session that the header says this was forked from
}

func planPi(ctx context.Context, t *tape) (*piPlan, error) {
	p := &piPlan{tree: newTree(false), reset: -1, results: map[uint64]bool{}}
	var resets []int
	err := t.each(ctx, false, func(at place, raw []byte) error {
		kind, id, parent := "", "", []byte(nil)
		each(raw, func(key, value []byte) bool {
			switch string(key) {
			case "type":
				kind = word(value)
			case "id":
				id = text(value)
			case "parentId":
				parent = value
			case "message":
				if call := getText(value, "toolCallId"); call != "" {
					p.results[textHash(call)] = true
				}
			}
			return true
		})
		switch kind {
		case "session":
			if p.parent == "" {
				p.parent = piParent(raw)
			}
			return nil
		case "title":
			return nil
		case "reset_boundary":
			resets = append(resets, at.index)
		}
		if id != "" {
			// The use of a model is attached where the call was made, wherever the
			// conversation is meanwhile.
			p.add(at.index, id, parent, kind != "model_usage")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p.grow()
	for _, i := range resets {
		if !p.tree.dead(i) {
			p.reset = i
		}
	}
	return p, nil
}

func (p *piPlan) dead(record int) bool { return record < p.reset || p.tree.dead(record) }
