package pipeline

import (
	"slices"

	"memoir"
)

const (
	maxHeld  = 8 << 20 // bytes of all items of a session together, with what they cost besides their texts
	itemCost = 400     // bytes that an item costs besides its texts
	heldTail = 400     // bytes that stay of a text that had to give way
)

// holding is what is kept of one session, in order.
type holding struct {
	items   []memoir.Item
	bytes   int
	omitted int // items, and texts of items, that gave way
}

func (h *holding) add(it memoir.Item) {
	h.items = append(h.items, it)
	if h.bytes += cost(it); h.bytes > maxHeld {
		h.shed()
	}
}

// cost is what an item takes of memory, about.
func cost(it memoir.Item) int {
	return itemCost + len(it.Text) + len(it.Tool) + len(it.Input) + len(it.Output) + len(it.CWD) + len(it.Branch) + len(it.TurnID)
}

// What gives way, first to last; the oldest first in each. A cut leaves the end of
// an output and the ends of a message.
var shedding = []struct {
	of  func(memoir.Item) bool
	cut bool
}{
	{isTool, true},
	{func(it memoir.Item) bool { return isTool(it) && !it.Failed }, false},
	{isTool, false},
	{func(it memoir.Item) bool { return !it.Origin.ByPerson() && !it.Final }, false},
	{func(it memoir.Item) bool { return !it.Origin.ByPerson() }, false},
	{func(memoir.Item) bool { return true }, true},
	{func(memoir.Item) bool { return true }, false},
}

func isTool(it memoir.Item) bool { return it.Kind == memoir.ItemTool }

// shed makes room for an eighth more than is held, so that it is seldom called.
func (h *holding) shed() {
	for _, s := range shedding {
		for i := range h.items {
			if h.bytes <= maxHeld*7/8 {
				break
			}
			it := &h.items[i]
			if it.N == 0 || !s.of(*it) {
				continue
			}
			before := cost(*it)
			switch {
			case !s.cut:
				*it = memoir.Item{} // dropped below
				h.bytes -= before
				h.omitted++
				continue
			case len(it.Output) > heldTail+len("[…]"):
				it.Output = "[…]" + tail(it.Output, heldTail)
			case len(it.Text) > 2*heldTail:
				it.Text = cutMiddle(it.Text, heldTail)
			default:
				continue
			}
			h.bytes -= before - cost(*it)
			h.omitted++
		}
	}
	h.items = slices.DeleteFunc(h.items, func(it memoir.Item) bool { return it.N == 0 })
}
