package serve

import (
	"database/sql"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memoir/internal/disk"
	"memoir/lease"
	"memoir/pages"
	"memoir/store"
)

func TestTheDescriptionHasEachOperationAndNoOther(t *testing.T) {
	t.Parallel()
	left := map[string]bool{}
	for path, methods := range document["paths"].(map[string]any) {
		for method := range methods.(map[string]any) {
			left[strings.ToUpper(method)+" "+path] = true
		}
	}
	for _, op := range routes {
		if name := op.method + " " + op.path; !left[name] {
			t.Errorf("%s is not described", name)
		} else {
			delete(left, name)
			described(t, op, map[bool]int{true: 201, false: 200}[op.method == "POST"])
		}
		for rest := op.path; strings.Contains(rest, "{"); {
			_, rest, _ = strings.Cut(rest, "{")
			name, _, _ := strings.Cut(rest, "}")
			parameters, _ := at(document, "paths", op.path, strings.ToLower(op.method), "parameters").([]any)
			if !strings.Contains(fmt.Sprint(parameters), "name:"+name) {
				t.Errorf("%s %s: {%s} is not described", op.method, op.path, name)
			}
		}
	}
	for name := range left {
		t.Errorf("%s is described, and not there", name)
	}
}

func TestNotesByHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	notes := "/projects/lanternd/notes"
	added := w.call("POST", notes, `{"category": "preference", "content": "use pnpm, not npm"}`, 201)
	if added["id"] != 1.0 || added["source"] != "user" || added["project"] != lanternd {
		t.Errorf("added %v", added)
	}
	w.call("GET", "/projects/user/notes", "", 200)
	w.call("POST", "/projects/user/notes", `{"content": "likes short answers", "source": "auto"}`, 201)
	w.call("POST", notes, `{"content": "the key is ghp_0123456789abcdefghijABCDEFGHIJ012345"}`, 201)
	if all := fmt.Sprint(w.call("GET", "/memory", "", 200)); strings.Contains(all, "ghp_0123") || !strings.Contains(all, "short") {
		t.Errorf("all: %s", all)
	}
	if out := fmt.Sprint(w.call("GET", "/memory?category=preference", "", 200)); !strings.Contains(out, "pnpm") || strings.Contains(out, "short") {
		t.Errorf("preferences: %s", out)
	}
	if out := fmt.Sprint(w.call("GET", "/projects/lanternd/recall?words=NPM+use", "", 200)); !strings.Contains(out, "pnpm") {
		t.Errorf("recalled: %s", out)
	}
	w.run()
	again := w.call("PUT", "/notes/1", `{"content": "use pnpm, not npm", "category": "routine"}`, 200)
	if again["id"] != 4.0 || again["category"] != "routine" {
		t.Errorf("another category: %v", again)
	}
	if told := fmt.Sprint(w.call("GET", "/projects/lanternd/memory", "", 200)); !strings.Contains(told, "note-4") || strings.Contains(told, "note-1 ") {
		t.Errorf("then it is told %s", told)
	}
	changed := w.call("PUT", "/notes/4", `{"content": "use pnpm 9"}`, 200)
	if changed["category"] != "routine" || changed["content"] != "use pnpm 9" {
		t.Errorf("changed: %v", changed)
	}
	w.call("DELETE", fmt.Sprintf("/notes/%v", changed["id"]), "", 200)
	if out := fmt.Sprint(w.call("GET", notes, "", 200)); strings.Contains(out, "pnpm") {
		t.Errorf("left: %s", out)
	}
	for _, text := range []string{"use pnpm", "ghp_0123456789"} { // forgotten, and redacted before it was stored
		w.nowhere(text)
	}
}

func TestOneOfSeveralChangesOfANoteHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Wait = time.Minute
	w.note("the sky is blue")
	var writers sync.WaitGroup
	var done atomic.Int32
	for _, color := range []string{"red", "green", "grey", "black"} {
		writers.Go(func() {
			switch code := w.send(request("PUT", "/notes/1", `{"content": "the sky is `+color+`"}`)).Code; code {
			case http.StatusOK:
				done.Add(1)
			case http.StatusNotFound:
			default:
				t.Errorf("%s: %d", color, code)
			}
		})
	}
	writers.Wait()
	if notes := w.call("GET", "/memory", "", 200)["entries"].([]any); len(notes) != 1 || done.Load() != 1 {
		t.Errorf("%d say that they changed it: %v", done.Load(), notes)
	}
}

