package rollout

import (
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Copilot reads the sessions of GitHub Copilot CLI: a directory a session, with its
// events one a line, {"type":…,"data":{…},"id":…,"timestamp":…,"parentId":…}, and
// what it knows of the session in workspace.yaml beside them.
type Copilot struct{}

var _ Agent = Copilot{}

// Source is memoir.SourceCopilot.
func (Copilot) Source() memoir.Source { return memoir.SourceCopilot }

// Roots is session-state below $COPILOT_HOME (~/.copilot). Early versions wrote the
// events into a file of the session's id instead of a directory.
func (Copilot) Roots(env Env) []Root {
	home := env.home(".copilot")
	if set := env.get("COPILOT_HOME"); set != "" {
		home = env.expand(set)
	}
	if home == "" {
		return nil
	}
	return []Root{{filepath.Join(home, "session-state"), func(path string) bool {
		dir, name, nested := strings.Cut(path, "/")
		return nested && name == "events.jsonl" && dir != "" || !nested && isJSONL(path)
	}}}
}

// Recognises looks for an event whose type only Copilot CLI has.
func (Copilot) Recognises(_ string, head [][]byte) bool {
	for _, raw := range head[:min(len(head), 20)] {
		switch getText(raw, "type") {
		case "session.start", "session.resume", "user.message", "assistant.message", "assistant.turn_start",
			"tool.execution_start", "tool.execution_complete":
			if isObject(get(raw, "data")) {
				return true
			}
		}
	}
	return false
}

// copilotHeadless is what the system prompt of a run without a person says.
const copilotHeadless = "You are running in non-interactive mode"

// Head reads the start of the session, and workspace.yaml for what is not there.
func (Copilot) Head(h *Head, path string, head, tail [][]byte) {
	var place copilotContext
	prompts := 0
	for i, raw := range append(head[:len(head):len(head)], tail...) {
		data := get(raw, "data")
		if t := instant(get(raw, "timestamp")); i < len(head) && h.CreatedAt.IsZero() {
			h.CreatedAt = t
		}
		switch kind := getText(raw, "type"); kind {
		case "session.start":
			if h.ID == "" {
				h.ID = getText(data, "sessionId")
			}
			if t := instant(get(data, "startTime")); !t.IsZero() {
				h.CreatedAt = t
			}
			// A run that goes on by itself with what another session was about.
			if parent := getText(data, "detachedFromSpawningParentSessionId"); legalID.MatchString(parent) {
				h.Kind, h.ParentID = memoir.KindSubagent, parent
			}
			place.fill(get(data, "context"))
		case "session.resume":
			place.fill(get(data, "context"))
		case "session.context_changed":
			place.fill(data)
		case "session.title_changed":
			h.Title = getText(data, "title")
			h.Named = h.Title != ""
		case "system.message":
			if prompts++; prompts == 1 && i < len(head) && h.Kind == memoir.KindMain &&
				strings.Contains(getText(data, "content"), copilotHeadless) {
				h.Kind = memoir.KindAutomation
			}
		}
	}
	h.UpdatedAt = latest(tail, "timestamp")
	beside := copilotContext{}
	if filepath.Base(path) == "events.jsonl" {
		beside = readCopilotWorkspace(filepath.Join(filepath.Dir(path), "workspace.yaml"))
		if !legalID.MatchString(h.ID) {
			h.ID = filepath.Base(filepath.Dir(path)) // the file's own name is that of all
		}
	}
	if place.CWD == "" {
		place = beside
	}
	h.CWD, h.Branch, h.Remote = place.CWD, place.Branch, place.remote()
	if h.Title == "" {
		h.Title = beside.Name
	}
}

// copilotContext is where a session takes place, as an event or workspace.yaml says.
type copilotContext struct {
	CWD, Branch, Repository, Name string
	HostType                      string `yaml:"host_type"`
	Host                          string `yaml:"-"`
}

func readCopilotWorkspace(path string) copilotContext {
	var w copilotContext
	const most = 64 << 10 // real ones have less than 1 KiB
	if content := smallFile(path); len(content) > most || yaml.Unmarshal(content, &w) != nil {
		return copilotContext{}
	}
	return w
}

// fill takes a context over, if none is known yet.
func (c *copilotContext) fill(context []byte) {
	if cwd := getText(context, "cwd"); cwd != "" && c.CWD == "" {
		*c = copilotContext{CWD: cwd, Branch: getText(context, "branch"), Repository: getText(context, "repository"),
			HostType: getText(context, "hostType"), Host: getText(context, "repositoryHost")}
	}
}

var ownerAndName = lazyregexp.New(`^[\w.-]+/[\w.-]+$`)

// remote is the repository's URL, which is recorded as owner and name on a host.
func (c copilotContext) remote() string {
	if !ownerAndName.MatchString(c.Repository) || c.HostType != "" && c.HostType != "github" {
		return ""
	}
	if c.Host == "" || strings.ContainsAny(c.Host, "/@ ") {
		c.Host = "github.com"
	}
	return "https://" + c.Host + "/" + c.Repository
}
