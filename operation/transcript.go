package operation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/config"
	"memoir/pipeline"
	"memoir/project"
	"memoir/rollout"
	"memoir/secrets"
	"memoir/team"
	"memoir/team/wire"
)

// Transcripts says which sessions are sent to a hub.
type Transcripts struct {
	Dir      string // read every session file below it
	Home     string // memoir's; what was forgotten there is not sent
	UserHome string
	Project  memoir.Project
	Key      string // of the project at the hub
	Named    bool   // a person named it: sessions from elsewhere whose project is unknown belong to it
	Settings config.Settings
	Scanner  *secrets.Scanner
}

// A Sending is a session, or a file, with what became of it.
type Sending struct {
	Session string `json:"session"` // its key; else the path of a file that cannot be read
	// Outcome is sent, known (the hub had it), unsent (nothing is sent), failed, or why it was left out: a memoir.Reason,
	// other_project, empty, or not_session, of a file with the name of a session.
	Outcome string `json:"outcome"`
	Error   string `json:"error"`
	Found   string `json:"found,omitempty"` // the project, or the directory, of one that is of another project
	// Transcript is what would be sent, if nothing is.
	Transcript *wire.Transcript `json:"transcript,omitempty"`
}

// outcomes says what those that are no memoir.Reason mean.
var outcomes = map[string]string{"sent": "sent", "known": "the hub has it", "unsent": "it would be sent",
	"other_project": "it is of another project", "empty": "it has no content",
	"not_session": "it is no session of any known agent, or a link out of the directory"}

// Say describes what became of a session, for people.
func (s Sending) Say() string {
	return s.Session + ": " + cmp.Or(s.Error, outcomes[s.Outcome], memoir.Meanings[memoir.Reason(s.Outcome)])
}

// Send reads the sessions below the directory, sends those of the project, and calls tell for each. Without a sender it
// sends nothing. It reads no database. notSessions counts files of other kinds.
func (o Transcripts) Send(ctx context.Context, to *team.Sender, tell func(Sending)) (notSessions int, err error) {
	_, forgotten, err := pipeline.Tombstones(o.Home)
	if err != nil {
		return 0, err
	}
	parts, keys := map[string][]rollout.Part{}, []string{}
	err = rollout.WalkDir(ctx, o.Dir, func(e rollout.Entry) error {
		head, err := rollout.Probe(e)
		switch key := memoir.SessionKey(head.Source, head.ID); {
		case errors.Is(err, rollout.ErrNoSession) && filepath.Ext(e.Path) != ".jsonl":
			notSessions++
		case errors.Is(err, rollout.ErrNoRecord):
			cut := map[bool]string{true: "it was cut in its first record"}[e.Size > 0]
			tell(Sending{Session: e.Path, Outcome: "empty", Error: cut})
		case errors.Is(err, rollout.ErrNoSession):
			tell(Sending{Session: e.Path, Outcome: "not_session"})
		case err != nil:
			tell(Sending{Session: e.Path, Outcome: string(memoir.ReasonUnreadable), Error: err.Error()})
		default:
			if parts[key] == nil {
				keys = append(keys, key)
			}
			parts[key] = append(parts[key], rollout.Part{Path: e.Path, Head: head})
		}
		return nil
	})
	slices.SortStableFunc(keys, func(a, b string) int { // a hub has the order in which they arrive
		return endOf(parts[a]).Compare(endOf(parts[b]))
	})
	resolver := project.NewResolver(project.Options{Explicit: o.Settings.ProjectFor, Home: o.UserHome})
	for _, key := range keys {
		if err == nil {
			err = o.sendOne(ctx, to, resolver, key, rollout.Assemble(parts[key]), forgotten, tell)
		}
	}
	return notSessions, err
}

// endOf returns the end of a session.
func endOf(parts []rollout.Part) (end time.Time) {
	for _, p := range parts {
		if p.Head.UpdatedAt.After(end) {
			end = p.Head.UpdatedAt
		}
	}
	return end
}

