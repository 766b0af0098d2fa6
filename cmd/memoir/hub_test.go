package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	hub "memoir/team/wire"
)

// A fakeHub keeps what is pushed in memory. A code or token is the name of a member with a suffix.
type fakeHub struct {
	*httptest.Server
	mu      sync.Mutex
	epoch   string
	changes map[string][]hub.Change // by project, in order
	revoked map[string]bool         // tokens
	rotated map[string]string       // by new tokens, whose they are; by old ones, empty
	archive map[string][]byte       // by project; see generation
	all     strings.Builder         // every byte that it got
	length  int                     // of a page, short, so that there are several
	number  int                     // of the last one
	// before answers instead of the hub if it returns true; may be nil.
	before func(w http.ResponseWriter, r *http.Request) bool
	// after is called when a request was carried out: true loses the answer; may be nil.
	after func(r *http.Request) bool
}

func newFakeHub() *fakeHub {
	h := &fakeHub{epoch: "e1", length: 3, changes: map[string][]hub.Change{}, revoked: map[string]bool{},
		rotated: map[string]string{}, archive: map[string][]byte{}}
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	return h
}

func startHub(t testing.TB) *fakeHub {
	h := newFakeHub()
	t.Cleanup(h.Close)
	return h
}

func (h *fakeHub) serve(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.before != nil && h.before(w, r) {
		return
	}
	w.Header().Set(hub.VersionHeader, "1")
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	member, _, _ := strings.Cut(token, "-")
	of, rotated := h.rotated[token]
	member = cmp.Or(of, member)
	problem := func(status int, p hub.Problem) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(p)
	}
	fmt.Fprintf(&h.all, "%s\n", r.URL)
	var out any
	switch route := r.Method + " " + r.URL.Path; {
	case route == "POST /v1/join":
		var j hub.Join
		h.read(r, &j)
		if member, _, _ = strings.Cut(j.Code, "-"); h.revoked[j.Code] {
			problem(401, hub.Problem{Title: "this code is used", Code: hub.CodeUnauthorised})
			return
		}
		h.revoked[j.Code] = true
		out = h.joined(member, j.Code+"-token")
	case h.revoked[token]:
		problem(401, hub.Problem{Title: "this machine's token is revoked", Code: hub.CodeRevoked})
		return
	case rotated && of == "":
		problem(401, hub.Problem{Title: "this token is unknown", Code: hub.CodeUnauthorised})
		return
	case route == "POST /v1/rotate":
		var next hub.Rotate
		h.read(r, &next)
		h.rotated[token], h.rotated[next.Token] = "", member
		out = h.joined(member, next.Token)
	case route == "POST /v1/sessions":
		var t hub.Transcript
		if h.read(r, &t); t.Check() != nil {
			problem(400, hub.Problem{Title: t.Check().Error(), Code: hub.CodeUsage})
			return
		}
		out = hub.Accepted{New: !h.revoked[t.Hash()]}
		h.revoked[t.Hash()] = true
	case route == "GET /v1/me":
		out = h.joined(member, "")
	case r.Method == "DELETE":
		h.revoked[token] = true
		w.WriteHeader(204)
		return
	case route == "POST /v1/push":
		var p hub.Push
		h.read(r, &p)
		if err := p.Check(); err != nil {
			problem(400, hub.Problem{Title: err.Error(), Code: hub.CodeUsage})
			return
		}
		if p.Project == "read-only" {
			problem(403, hub.Problem{Title: "you may not push", Code: hub.CodeForbidden})
			return
		}
		for _, s := range p.Statements {
			if strings.Contains(string(s.Body), "hub-secret") {
				problem(422, hub.Problem{Title: "a secret", Code: hub.CodeSecret, Rule: "some-rule", Hash: s.Hash})
				return
			}
		}
		done := hub.Pushed{Epoch: h.epoch, New: h.store(member, p)}
		for _, s := range p.Statements {
			for _, c := range h.changes[p.Project] {
				if c.Gone && c.Member == member && c.Hash == s.Hash {
					done.Withdrawn = append(done.Withdrawn, s.Hash)
				}
			}
		}
		out = done
	case route == "GET /v1/pull":
		out = h.page(member, r)
	case route == "GET /v1/archive":
		content := h.archive[r.URL.Query().Get("project")]
		tag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(content)))
		w.Header().Set("ETag", tag)
		w.Header().Set(hub.GenerationHeader, strconv.Itoa(h.number))
		switch {
		case content == nil:
			problem(404, hub.Problem{Title: "no generation", Code: hub.CodeNotFound})
		case r.Header.Get("If-None-Match") == tag:
			w.WriteHeader(304)
			h.all.WriteString("not modified\n")
		default:
			_, _ = w.Write(content)
		}
		return
	}
	if h.after != nil && h.after(r) {
		panic(http.ErrAbortHandler)
	}
	_ = json.NewEncoder(w).Encode(out)
}

