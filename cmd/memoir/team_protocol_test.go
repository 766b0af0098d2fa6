package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir/team"
	hubwire "memoir/team/wire"
)

var update = flag.Bool("update", false, "add a recording of the protocol to testdata/protocol if it has changed")

// An exchange is a request of a client with the hub's answer. What differs each time, such as a token, is a variable:
// @token1@.
type exchange struct {
	Request string            `json:"request"` // method and path
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body,omitempty"`
	Status  int               `json:"status"`
	Says    map[string]string `json:"says"` // headers of the answer
	Answer  json.RawMessage   `json:"answer,omitempty"`
	Packed  []byte            `json:"packed,omitempty"` // the answer, if it is no JSON
	Expires string            `json:"-"`                // the header of the answer
}

// recordings returns what earlier clients and hubs said to each other, the oldest first. They are never changed: the
// programs of now must speak with those of then.
func recordings(t *testing.T) (all [][]exchange) {
	t.Helper()
	paths, err := filepath.Glob("testdata/protocol/*.json")
	must(t, err)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		must(t, err)
		var one []exchange
		must(t, json.Unmarshal(content, &one))
		all = append(all, one)
	}
	return all
}

// speaks runs every command that speaks with a hub, as a new machine of Anna and as a container, and returns what the
// container is told. settle is called before the hub has to have a generation, and before those that wait for a review.
// A recording without edits was made before machines sent any; it has no accept and machines, either.
func speaks(t *testing.T, url, code, token string, edits bool, settle func()) (told string) {
	t.Helper()
	s := begun(t, "d")
	s.join(url, code)
	s.said("one", "From now on always use canary-wish for tests.", "make one", ofAnna)
	said := s.run()
	if _, text := s.memory(); !strings.Contains(text, "sort the queue") || !strings.Contains(text, "(from the team: ben)") {
		t.Errorf("nothing of Ben is received:\n%s\n%s", said, text)
	}
	s.good("forget", "one", "--yes")
	ci := scene{t: t, home: t.TempDir(), sessions: t.TempDir(), user: t.TempDir(), env: []string{"CI_TOKEN=" + token}}
	writeSession(t, ci.sessions, "/srv/gone", 3, "Check it.")
	of := []string{url, "--token-env", "CI_TOKEN", "--as", appKey}
	as := func(args ...string) {
		code, _, said := ci.memoir(args...)
		if told += said; code != exitDone {
			t.Errorf("%q: %d %s", args, code, said)
		}
	}
	for range 2 {
		as(append([]string{"team", "push", "--transcripts", ci.sessions}, of...)...)
	}
	settle()
	for range 2 {
		as(append([]string{"team", "pull", "-q"}, of...)...)
	}
	as("team", "status")
	if found, _ := filepath.Glob(filepath.Join(ci.home, "projects", "*", "memory", "MEMORY.md")); len(found) != 1 {
		t.Errorf("a container has %d memories", len(found))
	}
	at, err := team.Load(s.home)
	must(t, err)
	at.Expires = time.Now().Add(time.Hour)
	text, err := json.Marshal(at)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(s.home, "team", "hub.json"), text, 0o600))
	said = s.run()
	if !strings.Contains(s.base(), "sort the queue") {
		t.Errorf("the hub's memory is not received:\n%s\n%s", said, s.base())
	}
	if edits {
		settle()
		s.run() // its memory begins with the hub's
		editByHand(s, "sort the queue by age", "sort the queue by day")
		s.run()
		settle()
		if out := s.good("team", "accept", appKey, "--yes"); !strings.Contains(out, "+- \"sort the queue by day") {
			t.Errorf("accepted is %s", out)
		}
		var list struct{ Machines []hubwire.Machine }
		must(t, json.Unmarshal([]byte(s.good("team", "machines", "--json")), &list))
		other := slices.IndexFunc(list.Machines, func(m hubwire.Machine) bool { return !m.This })
		s.good("team", "machines", "--revoke", list.Machines[other].ID, "--yes")
	}
	s.good("team", "leave", "--yes")
	return told
}

// recorder passes requests on to a hub and keeps them with their answers.
type recorder struct {
	mu  sync.Mutex
	to  string
	all []exchange
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, _ := io.ReadAll(in.Body)
	e := exchange{Request: in.Method + " " + in.URL.RequestURI(), Body: body, Headers: map[string]string{}, Says: map[string]string{}}
	for _, name := range []string{"Authorization", "Content-Type", "If-None-Match", hubwire.VersionHeader} {
		if value := in.Header.Get(name); value != "" {
			e.Headers[name] = value
		}
	}
	content, err := e.send(r.to, "")
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	r.all = append(r.all, e)
	e.answer(w, content)
}

