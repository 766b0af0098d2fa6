// Package pages has what the pages of a home and those of a hub share: the frame, the style and the Markdown of a page,
// and who may open one on a loopback address. What pages show belongs to serve and hub.
//
// Read pages.go first (a page and its templates), then guard.go (access), markdown.go (texts).
package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"memoir"
	"memoir/memory"
)

//go:embed *.html *.css *.js
var files embed.FS

//go:embed style.css
var style []byte

// A Page is what the templates of a page and its frame get.
type Page struct {
	Name    string // of the template
	Title   string
	Static  bool          // for a file, without forms and links to a server
	Project string        // name or id in the request
	Query   url.Values    // of the request
	Body    template.HTML // for the frame
	Data    any
}

// A Tab is a link at the top of pages: the name of its page, its path and its words. The path of a project's is below
// the project; if it is empty, the page gets the project in its query.
type Tab [3]string

// Frame returns the templates of the frame with some functions, to which a program adds those of its pages. The frame
// calls brand, the program's name, tabs and ownTabs, which return []Tab, and name, a project's name for people.
func Frame(functions template.FuncMap) *template.Template {
	return template.Must(template.New("").Funcs(shared).Funcs(functions).ParseFS(files, "*.html"))
}

var shared = template.FuncMap{
	"when":  timeOf,
	"words": func(name string) string { return strings.ReplaceAll(name, "_", " ") },
	"path":  url.PathEscape,
	"cut":   memoir.Cut,
	"count": memoir.Count,
	"add":   func(a, b int) int { return a + b },
	"diff":  memory.DiffLines,
	"once":  memoir.OnceMark,
	"text":  func(text string) (template.HTML, error) { return Prose{Text: text}.Render() },
	"on":    func(p Page, data any) Page { p.Data = data; return p },
	"style": func() template.CSS { return template.CSS(style) }, // embedded
	"policy": func() string {
		sum := sha256.Sum256(style)
		return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	},
}

// timeOf returns a time as HTML: in UTC, which the script makes local.
func timeOf(v any) template.HTML {
	var t time.Time
	switch v := v.(type) {
	case time.Time:
		t = v
	case *time.Time:
		if v != nil {
			t = *v
		}
	case string:
		t, _ = time.Parse(time.RFC3339, v)
	}
	if t.IsZero() {
		return "–"
	}
	return template.HTML(t.UTC().Format(`<time datetime="2006-01-02T15:04:05Z">2006-01-02 15:04 UTC</time>`))
}

// Complete adds the stylesheet and the script to the requests that are answered, and refuses all others.
func Complete(mux *http.ServeMux, hint string, refuse func(http.ResponseWriter, *http.Request, int, Failure)) {
	for name, kind := range map[string]string{"style.css": "text/css", "script.js": "text/javascript"} {
		content, _ := files.ReadFile(name) // embedded
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind+"; charset=utf-8")
			_, _ = w.Write(content)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		status, code, known := http.StatusNotFound, string(memoir.CodeNotFound), allowed(mux, r)
		if len(known) > 0 {
			w.Header().Set("Allow", strings.Join(known, ", "))
			status, code = http.StatusMethodNotAllowed, "method_not_allowed"
		}
		refuse(w, r, status, Failure{"no such request: " + r.Method + " " + memoir.Cut(r.URL.Path, 200), hint, code})
	})
}

func allowed(mux *http.ServeMux, r *http.Request) (known []string) {
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
		if _, pattern := mux.Handler(&http.Request{Method: method, Host: r.Host, URL: r.URL}); pattern != "/" {
			known = append(known, method)
		}
	}
	return known
}

// Write answers with a page, whose template is one of all.
func Write(w http.ResponseWriter, all *template.Template, p Page, status int) {
	text, err := Render(all, p)
	if err != nil {
		http.Error(w, "the page cannot be rendered", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text) // fails if the client has disconnected
}

// Render returns a page in its frame.
func Render(all *template.Template, p Page) ([]byte, error) {
	var body, whole bytes.Buffer
	if p.Project != "" {
		p.Title = p.Project + ": " + p.Title
	}
	if err := all.ExecuteTemplate(&body, p.Name+".html", p); err != nil {
		return nil, err
	}
	p.Body = template.HTML(body.String()) // the template has escaped it
	err := all.ExecuteTemplate(&whole, "frame.html", p)
	return whole.Bytes(), err
}

// A Failure is an error as a page or as JSON.
type Failure struct {
	Error string `json:"error"`
	Hint  string `json:"hint"`
	Code  string `json:"code"`
}

// FailureOf returns an error that a request ended with, and its HTTP status.
func FailureOf(err error) (int, Failure) {
	f := Failure{memoir.Cut(err.Error(), 1000), memoir.HintOf(err), string(memoir.CodeOf(err))}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		f.Hint, f.Code = "at most 1 MB", "too_large"
		return http.StatusRequestEntityTooLarge, f
	}
	if status, ok := statuses[memoir.CodeOf(err)]; ok {
		return status, f
	}
	return http.StatusInternalServerError, f
}

// statuses are the HTTP statuses of error codes. The status of other errors is 500.
var statuses = map[memoir.Code]int{
	memoir.CodeUsage: http.StatusUnprocessableEntity, memoir.CodeInvalid: http.StatusUnprocessableEntity,
	memoir.CodeNotFound: http.StatusNotFound, memoir.CodeUnreadable: http.StatusNotFound,
	memoir.CodeBusy: http.StatusConflict, memoir.CodeLeaseLost: http.StatusConflict,
	memoir.CodeChanged: http.StatusConflict,
	memoir.CodeStorage: http.StatusInsufficientStorage, memoir.CodeInterrupted: http.StatusServiceUnavailable,
}

// Show answers with the page of the failure.
func (f Failure) Show(w http.ResponseWriter, all *template.Template, status int) {
	Write(w, all, Page{Name: "failure", Title: http.StatusText(status), Data: f}, status)
}
