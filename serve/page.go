package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strings"
	"time"

	"memoir"
	"memoir/store"
)

//go:embed page
var files embed.FS

//go:embed page/style.css
var style []byte

// A page is what templates are given.
type page struct {
	Title   string
	Static  bool   // in a file: without forms and links to a server
	Project string // the id of the project that is shown, if it is one
	Reload  int    // after so many seconds; 0: never
	Failure *failure
	Body    template.HTML
	Data    any
}

// A view is a page that is shown at a path. Its template has the name of the path's end.
type view struct {
	name, title string
	data        func(*server, *store.Store, *http.Request, *page) error
}

var views = []view{
	{"projects", "Projects", (*server).projectsPage},
	{"memory", "Memory", (*server).memoryPage},
	{"line", "A line and what it rests on", (*server).linePage},
	{"changes", "Changes", (*server).changesPage},
	{"notes", "Notes", (*server).notesPage},
	{"sessions", "Sessions", (*server).sessionsPage},
	{"session", "Session", (*server).sessionPage},
	{"search", "Search", (*server).searchPage},
	{"queue", "Queue", (*server).queuePage},
	{"spending", "Spending", (*server).spendingPage},
}

// Most of what a page lists.
const (
	maxListed = 500
	maxShown  = 200 // items of a session
)

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"when": func(t *time.Time) string {
		if t == nil {
			return "–"
		}
		return t.Format("2006-01-02 15:04")
	},
	"why":   func(reason string) string { return reasons[memoir.Reason(reason)] },
	"words": func(name string) string { return strings.ReplaceAll(name, "_", " ") },
	"diff":  diffLines,
	"hit":   hitAddress,
	"on":    func(p page, data any) page { p.Data = data; return p },
	"style": func() template.CSS { return template.CSS(style) }, // is embedded
	"policy": func() string {
		sum := sha256.Sum256(style)
		return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	},
}).ParseFS(files, "page/*.html"))

// reasons say what became of a session.
var reasons = map[memoir.Reason]string{
	memoir.ReasonSubagent:   "another session started it: only main sessions are read",
	memoir.ReasonAutomation: "a script drove it: only people's sessions are read",
	memoir.ReasonOwnRun:     "memoir itself made it",
	memoir.ReasonForgotten:  "it was forgotten, and is never read again",
	memoir.ReasonDisabled:   "it was disabled, and is kept out of memory",
	memoir.ReasonUnreadable: "it cannot be read",
	memoir.ReasonNoProject:  "its directory is no project, or is excluded",
	memoir.ReasonUpToDate:   "it was extracted, and nothing is new since",
	memoir.ReasonActive:     "a process extracts from it now",
	memoir.ReasonTooRecent:  "somebody worked in it a short time ago",
	memoir.ReasonTooOld:     "it is older than memories.maxRolloutAgeDays",
	memoir.ReasonBackoff:    "it failed, and is tried again later",
	memoir.ReasonDead:       "it failed too often: `memoir retry` tries it again",
	memoir.ReasonOverCap:    "a run takes only so many: a later one takes it",
	memoir.ReasonEligible:   "the next run extracts from it",
}

// addPages adds the pages, and what they load.
func (s *server) addPages(mux *http.ServeMux) {
	for _, v := range views {
		path := "GET /ui/" + v.name
		if v.name == "projects" {
			path = "GET /{$}"
		}
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { s.show(w, r, v, page{}, http.StatusOK) })
	}
	mux.HandleFunc("POST /ui/notes", s.takeNote)
	for name, kind := range map[string]string{"style.css": "text/css", "script.js": "text/javascript"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, _ *http.Request) {
			content, _ := files.ReadFile("page/" + name) // is embedded
			w.Header().Set("Content-Type", kind+"; charset=utf-8")
			_, _ = w.Write(content)
		})
	}
}

// show writes a page, or what went wrong with it.
func (s *server) show(w http.ResponseWriter, r *http.Request, v view, p page, status int) {
	p.Title = v.title
	st, giveBack, err := s.registry.borrow(r.Context())
	if err == nil {
		err = v.data(s, st, r, &p)
		giveBack()
	}
	if err != nil {
		s.refuse(w, r, statusOf(err), s.failureOf(err))
		return
	}
	s.write(w, v.name, p, status)
}

func (s *server) write(w http.ResponseWriter, name string, p page, status int) {
	text, err := render(name, p)
	if err != nil {
		http.Error(w, "the page cannot be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text) // to a client that may be gone
}

// render is a page with its frame.
func render(name string, p page) ([]byte, error) {
	var body, whole bytes.Buffer
	if err := templates.ExecuteTemplate(&body, name+".html", p); err != nil {
		return nil, err
	}
	p.Body = template.HTML(body.String()) // of a template, which has escaped it
	err := templates.ExecuteTemplate(&whole, "frame.html", p)
	return whole.Bytes(), err
}

// projectAsked is the project that a query names.
func (s *server) projectAsked(st *store.Store, r *http.Request, p *page) (store.ProjectRow, error) {
	row, err := st.FindProject(r.Context(), r.URL.Query().Get("project"))
	if err == nil {
		p.Project = row.ID
		p.Title = s.clean(row.Name) + ": " + strings.ToLower(p.Title)
	}
	return row, err
}

func (s *server) projectsPage(st *store.Store, r *http.Request, p *page) (err error) {
	p.Data, err = s.projects(r.Context(), st)
	return err
}

// projects are all projects, cleaned.
func (s *server) projects(ctx context.Context, st *store.Store) ([]Project, error) {
	rows, err := st.Projects(ctx)
	out := []Project{}
	for _, row := range rows {
		row.Project = CleanProject(row.Project, s.clean)
		out = append(out, ProjectOf(s.Home, row))
	}
	return out, err
}