func (e exchange) answer(w http.ResponseWriter, content []byte) {
	for name, value := range e.Says {
		w.Header().Set(name, value)
	}
	w.Header().Set(hubwire.ExpiresHeader, e.Expires)
	w.WriteHeader(e.Status)
	_, _ = w.Write(content)
}

// send sends the request and sets the answer. version is that of the protocol; empty: as recorded.
func (e *exchange) send(to, version string) (content []byte, err error) {
	method, path, _ := strings.Cut(e.Request, " ")
	r, err := http.NewRequest(method, to+path, bytes.NewReader(e.Body))
	if err != nil {
		return nil, err
	}
	for name, value := range e.Headers {
		r.Header.Set(name, value)
	}
	if version != "" {
		r.Header.Set(hubwire.VersionHeader, version)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	e.Status, e.Says, e.Answer, e.Packed = answer.StatusCode, map[string]string{}, nil, nil
	e.Expires = answer.Header.Get(hubwire.ExpiresHeader)
	names := []string{"Content-Type", "ETag", hubwire.VersionHeader, hubwire.GenerationHeader}
	if strings.Contains(path, "waiting=true") { // else it depends on how fast workers are
		names = append(names, hubwire.WaitingHeader)
	}
	for _, name := range names {
		if value := answer.Header.Get(name); value != "" {
			e.Says[name] = value
		}
	}
	if content, err = io.ReadAll(answer.Body); json.Valid(content) {
		e.Answer = content
	} else if len(content) > 0 {
		e.Packed = content
	}
	return content, err
}

// recordedVariable matches a variable in a recording.
var recordedVariable = regexp.MustCompile(`@([a-z]+)\d+@`)

// numberOfGeneration matches what a member accepts.
var numberOfGeneration = regexp.MustCompile(`"(generation|published)":\d+`)

// withVariables replaces what differs each time by variables.
func withVariables(t *testing.T, all []exchange) (out []exchange) {
	t.Helper()
	var names []string // pairs, as for strings.NewReplacer
	count := map[string]int{}
	name := func(kind, value string) {
		if value != "" && !slices.Contains(names, value) {
			count[kind]++
			names = append(names, value, fmt.Sprintf("@%s%d@", kind, count[kind]))
		}
	}
	for _, e := range all {
		var asks hubwire.Join
		var says struct{ Token, Epoch, Expires string }
		_ = json.Unmarshal(e.Body, &asks)
		_ = json.Unmarshal(e.Answer, &says)
		name("code", asks.Code)
		name("token", strings.TrimPrefix(e.Headers["Authorization"], "Bearer "))
		name("token", says.Token)
		name("epoch", says.Epoch)
		name("expires", says.Expires)
		name("etag", strings.Trim(e.Says["ETag"], `"`))
		var machines []struct{ Seen, Expires string }
		_ = json.Unmarshal(e.Answer, &machines)
		for _, m := range machines {
			name("seen", m.Seen)
			name("expires", m.Expires)
		}
	}
	hostname, _ := os.Hostname()
	for _, field := range []string{"machine", "name"} {
		names = append(names, fmt.Sprintf(`%q:%q`, field, hostname), fmt.Sprintf(`%q:"@name1@"`, field))
	}
	text, err := json.Marshal(all) // without blanks, as filled has it
	must(t, err)
	fixed := strings.NewReplacer(names...).Replace(string(text))
	must(t, json.Unmarshal([]byte(fixed), &out))
	return out
}

// filled replaces variables by values; one without a value gets that of fresh.
func (e exchange) filled(t *testing.T, values map[string]string, fresh func(kind string) string) (out exchange) {
	t.Helper()
	text, err := json.Marshal(e)
	must(t, err)
	text = recordedVariable.ReplaceAllFunc(text, func(name []byte) []byte {
		if values[string(name)] == "" && fresh != nil {
			values[string(name)] = fresh(string(recordedVariable.FindSubmatch(name)[1]))
		}
		if value := values[string(name)]; value != "" {
			return []byte(value)
		}
		return name
	})
	must(t, json.Unmarshal(text, &out))
	return out
}

// sameOrMore fails unless JSON has what a recording has, and gives variables of the recording their values.
func sameOrMore(t *testing.T, where string, was, is any, values map[string]string) {
	t.Helper()
	switch was := was.(type) {
	case map[string]any:
		now, _ := is.(map[string]any)
		for key, value := range was {
			sameOrMore(t, where+"."+key, value, now[key], values)
		}
	case []any:
		now, _ := is.([]any)
		for i, value := range was {
			if len(now) != len(was) {
				t.Errorf("%s has %d elements, not %d", where, len(now), len(was))
				break
			}
			sameOrMore(t, where, value, now[i], values)
		}
	case string:
		if now, ok := is.(string); ok && recordedVariable.FindString(was) == was && was != "" {
			values[was] = now
		} else if was != is {
			t.Errorf("%s is %v, not %q", where, is, was)
		}
	default:
		if was != is {
			t.Errorf("%s is %v, not %v", where, is, was)
		}
	}
}

// ofLater adds a field that no program knows to an object, and to those in its list.
func ofLater(text json.RawMessage, list string) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) != nil {
		return text
	}
	object["of later"] = json.RawMessage(`{"x":[1]}`)
	var elements []json.RawMessage
	if json.Unmarshal(object[list], &elements) == nil {
		for i := range elements {
			elements[i] = ofLater(elements[i], "")
		}
		object[list], _ = json.Marshal(elements)
	}
	text, _ = json.Marshal(object)
	return text
}

