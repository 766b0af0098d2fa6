package rollout

import (
	"bytes"
	"cmp"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Codex reads the rollouts of OpenAI's Codex: CLI, desktop and editor extension.
// Three generations of lines are known: bare response items (2025), enveloped
// ones, and "paginated" threads of several files that continue each other.
//
// See codex_line.go for a line and what a fork repeats, codex_plan.go for what is undone,
// codex_read.go for items, codex_text.go for whose words a text is, codex_call.go and
// codex_tool.go for tool calls, codex_script.go for code mode.
type Codex struct{}

var _ Agent = Codex{}

// Source is memoir.SourceCodex.
func (Codex) Source() memoir.Source { return memoir.SourceCodex }

// Roots are the session directories below $CODEX_HOME (~/.codex).
func (Codex) Roots(env Env) []Root {
	home := env.get("CODEX_HOME")
	if home == "" {
		home = env.home(".codex")
	}
	if home == "" {
		return nil
	}
	var roots []Root
	for _, name := range codexDirs {
		roots = append(roots, Root{filepath.Join(home, name), isRolloutName})
	}
	return roots
}

// codexDirs hold rollouts; the last one earlier parts of threads whose file was
// replaced by a new one, below <thread>/<segment>.
var codexDirs = []string{"sessions", "archived_sessions", "rotated_rollout_segments"}

func isRolloutName(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if !strings.HasPrefix(name, "rollout-") {
		return false
	}
	name = strings.TrimSuffix(name, ".zst")
	return strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".json")
}

// Recognises looks for a session_meta, or for lines of the generation before it.
func (Codex) Recognises(_ string, head [][]byte) bool {
	for _, raw := range head[:min(len(head), 5)] {
		l := parseCodexLine(raw)
		switch {
		case l.kind == "session_meta":
			return true
		case !l.bare && l.payload != nil && codexTypes[l.kind]:
			return true
		case l.bare && (l.sub == "message" && get(raw, "content") != nil && get(raw, "role") != nil ||
			l.sub == "function_call"):
			return true
		}
	}
	return false
}

// A rollout's name is rollout-<local time>-<thread>[_<rollout>].jsonl.
var rolloutName = lazyregexp.New(`(` + uuid + `)(?:_(` + uuid + `))?$`)

// Head reads the first session_meta; later ones of the same thread only say where
// it has moved, and those of other threads are replayed history.
func (Codex) Head(h *Head, path string, head, tail [][]byte) {
	var meta []byte
	for _, raw := range head {
		l := parseCodexLine(raw)
		if h.FirstOrdinal < 0 {
			h.FirstOrdinal = l.ordinal
		}
		if h.FileAt.IsZero() {
			h.FileAt = l.at()
		}
		if l.kind == "session_meta" && meta == nil {
			meta = l.payload
		}
		if h.CWD == "" && l.kind == "turn_context" {
			h.CWD = codexDir(l.payload)
		}
		if h.CWD == "" && l.kind == "response_item" && l.sub == "message" {
			h.CWD = environmentCWD(l.payload)
		}
		if cwd := codexDir(meta); cwd != "" {
			h.CWD = cwd
		}
	}
	h.ID = getText(meta, "id")
	h.CreatedAt = instant(get(meta, "timestamp"))
	h.Branch = getText(meta, "git", "branch")
	h.Remote = getText(meta, "git", "repository_url")
	h.ParentID = getText(meta, "parent_thread_id")
	if h.ParentID == "" {
		h.ParentID = getText(meta, "forked_from_id")
	}
	codexBase(h, meta)
	if m := rolloutName.FindStringSubmatch(stem(path)); m != nil && h.ID != "" && m[1] == h.ID {
		if h.FileID = m[1]; m[2] != "" {
			h.FileID = m[2]
		}
	} else if h.ID == "" && m != nil {
		h.ID = m[1]
	}
	codexKind(h, meta)
	h.UpdatedAt = latest(tail, "timestamp")
	h.Title = cmp.Or(updatedTitle(h.ID, tail), updatedTitle(h.ID, head))
}

// codexBase reads which file this one continues, and where that one ends.
func codexBase(h *Head, meta []byte) {
	if base := get(meta, "history_base"); isObject(base) {
		h.BaseID = getText(base, "thread_id")
		if n, ok := integer(get(base, "end_ordinal_exclusive")); ok {
			h.BaseEnd = n
		}
	}
}

// codexDir is the working directory that a payload names: a path, or for a while a URI.
func codexDir(payload []byte) string {
	cwd := getText(payload, "cwd")
	if strings.HasPrefix(cwd, "file://") {
		if u, err := url.Parse(cwd); err == nil && u.Path != "" {
			return u.Path
		}
	}
	return cwd
}

