package hub_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"memoir/hub"
	"memoir/hub/hubtest"
	"memoir/model/modeltest"
	"memoir/team/wire"
)

// filled is a database with statements in projects, pushed as plain rows.
func filled(t testing.TB, projects, statements int) (*hubtest.Database, machine) {
	d := hubtest.NewDatabase(t)
	anna := join(t, d.Hub(t), d.Member(t, "anna", wire.Writer))
	d.Must(t, fmt.Sprintf(`INSERT INTO memoir.project (organisation, key, seq)
		SELECT 1, 'p' || n, %[2]d FROM generate_series(1, %[1]d) n;
		INSERT INTO memoir.statement
		SELECT 1, 1 + n %% %[1]d, 1, sha256(n::text::bytea), 1 + n / %[1]d, repeat('0', 24), false, '2026-11-28',
			json_build_object('kind', 'Findings', 'text', repeat('what a session shows ', 10) || n)
		FROM generate_series(0, %[2]d - 1) n;
		ANALYZE`, projects, statements))
	return d, anna
}

// measureCPU reports the processor time of this process, PostgreSQL and PgBouncer. It tells more than the time that
// passed while other programs have the processors.
func measureCPU(b *testing.B, d *hubtest.Database) (report func()) {
	used := func() time.Duration {
		var self syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &self)
		return d.CPU() + time.Duration(self.Utime.Nano()+self.Stime.Nano())
	}
	before := used()
	return func() { b.ReportMetric(float64((used()-before).Nanoseconds())/float64(b.N), "cpu-ns/op") }
}

// BenchmarkPullOfNothingNew compares a pull behind PgBouncer with a handler that returns a constant.
func BenchmarkPullOfNothingNew(b *testing.B) {
	d, anna := filled(b, 10, 10_000)
	var page wire.Page
	anna.must("GET", pullPath("p1", "", 1), nil, &page)
	path := pullPath("p1", wire.Cursor(page.Epoch+".1000000"), 0)
	constant := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	b.Cleanup(constant.Close)
	for name, url := range map[string]string{"constant": constant.URL, "hub": anna.url} {
		b.Run(name, func(b *testing.B) {
			b.SetParallelism(8)
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
			defer measureCPU(b, d)()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					r, _ := http.NewRequest("GET", url+path, nil)
					r.Header.Set("Authorization", "Bearer "+anna.token)
					answer, err := client.Do(r)
					if err != nil {
						b.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, answer.Body)
					_ = answer.Body.Close()
				}
			})
		})
	}
}

// BenchmarkPush compares pushes of 500 statements with plain inserts of the same rows.
func BenchmarkPush(b *testing.B) {
	d, anna := filled(b, 10, 10_000)
	batch := func(i int, kind string) wire.Push {
		p := wire.Push{Project: "p1"}
		for n := range 500 {
			p.Statements = append(p.Statements, statement(fmt.Sprintf("%s %d of batch %d: the tests of the store need a home", kind, n, i)))
		}
		return p
	}
	b.Run("hub", func(b *testing.B) {
		bodies := make([][]byte, b.N)
		for i := range bodies {
			bodies[i], _ = json.Marshal(batch(i, "pushed "+random(4)))
		}
		b.ResetTimer()
		defer measureCPU(b, d)()
		for i := range b.N {
			anna.must("POST", "/v1/push", bodies[i], nil)
		}
	})
	b.Run("plain", func(b *testing.B) {
		conn := connect(b, d.URL("postgres", d.Name, true))
		ctx := context.Background()
		d.Must(b, "DELETE FROM memoir.statement WHERE project = 2 AND seq > 10000") // of a run before
		batches := make([]wire.Push, b.N)
		for i := range batches {
			batches[i] = batch(i, "plain "+random(4))
		}
		b.ResetTimer()
		defer measureCPU(b, d)()
		for i := range b.N {
			n := 500
			hashes, bodies, days := make([][]byte, n), make([]string, n), make([]string, n)
			for j, s := range batches[i].Statements {
				hashes[j], _ = hex.DecodeString(s.Hash)
				bodies[j], days[j] = string(s.Body), s.Day
			}
			rows := &pgx.Batch{}
			rows.Queue(`INSERT INTO memoir.statement SELECT 1, 2, 1, h, $4 + n, repeat('0', 24), false, d, b::json
				FROM unnest($1::bytea[], $2::text[], $3::date[]) WITH ORDINALITY AS i(h, b, d, n)`,
				hashes, bodies, days, 1_000_000*b.N+1000*i)
			if err := conn.SendBatch(ctx, rows).Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkSize pushes and pulls 100 statements in small and large databases.
func BenchmarkSize(b *testing.B) {
	for _, size := range []struct{ projects, statements int }{{10, 10_000}, {1_000, 1_000_000}} {
		_, anna := filled(b, size.projects, size.statements)
		var page wire.Page
		anna.must("GET", pullPath("p1", "", 1), nil, &page)
		middle := pullPath("p1", wire.Cursor(page.Epoch+".500"), 100)
		b.Run(fmt.Sprintf("pull/%d", size.statements), func(b *testing.B) {
			for b.Loop() {
				anna.must("GET", middle, nil, nil)
			}
		})
		b.Run(fmt.Sprintf("push/%d", size.statements), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				p := wire.Push{Project: "p2"}
				for range 100 {
					p.Statements = append(p.Statements, statement("new"+random(16)))
				}
				b.StartTimer()
				anna.must("POST", "/v1/push", p, nil)
			}
		})
	}
}

// BenchmarkArchive compares an archive of 200 KB, changed and not, with a handler that serves the same bytes from a
// file. It reports the 95th percentile of 64 connections.
func BenchmarkArchive(b *testing.B) {
	d, anna := filled(b, 10, 1000)
	body := make([]byte, 200<<10)
	for i := range body {
		body[i] = byte(i * 7)
	}
	file := filepath.Join(b.TempDir(), "archive")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		b.Fatal(err)
	}
	d.Must(b, fmt.Sprintf(`INSERT INTO memoir.archive SELECT 1, 1, sha256(b), b FROM (SELECT decode('%x', 'hex') AS b) x;
		INSERT INTO memoir.generation SELECT 1, 1, 1, 0, 1, hash, 'builtin', 'published' FROM memoir.archive`, body))
	direct, err := hub.Open(b.Context(), hub.Options{Database: d.URL(hubtest.Serve, d.Name, false) + "&pool_max_conns=8"})
	if err != nil {
		b.Fatal(err)
	}
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) }))
	server := httptest.NewServer(direct.Handler())
	b.Cleanup(func() { files.Close(); server.Close(); direct.Close() })
	tag := anna.fetch("p1", "").etag
	for _, run := range []struct{ name, url, tag string }{
		{"file", files.URL, ""}, {"direct", server.URL, ""}, {"pooled", anna.url, ""},
		{"direct unchanged", server.URL, tag}, {"pooled unchanged", anna.url, tag},
	} {
		b.Run(run.name, func(b *testing.B) {
			var mu sync.Mutex
			var took []time.Duration
			m := machine{t: b, url: run.url, token: anna.token}
			b.SetParallelism(64 / runtime.GOMAXPROCS(0))
			defer measureCPU(b, d)()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					began := time.Now()
					status, _, got := m.fetchRaw("p1", run.tag)
					if want := map[bool]int{true: 0, false: len(body)}[run.tag != ""]; len(got) != want {
						b.Errorf("%d, %d bytes", status, len(got))
					}
					mu.Lock()
					took = append(took, time.Since(began))
					mu.Unlock()
				}
			})
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds()), "p95-us")
		})
	}
}

