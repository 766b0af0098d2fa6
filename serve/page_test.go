package serve

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"memoir/operation"
	"memoir/testdata"
)

// Texts that no page may contain unescaped: scripts, images, reordering characters and a secret.
const (
	hostile = "- <script>alert(1)</script> <img src=x onerror=alert(2)> \u202egnihton\u202c \x1b[31mred </main> <memoir-context>"
	secret  = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
)

// hostileWorld is a world with the hostile text in a note and in a hand edit of the memory.
func hostileWorld(t testing.TB) *world {
	w := newWorld(t)
	w.note(strings.TrimPrefix(hostile, "- "))
	path := filepath.Join(w.options.Home, "projects", lanternd, "memory", "MEMORY.md")
	content, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, append(content, hostile+"\n- the key is "+secret+"\n"...), 0o600))
	return w
}

// pagesOf are the pages with a text that each must contain.
var pagesOf = map[string]string{
	"/projects":                                    "lanternd",
	"/projects/lanternd/memory":                    "use hostname and pid",
	"/projects/lanternd/why?of=sign+tags":          "the word of a person",
	"/projects/lanternd/why?of=quokka":             "no statement of project",
	"/projects/lanternd/review":                    "once: should this hold?",
	"/projects/lanternd/diff":                      "<ins>",
	"/projects/lanternd/diff?from=1":               "onerror",
	"/projects/lanternd/generations":               "Generation 1, live",
	"/memory":                                      "#1",
	"/projects/lanternd/notes":                     "#1",
	"/projects/lanternd/recall?words=bad":          "No notes.",
	"/sessions":                                    "it was extracted and has not changed since",
	"/sessions?project=lanternd&reason=up_to_date": "2b9ad815",
	"/sessions/2b9ad815?at=5":                      "git tag",
	"/projects/lanternd/why?of=the+key+is":         "A person, or an agent if it ends in <code>(not confirmed)</code>, wrote this line.",
	"/projects/lanternd/why":                       "nothing to look for",
	"/sessions/nobody":                             "no session matches",
	"/search?q=sign+tags":                          "sign",
	"/search?q=%3Cscript%3E":                       "&lt;script&gt;",
	"/search?q=sign+tags&max=1":                    ">the 1 best hit<",
	"/search?q=" + strings.Repeat("x", 2001):       "q must have 1 to 2000 bytes, not 2001",
	"/search":                                      "Words",
	"/queue":                                       "Last run: <b>done</b>",
	"/usage":                                       "Usage</h1>",
	"/delivered":                                   "Delivered</h1>",
	"/nothing":                                     "no such request: GET /nothing",
}

func TestALineOfADiffThatLooksLikeAHeaderIsNone(t *testing.T) {
	t.Parallel()
	var marks string
	for _, l := range operation.DiffLines("diff a b\n--- a\n+++ b\n@@ -1 +1 @@\n same\n---- x\n+++ y\ndiff c d\n--- c\n") {
		marks += cmp.Or(l.Mark, " ")
	}
	if marks != " @@@ -+ @" {
		t.Errorf("got %q", marks)
	}
}

var (
	fields   = regexp.MustCompile(`<textarea|<select|<input type="search"`)
	scripts  = regexp.MustCompile(`<script[^>]*>`)
	handlers = regexp.MustCompile(`<[a-z][^>]*\s(on[a-z]+|style)=`)
)

// harmless fails the test if a page contains hostile text, inline handlers or another number of scripts.
func harmless(t *testing.T, where, text string, scriptsAllowed int) {
	t.Helper()
	for _, bad := range []string{"<script>alert", "<img", "\u202e", "\x1b", secret, "<memoir-context", `="http`, `url(`} {
		if strings.Contains(text, bad) {
			t.Errorf("%s has %q", where, bad)
		}
	}
	if found := scripts.FindAllString(text, -1); len(found) != scriptsAllowed || handlers.MatchString(text) || strings.Count(text, "</main>") != 1 {
		t.Errorf("%s: %q, %q", where, found, handlers.FindString(text))
	}
}

func TestPagesShowWhatIsStoredAsText(t *testing.T) {
	t.Parallel()
	w := hostileWorld(t)
	for target, want := range pagesOf {
		r := request("GET", target, "")
		r.Header.Set("Accept", "text/html,*/*")
		text := w.send(r).Body.String()
		if !strings.Contains(text, want) {
			t.Errorf("GET %s has no %q: %s", target, want, text)
		}
		harmless(t, target, text, 1)
		if labels, fields := strings.Count(text, "<label>"), len(fields.FindAllString(text, -1)); labels != fields {
			t.Errorf("GET %s: %d labels for %d fields", target, labels, fields)
		}
	}
}

