package hub

import "context"

// Extract is what a worker does with a transcript.
var Extract = (*Hub).extract

// Setting returns a setting of the transactions in which lists are read.
func (h *Hub) Setting(ctx context.Context, name string) (Table, error) {
	return h.table(ctx, "SHOW "+name)
}
