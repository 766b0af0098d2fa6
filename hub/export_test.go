package hub

import (
	"context"
	"net/http/httptest"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Scraped returns what Prometheus reads.
func (h *Hub) Scraped() string {
	w := httptest.NewRecorder()
	promhttp.HandlerFor(h.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	return w.Body.String()
}

// Extract is what a worker does with a transcript, without a job.
func Extract(h *Hub, ctx context.Context, id int64) error {
	r := &running{complete: func(context.Context, pgx.Tx) error { return nil }}
	return h.extract(ctx, r, extractArgs{id})
}

// Setting returns a setting of the transactions in which lists are read.
func (h *Hub) Setting(ctx context.Context, name string) (Table, error) {
	return h.table(ctx, "SHOW "+name)
}

// First is the number of the oldest migration.
const First = first
