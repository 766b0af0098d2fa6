package serve

import (
	"context"
	"slices"

	"memoir"
	"memoir/memory"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/store"
)

func (s *server) listSessions(c call) (any, error) {
	filter := store.Filter{Reason: memoir.Reason(c.URL.Query().Get("reason")), Project: c.project.ID}
	if filter.Reason != "" && !slices.Contains(memoir.Reasons, filter.Reason) {
		return nil, usage("for example eligible or up_to_date", "%q is not a reason",
			memoir.Cut(string(filter.Reason), 100))
	}
	return s.sessions(c.Context(), c.st, filter)
}

func (s *server) sessions(ctx context.Context, st *store.Store, filter store.Filter) (operation.Sessions, error) {
	found, err := st.Sessions(ctx, filter)
	out := operation.Sessions{Sessions: []operation.Session{}}
	for _, session := range found {
		if session.Kind != memoir.KindEntry {
			operation.CleanSession(&session, s.clean)
			out.Sessions = append(out.Sessions, operation.SessionOf(session))
		}
	}
	return out, err
}

func (s *server) showSession(c call) (any, error) {
	at, err := number("at", c.URL.Query().Get("at"))
	if err != nil {
		return nil, err
	}
	return s.read(c.Context(), c.st, c.PathValue("key"), at)
}

// read returns a session with its items from number at on. It does not find forgotten sessions and entries.
func (s *server) read(ctx context.Context, st *store.Store, ref string, at int) (out operation.Reading, err error) {
	found, err := st.FindSessions(ctx, ref)
	if err != nil {
		return out, err
	}
	found = slices.DeleteFunc(found, func(session memoir.Session) bool {
		return session.Reason == memoir.ReasonForgotten || session.Kind == memoir.KindEntry
	})
	switch ref = memoir.Cut(ref, 200); len(found) {
	case 0:
		return out, memoir.Errorf(memoir.CodeNotFound, "", "no session matches %q", ref)
	case 1:
	default:
		return out, memoir.Errorf(memoir.CodeUsage, "name it in full", "%q matches %d sessions", ref, len(found))
	}
	loaded, err := pipeline.LoadSession(ctx, found[0], s.Scanner)
	if err != nil {
		return out, err
	}
	operation.CleanSession(&found[0], s.clean)
	out = operation.Reading{Session: operation.SessionOf(found[0]), Items: []operation.Item{}, Omitted: loaded.Omitted}
	out.Session.Title = memoir.ShortTitle(loaded.Again(out.Session.Title))
	for _, it := range loaded.Items {
		if it.N < at {
			continue
		}
		for _, text := range []*string{&it.Text, &it.Input, &it.Output, &it.CWD, &it.Branch} {
			*text = memory.Neutralise(*text)
		}
		one := operation.ItemOf(it)
		out.Tokens += memoir.Tokens(one.Shown)
		out.Items = append(out.Items, one)
	}
	return out, nil
}
