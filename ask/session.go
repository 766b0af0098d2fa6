package ask

import (
	"context"
	"fmt"

	"memoir"
	"memoir/memory"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/store"
)

// readSession reads the items of a session as Phase 1 reads them: filtered, redacted and bounded.
func (s *server) readSession(ctx context.Context, d *document) error {
	st, err := s.Read(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	session, err := s.findSession(ctx, st, d.session)
	if err != nil {
		return err
	}
	if id := memoir.EntryID(session.Key()); id != 0 {
		return s.readEntry(ctx, st, id, d)
	}
	loaded, err := pipeline.LoadSession(ctx, session, s.Scanner)
	if err != nil {
		return err
	}
	d.address.text = sessionScheme + session.Key()
	d.about = s.Clean(fmt.Sprintf("%s session of %s: %s", session.Source, session.UpdatedAt.UTC().Format("2006-01-02"),
		memoir.ShortTitle(loaded.Again(session.Title))))
	for _, it := range loaded.Items {
		d.units = append(d.units, unit{it.N, memory.Neutralise(operation.ItemText(it))})
	}
	if n := len(loaded.Items); n > 0 {
		d.total = loaded.Items[n-1].N
	}
	return nil
}

// findSession returns a session that the client may read. It does not find forgotten and disabled sessions, and without
// AllProjects no sessions of other projects.
func (s *server) findSession(ctx context.Context, st *store.Store, ref string) (memoir.Session, error) {
	project, err := s.Project(ctx)
	if err != nil {
		return memoir.Session{}, err
	}
	session, err := operation.FindSession(ctx, st, ref, func(session memoir.Session) bool {
		return session.Reason != memoir.ReasonForgotten && session.Reason != memoir.ReasonDisabled &&
			session.ProjectID != "" && (session.ProjectID == project.ID || s.AllProjects)
	})
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		err = memoir.Errorf(memoir.CodeNotFound, "memory_search returns session keys",
			"no session of this project matches %q", ref)
	}
	return session, err
}
