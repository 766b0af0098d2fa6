package serve

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// BenchmarkGetMemory requests 100 of 1,000 notes over one connection. x-constant is the time relative to a handler
// behind the same guard that returns the same bytes without a query.
func BenchmarkGetMemory(b *testing.B) {
	w := newWorld(b)
	var writers sync.WaitGroup
	for part := range 20 {
		writers.Go(func() {
			for i := range 50 {
				w.note(fmt.Sprintf("note %d.%d: the staging database moved to eu-west", part, i))
			}
		})
	}
	writers.Wait()
	stored := w.send(request("GET", "/memory", "")).Body.Bytes()
	s := &server{Options: w.served}
	constant := s.guard(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = out.Write(stored)
	}))
	times := map[string]time.Duration{}
	for _, c := range []struct {
		name    string
		handler http.Handler
	}{{"constant", constant}, {"memory", w.handler}} {
		b.Run(c.name, func(b *testing.B) {
			server := httptest.NewServer(c.handler)
			defer server.Close()
			b.ReportAllocs()
			for b.Loop() {
				r, err := http.NewRequest("GET", server.URL+"/memory", nil)
				must(b, err)
				r.Header.Set("Authorization", "Bearer "+token)
				answer, err := server.Client().Do(r)
				must(b, err)
				_, err = io.Copy(io.Discard, answer.Body)
				must(b, err)
				must(b, answer.Body.Close())
			}
			times[c.name] = b.Elapsed() / time.Duration(b.N)
			if c.name == "memory" && times["constant"] > 0 {
				b.ReportMetric(float64(times[c.name])/float64(times["constant"]), "x-constant")
			}
		})
	}
}
