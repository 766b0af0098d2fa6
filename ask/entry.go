package ask

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memoir"
	"memoir/entry"
	"memoir/memory"
	"memoir/store"
)

type memoryRememberIn struct {
	Text     string `json:"text"`
	Kind     string `json:"kind,omitempty" jsonschema:"note (default) or journal"`
	Category string `json:"category,omitempty" jsonschema:"preference, fact (default), project, person or routine"`
}

type memoryRememberOut struct {
	ID   int64  `json:"id"`
	Note string `json:"note"`
}

// memoryRemember is the tool memory_remember. An agent's entry is a claim: searches find it, but it is neither injected
// nor consolidated until a person states it, too.
func (s *server) memoryRemember(ctx context.Context, _ *mcp.CallToolRequest, in memoryRememberIn) (
	*mcp.CallToolResult, memoryRememberOut, error) {
	e := memoir.Entry{Kind: memoir.EntryKind(in.Kind), Category: in.Category, Author: memoir.AuthorAgent, Text: in.Text}
	switch {
	case e.Kind == "":
		e.Kind = memoir.EntryNote
	case e.Kind != memoir.EntryNote && e.Kind != memoir.EntryJournal:
		return nil, memoryRememberOut{}, usage("note or journal", "%q is not a kind", cut(s.Clean(in.Kind), 100))
	}
	if e.Kind == memoir.EntryNote && e.Category == "" {
		e.Category = "fact"
	}
	options, st, project, err := s.Write(ctx)
	if err != nil {
		return nil, memoryRememberOut{}, err
	}
	defer st.Close()
	e.ProjectID = project.ID
	stored, added, err := s.Remember(ctx, st, options, e)
	if err != nil {
		return nil, memoryRememberOut{}, err
	}
	note := "stored; memory_search finds it"
	if !added {
		note = "it is stored already"
	}
	return nil, memoryRememberOut{ID: stored.ID, Note: note}, nil
}

// beside reads a journal or history: journal/DATE, where the date may be today or yesterday, HISTORY.md or
// HISTORY-YYYY-MM.md. For other places it returns nil.
func (s *server) beside(projectID, place string) ([]byte, error) {
	b := s.Book(nil)
	place = strings.TrimSuffix(strings.TrimPrefix(place, rootAddress+"/"), ".md")
	if day, ok := strings.CutPrefix(place, "journal/"); ok {
		day, err := entry.Day(day, time.Now())
		if err != nil {
			return nil, err
		}
		page, err := b.Page(projectID, day)
		return []byte(cmp.Or(page, "No journal entry for "+day+".\n")), err
	}
	if month, ok := strings.CutPrefix(place, "HISTORY"); ok {
		text, err := b.History(projectID, strings.TrimPrefix(month, "-"))
		return []byte(text), err
	}
	return nil, nil
}

// readEntry reads an entry as a document of one item.
func (s *server) readEntry(ctx context.Context, st *store.Store, id int64, d *document) error {
	found, err := st.Entries(ctx, store.EntryFilter{ID: id})
	if err != nil || len(found) == 0 {
		return err
	}
	if _, writing, err := s.Change(ctx); err == nil { // a failure to record the access does not prevent the answer
		_, _ = writing.Recall(ctx, store.EntryFilter{ID: id, Kind: memoir.EntryNote})
		writing.Close()
	}
	e := found[0]
	d.address.text = sessionScheme + e.Key()
	d.about = fmt.Sprintf("%s of %s, by the %s", e.Kind, e.CreatedAt.UTC().Format("2006-01-02"), e.Author)
	d.total, d.units = 1, []unit{{1, memory.Neutralise(strings.TrimSpace(e.Category + " " + e.Text))}}
	return nil
}
