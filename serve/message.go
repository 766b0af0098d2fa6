package serve

import "memoir/pipeline"

// recapText bounds each message of a recap, in characters.
const recapText = 800

// addMessages adds messages to a conversation of a project. It starts a run for the sessions that are full.
func (s *server) addMessages(c call) (any, error) {
	var in struct {
		Conversation string             `json:"conversation"`
		Messages     []pipeline.Message `json:"messages"`
	}
	if err := decode(c.Request, &in, `{"messages": [{"role": "user", "content": "…"}]}`); err != nil {
		return nil, err
	}
	out, err := pipeline.Say(c.Context(), c.st, c.opts, c.project.ID, in.Conversation, in.Messages)
	if err != nil {
		return nil, err
	}
	return out, s.Extract(out.Full)
}

// lastMessages returns the recap of the last session of a project.
func (s *server) lastMessages(c call) (any, error) {
	session, err := pipeline.LastSession(c.Context(), c.st, c.project.ID)
	if err != nil {
		return nil, err
	}
	loaded, err := pipeline.LoadSession(c.Context(), session, s.Scanner)
	if err != nil {
		return nil, err
	}
	said, _ := pipeline.Recap(loaded.Items, recapText, s.Redact)
	return struct {
		Session  string          `json:"session"`
		Messages []pipeline.Said `json:"messages"`
	}{s.clean(session.Key()), said}, nil
}