func TestExportIsOneFileOfTheSame(t *testing.T) {
	t.Parallel()
	w := hostileWorld(t)
	content, err := Export(t.Context(), w.served, testdata.Now)
	must(t, err)
	text := string(content)
	harmless(t, "the file", text, 0)
	for _, want := range []string{"use hostname and pid", "the word of a person", "it was extracted", "Last run", "id=\"note-1\"",
		"No language model was used", "sha256-", "color-scheme: light dark"} {
		if !strings.Contains(text, want) {
			t.Errorf("the file has no %q", want)
		}
	}
	for _, link := range regexp.MustCompile(`(?:href|src|action)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		id, here := strings.CutPrefix(link[1], "#")
		if !here || !strings.Contains(text, `id="`+id+`"`) {
			t.Errorf("%s leads nowhere", link[0])
		}
	}
	if strings.Contains(text, "<form") {
		t.Error("the file has a form")
	}
}

func TestNotesByForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	send := func(status int, fields ...string) string {
		t.Helper()
		form := url.Values{}
		for i := 0; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		r := request("POST", "/projects/lanternd/notes", form.Encode())
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept", "text/html")
		answer := w.send(r)
		if answer.Code != status || status == 303 && answer.Header().Get("Location") != "/projects/lanternd/notes" {
			t.Fatalf("%.100q: %d %s, want %d", fields, answer.Code, answer.Body, status)
		}
		return answer.Body.String()
	}
	send(303, "category", "person", "content", "Mira\r\nis in Rome")
	w.call("POST", "/projects/user/notes", `{"content": "likes short answers"}`, 201)
	send(303, "id", "1", "category", "person", "content", "Mira is in Oslo")
	list := fmt.Sprint(w.call("GET", "/projects/lanternd/notes", "", 200))
	if strings.Contains(list, "Rome") || !strings.Contains(list, "Mira is in Oslo") || !strings.Contains(list, "user-0000") {
		t.Errorf("notes: %s", list)
	}
	send(303, "id", "3")
	w.nowhere("Mira is")
	if text := send(422, "category", "opinion", "content", "x"); !strings.Contains(text, "unknown category") {
		t.Errorf("after a mistake: %s", text)
	}
	send(422, "category", "fact", "content", " ")
	send(404, "id", "3")
	send(413, "content", strings.Repeat("x", 1<<20))
}

// measure adds a line to the parent page: the path and width of the frame's page, and "over" if the page is wider than
// the frame. With ?typed in the query, it types a search.
const measure = `addEventListener("load", () => {
  const root = document.documentElement, line = parent.document.createElement("p");
  line.textContent = location.pathname + " " + innerWidth + (root.scrollWidth > innerWidth ? " over" : " within");
  parent.document.body.append(line);
  const field = document.querySelector("input[type=search]");
  if (field && location.search === "?typed") {
    field.value = "sign tags";
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
});`

// browsed serves pages to a browser without a cookie, and /frames, a page with each of them in a frame of 360 pixels.
// It adds the script measure. With ?plain in the query, the policy allows no script.
func (w *world) browsed(pages []string) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/measure.js":
			out.Header().Set("Content-Type", "text/javascript")
			_, _ = out.Write([]byte(measure))
			return
		case "/frames":
			for _, target := range pages {
				fmt.Fprintf(out, `<iframe width="360" height="640" style="border:0" src="%s"></iframe>`, target)
			}
			return
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer := httptest.NewRecorder()
		w.handler.ServeHTTP(answer, r)
		text, allowed := answer.Body.String(), strings.Replace(policy, "frame-ancestors 'none'", "frame-ancestors 'self'", 1)
		if r.URL.Query().Has("plain") {
			allowed = strings.Replace(allowed, "script-src 'self'", "script-src 'none'", 1)
		}
		for name, values := range answer.Header() {
			out.Header()[name] = values
		}
		out.Header().Set("Content-Security-Policy", allowed)
		out.WriteHeader(answer.Code)
		_, _ = out.Write([]byte(strings.Replace(text, "</head>", `<script src="/measure.js"></script></head>`, 1)))
	}))
	w.t.Cleanup(server.Close)
	return server
}

// chromium opens an address and returns the document after its scripts ran.
func chromium(t *testing.T, path, address string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--user-data-dir="+t.TempDir(), "--virtual-time-budget=5000", "--dump-dom", address).Output()
	if err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	return string(out)
}

func TestABrowserReadsThePagesAndNothingStandsOut(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium here: apt-get install chromium")
	}
	w := hostileWorld(t)
	w.run()
	w.note(strings.Repeat("wide", 500))
	pages := []string{"/projects", "/projects/lanternd/memory", "/projects/lanternd/why?of=sign+tags", "/projects/lanternd/diff",
		"/projects/lanternd/generations", "/memory", "/sessions", "/sessions/2b9ad815", "/search?q=sign+tags", "/queue", "/usage"}
	server := w.browsed(pages)
	dom := chromium(t, path, server.URL+"/frames")
	for _, target := range pages {
		name, _, _ := strings.Cut(target, "?")
		if !strings.Contains(dom, "<p>"+name+" 360 within</p>") {
			t.Errorf("%s at 360 pixels: %s", target, dom)
		}
	}
	for target, want := range map[string]string{
		"/projects/lanternd/memory?plain": "use hostname and pid",
		"/search?q=sign+tags&plain":       `<a href="/projects/lanternd-97c055e77a45/why?of=`,
		"/search?typed":                   `<a href="/projects/lanternd-97c055e77a45/why?of=`,
	} {
		if dom := chromium(t, path, server.URL+target); !strings.Contains(dom, want) || strings.Contains(dom, "within</p>") == strings.Contains(target, "plain") {
			t.Errorf("%s has no %q: %s", target, want, dom)
		}
	}
	file := filepath.Join(t.TempDir(), "memory.html")
	content, err := Export(t.Context(), w.served, testdata.Now)
	must(t, err)
	must(t, os.WriteFile(file, content, 0o600))
	if dom := chromium(t, path, "file://"+file); !strings.Contains(dom, "never push") {
		t.Errorf("the file: %.300s", dom)
	}
}
