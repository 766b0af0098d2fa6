package hub

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/pages"
)

//go:embed page
var pageFiles embed.FS

// site shows pages of an organisation.
type site struct {
	Admin
	templates *template.Template
}

// views are the pages, each with what its template gets.
var views = []struct {
	path, name, title string
	read              func(*site, *http.Request) (any, error)
}{
	{"/projects", "projects", "Projects", listing(Admin.overview)},
	{"/projects/{project}/memory", "memory", "Memory", (*site).memory},
	{"/projects/{project}/generations", "generations", "Generations", func(s *site, r *http.Request) (any, error) {
		return s.Generations(r.Context(), r.PathValue("project"))
	}},
	{"/members", "members", "Members", listing(Admin.Members)},
	{"/queue", "queue", "Jobs", listing(Admin.Jobs)},
	{"/usage", "usage", "Spending", listing(Admin.spending)},
}

var (
	allTabs = []pages.Tab{{"projects", "/projects", "Projects"}, {"members", "/members", "Members"},
		{"queue", "/queue", "Jobs"}, {"usage", "/usage", "Spending"}}
	ownTabs = []pages.Tab{{"memory", "memory", "Memory"}, {"generations", "generations", "Generations"}}
)

// Pages returns the handler of pages of the organisation, on a loopback address, for who has a token. Nothing can be
// changed there. A role that may only read the tables is enough; one that row-level security binds is an error of code
// memoir.CodeUsage, since its pages would lack what the walls hide.
func (a Admin) Pages(ctx context.Context, token string) (http.Handler, error) {
	var bound bool
	err := asError(a.hub.pool.QueryRow(ctx, `SELECT row_security_active('memoir.statement')`).Scan(&bound))
	if err == nil && bound {
		err = memoir.Errorf(memoir.CodeUsage, "use the role that owns the tables, or one of pg_read_all_data with BYPASSRLS",
			"row-level security hides rows from this role")
	}
	if err == nil {
		_, err = a.organisation(ctx, a.hub.pool)
	}
	if err != nil {
		return nil, err
	}
	s := &site{Admin: a}
	s.templates = pages.Frame(template.FuncMap{
		"brand": func() string { return "memoir-hub" }, "name": func(project string) string { return project },
		"tabs": func() []pages.Tab { return allTabs }, "ownTabs": func() []pages.Tab { return ownTabs },
		"rows": Table.Objects, "first": func(all []row) []row { return all[:min(len(all), mostRows)] },
		"more": func(all []row) int { return max(len(all)-mostRows, 0) }, "int": func(n int64) int { return int(n) },
		"clean": s.clean, "lines": s.lines,
	})
	template.Must(s.templates.ParseFS(pageFiles, "page/*.html"))
	mux := http.NewServeMux()
	for _, v := range views {
		mux.HandleFunc("GET "+v.path, func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), patience)
			defer cancel()
			data, err := v.read(s, r.WithContext(ctx))
			if err != nil {
				status, f := pages.FailureOf(err)
				if memoir.CodeOf(err) == memoir.CodeStorage {
					status = http.StatusServiceUnavailable // PostgreSQL does not answer
				}
				s.refuse(w, r, status, f)
				return
			}
			pages.Write(w, s.templates,
				pages.Page{Name: v.name, Title: v.title, Project: r.PathValue("project"), Data: data}, http.StatusOK)
		})
	}
	mux.Handle("GET /{$}", http.RedirectHandler("/projects", http.StatusSeeOther))
	pages.Complete(mux, "", s.refuse)
	return pages.Guard{Token: token, Command: "memoir-hub pages", Refuse: s.refuse}.Handler(mux), nil
}

func (s *site) refuse(w http.ResponseWriter, _ *http.Request, status int, f pages.Failure) {
	f.Error = s.clean(f.Error)
	f.Show(w, s.templates, status)
}

// clean returns a text that nobody has checked as pages show it.
func (s *site) clean(text string) string { return memory.Neutralise(s.hub.scanner.Message(text)) }

// mostRows bounds the rows of a list on a page.
const mostRows = 500

func listing(read func(Admin, context.Context) (Table, error)) func(*site, *http.Request) (any, error) {
	return func(s *site, r *http.Request) (any, error) { return read(s.Admin, r.Context()) }
}

// published is the SQL of what machines get of a project p, 0 for nothing. If newest is above it, that one waits.
const published = ` LEFT JOIN LATERAL (SELECT coalesce(max(number) FILTER (WHERE state = 'published'), 0) AS published,
		coalesce(max(number), 0) AS newest, max(made) AS last FROM memoir.generation WHERE project = p.id) l ON true `

// overview lists projects by their last activity, those without any last.
func (a Admin) overview(ctx context.Context) (Table, error) {
	return a.table(ctx, `SELECT p.key, s.*, to_char(s.until, 'YYYY-MM-DD') AS day, l.*, p.seq > p.consumed AS due
		FROM memoir.project p LEFT JOIN LATERAL (
			SELECT count(*) AS statements, count(DISTINCT member) AS members, max(day) AS until
			FROM memoir.statement WHERE organisation = $1 AND project = p.id) s ON true`+published+`
		WHERE p.organisation = $1 AND p.alias_of IS NULL ORDER BY greatest(s.until, l.last) DESC NULLS LAST, p.key`)
}

