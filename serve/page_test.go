package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/deliver"
	"memoir/operation"
	"memoir/pages"
	"memoir/store"
	"memoir/testdata"
	"memoir/testdata/browser"
)

// Texts that no page may contain unescaped: scripts, images, reordering characters and a secret.
const (
	hostile = "- <script>alert(1)</script> <img src=x onerror=alert(2)> \u202egnihton\u202c \x1b[31mred </main> " +
		"[x](javascript:alert(3)) ![y](https://y.test/z.png) <https://ok.test> <javascript:x> &lt;script&gt;alert(4)&lt;/script&gt; `<script>alert(5)` <memoir-context>"
	secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
)

// hostileWorld is a world with the hostile text in a note and in a hand edit of the memory.
func hostileWorld(t testing.TB) *world {
	w := newWorld(t)
	w.note(strings.TrimPrefix(hostile, "- "))
	for _, role := range []string{"user", "assistant"} {
		text, err := json.Marshal(hostile + "\n" + secret)
		must(t, err)
		w.call("POST", "/projects/lanternd/messages", fmt.Sprintf(
			`{"conversation": "hostile", "messages": [{"role": %q, "content": %s}]}`, role, text), 201)
	}
	w.told()
	path := filepath.Join(w.options.Home, "projects", lanternd, "memory", "MEMORY.md")
	content, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, append(content, hostile+"\n- the key is "+secret+"\n"...), 0o600))
	return w
}

// told tells sessions of a repair, which one of them then runs, and enters calls of two models.
func (w *world) told() {
	why := w.call("GET", "/projects/lanternd/why?of=fixed+by+%60make+tools", "", 200)
	id := why["statements"].([]any)[0].(map[string]any)["id"].(string)
	for session, event := range map[string]string{ofLanternd: "failure", "codex:019df239-3e38-79af-ad38-8241b04bb246": "failure",
		"claude:05385f90-94a9-4ab3-be04-361e93b5119c": "prompt"} {
		deliver.First(w.options.Home, deliver.Receipt{At: testdata.Now.AddDate(0, -2, 0), Event: event, Project: lanternd,
			Session: session, Statement: id}, "")
	}
	st, err := w.open(w.t.Context(), store.Options{})
	must(w.t, err)
	defer st.Close()
	for i, model := range []string{"a-large-model", "<b>small</b>"} {
		_, err = st.BeginCall(w.t.Context(), store.Call{Run: "r", Phase: "extract", ProjectID: lanternd, Model: model,
			Expected: memoir.Usage{Calls: 1, InputTokens: int64(100_000 / (i + 1)), OutputTokens: 700, Cost: 0.5 / float64(i+1)}}, nil)
		must(w.t, err)
	}
}

// pagesOf are the pages with a text that each must contain.
var pagesOf = map[string]string{
	"/projects":                                      "lanternd",
	"/projects/lanternd/memory":                      "readable”\n<details class=\"why\"", // in the place of the citation
	"/projects/lanternd/why?of=sign+tags":            "the word of a person",
	"/projects/lanternd/why?of=quokka":               "no statement of project",
	"/projects/lanternd/review":                      "once: should this hold?",
	"/projects/lanternd/diff":                        "<ins>",
	"/projects/lanternd/diff?from=1":                 "onerror",
	"/projects/lanternd/generations":                 "Generation 1, live",
	"/memory":                                        "#1",
	"/projects/lanternd/notes":                       "#1",
	"/projects/lanternd/recall?words=bad":            "No notes.",
	"/sessions":                                      "it was extracted and has not changed since",
	"/sessions?project=lanternd&reason=up_to_date":   "2b9ad815",
	"/sessions/2b9ad815?at=5":                        "git tag",
	"/projects/lanternd/why?of=the+key+is":           "A person, or an agent if it ends in <code>(not confirmed)</code>, wrote this line.",
	"/projects/lanternd/why":                         "nothing to look for",
	"/sessions/nobody":                               "no session matches",
	"/search?q=sign+tags":                            "sign",
	"/search?q=%3Cscript%3E":                         "&lt;script&gt;",
	"/search?q=sign+tags&max=1":                      ">the 1 best hit<",
	"/search?q=" + strings.Repeat("x", 2001):         "q must have 1 to 2000 bytes, not 2001",
	"/search":                                        "Words",
	"/search?q=sign+tags&project=lanternd":           "<mark>sign</mark>",
	"/sessions/conversation:hostile":                 `<a href="https://ok.test" rel="noreferrer">`,
	"/sessions?page=2":                               "No sessions.",
	"/sessions?since=2026-05-19&until=2026-05-20":    "1 to 3, the latest first",
	"/sessions?since=tomorrow":                       "is not a date",
	"/projects/lanternd/memory?file=raw_memories.md": "What was extracted from each session",
	"/projects/lanternd/memory?file=manifest.json":   "<pre>{",
	"/projects/lanternd/memory?file=../token":        "is not a file of the memory",
	"/queue":                          "Last run: <b>done</b>",
	"/usage":                          "$0.75 for 2 calls of language models",
	"/usage?":                         `(UTC)</th><th scope="col">cost</th>`,
	"/usage?by":                       ">0.67</meter>", // 0.50 of 0.75 dollars
	"/delivered":                      "used: it ran what had passed",
	"/delivered?":                     ", at a prompt, to <a",
	"/projects/lanternd/memory?":      "<summary>10 lines</summary>",
	"/search?q=sign+tags&kind=memory": "\">“Next time",
	"/sessions?page=1":                "<label>From (UTC) ",
	"/nothing":                        "no such request: GET /nothing",
}

