package serve

import (
	"cmp"
	"io"
	"net/http"
	"slices"
	"strconv"

	"memoir"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/store"
)

type noteIn struct {
	Category string `json:"category"` // empty: fact
	Content  string `json:"content"`
	Source   string `json:"source"` // user, auto or agent; empty: user
}

func noteOf(r *http.Request) (in noteIn, err error) {
	if byForm(r) {
		if err := r.ParseForm(); err != nil {
			return in, usage("", "read the form: %w", err)
		}
		return noteIn{Category: r.PostForm.Get("category"), Content: r.PostForm.Get("content")}, nil
	}
	return in, decode(r, &in, `{"category": "fact", "content": "…"}`)
}

func (in noteIn) entry(projectID string) (memoir.Entry, error) {
	e := memoir.Entry{ProjectID: projectID, Kind: memoir.EntryNote, Category: cmp.Or(in.Category, "fact"),
		Author: memoir.Author(cmp.Or(in.Source, string(memoir.AuthorUser))), Text: in.Content}
	if !slices.Contains([]memoir.Author{memoir.AuthorUser, memoir.AuthorAuto, memoir.AuthorAgent}, e.Author) {
		return e, usage("user, auto or agent", "%q is not a source", memoir.Cut(in.Source, 100))
	}
	return e, nil
}

// takeNote adds a note. HTML forms have no PUT and DELETE: with an id, a form changes a note or forgets it.
func (s *server) takeNote(c call) (any, error) {
	in, err := noteOf(c.Request)
	if err != nil {
		return nil, err
	}
	switch id := c.PostForm.Get("id"); {
	case id != "" && c.PostForm.Has("content"):
		return s.replace(c, id, &in)
	case id != "":
		return s.replace(c, id, nil)
	}
	e, err := in.entry(c.project.ID)
	if err != nil {
		return nil, err
	}
	stored, _, err := s.Remember(c.Context(), c.st, c.opts, e)
	return stored, err
}

func (s *server) changeNote(c call) (any, error) {
	in, err := noteOf(c.Request)
	if err != nil {
		return nil, err
	}
	return s.replace(c, c.PathValue("id"), &in)
}

func (s *server) forgetNote(c call) (any, error) {
	e, err := s.replace(c, c.PathValue("id"), nil)
	return struct {
		Forgotten int64 `json:"forgotten"`
	}{e.ID}, err
}

// replace forgets the note with a number and returns it. If there is another one, it stores that in its place, with the
// same category by default, and returns it instead.
func (s *server) replace(c call, number string, by *noteIn) (none operation.Entry, err error) {
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil || id < 1 {
		return none, usage("", "%q is not the number of a note", memoir.Cut(number, 50))
	}
	found, err := c.st.Entries(c.Context(), store.EntryFilter{ID: id, Kind: memoir.EntryNote})
	if err == nil && len(found) == 0 {
		err = memoir.Errorf(memoir.CodeNotFound, "GET /memory lists notes", "no note is #%d", id)
	}
	if err != nil {
		return none, err
	}
	e, what := found[0], pipeline.Forgetting{Keys: []string{found[0].Key()}}
	if by != nil {
		by.Category = cmp.Or(by.Category, e.Category)
		if e, err = by.entry(e.ProjectID); err != nil {
			return none, err
		}
		what.Instead = &e
	}
	_, err = pipeline.Forget(c.Context(), c.st, c.opts, what)
	return operation.EntryOf(e), err
}

func (s *server) patchMemory(c call) (any, error) {
	patch, err := io.ReadAll(c.Body)
	if err != nil {
		return nil, usage("", "read the request: %w", err)
	}
	return pipeline.Patch(c.Context(), c.st, c.opts, c.project.Project, memoir.AuthorUser, patch)
}

func (s *server) addMessages(c call) (any, error) {
	var in struct {
		Conversation string             `json:"conversation"`
		Messages     []pipeline.Message `json:"messages"`
	}
	if err := decode(c.Request, &in, `{"messages": [{"role": "user", "content": "…"}]}`); err != nil {
		return nil, err
	}
	return s.Say(c.Context(), c.st, c.opts, c.project.ID, in.Conversation, in.Messages)
}
