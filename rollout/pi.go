package rollout

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Pi reads the sessions of pi, versions 1 to 3. OMP reads those of oh-my-pi, which derives from pi and has the
// same entries and some more. See pi_read.go for entries, their tree and forks.
type Pi struct{}

// OMP reads the sessions of oh-my-pi.
type OMP struct{ Pi }

// Roots are the directory sessions below $PI_CODING_AGENT_DIR (~/.pi/agent), and the one in
// $PI_CODING_AGENT_SESSION_DIR or pi's settings that replaces it; earlier sessions stay in the first.
func (Pi) Roots(env Env) []Root {
	dir := env.dir("PI_CODING_AGENT_DIR", ".pi/agent")
	other := env.configured("PI_CODING_AGENT_SESSION_DIR", dir, "sessionDir")
	return append(rootIn(dir, "sessions", isJSONL), rootIn(other, "", isJSONL)...)
}

// Roots are the directories sessions below $PI_CODING_AGENT_DIR, below ~/.omp/agent ($PI_CONFIG_DIR replaces
// .omp) and its profiles, and below $XDG_DATA_HOME/omp, which in later versions has no directory agent.
func (OMP) Roots(env Env) []Root {
	below := func(path string) bool { return isJSONL(path) && strings.Contains("/"+path, "/sessions/") }
	set, data := env.expand(env.get("PI_CODING_AGENT_DIR")), env.data()
	home := env.home(cmp.Or(env.get("PI_CONFIG_DIR"), ".omp"))
	return slices.Concat(rootIn(set, "sessions", isJSONL),
		rootIn(home, "agent/sessions", isJSONL), rootIn(home, "profiles", below), rootIn(data, "omp/sessions", isJSONL),
		rootIn(data, "omp/agent/sessions", isJSONL), rootIn(data, "omp/profiles", below))
}

// data returns the XDG data directory; "" without a home directory.
func (e Env) data() string { return cmp.Or(e.get("XDG_DATA_HOME"), e.home(".local", "share")) }

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

// Recognises looks for a session header and a mark of oh-my-pi.
func (OMP) Recognises(path string, head [][]byte) bool {
	return piHeader(head) != nil && isOMP(path, head)
}

// piHeader returns the session header, the first record or the one after a title; nil if there is none.
func piHeader(head [][]byte) []byte {
	for _, raw := range head[:min(len(head), 4)] {
		if getText(raw, "type") == "session" && (isString(get(raw, "id")) || isString(get(raw, "cwd"))) {
			return raw
		}
	}
	return nil
}

// ompBucket is the form of a directory's name that only oh-my-pi has.
var ompBucket = lazyregexp.New(`/(?:home|tmp|abs)-[^/]*-[0-9a-f]{64}/`)

func isOMP(path string, head [][]byte) bool {
	path = filepath.ToSlash(path)
	if strings.Contains(path, "/.omp/") || strings.Contains(path, "/omp/sessions/") ||
		strings.Contains(path, "/omp/profiles/") || ompBucket.MatchString(path) {
		return true
	}
	if _, nested := nestedIn(path); nested && !strings.Contains(path,
		"/subagent-artifacts/") { // pi has no subagents
		return true
	}
	for i, raw := range head {
		kind, has := getText(raw, "type"), func(key string) bool { return get(raw, key) != nil }
		if ompEntries[kind] || kind == "title" && i == 0 || kind == "session" && slices.ContainsFunc(ompMembers, has) ||
			kind == "model_change" && isString(get(raw, "model")) && !has("modelId") {
			return true
		}
	}
	return false
}

// ompEntries are types of entries, and ompMembers members of a session header, that only oh-my-pi writes.
var (
	ompEntries = memoir.SetOf("session_init title_change service_tier_change mode_change reset_boundary" +
		" ttsr_injection credential_pin model_usage")
	ompMembers = strings.Fields("title titleSource additionalDirectories previousSessionFiles providerPromptCacheKey")
)

