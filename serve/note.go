package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"memoir"
	"memoir/entry"
	"memoir/pipeline"
	"memoir/store"
)

// noteIn is what is sent of a note.
type noteIn struct {
	Category string `json:"category"` // empty: fact
	Content  string `json:"content"`
	Source   string `json:"source"` // user, auto or agent; empty: user
}

// noteOf reads a note from a request.
func noteOf(r *http.Request) (in noteIn, err error) {
	content, err := body(r)
	if err != nil {
		return in, err
	}
	if err := json.Unmarshal(content, &in); err != nil {
		return in, usage(`{"category": "fact", "content": "…"}`, "the request is not valid: %v", err)
	}
	return in, nil
}

// entry is the note that is to be written.
func (in noteIn) entry(projectID string) (memoir.Entry, error) {
	e := memoir.Entry{ProjectID: projectID, Kind: memoir.EntryNote, Category: cmp.Or(in.Category, "fact"),
		Author: memoir.Author(cmp.Or(in.Source, string(memoir.AuthorUser))), Text: in.Content}
	if !slices.Contains([]memoir.Author{memoir.AuthorUser, memoir.AuthorAuto, memoir.AuthorAgent}, e.Author) {
		return e, usage("user, auto or agent", "no source is named %q", memoir.Cut(in.Source, 100))
	}
	return e, nil
}

func (s *server) book(st *store.Store) entry.Book {
	return entry.Book{Store: st, Home: s.Home, Redact: s.Redact}
}

func (s *server) latestNotes(st *store.Store, r *http.Request) (any, error) {
	notes, err := s.book(st).Latest(r.Context(), r.URL.Query().Get("category"))
	return EntriesOf(notes), err
}

// withUser are the projects whose notes hold in a project.
func withUser(ctx context.Context, st *store.Store, ref string) ([]string, error) {
	row, err := st.FindProject(ctx, ref)
	return slices.Compact([]string{memoir.UserProjectID, row.ID}), err
}

func (s *server) listNotes(st *store.Store, r *http.Request) (any, error) {
	ids, err := withUser(r.Context(), st, r.PathValue("project"))
	if err != nil {
		return nil, err
	}
	notes, err := s.book(st).Notes(r.Context(), ids, r.URL.Query().Get("category"))
	return EntriesOf(notes), err
}

func (s *server) recallNotes(c change) (any, error) {
	ids, err := withUser(c.Context(), c.st, c.PathValue("project"))
	if err != nil {
		return nil, err
	}
	query := c.URL.Query()
	notes, err := s.book(c.st).Recall(c.Context(), ids, query.Get("category"), strings.Fields(query.Get("words")))
	return EntriesOf(notes), err
}

func (s *server) addNote(c change) (any, error) {
	in, err := noteOf(c.Request)
	if err != nil {
		return nil, err
	}
	e, err := s.add(c, c.PathValue("project"), in)
	return EntryOf(e), err
}

// add writes a note of a project, or of the user.
func (s *server) add(c change, project string, in noteIn) (memoir.Entry, error) {
	if project == memoir.UserProjectID || project == "user" {
		if _, err := c.st.Register(c.Context(), memoir.UserProject()); err != nil {
			return memoir.Entry{}, err
		}
	}
	row, err := c.st.FindProject(c.Context(), project)
	if err != nil {
		return memoir.Entry{}, err
	}
	e, err := in.entry(row.ID)
	if err != nil {
		return e, err
	}
	return s.book(c.st).Write(c.Context(), e)
}

func (s *server) changeNote(c change) (any, error) {
	in, err := noteOf(c.Request)
	if err != nil {
		return nil, err
	}
	e, err := s.rewrite(c, c.PathValue("id"), in)
	return EntryOf(e), err
}

// note is the note of a number.
func (s *server) note(c change, number string) (memoir.Entry, error) {
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil || id < 1 {
		return memoir.Entry{}, usage("", "%q is not the number of a note", memoir.Cut(number, 50))
	}
	found, err := c.st.Entries(c.Context(), store.EntryFilter{ID: id, Kind: memoir.EntryNote})
	if err == nil && len(found) == 0 {
		err = memoir.Errorf(memoir.CodeNotFound, "GET /memory lists notes", "there is no note #%d", id)
	}
	if err != nil {
		return memoir.Entry{}, err
	}
	return found[0], nil
}