// spending sums up the calls of 100 days by day and model, behind a row without a day for all of them. Of open calls
// it has estimates.
func (a Admin) spending(ctx context.Context) (Table, error) {
	return a.table(ctx, `SELECT to_char(day, 'YYYY-MM-DD') AS day, model, count(*) AS calls,
			coalesce(sum(tokens), 0)::bigint AS tokens, coalesce(sum(cost), 0) AS cost, count(*) FILTER (WHERE NOT ended) AS open
		FROM memoir.ledger WHERE organisation = $1 AND day > (now() AT TIME ZONE 'UTC')::date - 100
		GROUP BY GROUPING SETS ((day, model), ()) ORDER BY day DESC NULLS FIRST, cost DESC, tokens DESC, model`)
}

// shown is a generation of a project, with its row and files.
type shown struct {
	Row      row
	Files    memory.Files
	Manifest memory.Manifest
	Changes  []memory.Change // from another one
}

// memory reads the generation n of a query, and its changes from the one that from names; without n the published one.
func (s *site) memory(r *http.Request) (any, error) {
	var numbers [2]int64
	for i, name := range []string{"n", "from"} {
		text := r.URL.Query().Get(name)
		n, err := strconv.ParseInt(cmp.Or(text, "0"), 10, 64)
		if err != nil || n < 0 {
			return nil, memoir.Errorf(memoir.CodeUsage, "", "%s is a generation, not %q", name, memoir.Cut(text, 50))
		}
		numbers[i] = n
	}
	g, err := s.generation(r, numbers[0])
	if err == nil && numbers[1] > 0 {
		var from shown
		from, err = s.generation(r, numbers[1])
		g.Row["from"], g.Changes = numbers[1], memory.Changes(from.Files, g.Files)
		for i, c := range g.Changes {
			g.Changes[i].Path, g.Changes[i].Diff = s.clean(c.Path), s.clean(c.Diff)
		}
	}
	return g, err
}

// generation reads a generation of a request's project; 0 is the published one, if there is one.
func (s *site) generation(r *http.Request, n int64) (g shown, err error) {
	key := r.PathValue("project")
	found, err := s.table(r.Context(), `SELECT coalesce(g.number, 0) AS number, g.model, g.made, l.*,
			p.seq > p.consumed AS due, a.body, (SELECT count(*) FROM memoir.tombstone t WHERE t.project = p.id
				AND t.seq > CASE g.number WHEN l.newest THEN p.consumed ELSE g.seq END) AS withdrawn
		FROM memoir.project k JOIN memoir.project p ON p.id = coalesce(k.alias_of, k.id)`+published+`
		LEFT JOIN memoir.generation g ON g.project = p.id AND g.number = CASE $3::bigint WHEN 0 THEN l.published ELSE $3 END
		LEFT JOIN memoir.archive a ON a.project = p.id AND a.hash = g.archive
		WHERE k.organisation = $1 AND k.key = $2`, key, n)
	if err == nil && len(found.Rows) == 0 {
		err = memoir.Errorf(memoir.CodeNotFound, "`memoir-hub project list` lists them", "there is no project %q", key)
	}
	if err != nil {
		return g, err
	}
	g.Row = found.Objects()[0]
	if body, ok := g.Row["body"].([]byte); ok {
		g.Files, g.Manifest, err = memory.Unpack(bytes.NewReader(body))
	} else if n = max(n, g.Row["number"].(int64)); n > 0 {
		err = noGeneration(key, n)
	}
	return g, err
}

// evidence is where a line comes from: statements of members, by hand, or a model that cites sessions.
type evidence struct {
	Hand, Model bool
	Sources     []source
}
type source struct{ Member, Day, Kind, Text string }

// lines renders the MEMORY.md of a generation, each line with a mark that opens where it comes from.
func (s *site) lines(g shown) (template.HTML, error) {
	sessions, _ := memory.DecodeStatements(g.Files[memory.StatementsFile]) // Unpack has checked the hash of it
	var text pages.Prose
	for line := range strings.Lines(s.clean(string(g.Files[memoir.MemoryFile]))) {
		line = strings.TrimRight(line, "\n")
		var mark strings.Builder
		if origin, known := g.Manifest.Lines[memoir.LineKey(line)]; known || consolidate.IsEntry(line) {
			err := s.templates.ExecuteTemplate(&mark, "mark", evidenceOf(line, origin, g.Manifest, sessions))
			if err != nil {
				return "", err
			}
			line = pages.Uncited(line)
		}
		text.Add(line, template.HTML(mark.String()))
	}
	return text.Render()
}

// evidenceOf returns the statements that a line was made from, or those of the sessions that it cites.
func evidenceOf(line string, origin memoir.LineOrigin, m memory.Manifest, sessions []memoir.Extraction) evidence {
	e := evidence{Hand: origin.Hand, Model: !origin.Hand && len(origin.Statements) == 0}
	var cited []string
	if e.Model {
		cited = consolidate.Cited(line, m.Citations)
	}
	for _, session := range sessions {
		from := slices.ContainsFunc(cited, func(ref string) bool { return consolidate.Cites(ref, session.SessionKey) })
		for _, st := range session.Statements {
			if from || slices.Contains(origin.Statements, st.ID) {
				e.Sources = append(e.Sources, source{memoir.MemberOf(session.SessionKey),
					cmp.Or(st.At, session.EndedAt.Format(time.DateOnly)), string(st.Kind), st.Line()})
			}
		}
	}
	return e
}
