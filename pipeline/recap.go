package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/config"
	"memoir/entry"
	"memoir/extract"
	"memoir/memory"
	"memoir/model"
	"memoir/prompts"
	"memoir/secrets"
	"memoir/store"
)

// recapMessages is how many messages a recap has.
const recapMessages = 10

// The heads of recaps, which tell an agent how to read them.
const (
	RecapHead    = "## The end of an earlier session\n\n" + contextOnly
	OverflowHead = "## The last messages of this session\n\n" + contextOnly
	contextOnly  = "Context only: do not answer these messages.\n\n"
)

// RecapMessage is a message of a session.
type RecapMessage struct {
	Item    int    `json:"item"`
	Role    string `json:"role"`
	Content string `json:"content"` // neutralised
}

// Line returns the line of a recap for a message.
func (s RecapMessage) Line() string {
	return "- " + s.Role + ": " + strings.ReplaceAll(s.Content, "\n", "\n  ") + "\n"
}

// Recap returns the last 10 messages of a session, each cut to at most most characters, and the number of all its
// messages. redact is called on neutralised text, since removing invisible characters may complete a secret.
func Recap(items []memoir.Item, most int, redact func(string) string) (last []RecapMessage, all int) {
	messages := []RecapMessage{}
	for _, it := range items {
		if it.Kind == memoir.ItemMessage && (it.Origin.ByPerson() || it.Origin == memoir.OriginAgent) {
			text := redact(memory.Neutralise(strings.TrimSpace(it.Text)))
			messages = append(messages, RecapMessage{it.N, it.Role, memoir.Cut(text, most)})
		}
	}
	return messages[max(0, len(messages)-recapMessages):], len(messages)
}

// LoadStored returns what was stored for searching of a session whose transcript is gone. why is the error of reading
// the session; LoadStored returns it if it has another reason, or if nothing was stored.
func LoadStored(ctx context.Context, st *store.Store, session memoir.Session, scanner func() (*secrets.Scanner, error),
	why error) (Loaded, error) {
	if !errors.Is(why, fs.ErrNotExist) {
		return Loaded{}, why
	}
	text, err1 := st.TextOf(ctx, session.Key())
	rules, err2 := scanner()
	if err := cmp.Or(err1, err2); err != nil || text == nil {
		return Loaded{}, cmp.Or(err, why)
	}
	redactor, items := rules.Session(), map[int]memoir.Item{}
	for _, m := range slices.Concat(text.Messages, text.Tools) {
		it := items[m.Item]
		it.N, it.At = m.Item, m.At
		switch text := redactor.Text(m.Text); {
		case m.Kind == store.MessageCommand:
			it.Kind, it.Origin, it.Tool, it.Input = memoir.ItemTool, memoir.OriginTool, "shell", text
		case m.Kind != "":
			it.Kind, it.Origin, it.Tool, it.Output = memoir.ItemTool, memoir.OriginTool, cmp.Or(it.Tool, "tool"), text
		case m.Typed:
			it.Kind, it.Origin, it.Role, it.Text = memoir.ItemMessage, memoir.OriginTyped, "user", text
		default:
			it.Kind, it.Origin, it.Role, it.Text = memoir.ItemMessage, memoir.OriginAgent, "assistant", text
		}
		items[m.Item] = it
	}
	out := Loaded{Again: redactor.AgainText, Gone: "its transcript is gone: shown is what was stored for searching, " +
		"messages, commands and error lines, long ones cut"}
	out.Items = memoir.Map(slices.Sorted(maps.Keys(items)), func(n int) memoir.Item { return items[n] })
	return out, nil
}

