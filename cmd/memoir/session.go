package main

import (
	"time"

	"memoir"
)

// sessionJSON is a session as `sessions --json` and `show --json` give it.
type sessionJSON struct {
	ID        string     `json:"id"`
	Source    string     `json:"source"`
	Project   string     `json:"project"`
	Title     string     `json:"title"`
	CWD       string     `json:"cwd"`
	Files     []string   `json:"files"`
	Bytes     int64      `json:"bytes"`
	CreatedAt *time.Time `json:"created_at"` // null if unknown
	UpdatedAt *time.Time `json:"updated_at"`
	Kind      string     `json:"kind"`
	Reason    string     `json:"reason"`
	Error     string     `json:"error"`
	Parent    string     `json:"parent"`
	Branch    string     `json:"branch"`
	Remote    string     `json:"remote"`
	WorkCWD   string     `json:"work_cwd"` // where most of the work was, if that is another project than cwd's
}

func asSessionJSON(s memoir.Session) sessionJSON {
	out := sessionJSON{
		ID: s.ID, Source: string(s.Source), Project: s.ProjectID, Title: s.Title, CWD: s.CWD, Files: []string{},
		Bytes: s.Bytes, CreatedAt: moments(s.CreatedAt), UpdatedAt: moments(s.UpdatedAt), Kind: string(s.Kind),
		Reason: string(s.Reason), Error: s.Error, Parent: s.ParentID, Branch: s.Branch, Remote: s.Remote, WorkCWD: s.WorkCWD,
	}
	for _, f := range s.Files {
		out.Files = append(out.Files, f.Path)
	}
	return out
}

// itemJSON is an item as `show --json` gives it.
type itemJSON struct {
	N      int        `json:"n"`
	Kind   string     `json:"kind"`
	Role   string     `json:"role"`
	Text   string     `json:"text"`
	Tool   string     `json:"tool"`
	Input  string     `json:"input"`
	Output string     `json:"output"`
	Exit   *int       `json:"exit"` // null where the format has none
	At     *time.Time `json:"at"`
	CWD    string     `json:"cwd"`
	Branch string     `json:"branch"`
	Origin string     `json:"origin"`
	Failed bool       `json:"failed"`
	Final  bool       `json:"final"`
}

func asItemJSON(it memoir.Item) itemJSON {
	return itemJSON{
		N: it.N, Kind: it.Kind, Role: it.Role, Text: it.Text, Tool: it.Tool, Input: it.Input, Output: it.Output,
		Exit: it.Exit, At: moments(it.At), CWD: it.CWD, Branch: it.Branch, Origin: string(it.Origin),
		Failed: it.Failed, Final: it.Final,
	}
}

// moments is a moment as JSON has it: UTC, null if there is none.
func moments(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
