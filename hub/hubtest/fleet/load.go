package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// memory prints the hub's peak of memory under 1,000 pulls a minute beside 64 pushes of 4 MB at once: of statements, of
// sessions, or of both. A push that is refused since others are under way is sent again, as machines do.
func (f *fleet) memory(lasts time.Duration, kind string) error {
	random := rand.New(rand.NewPCG(4, 4))
	var bodies [][]byte
	var each []func(int, []byte) int
	for i := range 64 {
		if kind == "send" || kind == "both" && i%2 == 0 {
			bodies, each = append(bodies, transcript(random, projectKey(100+i), 3_700_000)), append(each, f.send)
		} else {
			bodies, each = append(bodies, pushOf(random, projectKey(100+i), 500, 7_700)), append(each, f.push)
		}
	}
	return f.measure(fmt.Sprintf("memory: %s, of %d bytes", kind, len(bodies[0])), false, func() {
		f.beside(lasts, func() {
			var all sync.WaitGroup
			for i, body := range bodies {
				all.Go(func() {
					for each[i](i, body) == http.StatusServiceUnavailable {
						time.Sleep(5 * time.Second) // as Retry-After says
					}
				})
			}
			all.Wait()
		})
	})
}

// beside runs do beside 1,000 pulls a minute, and these at least for a time.
func (f *fleet) beside(lasts time.Duration, do func()) {
	var all sync.WaitGroup
	var done atomic.Bool
	all.Go(func() {
		do()
		done.Store(true)
	})
	began := time.Now()
	for i := 0; !done.Load() || time.Since(began) < lasts; i++ {
		time.Sleep(time.Until(began.Add(time.Duration(i) * 60 * time.Millisecond)))
		all.Go(func() { f.pull(i, projectKey(i%f.projects), "") })
	}
	all.Wait()
}

// rates prints how many requests of a kind 64 callers get answered, without a pause, and what each takes.
func (f *fleet) rates(lasts time.Duration) error {
	tags := make([]string, f.projects)
	for i := range tags {
		tags[i] = f.pull(i, projectKey(i), "")
	}
	random := rand.New(rand.NewPCG(5, 5))
	bodies := make(chan []byte, 20_000)
	for i := range cap(bodies) {
		bodies <- pushOf(random, projectKey(i%f.projects), 10, 250)
	}
	for _, kind := range []struct {
		name string
		do   func(i int)
	}{
		{"archives", func(i int) { f.pull(i, projectKey(i%f.projects), "") }},
		{"unchanged archives", func(i int) { f.pull(i, projectKey(i%f.projects), tags[i%f.projects]) }},
		{"pushes of 10 statements", func(i int) { f.push(i, <-bodies) }},
	} {
		var n atomic.Int64
		err := f.measure("rates: "+kind.name, true, func() {
			began := time.Now()
			var all sync.WaitGroup
			for range 32 {
				all.Go(func() {
					for time.Since(began) < lasts {
						kind.do(int(n.Add(1)))
					}
				})
			}
			all.Wait()
		})
		if err != nil {
			return err
		}
	}
	return f.sizes()
}

// sizes prints what a statement takes on disk once there are a million, with its indexes: the statements of the
// database, again and again under other hashes.
func (f *fleet) sizes() error {
	err := f.db.Exec(f.db.Name, `WITH have AS (SELECT *, row_number() OVER () AS n, count(*) OVER () AS all_of
			FROM memoir.statement)
		INSERT INTO memoir.statement SELECT organisation, project, member, sha256(hash || i::text::bytea),
			1000000 * i + n, session, own, day, body FROM have, generate_series(1, 1000000 / all_of) i;
		ANALYZE`)
	for _, sql := range []string{`SELECT count(*) FROM memoir.statement`,
		`SELECT pg_total_relation_size('memoir.statement')`, `SELECT pg_indexes_size('memoir.statement')`,
		`SELECT sum(length(body::text)) FROM memoir.statement`} {
		var n int64
		if err == nil {
			n, err = f.db.Query(sql)
			fmt.Println(sql, n)
		}
	}
	return err
}
