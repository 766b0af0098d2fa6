package hub

import (
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics are what Prometheus reads. No label has a name of a member or project.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	stored   prometheus.Counter
}

func newMetrics(pool *pgxpool.Pool) *metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	its := promauto.With(registry)
	its.NewGaugeFunc(prometheus.GaugeOpts{Name: "memoir_hub_connections_busy", Help: "Connections in use."},
		func() float64 { return float64(pool.Stat().AcquiredConns()) })
	return &metrics{
		registry: registry,
		requests: its.NewCounterVec(prometheus.CounterOpts{
			Name: "memoir_hub_requests_total", Help: "Requests by route, status and code of the refusal."},
			[]string{"route", "status", "code"}),
		duration: its.NewHistogramVec(prometheus.HistogramOpts{
			Name: "memoir_hub_request_seconds", Help: "Time of requests by route.",
			Buckets: []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10, 30}}, []string{"route"}),
		stored: its.NewCounter(prometheus.CounterOpts{
			Name: "memoir_hub_stored_total", Help: "Statements, edits and tombstones that were new."}),
	}
}