// nowhere fails the test if a file of the home contains a text.
func (w *world) nowhere(text string) {
	w.t.Helper()
	must(w.t, filepath.WalkDir(w.options.Home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := disk.ReadFile(path, 1<<30)
		if strings.Contains(string(content), text) {
			w.t.Errorf("%q is in %s", text, path)
		}
		return err
	}))
}

func TestWhatAnOperationRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.note("the sky is blue")
	large := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		method, target, body string
		status               int
		code                 string
	}{
		{"POST", "/projects/lanternd/notes", ``, 422, "usage"},
		{"POST", "/projects/lanternd/notes", `{"content": ""}`, 422, "usage"},
		{"POST", "/projects/lanternd/notes", `{"content": "\u0000\u202e"}`, 422, "usage"},
		{"POST", "/projects/lanternd/notes", `{"content": "x", "category": "opinion"}`, 422, "usage"},
		{"POST", "/projects/lanternd/notes", `{"content": "x", "source": "nobody"}`, 422, "usage"},
		{"POST", "/projects/lanternd/notes", `{"content": "x", "colour": "red"}`, 422, "usage"},
		{"POST", "/projects/lanternd/notes", `{"content": "x"} {}`, 422, "usage"},
		{"POST", "/projects/lanternd/notes", `{"content": "` + large + `"}`, 413, "too_large"},
		{"POST", "/projects/lanternd/notes", `{"content": "` + large[:1<<19] + `"}`, 422, "usage"},
		{"POST", "/projects/nowhere/notes", `{"content": "x"}`, 404, "not_found"},
		{"PUT", "/notes/1", `{"content": "` + large + `"}`, 413, "too_large"},
		{"PUT", "/notes/7", `{"content": "x"}`, 404, "not_found"},
		{"DELETE", "/notes/7", ``, 404, "not_found"},
		{"DELETE", "/notes/x", ``, 422, "usage"},
		{"GET", "/memory?category=opinion", ``, 422, "usage"},
		{"GET", "/projects/lanternd/recall?category=opinion", ``, 422, "usage"},
		{"GET", "/projects/nowhere/memory", ``, 404, "not_found"},
		{"GET", "/projects/lanternd/why?of=quokka", ``, 404, "not_found"},
		{"GET", "/projects/lanternd/why", ``, 422, "usage"},
		{"POST", "/projects/lanternd/messages", `{}`, 422, "usage"},
		{"POST", "/projects/lanternd/messages", `{"messages": [{"role": "nobody", "content": "x"}]}`, 422, "usage"},
		{"POST", "/projects/lanternd/messages", `{"messages": [{"role": "user", "content": "x", "colour": "red"}]}`, 422, "usage"},
		{"POST", "/projects/lanternd/messages", `{"messages": [{"role": "user", "content": ""}]}`, 422, "usage"},
		{"POST", "/projects/lanternd/messages", `{"messages": [{"role": "user", "content": "` + large + `"}]}`, 413, "too_large"},
		{"POST", "/projects/lanternd/messages", `{"conversation": "../x", "messages": [{"role": "user", "content": "x"}]}`, 422, "usage"},
		{"POST", "/projects/nowhere/messages", `{"messages": [{"role": "user", "content": "x"}]}`, 404, "not_found"},
		{"GET", "/projects/nowhere/messages", ``, 404, "not_found"},
		{"GET", "/projects/lanternd/diff?from=99", ``, 404, "not_found"},
		{"GET", "/projects/lanternd/diff?from=-1", ``, 422, "usage"},
		{"GET", "/sessions?reason=none", ``, 422, "usage"},
		{"GET", "/sessions?project=nowhere", ``, 404, "not_found"},
		{"GET", "/sessions?since=yesterday", ``, 422, "usage"},
		{"GET", "/sessions?page=x", ``, 422, "usage"},
		{"GET", "/projects/lanternd/memory?file=../token", ``, 422, "usage"},
		{"GET", "/projects/lanternd/memory?file=none.md", ``, 404, "not_found"},
		{"GET", "/sessions/nobody", ``, 404, "not_found"},
		{"GET", "/sessions/" + ofLanternd + "?at=x", ``, 422, "usage"},
		{"GET", "/search", ``, 422, "usage"},
		{"GET", "/search?q=sky&project=nowhere", ``, 404, "not_found"},
		{"GET", "/search?q=" + large[:3000], ``, 422, "usage"},
		{"PATCH", "/projects/lanternd/memory", `{"ops": []}`, 422, "usage"},
		{"PATCH", "/projects/lanternd/memory", `{"ops": [{"op": "remove", "line": 9999}]}`, 422, "usage"},
		{"PATCH", "/projects/lanternd/memory", `{"ops": [{"op": "insert", "line": 1, "content": "` + large[:40000] + `"}]}`, 422, "invalid"},
		{"PATCH", "/projects/lanternd/memory", large + "x", 413, "too_large"},
	} {
		out := w.call(c.method, c.target, c.body, c.status)
		unnamed := strings.Contains(c.body, "colour") && !strings.Contains(fmt.Sprint(out["error"]), "colour")
		if out["code"] != c.code || out["error"] == "" || unnamed {
			t.Errorf("%s %.60s: %v", c.method, c.target, out)
		}
	}
	for _, c := range [][5]string{{"GET", "/nowhere", "404", "", "not_found"},
		{"POST", "/memory", "405", "GET, HEAD", "method_not_allowed"},
		{"OPTIONS", "/notes/1", "405", "PUT, DELETE", "method_not_allowed"}} {
		answer := w.send(request(c[0], c[1], ""))
		allow, body := answer.Header().Get("Allow"), answer.Body.String()
		if strconv.Itoa(answer.Code) != c[2] || allow != c[3] || !strings.Contains(body, `"code":"`+c[4]+`"`) {
			t.Errorf("%s: %d, it takes %q: %s", c, answer.Code, allow, body)
		}
	}
	w.options.ConfigDir = t.TempDir()
	must(t, os.WriteFile(filepath.Join(w.options.ConfigDir, ".gitleaks.toml"), []byte("[[rules"), 0o600))
	for _, c := range [][3]string{{"POST", "/projects/lanternd/notes", `{"content": "x"}`}, {"PUT", "/notes/1", `{"content": "x"}`},
		{"POST", "/projects/lanternd/messages", `{"messages": [{"role": "user", "content": "x"}]}`}} {
		if out := w.send(request(c[0], c[1], c[2])).Body.String(); !strings.Contains(out, `"code":"config"`) {
			t.Errorf("%s, while rules are invalid: %s", c, out)
		}
	}
	if out := w.call("GET", "/memory", "", 200)["entries"].([]any); len(out) != 1 {
		t.Errorf("something was written: %v", out)
	}
}

func TestWhatIsStoredByHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.note("never deploy on a Friday")
	w.run()
	for target, want := range map[string]string{
		"/projects/lanternd/why?of=sign+tags":            "git tag -s",
		"/openapi.json":                                  "3.1",
		"/projects":                                      lanternd,
		"/projects/lanternd/memory":                      "always sign tags",
		"/projects/lanternd/generations":                 "note-1",
		"/projects/lanternd/diff":                        "+- never deploy",
		"/projects/lanternd/diff?from=1":                 "memory_summary.md",
		"/sessions":                                      ofLanternd[7:],
		"/search?q=Friday&project=lanternd":              "Friday",
		"/sessions?project=lanternd&reason=up_to_date":   ofLanternd[7:],
		"/sessions/" + ofLanternd:                        "git tag",
		"/sessions?source=claude&page=1":                 ofLanternd[7:],
		"/projects/lanternd/memory?file=raw_memories.md": "What was extracted from each session",
		"/sessions/2b9ad815?at=3":                        "git tag",
		"/queue":                                         "up_to_date",
		"/usage":                                         "",
		"/delivered":                                     "",
	} {
		if out := fmt.Sprint(w.call("GET", target, "", 200)); !strings.Contains(out, want) {
			t.Errorf("GET %s: %.300s has no %q", target, out, want)
		}
	}
	told := w.call("GET", "/projects/lanternd/memory", "", 200)
	if n := strings.Count(told["content"].(string), "\n"); told["lines"] != float64(n) || !strings.Contains(told["injected"].(string), "[#1] never deploy") {
		t.Errorf("memory: %v", told)
	}
	patched := w.call("PATCH", "/projects/lanternd/memory", `{"ops": [{"op": "insert", "line": 5, "content": "- by a patch"}]}`, 200)
	if patched["lines"] != told["lines"].(float64)+1 || !strings.Contains(patched["content"].(string), "\n- by a patch\n") {
		t.Errorf("patched: %v", patched)
	}
}

