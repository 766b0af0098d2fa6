package hub_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/hub"
	"memoir/hub/hubtest"
	"memoir/memory"
	"memoir/team/wire"
)

// serveVariable makes the test binary a hub; listenVariable says where. Without an address it is a worker.
const serveVariable, listenVariable = "MEMOIR_TEST_HUB", "MEMOIR_TEST_LISTEN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(homeVariable); dir != "" {
		if err := liveIn(context.Background(), dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if database := os.Getenv(serveVariable); database != "" {
		h, err := hub.Open(context.Background(), hub.Options{Database: database})
		work := hub.WorkOptions{Workers: 1, PollOnly: true, Timeout: 10 * time.Second, RescueAfter: 31 * time.Second}
		if listen := os.Getenv(listenVariable); err == nil && listen == "" {
			work.Workers = 2
			fmt.Println("ready")
			err = h.Work(context.Background(), work)
		} else if err == nil {
			err = h.Serve(context.Background(), hub.ServeOptions{
				Listen: listen, Ready: func(string) { fmt.Println("ready") }, Work: work})
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	hubtest.Main(m)
}

// torture is a cluster whose PostgreSQL, hubs (the first two, with a worker in each), workers and homes are killed while
// machines push and pull.
type torture struct {
	*hubtest.Database
	t         *testing.T
	hubs      [3]*exec.Cmd
	addresses [2]string
	repair    sync.RWMutex // held while something that was killed is started again
	pushes    atomic.Int64
	left      atomic.Int64
	homes     [tortureMachines]*home
	kills     int
}

// TestWhatIsKilledLosesNothing kills hubs, workers, homes and PostgreSQL while machines push and pull.
// MEMOIR_TORTURE_KILLS is how often.
func TestWhatIsKilledLosesNothing(t *testing.T) {
	cluster, err := hubtest.Start(true)
	if err == hubtest.ErrMissing {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	d, err := cluster.NewDatabase("torture")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Owner.Close)
	x := &torture{Database: d, t: t, kills: 10}
	if said := os.Getenv("MEMOIR_TORTURE_KILLS"); said != "" {
		if x.kills, err = strconv.Atoi(said); err != nil {
			t.Fatal(err)
		}
	}
	for i := range x.addresses {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		x.addresses[i] = l.Addr().String()
		_ = l.Close()
	}
	for i := range x.hubs {
		x.start(i)
	}
	t.Cleanup(func() {
		for _, h := range x.hubs {
			_ = h.Process.Kill()
			_ = h.Wait()
		}
	})
	x.run()
}

// Each of the machines pushes at least batches of 25 statements; with 200 kills, all push 20,000.
const tortureMachines, tortureProjects = 8, 40

// run lets machines push until all is killed often enough, and compares what they pushed with what each pulled.
func (x *torture) run() {
	machines := make([]*pusher, tortureMachines)
	for i := range machines {
		name := fmt.Sprint("member", i)
		code := x.Member(x.t, name, wire.Writer)
		machines[i] = &pusher{torture: x, name: name, token: join(x.t, "http://"+x.addresses[0], code).token,
			random: rand.New(rand.NewPCG(uint64(i), 7)), live: map[string]map[string]bool{}, texts: map[string]string{}, seen: map[string]*view{}}
	}
	ctx, done := context.WithCancel(x.t.Context())
	var all sync.WaitGroup
	for _, m := range machines {
		all.Go(func() {
			// A machine works until the last kill, and until it has its part of the statements.
			n := 0
			for ; ctx.Err() == nil || n < x.kills/2; n++ {
				if n%10 == 5 {
					m.leave()
				}
				m.pushSome(n, project(m.random.IntN(tortureProjects)))
				m.pullSome(project(m.random.IntN(tortureProjects)))
			}
			for range 3 { // all at once, during consolidations and just after
				n++
				m.pushSome(n, project(0))
			}
		})
	}
	for i := range x.homes {
		x.homes[i] = x.newHome(i)
		all.Go(func() { x.homes[i].work(ctx) })
	}
	random := rand.New(rand.NewPCG(1, 1))
	for n := range x.kills {
		for at := x.pushes.Load() + random.Int64N(20); x.pushes.Load() < at && !x.t.Failed(); {
			time.Sleep(time.Millisecond) // to a random moment of the work
		}
		if n%5 < 4 {
			x.kill(n % 5)
			continue
		}
		for _, h := range x.homes { // each at a moment of its own, beside the next kills
			all.Go(func() { h.step(true, false) })
		}
	}
	done()
	all.Wait()
	for _, h := range x.homes {
		h.end()
	}

	total := 0
	for p := range tortureProjects {
		want := map[string]bool{}
		for _, m := range machines {
			for hash, live := range m.live[project(p)] {
				want[m.name+" "+hash] = live
				total++
			}
		}
		for _, m := range append(machines, &pusher{torture: x, token: machines[0].token, seen: map[string]*view{}}) {
			m.pullSome(project(p)) // the last one from the start
			m.seen[project(p)].compare(x.t, want)
		}
	}
	x.t.Logf("%d statements, %d pushes, %d kills, %d times left", total, x.pushes.Load(), x.kills, x.left.Load())
	x.compareGenerations(machines)
	x.compareHomes(machines)
}

// wanted returns what members have said of a project and not withdrawn: each once.
func (x *torture) wanted(key string, machines []*pusher) map[string]int {
	want := map[string]int{}
	for _, m := range machines {
		for hash, live := range m.live[key] {
			if live {
				want[m.name+": "+m.texts[hash]] = 1
			}
		}
	}
	for _, h := range x.homes {
		for _, text := range h.said[key] {
			want[h.name+": "+text]++
		}
	}
	return want
}

// compareGenerations waits until workers have caught up, and compares the newest generation of each project with what
// is live there. A generation's row has number = parent + 1 and is unique.
func (x *torture) compareGenerations(machines []*pusher) {
	x.Idle(x.t)
	// A repeated push takes numbers that no change has.
	if n := x.Number(x.t, `SELECT count(*) FROM memoir.project p WHERE consumed < greatest(
			(SELECT max(s.seq) FROM memoir.statement s WHERE s.project = p.id),
			(SELECT max(t.seq) FROM memoir.tombstone t WHERE t.project = p.id))
		OR (SELECT count(*) FROM memoir.generation g WHERE g.project = p.id) IS DISTINCT FROM
			(SELECT coalesce(max(number), 0) FROM memoir.generation g WHERE g.project = p.id)`); n > 0 {
		jobs, err := x.Admin.Jobs(x.t.Context())
		x.t.Errorf("%d projects are not consolidated, or their generations have a gap: %v, %v", n, jobs.Rows, err)
	}
	for p := range tortureProjects {
		f := machine{t: x.t, url: "http://" + x.addresses[0], token: machines[0].token}.fetch(project(p), "")
		all, err := memory.DecodeStatements([]byte(f.sessions)) // of a project without a push, none
		if err != nil {
			x.t.Error(err)
		}
		got := map[string]int{}
		for _, e := range all {
			for _, st := range e.Statements {
				got[memoir.MemberOf(e.SessionKey)+": "+st.Text]++
			}
		}
		if diff := cmp.Diff(x.wanted(project(p), machines), got); diff != "" {
			x.t.Errorf("the newest generation of %s: %s", project(p), diff)
		}
	}
	x.t.Logf("%d generations", x.Number(x.t, "SELECT count(*) FROM memoir.generation"))
}

func project(n int) string { return fmt.Sprint("github.com/acme/p", n) }

// start starts a hub and waits until it answers. It ends at once while PgBouncer still refuses, as PostgreSQL was down,
// and is started again then, as systemd does.
func (x *torture) start(i int) {
	for try := range 1000 {
		h := exec.Command(os.Args[0])
		h.Env = append(os.Environ(), serveVariable+"="+x.ServeURL())
		if i < len(x.addresses) {
			h.Env = append(h.Env, listenVariable+"="+x.addresses[i])
		}
		out, err := h.StdoutPipe()
		if err == nil {
			err = h.Start()
		}
		if err != nil {
			x.t.Error(err)
			return
		}
		x.hubs[i] = h
		if line, _ := bufio.NewReader(out).ReadString('\n'); line == "ready\n" {
			return
		}
		if err := h.Wait(); try == 999 {
			x.t.Error("a hub does not start: ", err)
		}
	}
}

// kill kills a hub, a worker, or PostgreSQL if what is 3, and starts it again.
func (x *torture) kill(what int) {
	if what < len(x.hubs) {
		_ = x.hubs[what].Process.Kill()
		x.repair.Lock()
		defer x.repair.Unlock()
		_ = x.hubs[what].Wait()
		x.start(what)
		return
	}
	if err := x.Crash(); err != nil {
		x.t.Error(err)
	}
	x.repair.Lock()
	defer x.repair.Unlock()
	if err := x.Restart(); err != nil {
		x.t.Error(err)
	}
}

// pusher is a machine with what it has pushed and what it has pulled.
type pusher struct {
	*torture
	name, token string
	random      *rand.Rand
	live        map[string]map[string]bool // project, hash: pushed, or withdrawn again
	texts       map[string]string          // by hash
	seen        map[string]*view
}

// view is what a machine knows of a project from following its cursor.
type view struct {
	cursor wire.Cursor
	live   map[string]bool
	twice  []string
}

func (v *view) compare(t *testing.T, want map[string]bool) {
	t.Helper()
	if len(v.twice) > 0 {
		t.Errorf("pulled twice: %v", v.twice)
	}
	for item, live := range want {
		if got := v.live[item]; got != live {
			t.Errorf("%s: live %t, pulled %t", item, live, got)
		}
	}
	for item := range v.live {
		if _, known := want[item]; !known && !strings.HasPrefix(item, "home") {
			t.Errorf("%s was never pushed", item)
		}
	}
}

// pushSome pushes 25 statements, withdraws some of the project, and pushes some again as after an answer that was lost.
func (p *pusher) pushSome(n int, key string) {
	if p.live[key] == nil {
		p.live[key] = map[string]bool{}
	}
	push := wire.Push{Project: key}
	for i := range 25 {
		text := fmt.Sprintf("%s says %d of push %d", p.name, i, n)
		s := finding(text)
		push.Statements, p.texts[s.Hash] = append(push.Statements, s), text
	}
	for hash := range p.live[key] {
		if p.random.IntN(50) == 0 {
			push.Tombstones = append(push.Tombstones, hash)
		}
	}
	body, _ := json.Marshal(push)
	p.try("POST", "/v1/push", body, nil)
	if p.random.IntN(4) == 0 {
		p.try("POST", "/v1/push", body, nil)
	}
	p.pushes.Add(1)
	for _, s := range push.Statements {
		p.live[key][s.Hash] = true
	}
	for _, hash := range push.Tombstones {
		p.live[key][hash] = false
	}
}

// leave withdraws all that the machine pushed, gives up its token, and joins again.
func (p *pusher) leave() {
	for key, live := range p.live {
		hashes := slices.Sorted(maps.Keys(live))
		for some := range slices.Chunk(hashes, wire.MaxItems) {
			body, _ := json.Marshal(wire.Push{Project: key, Tombstones: some})
			p.try("POST", "/v1/push", body, nil)
		}
		for _, hash := range hashes {
			live[hash] = false
		}
	}
	p.try("DELETE", "/v1/me", nil, nil)
	p.left.Add(1)
	for p.token = ""; p.token == "" && !p.t.Failed(); { // a code whose answer was lost is used
		if code, err := p.Admin.NewCode(p.t.Context(), p.name); err == nil {
			var joined wire.Joined
			body, _ := json.Marshal(wire.Join{Code: code, Machine: "m"})
			p.try("POST", "/v1/join", body, &joined)
			p.token = joined.Token
		}
	}
}

// pullSome follows the cursor of a project to its end.
func (p *pusher) pullSome(key string) {
	v := p.seen[key]
	if v == nil {
		v = &view{live: map[string]bool{}}
		p.seen[key] = v
	}
	for more := true; more && !p.t.Failed(); {
		var page wire.Page
		p.try("GET", pullPath(key, v.cursor, 100), nil, &page)
		for _, c := range page.Items {
			item := c.Member + " " + c.Hash
			if _, known := v.live[item]; known && !c.Gone {
				v.twice = append(v.twice, item)
			}
			v.live[item] = !c.Gone
		}
		v.cursor, more = page.Cursor, page.More
	}
}

// try sends a request to one of the hubs until one answers it. What was done before its answer was lost is refused.
func (p *pusher) try(method, path string, body []byte, out any) {
	for p.t.Context().Err() == nil && !p.t.Failed() {
		p.repair.RLock() // what was killed is started again
		address := p.addresses[rand.IntN(len(p.addresses))]
		p.repair.RUnlock()
		r, _ := http.NewRequest(method, "http://"+address+path, bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+p.token)
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			var text bytes.Buffer
			_, err = text.ReadFrom(answer.Body)
			_ = answer.Body.Close()
			done := answer.StatusCode < 300 || answer.StatusCode == http.StatusUnauthorized && (path == "/v1/me" || path == "/v1/join")
			if err == nil && done && (out == nil || json.Unmarshal(text.Bytes(), out) == nil) {
				return
			}
			if err == nil && answer.StatusCode != http.StatusServiceUnavailable {
				p.t.Errorf("%s: %d %s", path, answer.StatusCode, text.String())
			}
		}
	}
}
