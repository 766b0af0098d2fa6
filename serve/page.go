package serve

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"memoir"
	"memoir/entry"
	"memoir/operation"
	"memoir/pages"
	"memoir/rollout"
	"memoir/search"
	"memoir/store"
)

//go:embed page
var files embed.FS

// templates are parsed for the first page, so that other commands do not wait for them.
var templates = sync.OnceValue(func() *template.Template {
	all := pages.Frame(functions)
	return template.Must(all.Funcs(template.FuncMap{"lines": func(p pages.Page, project string, lines []operation.Line) (
		template.HTML, error) {
		return linesOf(all, p, project, lines)
	}}).ParseFS(files, "page/*.html"))
})

var functions = template.FuncMap{
	"brand":      func() string { return "memoir" },
	"meaning":    func(reason string) string { return memoir.Meanings[memoir.Reason(reason)] },
	"entry":      memoir.EntryID,
	"short":      shortKey,
	"name":       projectName,
	"categories": func() []string { return memoir.Categories },
	"reasons":    func() []memoir.Reason { return memoir.Reasons },
	"kinds":      func() []string { return search.Kinds },
	"agents":     agents,
	"first":      func(text string) string { line, _, _ := strings.Cut(strings.TrimSpace(text), "\n"); return line },
	"spent":      spentBy,
	"by":         func() []string { return []string{"day", "project", "model"} },
	"plain":      memoir.LineText,
	"used":       func(ran *bool) bool { return *ran },
	"file":       fileOf,
	"found":      marked,
	"snippet":    snippetOf,
	"turn":       turn,
	"told":       operation.Told,
	"tabs":       func() []pages.Tab { return allTabs },
	"ownTabs":    func() []pages.Tab { return ownTabs },
}

// shortKey names a session for people: its agent and the beginning of its id.
func shortKey(key string) string {
	source, id := memoir.SplitKey(key)
	return string(source) + " " + id[:min(len(id), 8)]
}

// projectName returns a project's id without the digits that tell it from others of the same name.
func projectName(id string) string {
	if i := strings.LastIndex(id, "-"); i > 0 {
		return id[:i]
	}
	return id
}

// agents lists the agents and applications whose sessions can be listed.
func agents() []string {
	names := memoir.Map(rollout.Agents, func(a rollout.Agent) string { return string(a.Source) })
	slices.Sort(names)
	return append(names, string(memoir.SourceUnknown))
}

// snippetOf returns the text of a hit; of a line of MEMORY.md without its bullet and citation.
func snippetOf(h search.Hit) string {
	if h.Source == search.SourceMemory {
		return memoir.LineText(h.Snippet)
	}
	return h.Snippet
}

// marked marks the words of a query in a hit.
func marked(r search.Result, text string) template.HTML {
	words := strings.Fields(text)
	for i, word := range words {
		if words[i] = template.HTMLEscapeString(word); r.Names(word) {
			words[i] = "<mark>" + words[i] + "</mark>"
		}
	}
	return template.HTML(strings.Join(words, " "))
}

// turn returns the query of a page with another value of a field.
func turn(query url.Values, name string, value any) string {
	query = maps.Clone(query)
	query.Set(name, fmt.Sprint(value))
	return "?" + query.Encode()
}

var (
	allTabs = []pages.Tab{{"projects", "/projects", "Projects"}, {"search", "/search", "Search"},
		{"sessions", "/sessions", "Sessions"}, {"notes", "/memory", "Notes"}, {"delivered", "/delivered", "Delivered"},
		{"usage", "/usage", "Spending"}, {"queue", "/queue", "Queue"}}
	ownTabs = []pages.Tab{{"memory", "memory", "Memory"}, {"review", "review", "Review"}, {"notes", "notes", "Notes"},
		{"sessions", "", "Sessions"}, {"search", "", "Search"}, {"diff", "diff", "Changes"},
		{"generations", "generations", "Generations"}}
)

// linesOf renders lines of a project's memory, each with a mark that opens where it comes from.
func linesOf(all *template.Template, p pages.Page, project string, lines []operation.Line) (template.HTML, error) {
	of := pages.Prose{}
	if !p.Static {
		of.Memory, of.File = "/projects/"+url.PathEscape(project)+"/memory", memoir.MemoryFile
	}
	for _, l := range lines {
		var mark strings.Builder
		p.Data = l
		if l.Key != "" || l.Note != "" {
			if err := all.ExecuteTemplate(&mark, "mark", p); err != nil {
				return "", err
			}
			if l.Why != nil {
				l.Text = pages.Uncited(l.Text)
			}
		}
		of.Add(l.Text, template.HTML(mark.String()))
	}
	return of.Render()
}

// fileOf renders a file of a memory.
func fileOf(m memoryPage) (template.HTML, error) {
	if !strings.HasSuffix(m.File, ".md") {
		return template.HTML("<pre>" + template.HTMLEscapeString(m.Content) + "</pre>"), nil
	}
	at := "/projects/" + url.PathEscape(m.Project) + "/memory"
	return pages.Prose{Text: m.Content, Memory: at, File: m.File}.Render()
}

// A spending is the use of language models on one day, for one project or of one model.
type spending struct {
	Name string
	memoir.Usage
	Share float64 // of the cost of all; of the input tokens if no cost is known
}

// spentBy sums up spending by day, the last first, or by project or model, the largest first; by nothing, all of it.
func spentBy(what string, rows []store.UsageRow) (out []spending) {
	var cost, tokens float64
	for _, row := range rows {
		name := map[string]string{"day": row.Day, "project": row.Project, "model": row.Model}[what]
		i := slices.IndexFunc(out, func(s spending) bool { return s.Name == name })
		if i < 0 {
			i, out = len(out), append(out, spending{Name: name})
		}
		out[i].Usage = out[i].Add(row.Usage)
		cost, tokens = cost+row.Cost, tokens+float64(row.InputTokens)
	}
	for i := range out {
		if out[i].Share = float64(out[i].InputTokens) / max(tokens, 1); cost > 0 {
			out[i].Share = out[i].Cost / cost
		}
	}
	slices.SortStableFunc(out, func(a, b spending) int {
		if what == "day" {
			return strings.Compare(b.Name, a.Name)
		}
		return cmp.Compare(b.Share, a.Share)
	})
	return out
}

type exported struct {
	At       *time.Time
	Projects operation.Projects
	Memories []exportedMemory
	Notes    operation.Entries
	Sessions sessionsPage
	Queue    operation.Queue
	Spending operation.Spending
}

type exportedMemory struct {
	Name    string
	Memory  memoryPage
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
	out.Sessions.Sessions, errs[1] = operation.ListSessions(ctx, st, store.Filter{}, 500, s.Clean)
	out.Queue, errs[2] = operation.ReadQueue(ctx, st, s.Clean)
	out.Spending, errs[3] = operation.ReadSpending(ctx, st)
	if err := cmp.Or(errs[:]...); err != nil {
		return nil, err
	}
	return pages.Render(templates(), pages.Page{Name: "export", Title: "Memory", Static: true, Data: out})
}

func (s *server) exportedOf(ctx context.Context, st *store.Store, project operation.Project) (
	out exportedMemory, err error) {
	out.Name = project.Name
	injected, err := s.Injected(ctx, project.ID)
	if err != nil {
		return out, err
	}
	if out.Memory.Memory, err = s.Memory(project.ID, injected); err != nil {
		return out, err
	}
	if err := s.Explain(ctx, st, out.Memory.Memory, true); err != nil {
		return out, err
	}
	last, err := s.compare(project.ID, 0, 0)
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		return out, nil
	}
	out.Changes = &last
	return out, err
}