// rewrite changes a note: a new one has the text, and then the old one is forgotten for good. Who is disturbed in
// between has both.
func (s *server) rewrite(c change, number string, in noteIn) (memoir.Entry, error) {
	old, err := s.note(c, number)
	if err != nil {
		return old, err
	}
	in.Category = cmp.Or(in.Category, old.Category)
	fresh, err := in.entry(old.ProjectID)
	if err != nil {
		return fresh, err
	}
	if fresh, err = s.book(c.st).Write(c.Context(), fresh); err != nil {
		return fresh, err
	}
	if err := s.forget(c, old); err != nil {
		return fresh, memoir.Errorf(memoir.CodeOf(err), "forget #"+number+" once more",
			"#%d is stored, and #%d is still there: %w", fresh.ID, old.ID, err)
	}
	return fresh, nil
}

func (s *server) forgetNote(c change) (any, error) {
	e, err := s.note(c, c.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return struct {
		Forgotten int64 `json:"forgotten"`
	}{e.ID}, s.forget(c, e)
}

// forget removes a note for good.
func (s *server) forget(c change, e memoir.Entry) error {
	_, err := pipeline.Forget(c.Context(), c.st, c.opts, pipeline.Forgetting{Keys: []string{e.Key()}})
	return err
}

// noteList are notes on a page.
type noteList struct {
	Notes      []Entry // by category
	Left       int     // that are not shown
	Categories []string
	Projects   []Project
	In         noteIn // what was sent, and refused
}

func (s *server) notesPage(st *store.Store, r *http.Request, p *page) error {
	if r.URL.Query().Get("project") != "" {
		if _, err := s.projectAsked(st, r, p); err != nil {
			return err
		}
	}
	list, err := s.notesOf(r.Context(), st, p.Project)
	if sent, ok := p.Data.(noteIn); ok {
		list.In = sent
	}
	p.Data = list
	return err
}

// notesOf are the notes of a project and of the user, or of all projects.
func (s *server) notesOf(ctx context.Context, st *store.Store, project string) (out noteList, err error) {
	var ids []string // nil: all
	if project != "" {
		ids = slices.Compact([]string{memoir.UserProjectID, project})
	}
	out.Categories = memoir.Categories
	notes, err := s.book(st).Notes(ctx, ids, "")
	if err != nil {
		return out, err
	}
	out.Left = max(0, len(notes)-maxListed)
	out.Notes = EntriesOf(notes[:len(notes)-out.Left]).Entries
	out.Projects, err = s.projects(ctx, st)
	return out, err
}

// takeNote adds, changes or forgets a note by a form, and shows the notes again.
func (s *server) takeNote(w http.ResponseWriter, r *http.Request) {
	project, in := "", noteIn{}
	id, err := func() (int64, error) {
		if err := r.ParseForm(); err != nil {
			return 0, memoir.Errorf(memoir.CodeUsage, "at most 1 MB", "read the form: %w", err)
		}
		project = r.PostForm.Get("project")
		in.Category, in.Content = r.PostForm.Get("category"), r.PostForm.Get("content")
		opts, st, err := s.Change(r.Context())
		if err != nil {
			return 0, err
		}
		defer st.Close()
		c := change{r, st, opts}
		var e memoir.Entry
		switch r.PostForm.Get("do") {
		case "add":
			e, err = s.add(c, project, in)
		case "change":
			e, err = s.rewrite(c, r.PostForm.Get("id"), in)
		case "forget":
			if e, err = s.note(c, r.PostForm.Get("id")); err == nil {
				err = s.forget(c, e)
			}
		default:
			err = usage("", "a form adds, changes or forgets a note")
		}
		return e.ID, err
	}()
	back := url.Values{}
	if only := r.URL.Query().Get("project"); only != "" {
		back.Set("project", only)
	}
	if err == nil {
		http.Redirect(w, r, "/ui/notes?"+back.Encode()+"#note-"+strconv.FormatInt(id, 10), http.StatusSeeOther)
		return
	}
	i := slices.IndexFunc(views, func(v view) bool { return v.name == "notes" })
	in.Content = memoir.Cut(in.Content, entry.MaxText)
	failed := s.failureOf(err)
	s.show(w, r, views[i], page{Failure: &failed, Data: in}, statusOf(err))
}
