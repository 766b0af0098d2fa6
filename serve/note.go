package serve

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"memoir"
	"memoir/entry"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/store"
)

// noteIn is the form of a note in a request.
type noteIn struct {
	Category string `json:"category"` // empty: fact
	Content  string `json:"content"`
	Source   string `json:"source"` // user, auto or agent; empty: user
}

// noteOf reads a note from the JSON or the form in a request.
func noteOf(r *http.Request) (in noteIn, err error) {
	if byForm(r) {
		if err := r.ParseForm(); err != nil {
			return in, usage("", "read the form: %w", err)
		}
		return noteIn{Category: r.PostForm.Get("category"), Content: r.PostForm.Get("content")}, nil
	}
	return in, decode(r, &in, `{"category": "fact", "content": "…"}`)
}

// entry returns the note as an entry of a project.
func (in noteIn) entry(projectID string) (memoir.Entry, error) {
	e := memoir.Entry{ProjectID: projectID, Kind: memoir.EntryNote, Category: cmp.Or(in.Category, "fact"),
		Author: memoir.Author(cmp.Or(in.Source, string(memoir.AuthorUser))), Text: in.Content}
	if !slices.Contains([]memoir.Author{memoir.AuthorUser, memoir.AuthorAuto, memoir.AuthorAgent}, e.Author) {
		return e, usage("user, auto or agent", "%q is not a source", memoir.Cut(in.Source, 100))
	}
	return e, nil
}

func (s *server) book(st *store.Store) entry.Book {
	return entry.Book{Store: st, Home: s.Home, Redact: s.Redact}
}

func (s *server) latestNotes(c call) (any, error) {
	notes, err := s.book(c.st).Latest(c.Context(), c.URL.Query().Get("category"))
	return operation.EntriesOf(notes), err
}

// told returns the projects whose notes a session of the call's project gets: the user's and its own.
func (c call) told() []string { return slices.Compact([]string{memoir.UserProjectID, c.project.ID}) }

func (s *server) listNotes(c call) (any, error) {
	notes, err := s.book(c.st).Notes(c.Context(), c.told(), c.URL.Query().Get("category"))
	return operation.EntriesOf(notes), err
}

func (s *server) recallNotes(c call) (any, error) {
	query := c.URL.Query()
	notes, err := s.book(c.st).Recall(c.Context(), c.told(), query.Get("category"), strings.Fields(query.Get("words")))
	return operation.EntriesOf(notes), err
}

// write stores a note.
func (s *server) write(c call, e memoir.Entry) (memoir.Entry, error) {
	b, err := pipeline.Book(c.Context(), c.st, c.opts, e.ProjectID, s.Redact)
	if err == nil {
		e, _, err = b.Write(c.Context(), e)
	}
	return e, err
}

// takeNote adds a note. HTML forms have no PUT and DELETE: with an id, a form changes a note or forgets it.
func (s *server) takeNote(c call) (any, error) {
	in, err := noteOf(c.Request)
	if err != nil {
		return nil, err
	}
	var e memoir.Entry
	switch id := c.PostForm.Get("id"); {
	case id == "":
		if e, err = in.entry(c.project.ID); err == nil {
			e, err = s.write(c, e)
		}
	case c.PostForm.Has("content"):
		e, err = s.rewrite(c, id, in)
	default:
		e, err = s.forgotten(c, id)
	}
	return operation.EntryOf(e), err
}

func (s *server) changeNote(c call) (any, error) {
	in, err := noteOf(c.Request)
	if err != nil {
		return nil, err
	}
	e, err := s.rewrite(c, c.PathValue("id"), in)
	return operation.EntryOf(e), err
}

// note returns the note with a number; an error of code memoir.CodeNotFound if there is none.
func (s *server) note(c call, number string) (memoir.Entry, error) {
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil || id < 1 {
		return memoir.Entry{}, usage("", "%q is not the number of a note", memoir.Cut(number, 50))
	}
	found, err := c.st.Entries(c.Context(), store.EntryFilter{ID: id, Kind: memoir.EntryNote})
	if err == nil && len(found) == 0 {
		err = memoir.Errorf(memoir.CodeNotFound, "GET /memory lists notes", "no note is #%d", id)
	}
	if err != nil {
		return memoir.Entry{}, err
	}
	return found[0], nil
}

// rewrite forgets a note and writes a new one in its place, with the old category by default.
func (s *server) rewrite(c call, number string, in noteIn) (memoir.Entry, error) {
	old, err := s.note(c, number)
	if err != nil {
		return old, err
	}
	in.Category = cmp.Or(in.Category, old.Category)
	fresh, err := in.entry(old.ProjectID)
	if err == nil {
		_, err = pipeline.Forget(c.Context(), c.st, c.opts, pipeline.Forgetting{Keys: []string{old.Key()}, Instead: &fresh})
	}
	return fresh, err
}

func (s *server) forgetNote(c call) (any, error) {
	e, err := s.forgotten(c, c.PathValue("id"))
	return struct {
		Forgotten int64 `json:"forgotten"`
	}{e.ID}, err
}

// forgotten forgets the note with a number and returns it.
func (s *server) forgotten(c call, number string) (memoir.Entry, error) {
	e, err := s.note(c, number)
	if err == nil {
		_, err = pipeline.Forget(c.Context(), c.st, c.opts, pipeline.Forgetting{Keys: []string{e.Key()}})
	}
	return e, err
}
