package rollout

import (
	"path/filepath"
	"strings"

	"memoir"
)

// Claude reads the transcripts of Claude Code: one file a session, one line an
// entry, entries linked by parentUuid.
//
// See claude_line.go for a line, claude_plan.go for abandoned branches and queued
// prompts, claude_read.go for items, claude_text.go for whose words a text is.
type Claude struct{}

var _ Agent = Claude{}

// Source is memoir.SourceClaude.
func (Claude) Source() memoir.Source { return memoir.SourceClaude }

// Roots are the projects below $CLAUDE_CONFIG_DIR, which may list several, else
// below ~/.claude and ~/.config/claude.
func (Claude) Roots(env Env) []Root {
	dirs := []string{env.home(".claude"), env.home(".config", "claude")}
	if set := env.get("CLAUDE_CONFIG_DIR"); set != "" {
		dirs = strings.Split(set, ",")
	}
	var roots []Root
	for _, dir := range dirs {
		if dir = strings.TrimSpace(dir); dir != "" {
			roots = append(roots, Root{filepath.Join(dir, "projects"), isTranscriptName})
		}
	}
	return roots
}

func isTranscriptName(path string) bool {
	return strings.HasSuffix(path, ".jsonl") && path[strings.LastIndexByte(path, '/')+1:] != "journal.jsonl"
}

// Recognises looks for a type of line together with a key that only Claude Code
// gives to it.
func (Claude) Recognises(_ string, head [][]byte) bool {
	for _, raw := range head[:min(len(head), 20)] {
		l := parseClaudeLine(raw)
		switch l.kind {
		case "user", "assistant", "system", "progress", "attachment":
			if l.uuid != "" && l.session != "" {
				return true
			}
		case "queue-operation", "custom-title", "ai-title", "last-prompt", "mode", "permission-mode",
			"agent-name", "agent-setting":
			if l.session != "" {
				return true
			}
		case "summary":
			if get(raw, "leafUuid") != nil {
				return true
			}
		case "file-history-snapshot":
			if get(raw, "messageId") != nil {
				return true
			}
		}
	}
	return false
}

// Head calls a session automation if all that is seen of it was driven by a script,
// and takes the directory of a worktree that the agent made to be that which it was
// made from. It takes the session's id from the file's name where its lines agree, else
// from the last line: a resumed session's file begins with lines of the old id.
func (Claude) Head(h *Head, path string, head, tail [][]byte) {
	s := claudeHead{Head: h, sessions: map[string]bool{}, uuids: map[string]bool{}}
	for i, raw := range append(head[:len(head):len(head)], tail...) {
		l := parseClaudeLine(raw)
		s.line(l)
		if i < len(head) {
			s.opening(l)
		}
	}
	if s.scripted && !s.driven {
		h.Kind = memoir.KindAutomation
	}
	if inDir(h.CWD, s.worktree) {
		h.CWD = s.began
	}
	if h.Title == "" {
		h.Title = lastTitle(head, tail)
	}
	if h.Title == "" && s.uuids[s.leaf] { // else it is the title of another conversation
		h.Title = s.summary
	}
	h.UpdatedAt = latest(tail, "timestamp")
	name := stem(path)
	if h.ID = s.last; s.sessions[name] {
		h.ID = name
	}
	inSubagents := strings.Contains(filepath.ToSlash(path), "/subagents/")
	if s.first == nil || !s.first.sidechain && !inSubagents {
		return
	}
	h.Kind, h.ParentID = memoir.KindSubagent, s.first.session
	if h.ID = name; s.first.agent != "" {
		h.ID = "agent-" + s.first.agent
	}
}

// claudeHead is what the first and last lines of a file say.
type claudeHead struct {
	*Head
	sessions, uuids  map[string]bool
	first            *claudeLine // of the conversation
	last             string      // session id of the last line that has one
	leaf, summary    string      // uuid of the line that a summary is of
	worktree, began  string      // directory that the agent made, and that it made it from
	scripted, driven bool        // a script's entrypoint was seen, a person's
}

func (s *claudeHead) line(l claudeLine) {
	if l.uuid != "" {
		s.uuids[l.uuid] = true
	}
	if l.session != "" {
		s.sessions[l.session], s.last = true, l.session
	}
	if l.entrypoint != "" {
		s.scripted, s.driven = s.scripted || byScript(l.entrypoint), s.driven || !byScript(l.entrypoint)
	}
	switch l.kind {
	case "worktree-state":
		if at := get(l.raw, "worktreeSession"); getText(at, "originalCwd") != "" {
			s.worktree, s.began = getText(at, "worktreePath"), getText(at, "originalCwd")
		}
	case "user", "assistant":
		if s.first == nil {
			s.first = &l
		}
		if of := l.forkedFrom(); of != "" && s.ParentID == "" {
			s.ParentID = of
		}
	case "custom-title":
		s.Title = getText(l.raw, "customTitle")
		s.Named = s.Title != ""
	case "summary":
		if s.leaf == "" || s.uuids[getText(l.raw, "leafUuid")] {
			s.leaf, s.summary = getText(l.raw, "leafUuid"), getText(l.raw, "summary")
		}
	}
}

// opening takes what counts as it was when the session began.
func (s *claudeHead) opening(l claudeLine) {
	if t := instant(l.time); s.CreatedAt.IsZero() && !t.IsZero() && l.kind != "file-history-snapshot" {
		s.CreatedAt = t
	}
	if s.CWD == "" {
		s.CWD = l.cwd
	}
	if s.Branch == "" {
		s.Branch = l.branch()
	}
}

// byScript reports whether what started a session is no person at a prompt.
func byScript(entrypoint string) bool {
	switch entrypoint {
	case "claude-code-github-action", "mcp", "bench", "remote_trigger", "remote_cowork_trigger":
		return true
	}
	return strings.HasPrefix(entrypoint, "sdk-")
}

// inDir reports whether a path is a directory or lies in it.
func inDir(path, dir string) bool {
	return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
}

// grow leaves titles of other conversations, worktrees, sessions that change their
// id or name what they were forked from, and those that somebody else goes on with,
// to those who read the whole file.
func (Claude) grow(h *Head, path string, tail [][]byte) bool {
	for _, raw := range tail {
		l := parseClaudeLine(raw)
		switch {
		case l.kind == "summary", l.kind == "worktree-state",
			l.entrypoint != "" && byScript(l.entrypoint) != (h.Kind == memoir.KindAutomation) && h.Kind != memoir.KindSubagent,
			l.forkedFrom() != "" && h.ParentID == "",
			l.session != "" && l.session != h.ID && h.ID != stem(path) && h.Kind != memoir.KindSubagent:
			return false
		case l.kind == "custom-title":
			h.Title = getText(raw, "customTitle")
			h.Named = h.Title != ""
		}
		if h.CWD == "" {
			h.CWD = l.cwd
		}
		if h.Branch == "" {
			h.Branch = l.branch()
		}
	}
	if title := lastTitle(nil, tail); title != "" && !h.Named {
		h.Title = title
	}
	h.said(tail)
	return true
}

// lastTitle is the title that the agent itself gave last.
func lastTitle(head, tail [][]byte) string {
	title := ""
	for _, records := range [][][]byte{head, tail} {
		for _, raw := range records {
			if word(get(raw, "type")) != "ai-title" {
				continue
			}
			for _, key := range []string{"aiTitle", "title"} {
				if s := getText(raw, key); s != "" {
					title = s
				}
			}
		}
	}
	return title
}
