package hub

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
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

func newMetrics(pool *pgxpool.Pool, log *slog.Logger) *metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		measures{pool, log})
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

// measured are the metrics of memoir.measures, by their names there.
var measured = map[string]*prometheus.Desc{
	"jobs": prometheus.NewDesc("memoir_hub_jobs", "Jobs that wait, run or have failed; of discarded ones those of a week.",
		[]string{"kind", "state"}, nil),
	"tokens_ending": prometheus.NewDesc("memoir_hub_tokens_ending",
		"Tokens that end within 14 days or ended in the last 14: of containers, or of a machine, which renews its own.",
		[]string{"of"}, nil),
	"generations_waiting": prometheus.NewDesc("memoir_hub_generations_waiting",
		"Projects whose newest generation waits until it is accepted.", nil, nil),
	"spent_ratio": prometheus.NewDesc("memoir_hub_spent_ratio",
		"The largest part of its limit of the day (UTC) that an organisation has spent.", []string{"limit"}, nil),
}

// measures asks the database at each scraping, for at most scraping. Without an answer these metrics are missing.
type measures struct {
	pool *pgxpool.Pool
	log  *slog.Logger
}

const scraping = 5 * time.Second

// Describe implements prometheus.Collector.
func (m measures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range measured {
		to <- d
	}
}

// Collect implements prometheus.Collector. What a newer database measures is passed over.
func (m measures) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scraping)
	defer cancel()
	rows, _ := m.pool.Query(ctx, `SELECT * FROM memoir.measures($1)`, maxFailures-1) // rows have its error
	var name string
	var labels []string
	var value float64
	_, err := pgx.ForEachRow(rows, []any{&name, &labels, &value}, func() error {
		if d := measured[name]; d != nil {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
		}
		return nil
	})
	if err != nil {
		m.log.Error("the database was not measured", "error", asError(err).Error())
	}
}
