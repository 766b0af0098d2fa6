package operation

import (
	"context"

	"memoir"
	"memoir/pipeline"
	"memoir/store"
)

// Say adds messages to a conversation of a project, and starts a run for its sessions that are full.
func (a Access) Say(ctx context.Context, st *store.Store, opts pipeline.Options, projectID, conversation string,
	messages []pipeline.Message) (pipeline.Spoken, error) {
	out, err := pipeline.Say(ctx, st, opts, projectID, conversation, messages)
	if err == nil {
		err = a.Extract(out.Full)
	}
	return out, err
}

// Recap is the end of a session.
type Recap struct {
	Session  string          `json:"session"`
	Messages []pipeline.Said `json:"messages"`
}

// recapText bounds each message of a recap, in characters.
const recapText = 800

// Recap returns the last messages of a session.
func (a Access) Recap(ctx context.Context, session memoir.Session) (Recap, error) {
	loaded, err := pipeline.LoadSession(ctx, session, a.Scanner)
	if err != nil {
		return Recap{}, err
	}
	said, _ := pipeline.Recap(loaded.Items, recapText, a.Redact)
	return Recap{session.Key(), said}, nil
}
