package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"memoir"
	"memoir/entry"
	"memoir/pipeline"
)

type memoryRememberIn struct {
	Text     string `json:"text"`
	Kind     string `json:"kind,omitempty" jsonschema:"note (default) or journal"`
	Category string `json:"category,omitempty" jsonschema:"preference, fact (default), project, person or routine"`
	Replaces string `json:"replaces,omitempty" jsonschema:"the note that it replaces: #N"`
}

type memoryRememberOut struct {
	ID   int64  `json:"id"`
	Note string `json:"note"`
}

// memoryRemember is the tool memory_remember. An agent's entry is a claim: searches find it, but it is neither injected
// nor consolidated until a person confirms it.
func (s *server) memoryRemember(ctx context.Context, in memoryRememberIn) (out memoryRememberOut, err error) {
	e := memoir.Entry{Kind: memoir.EntryKind(in.Kind), Category: in.Category, Author: memoir.AuthorAgent, Text: in.Text}
	switch {
	case e.Kind == "":
		e.Kind = memoir.EntryNote
	case e.Kind != memoir.EntryNote && e.Kind != memoir.EntryJournal:
		return out, usage("note or journal", "%q is not a kind", memoir.Cut(in.Kind, 100))
	}
	if in.Replaces != "" {
		e.Replaces, err = entry.Number(in.Replaces)
	} else if e.Kind == memoir.EntryNote && e.Category == "" {
		e.Category = "fact"
	}
	if err != nil {
		return out, err
	}
	options, st, project, err := s.Write(ctx)
	if err != nil {
		return out, err
	}
	defer st.Close()
	e.ProjectID = project.ID
	stored, added, err := s.Remember(ctx, st, options, e)
	if err != nil {
		return out, err
	}
	note := "stored"
	if !added {
		note = "it is stored already"
	}
	return memoryRememberOut{ID: stored.ID, Note: note + "; " + cmp.Or(stored.Note, "memory_search finds it")}, nil
}

type memoryMessagesIn struct {
	Messages     []pipeline.Message `json:"messages,omitempty"`
	Conversation string             `json:"conversation,omitempty" jsonschema:"a name; default: one a day"`
}

type memoryMessagesOut struct {
	Session string `json:"session"`
	Stored  int    `json:"stored"`
	Recap   string `json:"recap,omitempty"`
	Note    string `json:"note,omitempty"`
}

func (s *server) memoryMessages(ctx context.Context, in memoryMessagesIn) (out memoryMessagesOut, err error) {
	if len(in.Messages) == 0 {
		return s.recap(ctx)
	}
	byUser := func(m pipeline.Message) bool { return m.Role == memoir.RoleUser }
	if s.Transcribed && slices.ContainsFunc(in.Messages, byUser) {
		return out, usage("", "messages of the user are read from this agent's transcripts")
	}
	options, st, project, err := s.Write(ctx)
	if err != nil {
		return out, err
	}
	defer st.Close()
	done, err := s.Say(ctx, st, options, project.ID, in.Conversation, in.Messages)
	return memoryMessagesOut{Session: done.Session, Stored: done.Stored}, err
}

func (s *server) recap(ctx context.Context) (out memoryMessagesOut, err error) {
	project, err := s.Project(ctx)
	if err != nil {
		return out, err
	}
	st, err := s.Read(ctx)
	if err != nil {
		return out, err
	}
	defer st.Close()
	session, err := pipeline.LastSession(ctx, st, project.ID)
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		return memoryMessagesOut{Note: "no session to recap"}, nil
	}
	if err != nil {
		return out, err
	}
	recap, err := s.Recap(ctx, session)
	messages := recap.Messages
	return fit(usualTokens, len(messages), func(n int) memoryMessagesOut {
		answer, text := memoryMessagesOut{Session: recap.Session}, pipeline.RecapHead
		for _, m := range messages[len(messages)-n:] {
			text += m.Line()
		}
		answer.Recap = s.Redact(text)
		return answer
	}), err
}

type memoryPatchIn struct {
	Ops []patchOp `json:"ops"`
}

type patchOp struct {
	Op      string  `json:"op" jsonschema:"insert (before the line), update or remove"`
	Line    int     `json:"line" jsonschema:"from 1, as earlier ops left it"`
	Content *string `json:"content,omitempty"`
}

type memoryPatchOut struct {
	Content string `json:"content"`
	Lines   int    `json:"lines"`
	Note    string `json:"note,omitempty"`
}

func (s *server) memoryPatch(ctx context.Context, in memoryPatchIn) (out memoryPatchOut, err error) {
	patch, _ := json.Marshal(in) // cannot fail for what was JSON
	options, st, project, err := s.Write(ctx)
	if err != nil {
		return out, err
	}
	defer st.Close()
	done, err := pipeline.Patch(ctx, st, options, project, memoir.AuthorAgent, patch)
	if err != nil {
		return out, err
	}
	text := s.Clean(done.Content)
	return fit(mostTokens, len(text), func(room int) memoryPatchOut {
		out := memoryPatchOut{Content: memoir.CutBytes(text, room, "…"), Lines: done.Lines}
		if room < len(text) {
			out.Note = "cut to size; memory_get reads the rest"
		}
		return out
	}), nil
}