// versions are those that a program meets: its own, the one before and the one after, which has fields of its own.
var versions = []string{"1", "0", "2"}

func jsonOf(t *testing.T, text json.RawMessage) (v any) {
	t.Helper()
	if len(text) > 0 {
		must(t, json.Unmarshal(text, &v))
	}
	return v
}

// What clients of earlier releases send, and of the next one, is answered as it was.
func TestTheHubAnswersClientsOfOtherReleases(t *testing.T) {
	t.Parallel()
	for n, recording := range recordings(t) {
		for _, version := range versions {
			h, values, numbers := newTeamHub(t), map[string]string{}, map[int64]int64{} // of generations
			h.b.said("two", "Hello.", "make two", ofBen)
			h.b.run()
			code, container := h.protocolCodes()
			for i, was := range recording {
				method, path, _ := strings.Cut(was.Request, " ")
				if path == "/v1/sessions" && values[strings.TrimPrefix(was.Headers["Authorization"], "Bearer ")] == "" {
					values[strings.TrimPrefix(was.Headers["Authorization"], "Bearer ")] = container
				}
				if path == "/v1/edits" || strings.Contains(path, "waiting=true") ||
					strings.HasPrefix(path, "/v1/archive") && was.Status == http.StatusOK && !h.works {
					h.settle()
				}
				now := exchange{Request: was.Request, Headers: was.Headers, Body: was.Body}.filled(t, values, func(kind string) string {
					hostname, _ := os.Hostname()
					return map[string]string{"code": code, "name": hostname,
						"token": strings.ToUpper(strings.Repeat("ab2", 9)[:26])}[kind]
				})
				wanted := was.filled(t, values, nil)
				if path == "/v1/accept" {
					body := jsonOf(t, now.Body).(map[string]any) // with the names that the client of then has
					for _, of := range []string{"generation", "published"} {
						body[of] = numbers[int64(body[of].(float64))]
					}
					text, err := json.Marshal(body)
					must(t, err)
					now.Body = text
				}
				if version == "2" {
					now.Body = ofLater(now.Body, "statements")
				}
				_, err := now.send(h.url, version)
				must(t, err)
				where := fmt.Sprintf("recording %d, version %s, %d: %s %s", n+1, version, i, method, path)
				if now.Status != was.Status {
					t.Errorf("%s: %d %s, not %d", where, now.Status, now.Answer, was.Status)
				}
				sameOrMore(t, where, jsonOf(t, wanted.Answer), jsonOf(t, now.Answer), values)
				for name, value := range wanted.Says {
					if name == "ETag" {
						values[strings.Trim(was.Says[name], `"`)] = strings.Trim(now.Says[name], `"`)
						continue
					}
					if name == hubwire.GenerationHeader || name == hubwire.WaitingHeader { // workers may join two
						n, _ := strconv.ParseInt(value, 10, 64)
						if numbers[n], err = strconv.ParseInt(now.Says[name], 10, 64); err == nil && numbers[n] > 0 {
							continue
						}
					}
					if now.Says[name] != value {
						t.Errorf("%s: %s is %q, not %q", where, name, now.Says[name], value)
					}
				}
			}
		}
	}
}

// protocolCodes returns a code for another machine of Anna, and the token of a container.
func (h *teamHub) protocolCodes() (code, token string) {
	h.t.Helper()
	code, err := h.Admin.NewCode(h.t.Context(), "anna")
	must(h.t, err)
	_, err = h.Admin.AddMember(h.t.Context(), "ci", hubwire.Writer, nil, false)
	must(h.t, err)
	_, token, err = h.Admin.NewToken(h.t.Context(), "ci", time.Hour)
	must(h.t, err)
	return code, token
}

