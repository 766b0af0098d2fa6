package hub

import (
	"context"
	"crypto/tls"
	_ "embed"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"memoir"
	"memoir/team/wire"
)

// ServeOptions say where a hub listens.
type ServeOptions struct {
	Listen      string // HOST:PORT
	Certificate string // files in PEM; both or none
	Key         string
	Metrics     string               // HOST:PORT of /metrics; empty: with the API, if that is for this machine alone
	Ready       func(address string) // is called once requests are answered
	Work        WorkOptions          // on jobs, in this process
}

// grace is the time that open requests have to end.
const grace = 10 * time.Second

// Serve answers requests until ctx is done, and then lets open ones end.
func (h *Hub) Serve(ctx context.Context, o ServeOptions) error {
	if err := h.CheckServing(ctx); err != nil {
		return err
	}
	listener, local, err := h.listen(o)
	if err != nil {
		return err
	}
	metrics, mux := http.NewServeMux(), http.NewServeMux()
	metrics.Handle("GET /metrics", promhttp.HandlerFor(h.metrics.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 2}))
	mux.Handle("/", h.Handler())
	if o.Metrics == "" && local {
		mux.Handle("GET /metrics", metrics)
	}
	servers := map[*http.Server]net.Listener{h.server(mux): listener}
	if o.Metrics != "" {
		l, err := net.Listen("tcp", o.Metrics)
		if err != nil {
			return errors.Join(memoir.Errorf(memoir.CodeUsage, "", "listen on %s: %w", o.Metrics, err), listener.Close())
		}
		servers[h.server(metrics)] = l
	}
	h.log.Info("listening", "address", listener.Addr().String())
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return h.Work(ctx, o.Work) })
	for s, l := range servers {
		all.Go(func() error {
			if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		})
		all.Go(func() error {
			<-ctx.Done()
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
			defer cancel()
			if err := s.Shutdown(ending); !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
			return s.Close()
		})
	}
	if o.Ready != nil {
		o.Ready(listener.Addr().String())
	}
	<-ctx.Done()
	h.log.Info("stopping", "grace", grace.String())
	return all.Wait()
}

// listen opens the port of the API. Plain http is for this machine, or for a proxy; local says that it is the former.
func (h *Hub) listen(o ServeOptions) (l net.Listener, local bool, err error) {
	var config *tls.Config
	if o.Certificate != "" || o.Key != "" {
		pair, err := tls.LoadX509KeyPair(o.Certificate, o.Key)
		if err != nil {
			return nil, false, memoir.Errorf(memoir.CodeUsage, "pass both --tls-cert and --tls-key",
				"read the certificate: %w", err)
		}
		config = &tls.Config{
			Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	}
	if l, err = net.Listen("tcp", o.Listen); err != nil {
		return nil, false, memoir.Errorf(memoir.CodeUsage, "", "listen on %s: %w", o.Listen, err)
	}
	loopback := l.Addr().(*net.TCPAddr).IP.IsLoopback()
	switch {
	case config != nil:
		l = tls.NewListener(l, config)
	case !loopback && !h.proxied:
		_ = l.Close()
		return nil, false, memoir.Errorf(memoir.CodeUsage,
			"pass --tls-cert and --tls-key, or --behind-proxy if a proxy speaks https",
			"%s is no loopback address, and plain http would show tokens", o.Listen)
	}
	return l, loopback && !h.proxied, nil
}

// server bounds what a slow client can hold. A body of 4 MiB may take two minutes.
func (h *Hub) server(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 2 * time.Minute,
		WriteTimeout: 4 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(h.log.Handler(), slog.LevelWarn),
	}
}

//go:embed openapi.json
var openapi json.RawMessage

var alive = json.RawMessage("{}")

// handleHealth adds what a load balancer asks: whether the process lives, and whether it can answer.
func (h *Hub) handleHealth(mux *http.ServeMux) {
	for route, answer := range map[string]json.RawMessage{"GET /healthz": alive, "GET /openapi.json": openapi} {
		mux.HandleFunc(route, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, answer) })
	}
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		defer cancel()
		err := h.checkSchema(ctx)
		if err == nil && time.Since(time.Unix(h.full.Load(), 0)) < time.Minute { // then the next write shows it
			err = errors.New("PostgreSQL has refused a write")
		}
		if err != nil {
			h.log.Error("not ready", "error", err.Error())
			writeJSON(w, http.StatusServiceUnavailable, wire.Problem{Title: "not ready", Code: wire.CodeUnavailable})
			return
		}
		writeJSON(w, http.StatusOK, alive)
	})
}
