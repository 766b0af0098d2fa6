package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"memoir"
	"memoir/team/wire"
)

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}, Timeout: 5 * time.Minute}

// request sends a request, and notes how long the answer took. Unless it is wanted, its status is noted as a failure.
func (f *fleet) request(kind, method, path, token, tag string, body []byte) (status int, etag string) {
	r, err := http.NewRequest(method, f.url+path, bytes.NewReader(body))
	if err != nil {
		panic(err) // of our own address
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if tag != "" {
		r.Header.Set("If-None-Match", tag)
	}
	began := time.Now()
	answer, err := client.Do(r)
	said := ""
	if err == nil {
		var text []byte
		text, err = io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		status, etag = answer.StatusCode, answer.Header.Get("ETag")
		if status >= 400 {
			said = fmt.Sprint(kind, " ", status, " ", string(text))
		}
	}
	if err != nil {
		said = kind + " " + err.Error()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if said != "" {
		f.failed[said]++
		return status, etag
	}
	if status == http.StatusNotModified {
		kind += " unchanged"
	}
	f.took[kind] = append(f.took[kind], time.Since(began))
	return status, etag
}

func (f *fleet) pull(i int, project, tag string) (etag string) {
	_, etag = f.request("pull", "GET", "/v1/archive?project="+url.QueryEscape(project), f.tokens[i%members], tag, nil)
	return etag
}

func (f *fleet) push(i int, body []byte) int {
	status, _ := f.request("push", "POST", "/v1/push", f.tokens[i%members], "", body)
	return status
}

func (f *fleet) send(i int, body []byte) int {
	status, _ := f.request("send", "POST", "/v1/sessions", f.tokens[i%members], "", body)
	return status
}

// day replays a day of containers. Two thirds come in the middle third of it. Each pulls the memory of its project, and
// lives for some minutes of the day; every third asks again before it ends, and every fourth sends its session.
func (f *fleet) day(lasts time.Duration, containers int) error {
	random := rand.New(rand.NewPCG(2, 2))
	minute := lasts / (24 * 60)
	err := f.measure(fmt.Sprintf("a day of %d containers in %s", containers, lasts), true, func() {
		began := time.Now()
		var all sync.WaitGroup
		for i := range containers {
			at := time.Duration(random.Float64() * float64(lasts))
			if random.IntN(3) > 0 {
				at = lasts/3 + at/3
			}
			at, life := min(at, lasts*98/100), minute*time.Duration(3+random.IntN(40))
			project, size := projectKey(random.IntN(f.projects)), 50_000<<random.IntN(6)
			all.Go(func() {
				time.Sleep(time.Until(began.Add(at)))
				tag := f.pull(i, project, "")
				time.Sleep(life)
				if i%3 == 0 {
					f.pull(i, project, tag)
				}
				if i%4 == 0 {
					f.send(i, transcript(rand.New(rand.NewPCG(3, uint64(i))), project, size))
				}
			})
		}
		all.Wait()
	})
	if err == nil && len(f.failed) > 0 {
		err = fmt.Errorf("requests failed: %v", f.failed)
	}
	return err
}

func projectKey(i int) string { return fmt.Sprint("github.com/acme/project", i) }

var words = strings.Fields(`the parser reads a token of each file before its lock is taken so tests which start two
	servers wait for the port and fail under load unless cache home and queue are set go build make lint deploy release
	branch index store table column migration retry timeout signal worker session memory page cursor header archive`)

func prose(random *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(words[random.IntN(len(words))])
		b.WriteByte(cmp.Or(map[int]byte{0: '\n', 1: '.'}[random.IntN(15)], ' '))
	}
	return b.String()
}

// pushOf returns a push of n statements with texts of a size.
func pushOf(random *rand.Rand, project string, n, size int) []byte {
	p := wire.Push{Project: project}
	for range n {
		body, _ := json.Marshal(map[string]string{"kind": "Findings", "signal": "model", "by": "agent",
			"text": fmt.Sprintf("Run %d: %s", random.Int64(), strings.ReplaceAll(prose(random, size), "\n", " "))})
		s := wire.Statement{Session: wire.SessionHash(fmt.Sprint("codex:", random.Int64()), ""), Day: "2026-11-28", Body: body}
		s.Hash = wire.Of(s.Session, s.Own, s.Day, s.Body)
		p.Statements = append(p.Statements, s)
	}
	text, _ := json.Marshal(p) // of plain fields
	return text
}

// transcript returns a session of about size bytes: an agent that looks at files, breaks a test and mends it.
func transcript(random *rand.Rand, project string, size int) []byte {
	var items []memoir.Item
	var total int
	at := time.Now().Add(-time.Hour)
	add := func(it memoir.Item) {
		it.N, it.At, it.CWD = len(items)+1, at.Add(time.Duration(len(items))*time.Second), "."
		items, total = append(items, it), total+len(it.Text)+len(it.Input)+len(it.Output)
	}
	call := func(input string, exit, size int) {
		add(memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "Bash", Input: input,
			Output: prose(random, size), Exit: &exit, Failed: exit != 0})
	}
	for total < size {
		name := fmt.Sprintf("part%d", random.IntN(1000))
		add(memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped,
			Text: "Please mend " + name + ": " + prose(random, 100)})
		for range 8 {
			call("sed -n 1,200p internal/"+name+"/"+words[random.IntN(len(words))]+".go", 0, 1000+random.IntN(6000))
		}
		call("go test ./internal/"+name, 1, 2000)
		call("CACHE="+name+" go test -tags "+name+" ./internal/"+name, 0, 200)
		add(memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Final: true,
			Text: "The tests of " + name + " pass only with the tag " + name + ". " + prose(random, 400)})
	}
	text, _ := json.Marshal(items)
	out, _ := json.Marshal(wire.Transcript{Project: project, Source: memoir.SourceClaude, Ended: time.Now(), Items: text,
		Session: wire.SessionHash(fmt.Sprint("claude:", random.Int64()), "")})
	return out
}