// codexSubagents are the thread sources that mean a thread of Codex's own. The list
// is open: any other is a surface where a person types.
var codexSubagents = wordSet("subagent guardian_review memory_consolidation review compact system")

// codexKind tells who drove the thread from its origin.
func codexKind(h *Head, meta []byte) {
	source := get(meta, "source")
	named := get(source, "custom") != nil // a client that embeds Codex; a person may well type there
	switch {
	case isObject(source) && !named, codexSubagents[getText(meta, "thread_source")], codexSubagents[text(source)]:
		h.Kind = memoir.KindSubagent
		if spawn := get(source, "subagent", "thread_spawn"); spawn != nil && h.ParentID == "" {
			h.ParentID = getText(spawn, "parent_thread_id")
		}
		if root := getText(meta, "session_id"); h.ParentID == "" && root != h.ID {
			h.ParentID = root
		}
	case text(source) == "exec", text(source) == "mcp", strings.HasPrefix(getText(meta, "originator"), "codex_exec"):
		h.Kind = memoir.KindAutomation
	}
}

// environmentCWD finds the working directory in an injected environment_context:
// sessions of early 2025 have it nowhere else.
func environmentCWD(message []byte) string {
	if !bytes.Contains(message, []byte("environment_context>")) {
		return ""
	}
	context, ok := element(contentText(get(message, "content")), "environment_context")
	if !ok {
		return ""
	}
	if cwd, ok := element(context, "cwd"); ok {
		return strings.TrimSpace(cwd)
	}
	if _, rest, ok := strings.Cut(context, "Current working directory:"); ok {
		line, _, _ := strings.Cut(rest, "\n")
		return strings.TrimSpace(line)
	}
	return ""
}

// uuidTime is the time in a version 7 UUID; ok is false for other ids.
func uuidTime(id string) (t time.Time, ok bool) {
	if len(id) != 36 || id[14] != '7' || !uuidForm.MatchString(id) {
		return time.Time{}, false
	}
	var ms int64
	for _, c := range id[:8] + id[9:13] {
		ms = ms<<4 | int64(strings.IndexRune("0123456789abcdef", c))
	}
	return time.UnixMilli(ms), true
}

// codexHome is the directory above the one that holds rollouts, and so the path's
// $CODEX_HOME, "" if the path is not laid out like one.
func codexHome(path string) string {
	dir := filepath.Dir(path)
	for range 5 {
		if slices.Contains(codexDirs, filepath.Base(dir)) {
			return filepath.Dir(dir)
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// updatedTitle is the last name that records give the thread. A fork repeats its
// parent's.
func updatedTitle(id string, records [][]byte) string {
	title := ""
	for _, raw := range records {
		if !bytes.Contains(raw, []byte("thread_name_updated")) {
			continue
		}
		l := parseCodexLine(raw)
		if l.sub == "thread_name_updated" && cmp.Or(getText(l.payload, "thread_id"), id) == id {
			title = cmp.Or(strings.TrimSpace(getText(l.payload, "thread_name")), title)
		}
	}
	return title
}

const (
	maxSegments = 1024 // files of a thread that are looked for beside one of them
	shortestID  = 20   // characters; what is shorter names no file for certain
)

// Thread returns the files of the session that a file is a part of, in reading
// order, as a scan of the directories around it would find them: of a Codex thread
// in several files all that say so by their names and are still read. Any other file
// is a session by itself.
func Thread(part Part) []Part {
	parts := []Part{part}
	if part.Head.Source != memoir.SourceCodex || len(part.Head.ID) < shortestID {
		return parts
	}
	top := filepath.Dir(part.Path)
	dirs, home := []string{top}, codexHome(part.Path)
	if home != "" {
		dirs = nil
		for _, name := range codexDirs {
			dirs = append(dirs, filepath.Join(home, name))
		}
	}
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil // what cannot be read holds nothing
			case d.IsDir() && home == "" && path != top:
				return fs.SkipDir
			case !isRolloutName(d.Name()) || !strings.Contains(d.Name(), part.Head.ID) || path == part.Path ||
				len(parts) >= maxSegments:
				return nil
			}
			head, err := Probe(Entry{File: memoir.File{Path: path}})
			if err == nil && head.Source == part.Head.Source && head.ID == part.Head.ID {
				parts = append(parts, Part{Path: path, Head: head})
			}
			return nil
		})
	}
	ordered, _ := Assemble(parts)
	return ordered
}