func (h *fakeHub) read(r *http.Request, into any) {
	text := new(strings.Builder)
	buffer := make([]byte, 1<<16)
	for {
		n, err := r.Body.Read(buffer)
		text.Write(buffer[:n])
		if err != nil {
			break
		}
	}
	h.all.WriteString(text.String() + "\n")
	_ = json.Unmarshal([]byte(text.String()), into)
}

func (h *fakeHub) joined(member, token string) hub.Joined {
	return hub.Joined{Token: token, Expires: time.Now().Add(90 * 24 * time.Hour), Organisation: "acme", Member: member,
		Machine: "machine-" + token, Epoch: h.epoch}
}

// store keeps what is new of a push.
func (h *fakeHub) store(member string, p hub.Push) (news int) {
	has := func(hash string, gone bool) bool {
		return slices.ContainsFunc(h.changes[p.Project], func(c hub.Change) bool {
			return c.Member == member && c.Hash == hash && (c.Gone || !gone)
		})
	}
	add := func(c hub.Change) {
		h.changes[p.Project] = append(h.changes[p.Project], c)
		news++
	}
	for _, hash := range p.Tombstones {
		if has(hash, true) {
			continue
		}
		for i, c := range h.changes[p.Project] {
			if c.Member == member && c.Hash == hash {
				h.changes[p.Project][i] = hub.Change{} // its number stays
			}
		}
		add(hub.Change{Member: member, Gone: true, Statement: hub.Statement{Hash: hash}})
	}
	for _, s := range p.Statements {
		if !has(s.Hash, false) {
			add(hub.Change{Member: member, Statement: s})
		}
	}
	return news
}

func (h *fakeHub) page(member string, r *http.Request) hub.Page {
	all := h.changes[r.URL.Query().Get("project")]
	epoch, n, _ := strings.Cut(r.URL.Query().Get("after"), ".")
	at, _ := strconv.Atoi(n)
	if epoch != h.epoch {
		at = 0
	}
	page := hub.Page{Epoch: h.epoch, Items: []hub.Change{}}
	for ; at < len(all) && len(page.Items) < h.length; at++ {
		if c := all[at]; c.Hash != "" && (!c.Own || c.Member == member) {
			page.Items = append(page.Items, c)
		}
	}
	page.Cursor, page.More = hub.Cursor(h.epoch+"."+strconv.Itoa(at)), at < len(all)
	return page
}

// generation consolidates what members have sent of a project, as a hub does, and publishes that with other files.
func (h *fakeHub) generation(t testing.TB, project string, change func(memory.Files)) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	by := map[string]*memoir.Extraction{}
	for _, c := range h.changes[project] {
		if c.Hash == "" || c.Gone || c.Own {
			continue
		}
		var st memoir.Statement
		must(t, json.Unmarshal(c.Body, &st))
		key := memoir.ReceivedKey(c.Member, c.Session)
		if by[key] == nil {
			by[key] = &memoir.Extraction{SessionKey: key, ProjectID: project}
		}
		by[key].EndedAt, _ = time.Parse(time.DateOnly, c.Day)
		by[key].Statements = append(by[key].Statements, st)
	}
	in := consolidate.Input{Project: memoir.Project{ID: project, Name: path.Base(project), Remote: project}}
	for _, key := range slices.Sorted(maps.Keys(by)) {
		by[key].Identify()
		in.Extractions = append(in.Extractions, *by[key])
	}
	made, err := consolidate.NewBuiltin().Consolidate(t.Context(), in)
	must(t, err)
	files, err := memory.Layout(made, memory.Files{memory.StatementsFile: memory.EncodeStatements(in.Extractions, memory.Neutralise)})
	must(t, err)
	if change != nil {
		change(files)
	}
	h.number++
	h.archive[project], err = memory.Pack(files, memory.Manifest{Citations: made.Citations}.Describing(h.number, files))
	must(t, err)
}

// with returns the texts that the hub has of a project: of members, without what is own.
func (h *fakeHub) texts(project string) (texts []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.changes[project] {
		var st struct{ Text string }
		if c.Hash != "" && !c.Gone && json.Unmarshal(c.Body, &st) == nil {
			texts = append(texts, c.Member+": "+st.Text)
		}
	}
	slices.Sort(texts)
	return texts
}

// scriptHub is the command hub of scripts: it starts a hub, writes codes into files, and later stops it.
func scriptHub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: hub start|stop|revoke [TOKEN]")
	}
	running := ts.Value("hub").(*[]*fakeHub)
	switch args[0] {
	case "start":
		h := newFakeHub()
		ts.Defer(h.Close)
		*running = append(*running, h)
		ts.Setenv("HUB", h.URL)
		for _, code := range []string{"anna-1", "anna-2", "ben-1", "ben-2", "carl-1"} {
			ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), code), []byte(code+"\n"), 0o600))
		}
	case "stop":
		(*running)[0].Close()
	case "revoke":
		(*running)[0].mu.Lock()
		(*running)[0].revoked[args[1]] = true
		(*running)[0].mu.Unlock()
	default:
		(*running)[0].script(ts, args)
	}
}