// BenchmarkWorkers consolidates 40 projects with a model that takes two seconds.
func BenchmarkWorkers(b *testing.B) {
	for _, workers := range []int{1, 2, 4, 8} {
		b.Run(strconv.Itoa(workers), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				d, anna, _ := modelled(b, nil, func(n int, c modeltest.Call) modeltest.Step {
					step := answer(n, c)
					step.Latency = 2 * time.Second
					return step
				})
				for p := range 40 {
					anna.push(project(p), task("one", "Ported the parser."))
				}
				b.StartTimer()
				d.Workers(b, hub.WorkOptions{Workers: workers, PollOnly: true})
				d.Idle(b)
			}
		})
	}
}

// BenchmarkContainers replays containers: each fetches the memory of one of 40 projects, with a new token, and pushes
// what a session showed, while workers make the next generations. It reports the median of a pull, and its 99th
// percentile over the median.
func BenchmarkContainers(b *testing.B) {
	d := hubtest.NewDatabase(b)
	url := d.Hub(b)
	d.Member(b, "ci", wire.Writer)
	d.Workers(b, hub.WorkOptions{Workers: 2, PollOnly: true})
	for p := range 40 {
		code, err := d.Admin.NewCode(b.Context(), "ci")
		if err != nil {
			b.Fatal(err)
		}
		first := join(b, url, code)
		for n := range 5 {
			first.push(project(p), finding(fmt.Sprint("The parser of ", p, " drops tabs in list ", n, ".")))
		}
	}
	d.Idle(b)
	codes := make(chan string, b.N)
	for range b.N {
		code, err := d.Admin.NewCode(b.Context(), "ci")
		if err != nil {
			b.Fatal(err)
		}
		codes <- code
	}
	var mu sync.Mutex
	var took []time.Duration
	var n atomic.Int64
	b.ResetTimer()
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := int(n.Add(1))
			m := join(b, url, <-codes)
			began := time.Now()
			if status, _, _ := m.fetchRaw(project(i%40), ""); status != http.StatusOK {
				b.Errorf("a pull: %d", status)
			}
			mu.Lock()
			took = append(took, time.Since(began))
			mu.Unlock()
			m.push(project(i%40), finding(fmt.Sprint("Container ", i, " found the cache cold.")), finding(fmt.Sprint("Run ", i, " needs go 1.26.")))
		}
	})
	slices.Sort(took)
	median := took[len(took)/2]
	b.ReportMetric(float64(median.Microseconds()), "median-us")
	b.ReportMetric(float64(took[len(took)*99/100])/float64(median), "p99/median")
}