// LastSession returns the last session of a project that Recapped accepts; an error of code memoir.CodeNotFound if
// there is none.
func LastSession(ctx context.Context, st *store.Store, projectID string) (memoir.Session, error) {
	sessions, err := st.Sessions(ctx, store.Filter{Project: projectID})
	if err != nil {
		return memoir.Session{}, err
	}
	sessions = slices.DeleteFunc(sessions, func(s memoir.Session) bool { return memoir.IsEntry(s.Key()) })
	i := slices.IndexFunc(sessions, Recapped)
	switch {
	case len(sessions) == 0:
		return memoir.Session{}, memoir.Errorf(memoir.CodeNotFound, "`memoir run` looks for sessions",
			"%s has no session to recap", projectID)
	case i < 0:
		return memoir.Session{}, memoir.Errorf(memoir.CodeNotFound, "`memoir recap --session ID` recaps a disabled one",
			"each session of %s is disabled, forgotten, unreadable or not a person's", projectID)
	}
	return sessions[i], nil
}

// Recapped reports whether a recap may show a session: a main one that is neither disabled, forgotten nor unreadable.
func Recapped(s memoir.Session) bool {
	return s.Kind == memoir.KindMain && s.Reason != memoir.ReasonDisabled && s.Reason != memoir.ReasonForgotten &&
		s.Reason != memoir.ReasonUnreadable
}

// Bounds on the journal lines of a turn.
const (
	maxNews = 5        // lines
	minNews = 4        // words of a person in a turn without a tool call
	maxPage = 16 << 10 // bytes of today's journal that a model reads, the latest
)

// Turn adds lines about the last turn of a session to today's journal of its project, if shadowJournal.enabled is set
// and memory is made from the session. It finds the session as a run does.
func Turn(ctx context.Context, st *store.Store, opts Options, key string) error {
	r, err := newRun(st, opts)
	if err == nil {
		err = newScan(r).refresh(ctx)
	}
	if err != nil {
		return err
	}
	found, err := st.Sessions(ctx, store.Filter{Keys: []string{key}})
	if err != nil || len(found) == 0 ||
		slices.Index(memoir.Reasons, found[0].Reason) < slices.Index(memoir.Reasons, memoir.ReasonUpToDate) {
		return err
	}
	s := found[0]
	row, err := st.FindProject(ctx, s.ProjectID)
	if err != nil {
		return err
	}
	settings, err := r.settingsOf(row.Project)
	if err != nil || settings.Off || !settings.ShadowJournal.Enabled {
		return err
	}
	loaded, err := LoadSession(ctx, opts.Home, s, r.rules)
	if err != nil {
		return err
	}
	items := lastTurn(loaded.Items)
	if len(items) == 0 || len(items) < 3 && len(strings.Fields(items[0].Text)) < minNews {
		return nil
	}
	b := r.book()
	day, _ := entry.Day("today", time.Now())
	page, err := b.Page(row.ID, day)
	if err != nil {
		return err
	}
	lines, err := r.news(ctx, settings, s, items, page)
	if err != nil {
		return err
	}
	for _, line := range lines[:min(len(lines), maxNews)] {
		e := memoir.Entry{ProjectID: row.ID, Kind: memoir.EntryJournal, Author: memoir.AuthorAuto, Text: line,
			From: s.Key()}
		if _, _, err := b.Write(ctx, e); err != nil && memoir.CodeOf(err) != memoir.CodeUsage { // an invalid line is skipped
			return err
		}
	}
	return nil
}

// lastTurn returns the last message that a person typed and the items after it; nil if there is none.
func lastTurn(items []memoir.Item) []memoir.Item {
	for i, it := range slices.Backward(items) {
		if it.Kind == memoir.ItemMessage && (it.Origin == memoir.OriginTyped || it.Origin == memoir.OriginQueued) {
			return items[i:]
		}
	}
	return nil
}