// Head reads the header, and later titles. A subagent of oh-my-pi is recognised by its first entry, or by a
// directory named after its parent's file.
func (Pi) Head(h *Head, path string, head, tail [][]byte) {
	header := piHeader(head)
	h.ID = getText(header, "id")
	h.CWD = getText(header, "cwd")
	h.CreatedAt = instant(get(header, "timestamp"))
	h.Title = getText(header, "title")
	h.ParentID = piSessionID(piParent(header))
	for _, raw := range head {
		if getText(raw, "type") == "session_init" {
			h.Kind = memoir.KindSubagent
		}
	}
	h.piTitle(head)
	h.piTitle(tail)
	if parent, ok := nestedIn(path); ok {
		h.Kind, h.ParentID = memoir.KindSubagent, cmp.Or(parent, h.ParentID)
	}
}

func (h *Head) piTitle(records [][]byte) {
	for _, raw := range records {
		switch getText(raw, "type") {
		case "title", "title_change":
			h.Title = cmp.Or(getText(raw, "title"), h.Title)
		case "session_info": // without a name it removes the title
			h.Title = getText(raw, "name")
		}
	}
}

// piParent returns the session from which a session was forked, as its header names it: a path or an id.
func piParent(header []byte) string {
	return cmp.Or(getText(header, "parentSession"), getText(header, "branchedFrom"))
}

// piName matches the name of a session's file: a time and the session's id.
var piName = lazyregexp.New(`^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-\d{3}Z_(.+)$`)

// piSessionID returns the id in the name of a session's file, or a bare id; "" if there is none.
func piSessionID(name string) string {
	name = stem(filepath.ToSlash(strings.ReplaceAll(name, `\`, "/")))
	if m := piName.FindStringSubmatch(name); m != nil {
		name = m[1]
	} else if ids := uuidForm.FindAllString(name, -1); ids != nil {
		name = ids[len(ids)-1]
	}
	if !legalID.MatchString(name) {
		return ""
	}
	return name
}

// nestedIn reports whether a file is, at any depth, in the directory of a session, which has the name of the
// session's file. parent is the nearest such session, "" if its file is missing.
func nestedIn(path string) (parent string, ok bool) {
	ok = strings.Contains(filepath.ToSlash(path), "/subagent-artifacts/")
	for dir := filepath.Dir(path); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		name := filepath.Base(dir)
		if strings.HasPrefix(name, "-") || name == "sessions" {
			break // the directory of a working directory's sessions, or of all sessions
		}
		if piName.MatchString(name) {
			return cmp.Or(parent, piSessionID(name)), true
		}
		if header := piHeaderOf(dir + ".jsonl"); header != nil {
			parent, ok = cmp.Or(parent, getText(header, "id")), true
		}
	}
	return parent, ok
}

// piHeaderOf returns the header of a session's file, or nil.
func piHeaderOf(path string) []byte {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	head, _, err := readHead(path, 4<<10)
	if err != nil {
		return nil
	}
	return piHeader(head)
}

// Conversation reads the messages of applications without transcripts. memoir stores them in its home, in the format
// of pi's first version with a mark in the header. A file is written with Begin, then Line for each message.
type Conversation struct{ Pi }

// Roots are the directories of conversations in the folders of memoir's projects.
func (Conversation) Roots(env Env) (roots []Root) {
	if env.Memoir != "" {
		dirs, _ := filepath.Glob(filepath.Join(env.Memoir, "projects", "*", "conversations")) // the pattern is valid
		roots = memoir.Map(dirs, func(dir string) Root { return Root{dir, isJSONL} })
	}
	return roots
}

// Recognises looks for the mark in the header.
func (Conversation) Recognises(_ string, head [][]byte) bool {
	return getText(piHeader(head), "by") == "memoir"
}

// conversationTime is the layout of times in records.
const conversationTime = "2006-01-02T15:04:05.000Z"

// Begin returns the first line of a conversation about the project in the directory cwd.
func (Conversation) Begin(id, cwd string, at time.Time) string {
	return line(map[string]any{"type": "session", "by": "memoir", "id": id, "cwd": cwd,
		"timestamp": at.UTC().Format(conversationTime)})
}

// Line returns the line of a message. The role is user, assistant or system; Read ignores messages of system.
func (Conversation) Line(role, text, source, key string, at time.Time) string {
	return line(map[string]any{"type": "message", "timestamp": at.UTC().Format(conversationTime), "source": source,
		"key":     key,
		"message": map[string]any{"role": role, "content": text, "stopReason": "stop"}})
}

func line(record map[string]any) string {
	text, _ := json.Marshal(record) // strings always marshal
	return string(text) + "\n"
}