var (
	fields   = regexp.MustCompile(`<textarea|<select|<input type="(search|date)"`)
	scripts  = regexp.MustCompile(`<script[^>]*>`)
	handlers = regexp.MustCompile(`<[a-z][^>]*\s(on[a-z]+|style)=`)
	outside  = regexp.MustCompile(`="https?://[^"]*"[^>]*`)
)

// harmless fails the test if a page contains hostile text, inline handlers or another number of scripts.
func harmless(t *testing.T, where, text string, scriptsAllowed int) {
	t.Helper()
	for _, bad := range []string{"<script>alert", "<img", "\u202e", "\x1b", secret, "<memoir-context", `src="http`, `="//`, `="javascript`, `url(`} {
		if strings.Contains(text, bad) {
			t.Errorf("%s has %q", where, bad)
		}
	}
	for _, link := range outside.FindAllString(text, -1) {
		if !strings.HasSuffix(link, ` rel="noreferrer"`) {
			t.Errorf("%s leads to %s", where, link)
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

// The page lists projects by their last activity, those without memory last; the API by id.
func TestProjectsThatAreInUseComeFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	st, err := w.open(t.Context(), store.Options{})
	must(t, err)
	defer st.Close()
	must(t, st.AddProject(t.Context(), memoir.Project{ID: "aardvark-0123456789ab", Name: "aardvark", Identity: "host/aardvark"}))
	papertrail := w.session(0)
	papertrail.Session.ProjectID, papertrail.Session.UpdatedAt = "papertrail-626cc744f22e", testdata.Now.AddDate(0, 0, 1)
	must(t, st.SaveScan(t.Context(), []store.SessionScan{papertrail}, nil))
	r := request("GET", "/projects", "")
	r.Header.Set("Accept", "text/html")
	for want, text := range map[string]string{
		"papertrail lanternd aardvark ": w.send(r).Body.String(),
		"aardvark lanternd papertrail ": w.send(request("GET", "/projects", "")).Body.String(),
	} {
		got := ""
		for _, found := range regexp.MustCompile(`("name":"|[0-9a-f]/memory">)(\w+)`).FindAllStringSubmatch(text, -1) {
			got += found[2] + " "
		}
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestACardFoldsManyDirectories(t *testing.T) {
	t.Parallel()
	one := operation.Project{Name: "app", Directories: strings.Fields("/x/1 /x/2 /x/3 /x/4 /x/5")}
	page, err := pages.Render(templates(), pages.Page{Name: "projects", Data: operation.Projects{Projects: []operation.Project{one}}})
	shown, folded, ok := strings.Cut(string(page), "<details><summary>2 more directories</summary>")
	if err != nil || !ok || !strings.Contains(shown, "<br>/x/3") || strings.Contains(shown, "/x/4") || !strings.Contains(folded, "/x/4<br>/x/5") {
		t.Errorf("%v: %s", err, page)
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
		"$0.75 for 2 calls", "sha256-", "color-scheme: light dark"} {
		if !strings.Contains(text, want) {
			t.Errorf("the file has no %q", want)
		}
	}
	text = strings.ReplaceAll(text, ` href="https://ok.test" rel="noreferrer"`, "")
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
		if answer.Code != status || status == 303 && answer.Header().Get("Location") != "/projects/lanternd/notes#main" {
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

// browse opens a browser that may read the pages of a world, and their address.
func (w *world) browse(t *testing.T) (*browser.Browser, string) {
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("there is no chromium here: apt-get install chromium")
	}
	server := httptest.NewServer(w.handler)
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	b, err := browser.Open(ctx, map[string]string{"Authorization": "Bearer " + token})
	must(t, err)
	t.Cleanup(b.Close)
	return b, server.URL
}

// What is open or wide stays in the window, and the console is silent.
func TestABrowserReadsThePagesAndNothingStandsOut(t *testing.T) {
	t.Parallel()
	w := hostileWorld(t)
	w.run()
	w.note(strings.Repeat("wide", 400) + " `" + strings.Repeat("wide", 400) + "`")
	path := filepath.Join(w.options.Home, "projects", lanternd, "memory", "MEMORY.md")
	content, err := os.ReadFile(path)
	must(t, err)
	table := "\n" + strings.Repeat("|wide ", 50) + "\n" + strings.Repeat("|-", 50) + "\n" + strings.Repeat("|wide ", 50) + "\n"
	must(t, os.WriteFile(path, append(content, table...), 0o600))
	b, address := w.browse(t)
	for _, page := range []string{"/projects", "/projects/lanternd/memory", "/projects/lanternd/memory?file=raw_memories.md",
		"/projects/lanternd/why?of=sign+tags", "/projects/lanternd/review", "/projects/lanternd/diff", "/projects/lanternd/generations",
		"/memory", "/sessions", "/sessions/2b9ad815", "/sessions/conversation:hostile", "/search?q=sign+tags&kind=said", "/queue", "/usage", "/delivered"} {
		must(t, b.Visit(address+page))
		for _, width := range []int{360, 1280} {
			over, err := b.Over(width)
			must(t, err)
			if len(over) > 0 {
				t.Errorf("%s at %d pixels: %q", page, width, over)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "memory.html")
	content, err = Export(t.Context(), w.served, testdata.Now)
	must(t, err)
	must(t, os.WriteFile(file, content, 0o600))
	must(t, b.Visit("file://"+file))
	var text string
	must(t, b.Eval("document.body.textContent", &text))
	if !strings.Contains(text, "never push") {
		t.Errorf("the file: %.300s", text)
	}
	if len(b.Errors) > 0 {
		t.Errorf("the console: %q", b.Errors)
	}
}

func TestPagesWorkByKeyboard(t *testing.T) {
	t.Parallel()
	b, address := newWorld(t).browse(t)
	eval := func(expression string) (text string) {
		t.Helper()
		must(t, b.Eval(expression, &text))
		return text
	}
	tabTo := func(selector string, most int) {
		t.Helper()
		for range most {
			must(t, b.Key("Tab", 9, false))
			if eval(`document.activeElement.matches("`+selector+`") ? getComputedStyle(document.activeElement).outlineStyle : ""`) == "solid" {
				return
			}
		}
		t.Fatalf("after %d tabs the focus is on %s", most, eval("document.activeElement.outerHTML"))
	}
	must(t, b.Screen(360, 640, true))
	must(t, b.Visit(address+"/projects/lanternd/review"))
	tabTo("a.skip", 1)
	must(t, b.Key("Enter", 13, false))
	tabTo("button[value=keep]", 4)
	line := eval(`document.activeElement.closest("article").querySelector(".text").innerText`)
	must(t, b.Key("k", 'K', true))
	if left := eval("document.body.innerText"); strings.Contains(left, line) || !strings.Contains(left, "never push") {
		t.Errorf("%q was kept, and is left: %s", line, left)
	}
	tabTo("button[value=keep]", 4)
	must(t, b.Key("e", 'E', false))
	if eval("document.activeElement.name") != "text" {
		t.Error("e does not edit")
	}
	must(t, b.Visit(address+"/sessions"))
	for range 50 { // each stop is seen, the parts of a date too
		if tabTo("*", 1); eval("document.activeElement.textContent") == "Show" {
			break
		}
	}
	must(t, b.Visit(address+"/search"))
	if hits := eval(`new Promise((found) => {
		new MutationObserver(() => found(document.getElementById("hits").innerHTML)).observe(document.getElementById("hits"), {childList: true});
		const field = document.querySelector("input[type=search]");
		field.value = "sign tags";
		field.dispatchEvent(new Event("input", {bubbles: true}));
	})`); !strings.Contains(hits, "<mark>sign</mark>") || strings.Contains(hits, "UTC<") {
		t.Errorf("as one types: %s", hits)
	}
	must(t, b.Script(false))
	must(t, b.Visit(address+"/projects/lanternd/memory"))
	tabTo("li > .why > summary", 60)
	must(t, b.Key("Enter", 13, false))
	if open := eval(`document.activeElement.parentElement.innerText`); !strings.Contains(open, "the word of a person") {
		t.Errorf("without script, a mark opens %q", open)
	}
	must(t, b.Visit(address+"/projects"))
	if at := eval(`document.querySelector("time").innerText`); !strings.HasSuffix(at, " UTC") {
		t.Errorf("without script, times are as %q", at)
	}
	if len(b.Errors) > 0 {
		t.Errorf("the console: %q", b.Errors)
	}
}
