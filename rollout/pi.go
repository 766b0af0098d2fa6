package rollout

import (
	"os"
	"path/filepath"
	"strings"

	"memoir"
)

// Pi reads the sessions of pi, versions 1 to 3; OMP those of oh-my-pi, which
// grew out of it and writes the same entries and some more. See pi_read.go.
type Pi struct{}

// OMP reads the sessions of oh-my-pi.
type OMP struct{ Pi }

var (
	_ Agent = Pi{}
	_ Agent = OMP{}
)

// Source is memoir.SourcePi.
func (Pi) Source() memoir.Source { return memoir.SourcePi }

// Source is memoir.SourceOMP.
func (OMP) Source() memoir.Source { return memoir.SourceOMP }

// Roots is the sessions directory below $PI_CODING_AGENT_DIR (~/.pi/agent).
func (Pi) Roots(env Env) []Root {
	dir := env.home(".pi", "agent")
	if set := env.get("PI_CODING_AGENT_DIR"); set != "" {
		dir = env.expand(set)
	}
	if dir == "" {
		return nil
	}
	return []Root{{filepath.Join(dir, "sessions"), isJSONL}}
}

// Roots are the sessions directories below $PI_CODING_AGENT_DIR, ~/.omp/agent,
// its profiles, and $XDG_DATA_HOME/omp.
func (OMP) Roots(env Env) []Root {
	var roots []Root
	add := func(dir string, session func(string) bool) {
		if dir != "" {
			roots = append(roots, Root{dir, session})
		}
	}
	below := func(path string) bool { return isJSONL(path) && strings.Contains("/"+path, "/sessions/") }
	if set := env.get("PI_CODING_AGENT_DIR"); set != "" {
		add(filepath.Join(env.expand(set), "sessions"), isJSONL)
	}
	if home := env.home(".omp"); home != "" {
		add(filepath.Join(home, "agent", "sessions"), isJSONL)
		add(filepath.Join(home, "profiles"), below)
	}
	if data := env.get("XDG_DATA_HOME"); data != "" {
		add(filepath.Join(data, "omp"), below)
	}
	return roots
}

// expand replaces a leading ~ by the home directory.
func (e Env) expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && e.Home != "" && (rest == "" || rest[0] == '/') {
		return filepath.Join(e.Home, rest)
	}
	return path
}

func isJSONL(path string) bool { return strings.HasSuffix(path, ".jsonl") }

// Recognises looks for a session header without a mark of oh-my-pi.
func (Pi) Recognises(path string, head [][]byte) bool {
	header := piHeader(head)
	return header != nil && !isOMP(path, head)
}

// Recognises looks for a session header and something that only oh-my-pi writes.
func (OMP) Recognises(path string, head [][]byte) bool {
	return piHeader(head) != nil && isOMP(path, head)
}

// piHeader finds the session header: the first record, or the one after a title.
func piHeader(head [][]byte) []byte {
	for _, raw := range head[:min(len(head), 4)] {
		if getText(raw, "type") == "session" && isString(get(raw, "id")) {
			return raw
		}
	}
	return nil
}

func isOMP(path string, head [][]byte) bool {
	if strings.Contains(filepath.ToSlash(path), "/.omp/") {
		return true
	}
	for i, raw := range head {
		switch getText(raw, "type") {
		case "session":
			for _, key := range []string{"title", "titleSource", "additionalDirectories", "previousSessionFiles"} {
				if get(raw, key) != nil {
					return true
				}
			}
		case "title":
			if i == 0 {
				return true
			}
		case "session_init", "title_change", "service_tier_change", "mode_change", "reset_boundary", "ttsr_injection", "credential_pin":
			return true
		case "model_change":
			if isString(get(raw, "model")) && get(raw, "modelId") == nil {
				return true
			}
		}
	}
	return false
}

// Head reads the header, and names given later. A sub-agent of oh-my-pi is known
// by its first entry, or by lying in a directory named as its parent's file.
func (Pi) Head(h *Head, path string, head, tail [][]byte) {
	header := piHeader(head)
	h.ID = getText(header, "id")
	h.CWD = getText(header, "cwd")
	h.CreatedAt = instant(get(header, "timestamp"))
	h.UpdatedAt = latest(tail, "timestamp")
	h.Title = getText(header, "title")
	for _, key := range []string{"parentSession", "branchedFrom"} {
		if parent := getText(header, key); parent != "" && h.ParentID == "" {
			h.ParentID = parent
			if ids := uuidForm.FindAllString(parent, -1); ids != nil {
				h.ParentID = ids[len(ids)-1]
			}
		}
	}
	for _, raw := range head {
		if getText(raw, "type") == "session_init" {
			h.Kind = memoir.KindSubagent
		}
	}
	h.piTitle(head)
	h.piTitle(tail)
	if parent, ok := nestedIn(path); ok {
		h.Kind = memoir.KindSubagent
		if h.ParentID == "" {
			h.ParentID = parent
		}
	}
}

// piTitle takes the last name that records give to their session.
func (h *Head) piTitle(records [][]byte) {
	for _, raw := range records {
		key := "title"
		switch getText(raw, "type") {
		case "session_info":
			key = "name"
		case "title", "title_change":
		default:
			continue
		}
		if title := getText(raw, key); title != "" {
			h.Title = title
		}
	}
}

// grow leaves a session that turns out to be oh-my-pi's to those who read the
// whole file.
func (Pi) grow(h *Head, _ string, tail [][]byte) bool {
	if isOMP("", tail) {
		return false
	}
	h.piTitle(tail)
	h.said(tail)
	return true
}

func (OMP) grow(h *Head, _ string, tail [][]byte) bool {
	h.piTitle(tail)
	h.said(tail)
	return true
}

// nestedIn returns the id of the session in whose directory a file lies.
func nestedIn(path string) (string, bool) {
	if path == "" {
		return "", false
	}
	dir := filepath.Dir(path)
	id := uuidForm.FindString(filepath.Base(dir))
	if id == "" || strings.HasPrefix(filepath.Base(dir), "-") {
		return "", false
	}
	if strings.HasSuffix(filepath.Base(dir), "_"+id) {
		return id, true
	}
	_, err := os.Stat(dir + ".jsonl")
	return id, err == nil
}
