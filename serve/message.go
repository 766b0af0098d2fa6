package serve

import (
	"encoding/json"
	"slices"

	"memoir"
	"memoir/pipeline"
	"memoir/store"
)

// recapText is how many characters of a message a recap has.
const recapText = 800

// addMessages adds messages to a conversation of a project, as an application hands them over that keeps no transcript.
func (s *server) addMessages(c call) (any, error) {
	content, err := body(c.Request)
	if err != nil {
		return nil, err
	}
	var in struct {
		Conversation string             `json:"conversation"`
		Messages     []pipeline.Message `json:"messages"`
	}
	if err := json.Unmarshal(content, &in); err != nil {
		return nil, usage(`{"messages": [{"role": "user", "content": "…"}]}`, "the request is not valid: %v", err)
	}
	out, err := pipeline.Say(c.Context(), c.st, c.opts, c.project.ID, in.Conversation, in.Messages)
	if err != nil {
		return nil, err
	}
	return out, s.Extract(out.Full)
}

// lastMessages is the recap of the last session of a project.
func (s *server) lastMessages(c call) (any, error) {
	sessions, err := c.st.Sessions(c.Context(), store.Filter{Project: c.project.ID})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(sessions, pipeline.Recapped)
	if i < 0 {
		return nil, memoir.Errorf(memoir.CodeNotFound, "`memoir run` looks for sessions", "%s has no session to recap",
			c.project.ID)
	}
	loaded, err := pipeline.LoadSession(c.Context(), sessions[i], s.Scanner)
	if err != nil {
		return nil, err
	}
	said, _ := pipeline.Recap(loaded.Items, recapText)
	return struct {
		Session  string          `json:"session"`
		Messages []pipeline.Said `json:"messages"`
	}{s.clean(sessions[i].Key()), said}, nil
}
