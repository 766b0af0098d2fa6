package team

import (
	"context"
	"strings"

	"memoir/store"
	"memoir/team/wire"
)

// maxEdits bounds the edits of a push: that many of wire.MaxEdit are within its bytes.
const maxEdits = 50

// edits returns the hand edits that leave, and why others stay. sent is what was sent of them.
func (l leaving) edits(sent []store.Sent) (out []wire.Edit, held []Held) {
	taken := l.taken(sent)
	out = []wire.Edit{}
	for _, e := range l.edited {
		leaf, stays := l.wire("").Edit(e, taken)
		if stays != "" {
			held = append(held, Held{store.EditsOf + l.key, l.key, stays})
		} else {
			out = append(out, leaf)
		}
	}
	return out, held
}

// wanted returns what adds the statements or edits of a session that the hub should have to a push, by hash, and what
// stays here. A session waits, the last result, while its project's settings switch sharing off, or its project fails.
func (s *syncing) wanted(ctx context.Context, o store.Outgoing) (map[string]func(*wire.Push), []Held, bool) {
	edits := strings.HasPrefix(o.Session, store.EditsOf)
	if o.Key == "" || o.Extraction == nil && !edits {
		return nil, nil, false
	}
	project := s.projects[o.ProjectID]
	settings, err := s.Settings(project)
	switch {
	case err != nil || settings.Off || !settings.Team.Share || s.failed[o.Key] != nil:
		return nil, nil, true
	case !edits && settings.Excluded(o.Extraction.CWD): // since the last scan
		return nil, nil, false
	case s.leaving.key != o.Key:
		byHand, err := s.Store.HandEdits(ctx, project.ID)
		if err != nil {
			return nil, nil, true
		}
		s.leaving = s.Options.leaving(project, o.Key, s.hub.Machine, byHand)
	}
	out := map[string]func(*wire.Push){}
	if edits {
		leaves, held := s.leaving.edits(o.Sent)
		for _, leaf := range leaves {
			out[leaf.Hash] = func(p *wire.Push) { p.Edits = append(p.Edits, leaf) }
		}
		return out, held, false
	}
	leaves, held := s.leaving.of(*o.Extraction, o.Sent)
	for _, leaf := range leaves {
		out[leaf.Hash] = func(p *wire.Push) { p.Statements = append(p.Statements, leaf) }
	}
	return out, held, false
}
