// Command fleet measures a hub as a process of its own, over PostgreSQL and PgBouncer on this machine. It prints one
// line of JSON for each measure, and fails if a request of the day failed.
//
//	fleet -hub bin/memoir-hub -day 10m      a day of containers, replayed
//	fleet -hub bin/memoir-hub -memory 1m    the hub's memory under pulls and large pushes
//	fleet -hub bin/memoir-hub -rates 5s     pulls and pushes one after the other, and what a statement takes on disk
//
// Read main.go first (what is started, and what is counted), then day.go and load.go.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"memoir/hub/hubtest"
	"memoir/team/wire"
)

// members is enough for 64 pushes at once, of which a hub takes four from a member.
const members = 20

// fleet is a hub with its database and callers.
type fleet struct {
	ctx      context.Context
	db       *hubtest.Database
	hub      *exec.Cmd
	url      string
	tokens   []string
	projects int
	mu       sync.Mutex
	took     map[string][]time.Duration // of requests, by kind
	failed   map[string]int             // by what was answered
}

func main() {
	program := flag.String("hub", "bin/memoir-hub", "the `program` of the hub")
	day := flag.Duration("day", 0, "replay a day in this time")
	containers := flag.Int("containers", 1000, "containers of the day")
	memory := flag.Duration("memory", 0, "measure the hub's memory for this time")
	sent := flag.String("sent", "both", "what is sent meanwhile: push, send (sessions) or both")
	rates := flag.Duration("rates", 0, "measure rates, for this time each")
	flag.Parse()
	debounce := max(*day/2880, 100*time.Millisecond) // 30 seconds of a day
	cluster, err := hubtest.Start(true)
	if err == nil {
		err = func() error {
			defer cluster.Stop()
			f, err := start(cluster, *program, debounce)
			if err != nil {
				return err
			}
			defer f.stop()
			if *day > 0 {
				err = errors.Join(err, f.day(*day, *containers))
			}
			if *memory > 0 {
				err = errors.Join(err, f.memory(*memory, *sent))
			}
			if *rates > 0 {
				err = errors.Join(err, f.rates(*rates))
			}
			return err
		}()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// start starts a hub as docs/hub.md says, and gives each of 40 projects a memory.
func start(cluster *hubtest.Cluster, program string, debounce time.Duration) (*fleet, error) {
	f := &fleet{ctx: context.Background(), projects: 40, took: map[string][]time.Duration{}, failed: map[string]int{}}
	var err error
	if f.db, err = cluster.NewDatabase("fleet"); err != nil {
		return nil, err
	}
	for i := range members {
		name := fmt.Sprint("member", i)
		if _, err := f.db.Admin.AddMember(f.ctx, name, wire.Writer, nil, false); err != nil {
			return nil, err
		}
		_, token, err := f.db.Admin.NewToken(f.ctx, name, 24*time.Hour)
		if err != nil {
			return nil, err
		}
		f.tokens = append(f.tokens, token)
	}
	f.hub = exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--poll-only", "--debounce", debounce.String())
	f.hub.Env = append(os.Environ(), "MEMOIR_HUB_DATABASE="+f.db.ServeURL())
	said, err := f.hub.StderrPipe()
	if err == nil {
		err = f.hub.Start()
	}
	if err != nil {
		return nil, err
	}
	if f.url, err = f.address(json.NewDecoder(said)); err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(1, 1))
	for i := range f.projects * 5 {
		f.push(i, pushOf(random, projectKey(i%f.projects), 40, 250))
	}
	return f, f.idle()
}

// address reads where the hub listens from its log, and then what it warns of.
func (f *fleet) address(log *json.Decoder) (string, error) {
	for {
		var line struct{ Level, Msg, Address, Error string }
		if err := log.Decode(&line); err != nil {
			return "", fmt.Errorf("the hub does not listen: %w", err)
		}
		if line.Msg != "listening" {
			continue
		}
		go func() {
			for log.Decode(&line) == nil {
				if line.Level != "INFO" {
					fmt.Fprintln(os.Stderr, "hub:", line.Msg, line.Error)
				}
			}
		}()
		return "http://" + line.Address, nil
	}
}

func (f *fleet) stop() {
	_ = f.hub.Process.Signal(syscall.SIGTERM)
	_ = f.hub.Wait()
	f.db.Owner.Close()
}

// idle waits until no job is left.
func (f *fleet) idle() error {
	for {
		n, err := f.db.Query(`SELECT count(*) FROM river.river_job
			WHERE state IN ('available', 'running', 'scheduled', 'retryable')`)
		if err != nil || n == 0 {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// counted are what a measure counts in the database, by name.
var counted = map[string]string{
	"statements":  `SELECT count(*) FROM memoir.statement`,
	"generations": `SELECT count(*) FROM memoir.generation`,
	"archives":    `SELECT count(*) FROM memoir.archive`,
	"transcripts": `SELECT count(*) FROM memoir.transcript`,
	"failed":      `SELECT count(*) FROM memoir.transcript WHERE state = 'failed'`,
	"jobs":        `SELECT coalesce(max(id), 0) FROM river.river_job`,
	"wal":         `SELECT (pg_current_wal_lsn() - '0/0')::bigint`,
	"bytes":       `SELECT pg_database_size(current_database())`,
	"archived":    `SELECT coalesce(sum(length(body)), 0)::bigint FROM memoir.archive`,
}

// measure runs do, and prints what it took: by how much each count grew, the processor time in milliseconds of the
// database and of the hub, the hub's peak of memory, and the median, 95th and 99th percentile of each kind of request.
// With settle, it waits until no job is left.
func (f *fleet) measure(what string, settle bool, do func()) error {
	f.took, f.failed = map[string][]time.Duration{}, map[string]int{}
	out := map[string]any{"what": what}
	before := map[string]int64{}
	for name, sql := range counted {
		n, err := f.db.Query(sql)
		if err != nil {
			return err
		}
		before[name] = n
	}
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", f.hub.Process.Pid), []byte("5"), 0) // the peak begins again
	began, database, hub := time.Now(), f.db.CPU(), f.cpu()
	do()
	out["seconds"] = time.Since(began).Seconds()
	if settle {
		if err := f.idle(); err != nil {
			return err
		}
	}
	out["database-ms"], out["hub-ms"] = (f.db.CPU() - database).Milliseconds(), (f.cpu() - hub).Milliseconds()
	out["peak-mib"] = f.peak() >> 20
	for name, sql := range counted {
		n, err := f.db.Query(sql)
		if err != nil {
			return err
		}
		out[name] = n - before[name]
	}
	for kind, took := range f.took {
		slices.Sort(took)
		at := func(percent int) float64 { return float64(took[len(took)*percent/100].Microseconds()) / 1000 }
		out[kind] = map[string]any{"n": len(took), "median-ms": at(50), "p95-ms": at(95), "p99-ms": at(99),
			"p99/median": at(99) / at(50)}
	}
	out["refused"] = f.failed
	return json.NewEncoder(os.Stdout).Encode(out)
}

// cpu returns the processor time of the hub so far.
func (f *fleet) cpu() time.Duration { return hubtest.CPU(strconv.Itoa(f.hub.Process.Pid)) }

// peak returns the most memory that the hub has had.
func (f *fleet) peak() int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.hub.Process.Pid))
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseInt(kb, 10, 64)
	return n << 10
}
