package hub

import "context"

func (h *Hub) consolidate(ctx context.Context, project int64) error { return nil }
func (h *Hub) purge(ctx context.Context, project int64) error       { return nil }