func TestTheLatestNotesAreAHundred(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 103 {
		w.note(fmt.Sprintf("note %d", i))
	}
	w.call("GET", "/projects/lanternd/recall?words=note+1&category=fact", "", 200) // moves at most 20 notes to the front
	out := w.call("GET", "/memory", "", 200)["entries"].([]any)
	if first := out[0].(map[string]any); len(out) != 100 || !strings.Contains(first["content"].(string), "1") {
		t.Errorf("%d notes, first %v", len(out), first)
	}
}

func TestPagesAreReadWhileAnotherWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	db, err := sql.Open("sqlite3", filepath.Join(w.options.Home, "memoir.db"))
	must(t, err)
	defer db.Close()
	tx, err := db.Begin()
	must(t, err)
	defer tx.Rollback()
	_, err = tx.Exec(`UPDATE counter SET n = n`)
	must(t, err)
	w.call("GET", "/memory", "", 200)
	if answer := w.send(request("GET", "/projects/lanternd/memory", "")); answer.Code != 200 {
		t.Errorf("%d: %s", answer.Code, answer.Body)
	}
}

func TestAMemoryThatAnotherHoldsIsNotChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.note("never deploy on a Friday")
	st, err := w.open(t.Context(), store.Options{})
	must(t, err)
	defer st.Close()
	claim, _, err := st.ClaimProject(t.Context(), lanternd,
		store.ProjectClaimOptions{Holder: lease.Self(), Lease: time.Minute, Always: true})
	must(t, err)
	w.call("PATCH", "/projects/lanternd/memory", `{"ops": [{"op": "remove", "line": 1}]}`, 409)
	w.call("PUT", "/notes/1", `{"content": "notes need no lease"}`, 200)
	if all := fmt.Sprint(w.call("GET", "/memory", "", 200)); strings.Contains(all, "Friday") || !strings.Contains(all, "no lease") {
		t.Errorf("after changing: %s", all)
	}
	must(t, st.Release(t.Context(), claim))
	w.call("DELETE", "/notes/2", "", 200)
	w.nowhere("on a Friday")
}

func TestATokenIsMadeOnceAndForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	st, err := store.Open(t.Context(), filepath.Join(home, "memoir.db"), store.Options{})
	must(t, err)
	defer st.Close()
	path := filepath.Join(home, pages.TokenFile)
	get := func() string {
		token, err := pages.TokenOf(home, func(change func() error) error { return st.Alone(t.Context(), change) })
		must(t, err)
		info, err := os.Lstat(path)
		must(t, err)
		content, err := os.ReadFile(path)
		must(t, err)
		if string(content) != token+"\n" || info.Mode() != 0o600 || len(token) < 26 {
			t.Errorf("%v: %q, and the token is %q", info.Mode(), content, token)
		}
		return token
	}
	first := get()
	if again := get(); again != first {
		t.Errorf("%q and then %q", first, again)
	}
	for what, damage := range map[string]func() error{
		"others may read it": func() error { return os.Chmod(path, 0o644) },
		"it is cut":          func() error { return os.Truncate(path, 5) },
		"it is a link":       func() error { return os.Rename(path, path+"2") },
	} {
		before := get()
		must(t, damage())
		if what == "it is a link" {
			must(t, os.Symlink(path+"2", path))
		}
		if get() == before {
			t.Errorf("%s, and it is kept", what)
		}
	}
}

func TestAConversationByHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if out := w.call("GET", "/projects/lanternd/messages", "", 200); len(out["messages"].([]any)) == 0 || out["session"] == "" {
		t.Errorf("of an agent's session: %v", out)
	}
	said := w.call("POST", "/projects/lanternd/messages", `{"messages": [{"role": "user", "content": "deploy to staging first"},
		{"role": "assistant", "content": "done, with `+secret+`", "source": "telegram"}]}`, 201)
	if said["stored"] != 2.0 || !strings.HasPrefix(said["session"].(string), "conversation:") {
		t.Errorf("said %v", said)
	}
	out := w.call("GET", "/projects/lanternd/messages", "", 200)
	if text := fmt.Sprint(out); out["session"] != said["session"] || !strings.Contains(text, "deploy to staging") || strings.Contains(text, secret) {
		t.Errorf("recap %v", out)
	}
	w.nowhere(secret)
	messages := strings.TrimSuffix(strings.Repeat(`{"role": "user", "content": "on and on"},`, 60), ",")
	w.call("POST", "/projects/lanternd/messages", `{"messages": [`+messages+`]}`, 201)
	if !slices.Contains(w.full, said["session"].(string)) {
		t.Errorf("full are %q", w.full)
	}
}