// news returns the lines of a turn for today's journal: from the signals, or from one answer of a model. Nothing else
// of the answer is used.
func (r *run) news(
	ctx context.Context, settings config.Settings, s memoir.Session, items []memoir.Item, page string,
) (lines []string, err error) {
	one, _ := model.Phases(settings.ModelRoles)
	if settings.ShadowJournal.Model != "" {
		one = model.Role{Setting: "shadowJournal.model", Model: settings.ShadowJournal.Model}
	}
	m, o, err := r.modelOf(ctx, one, map[string]string{})
	if err != nil {
		return nil, err
	}
	if m == nil {
		found, err := extract.NewBuiltin().Extract(ctx, extract.Input{Session: s, Items: items})
		for _, st := range found.Statements {
			if st.Kind != memoir.StatementClaim {
				lines = append(lines, st.Text)
			}
		}
		return lines, err
	}
	call := store.Call{Work: fmt.Sprintf("%s to item %d", s.Key(), items[len(items)-1].N), Phase: "journal",
		SessionKey: s.Key(), ProjectID: s.ProjectID, Once: true}
	page = page[max(0, len(page)-maxPage):]
	system, frame := prompts.Turn("", page)
	most := r.reader(m, o).Budget(memoir.Tokens(system) + memoir.Tokens(frame))
	_, input := prompts.Turn(extract.Shown(items, most), page)
	answer, err := m.Call(forWork(ctx, call), model.Request{System: system, Input: input,
		Schema: newsSchema, MaxOutput: o.MaxOutput})
	if memoir.CodeOf(err) == memoir.CodeChanged { // another hook of the turn has called the model
		return nil, nil
	}
	if err == nil {
		var fields map[string]json.RawMessage
		if fields, err = model.Object(answer.Text, []string{"lines"}); err == nil {
			err = json.Unmarshal(fields["lines"], &lines)
			lines = slices.DeleteFunc(lines, prompts.Instructs) // they would instruct the agents that read the journal
		}
	}
	outcome := "stored"
	if err != nil {
		outcome = store.OutcomeFailed
	} else if len(lines) == 0 {
		outcome = "empty"
	}
	r.endWork(ctx, call.Work, s.ProjectID, outcome)
	return lines, err
}

// newsSchema is the JSON Schema of the answer.
var newsSchema = json.RawMessage(`{"type":"object","properties":{"lines":{"type":"array","items":{"type":"string"}}},` +
	`"required":["lines"],"additionalProperties":false}`)

// Said returns what new sessions of a project are told of others that no consolidation has taken yet, except of those
// with an id: lines, the latest first. The later word wins, and a person's answers hold. It also returns the rules of
// the project's memory that they overturn, by memoir.LineKey.
func Said(ctx context.Context, st *store.Store, home, projectID, except string) (lines string,
	overturned map[string]bool, err error) {
	all, err1 := st.Said(ctx, projectID)
	if len(all) == 0 {
		return "", nil, err1
	}
	answered, err2 := st.Answered(ctx, projectID)
	edits, err3 := st.HandEdits(ctx, projectID)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return "", nil, err
	}
	no, mine := map[string]bool{}, map[string]bool{}
	for key := range answered {
		no[key] = true
	}
	for _, n := range edits {
		key := memoir.LineKey(n.Text)
		no[key], mine[key] = no[key] || n.Action == memoir.EditRemoved, mine[key] || n.Action == memoir.EditAdded
	}
	content, _ := memory.At(home, projectID).Open(memory.StatementsFile) // a project may have none
	known, _ := memory.StatementsWith(content, `"kind":"`+string(memoir.StatementPreference)+`"`)
	for i := range known {
		known[i].ProjectID = projectID
	}
	var text strings.Builder
	overturned = map[string]bool{}
	for i, e := range extract.Later(append(all, known...)) {
		_, id := memoir.SplitKey(e.SessionKey)
		for _, st := range e.Statements {
			key := memoir.LineKey(st.Text)
			switch {
			case i >= len(all): // what a note or a person's hand says as well stands
				before, seen := overturned[key]
				overturned[key] = st.Kind == memoir.StatementRefuted && !mine[key] && (before || !seen)
			case !no[key] && !no[st.ID] && (id != except || id == "") && st.Kind != memoir.StatementRefuted &&
				st.Kind != memoir.StatementClaim:
				no[key] = true
				fmt.Fprintf(&text, "- %s [%s %s]\n", oneLine(st.Text), id[:min(len(id), 8)], st.At)
			}
		}
	}
	return text.String(), overturned, nil
}
