package serve

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"memoir"
	"memoir/entry"
	"memoir/operation"
	"memoir/store"
)

//go:embed page
var files embed.FS

//go:embed page/style.css
var style []byte

type page struct {
	Name    string // of the template
	Title   string
	Static  bool       // for a file, without forms and links to a server
	Project string     // name or id in the request
	Query   url.Values // of the request
	Body    template.HTML
	Data    any
}

// templates are parsed for the first page, so that other commands do not wait for them.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(functions).ParseFS(files, "page/*.html"))
})

var functions = template.FuncMap{
	"when": func(t *time.Time) string {
		if t == nil {
			return "–"
		}
		return operation.Zoned(*t)
	},
	"words":      func(name string) string { return strings.ReplaceAll(name, "_", " ") },
	"meaning":    func(reason string) string { return memoir.Meanings[memoir.Reason(reason)] },
	"path":       url.PathEscape,
	"cut":        memoir.Cut,
	"count":      memoir.Count,
	"entry":      memoir.EntryID,
	"categories": func() []string { return memoir.Categories },
	"diff":       operation.DiffLines,
	"days":       daysOf,
	"on":         func(p page, data any) page { p.Data = data; return p },
	"style":      func() template.CSS { return template.CSS(style) }, // embedded
	"policy": func() string {
		sum := sha256.Sum256(style)
		return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	},
}

func asset(name, kind string) http.HandlerFunc {
	content, _ := files.ReadFile("page/" + name) // embedded
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		_, _ = w.Write(content)
	}
}

func write(w http.ResponseWriter, p page, status int) {
	text, err := render(p)
	if err != nil {
		http.Error(w, "the page cannot be rendered", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text) // fails if the client has disconnected
}

func render(p page) ([]byte, error) {
	var body, whole bytes.Buffer
	if err := templates().ExecuteTemplate(&body, p.Name+".html", p); err != nil {
		return nil, err
	}
	p.Body = template.HTML(body.String()) // the template has escaped it
	err := templates().ExecuteTemplate(&whole, "frame.html", p)
	return whole.Bytes(), err
}

// A day is the use of language models on one day.
type day struct {
	Day string
	memoir.Usage
	Share float64 // cost relative to the most expensive day; input tokens if no cost is known
}

func daysOf(rows []operation.Spent) (out []day) {
	var cost, tokens float64
	for _, row := range rows {
		if len(out) == 0 || out[0].Day != row.Day {
			out = append([]day{{Day: row.Day}}, out...)
		}
		out[0].Usage = out[0].Add(row.Usage)
		cost, tokens = max(cost, out[0].Cost), max(tokens, float64(out[0].InputTokens))
	}
	for i := range out {
		if cost > 0 {
			out[i].Share = out[i].Cost / cost
		} else {
			out[i].Share = float64(out[i].InputTokens) / max(tokens, 1)
		}
	}
	return out
}

type exported struct {
	At       *time.Time
	Projects operation.Projects
	Memories []exportedMemory
	Notes    operation.Entries
	Sessions operation.Sessions
	Queue    operation.Queue
	Spending operation.Spending
}

type exportedMemory struct {
	Name    string
	Memory  operation.Memory
	Changes *operation.Comparison // nil: no generation is archived
}

// Export returns the content of the pages as one HTML file that needs no server, script or other file.
func Export(ctx context.Context, o Options, now time.Time) ([]byte, error) {
	s := &server{Options: o}
	st, err := s.Read(ctx)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	out := exported{At: operation.Time(now)}
	if out.Projects, err = operation.ListProjects(ctx, st, s.Home, s.Clean); err != nil {
		return nil, err
	}
	for _, project := range out.Projects.Projects {
		one, err := s.exportedOf(ctx, st, project)
		if err != nil {
			return nil, err
		}
		out.Memories = append(out.Memories, one)
	}
	var errs [4]error
	notes, err := entry.Book{Store: st}.Notes(ctx, nil, "")
	out.Notes, errs[0] = operation.EntriesOf(notes), err
	out.Sessions, errs[1] = operation.ListSessions(ctx, st, store.Filter{}, 0, s.Clean)
	out.Queue, errs[2] = operation.ReadQueue(ctx, st, s.Clean)
	out.Spending, errs[3] = operation.ReadSpending(ctx, st)
	if err := cmp.Or(errs[:]...); err != nil {
		return nil, err
	}
	return render(page{Name: "export", Title: "Memory", Static: true, Data: out})
}

func (s *server) exportedOf(ctx context.Context, st *store.Store, project operation.Project) (
	out exportedMemory, err error) {
	out.Name = project.Name
	injected, err := s.Injected(ctx, project.ID)
	if err != nil {
		return out, err
	}
	if out.Memory, err = s.Memory(project.ID, injected); err != nil {
		return out, err
	}
	if err := s.Explain(ctx, st, out.Memory); err != nil {
		return out, err
	}
	last, err := s.compare(project.ID, 0, 0)
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		return out, nil
	}
	out.Changes = &last
	return out, err
}