// What hubs of earlier releases answered, and of the next one, is understood.
func TestClientsUnderstandHubsOfOtherReleases(t *testing.T) {
	t.Parallel()
	for n, recording := range recordings(t) {
		for _, version := range versions {
			left, values := map[string][]exchange{}, map[string]string{}
			var mu sync.Mutex
			for _, e := range recording {
				if e.Packed != nil {
					values[strings.Trim(e.Says["ETag"], `"`)] = fmt.Sprintf("%x", sha256.Sum256(e.Packed))
				}
				route, _, _ := strings.Cut(e.Request, "?")
				left[route] = append(left[route], e.filled(t, values, func(kind string) string {
					if kind != "expires" && kind != "seen" {
						return "" // any text will do
					}
					return time.Now().Add(90 * 24 * time.Hour).Format(time.RFC3339)
				}))
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				route := r.Method + " " + r.URL.Path
				if len(left[route]) == 0 {
					w.WriteHeader(http.StatusTeapot)
					t.Errorf("recording %d, version %s: %s is asked more often", n+1, version, route)
					return
				}
				e := left[route][0]
				left[route] = left[route][1:]
				content := slices.Concat(e.Packed, e.Answer)
				if version == "2" && e.Packed == nil {
					content = ofLater(withKindOfLater(t, route, content), "items")
				}
				e.Says[hubwire.VersionHeader] = version
				e.answer(w, content)
			}))
			t.Cleanup(server.Close)
			edits := len(left["POST /v1/edits"]) > 0
			if told := speaks(t, server.URL, "any-code", "any-token", edits, func() {}); strings.Contains(told, "valid until") {
				t.Errorf("recording %d, version %s: nobody says when the token ends: %s", n+1, version, told)
			}
			for route, all := range left {
				if len(all) > 0 {
					t.Errorf("recording %d, version %s: %s is asked %d times less", n+1, version, route, len(all))
				}
			}
		}
	}
}

// withKindOfLater adds to a page a statement of a kind that this program does not know.
func withKindOfLater(t *testing.T, route string, content json.RawMessage) json.RawMessage {
	t.Helper()
	var page map[string]json.RawMessage
	if route != "GET /v1/pull" || json.Unmarshal(content, &page) != nil {
		return content
	}
	var items []json.RawMessage
	must(t, json.Unmarshal(page["items"], &items))
	item, err := json.Marshal(hubwire.Change{Member: "ben", Statement: statement(`{"kind":"Weather","text":"intruder"}`, "2026-05-01")})
	must(t, err)
	page["items"], err = json.Marshal(append(items, item))
	must(t, err)
	content, err = json.Marshal(page)
	must(t, err)
	return content
}

// The newest recording has what the programs of now say. If the protocol changes, -update adds one.
func TestTheProtocolIsRecorded(t *testing.T) {
	t.Parallel()
	h := newTeamHub(t)
	h.b.said("two", "Hello.", "make two", ofBen)
	h.b.run()
	r := &recorder{to: h.url}
	front := httptest.NewServer(r)
	t.Cleanup(front.Close)
	code, token := h.protocolCodes()
	told := speaks(t, front.URL, code, token, true, h.settle)
	if n := strings.Count(told, "warning: the token for "+front.URL+" ends at the latest on "); n != 5 {
		t.Errorf("a container is told %d times that its token ends soon: %s", n, told)
	}
	now, all := withVariables(t, r.all), recordings(t)
	routes := map[string]bool{}
	for _, e := range now {
		route, _, _ := strings.Cut(e.Request, "?")
		routes[route] = true
	}
	if len(routes) != 12 {
		t.Errorf("recorded are %q", slices.Sorted(maps.Keys(routes)))
	}
	comparable := func(recording []exchange) (out []exchange) {
		var today []string // an edit's day and, made of it, its hash
		for _, e := range recording {
			var push hubwire.Push
			_ = json.Unmarshal(e.Body, &push)
			for _, edit := range push.Edits {
				today = append(today, edit.Day, "today", edit.Hash, "hash of today")
			}
			e.Packed = nil // another version of the compression has other bytes
			e.Body = json.RawMessage(strings.NewReplacer(today...).Replace(string(e.Body)))
			e = e.filled(t, nil, nil)
			e.Body = numberOfGeneration.ReplaceAll(e.Body, []byte(`"$1":0`)) // workers may join two
			for _, name := range []string{hubwire.GenerationHeader, hubwire.WaitingHeader} {
				if e.Says[name] != "" {
					e.Says[name] = "0"
				}
			}
			out = append(out, e)
		}
		return out
	}
	var last []exchange
	if len(all) > 0 {
		last = all[len(all)-1]
	}
	diff := cmp.Diff(comparable(last), comparable(now))
	switch {
	case diff != "" && *update:
		text, err := json.MarshalIndent(now, "", " ")
		must(t, err)
		put(t, fmt.Sprintf("testdata/protocol/%03d.json", len(all)+1), string(text)+"\n")
	case diff != "":
		t.Errorf("the protocol has changed: -update adds a recording\n%s", diff)
	}
}