func (o Transcripts) sendOne(ctx context.Context, to *team.Sender, r *project.Resolver, key string,
	parts []rollout.Part, forgotten map[string]bool, tell func(Sending)) error {
	s := Sending{Session: key}
	var t wire.Transcript
	var err error
	ends := true
	dirs, why := o.reason(r, key, parts[0].Head, forgotten)
	if why == "other_project" || why == string(memoir.ReasonNoProject) {
		of, _ := r.Identify(parts[0].Head.CWD, parts[0].Head.Remote)
		if s.Found = of.Remote; s.Found == "" || s.Found == o.Key {
			s.Found = parts[0].Head.CWD
		}
	}
	if why == "" {
		t, why, err = o.transcript(ctx, key, parts, dirs, forgotten)
	}
	switch s.Outcome = why; {
	case memoir.CodeOf(err) == memoir.CodeUnreadable:
		s.Outcome, s.Error, err = string(memoir.ReasonUnreadable), err.Error(), nil
	case err != nil || why != "":
	case to == nil:
		s.Outcome, s.Transcript = "unsent", &t
	default:
		if s.Outcome, ends, err = to.Send(ctx, t); err != nil && !ends {
			s.Outcome, s.Error, err = "failed", err.Error(), nil
		}
	}
	if err == nil {
		tell(s)
	}
	return err
}

// reason returns why a session is left out, or the directories that its paths are relative to. In a container, programs
// start most sessions.
func (o Transcripts) reason(r *project.Resolver, key string, h rollout.Head, forgotten map[string]bool) (
	dirs []string, reason string) {
	of, status := r.Identify(h.CWD, h.Remote)
	_, err := os.Stat(h.CWD)
	elsewhere := err != nil && (h.Remote == "" || of.Remote == o.Key) // the project's directory was another one there
	switch {
	case h.Kind == memoir.KindSubagent:
		return nil, string(memoir.ReasonSubagent)
	case h.Kind == memoir.KindOwnRun:
		return nil, string(memoir.ReasonOwnRun)
	case pipeline.IsForgotten(forgotten, key):
		return nil, string(memoir.ReasonForgotten)
	case o.Settings.Excluded(h.CWD):
		return nil, string(memoir.ReasonDisabled)
	case status.OK() && of.ID == o.Project.ID:
	case o.Named && elsewhere:
		return []string{h.CWD}, ""
	case !status.OK():
		return nil, string(memoir.ReasonNoProject)
	default:
		return nil, "other_project"
	}
	return append(slices.Clone(of.Directories), o.Project.Directories...), ""
}

// transcript reads a session as Phase 1 does, and makes it what leaves: redacted, with relative directories and without
// branches, within the bounds of a request.
func (o Transcripts) transcript(ctx context.Context, key string, parts []rollout.Part, dirs []string,
	forgotten map[string]bool) (t wire.Transcript, reason string, err error) {
	loaded, err := pipeline.Load(ctx, o.Scanner, parts, "", forgotten)
	if err != nil || len(loaded.Items) == 0 {
		return t, "empty", err
	}
	source, _ := memoir.SplitKey(key)
	t = wire.Transcript{Project: o.Key, Session: wire.SessionHash(key, ""), Source: source,
		Ended: loaded.EndedAt(parts[0].Head.UpdatedAt).UTC()}
	relative := team.Relative(dirs, o.UserHome)
	for i := range loaded.Items {
		it := &loaded.Items[i]
		it.Text, it.Input, it.Output, it.Branch = relative(it.Text), relative(it.Input), relative(it.Output), ""
		if it.CWD = relative(it.CWD); strings.HasPrefix(it.CWD, "~") {
			it.CWD = "/" + it.CWD // it is not in the project
		}
	}
	for most := wire.MaxBytes; ; most = most * 3 / 4 {
		if t.Items, err = json.Marshal(loaded.Items); err != nil || len(t.Items) <= wire.MaxBytes-4<<10 {
			return t, "", err
		}
		loaded.Shorten(most)
	}
}
