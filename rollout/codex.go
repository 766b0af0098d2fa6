package rollout

import (
	"bytes"
	"cmp"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Codex reads the rollouts of OpenAI's Codex: CLI, desktop and editor extension. It knows three formats: bare
// response items (2025), items in envelopes, and "paginated" threads of several files that continue each
// other.
//
// See codex_line.go for lines and forks, codex_plan.go for undone turns, codex_read.go for items, codex_text.go
// for the author of a text, codex_call.go and codex_tool.go for tool calls, codex_script.go for code mode.
type Codex struct{}

// Roots are the session directories below $CODEX_HOME (~/.codex).
func (Codex) Roots(env Env) []Root {
	var roots []Root
	for _, name := range codexDirs {
		roots = append(roots, rootIn(env.dir("CODEX_HOME", ".codex"), name, isRolloutName)...)
	}
	return roots
}

// codexDirs are the directories of rollouts. The last one has earlier parts of threads whose file was
// replaced, below <thread>/<segment>.
var codexDirs = []string{"sessions", "archived_sessions", "rotated_rollout_segments"}

func isRolloutName(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if !strings.HasPrefix(name, "rollout-") {
		return false
	}
	name = strings.TrimSuffix(name, ".zst")
	return strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".json")
}

// Recognises looks for a session_meta, or for lines of the format before it.
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

// rolloutName matches the ids in a rollout's name, rollout-<local time>-<thread>[_<rollout>].jsonl.
var rolloutName = lazyregexp.New(`(` + uuid + `)(?:_(` + uuid + `))?$`)

// Head reads the first session_meta. Later ones of the same thread only have its new directory; those of other
// threads are copied history.
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
		h.CWD = cmp.Or(codexDir(meta), h.CWD)
	}
	h.ID = getText(meta, "id")
	h.CreatedAt = instant(get(meta, "timestamp"))
	h.Branch = getText(meta, "git", "branch")
	h.Remote = getText(meta, "git", "repository_url")
	h.ParentID = cmp.Or(getText(meta, "parent_thread_id"), getText(meta, "forked_from_id"))
	if base := get(meta, "history_base"); isObject(base) {
		h.BaseID = getText(base, "thread_id")
		if n, ok := integer(get(base, "end_ordinal_exclusive")); ok {
			h.BaseEnd = n
		}
	}
	if m := rolloutName.FindStringSubmatch(stem(path)); m != nil && m[1] == h.ID {
		h.FileID = cmp.Or(m[2], m[1])
	} else if m != nil {
		h.ID = cmp.Or(h.ID, m[1])
	}
	codexKind(h, meta)
	h.Title = cmp.Or(updatedTitle(h.ID, tail), updatedTitle(h.ID, head))
}

// codexDir returns the working directory in a payload: a path, or in some versions a URI.
func codexDir(payload []byte) string {
	cwd := getText(payload, "cwd")
	if strings.HasPrefix(cwd, "file://") {
		if u, err := url.Parse(cwd); err == nil && u.Path != "" {
			return u.Path
		}
	}
	return cwd
}

// codexSubagents are the thread sources of Codex's own threads. In threads of codexThreads, from one of codexSources
// and codexClients, a person types.
var (
	codexSubagents = memoir.SetOf("subagent guardian_review memory_consolidation review compact system")
	codexThreads   = "user fork quick_chat"
	codexSources   = "cli vscode atlas chatgpt"
	codexClients   = "codex_cli_rs codex-tui codex_vscode codex_vscode_copilot codex_app codex_atlas" +
		" codex_chatgpt_desktop codex_work_desktop"
)

func codexKind(h *Head, meta []byte) {
	source := get(meta, "source")
	from, thread, client := get(source, "custom"), get(meta, "thread_source"), get(meta, "originator")
	named := from != nil // a client that embeds Codex
	if !named {
		from = source
	}
	switch {
	case isObject(source) && !named, codexSubagents[text(thread)], codexSubagents[text(source)]:
		h.Kind = memoir.KindSubagent
		h.ParentID = cmp.Or(h.ParentID, getText(source, "subagent", "thread_spawn", "parent_thread_id"))
		if root := getText(meta, "session_id"); h.ParentID == "" && root != h.ID {
			h.ParentID = root
		}
	case foreign(from, codexSources), foreign(thread, codexThreads),
		foreign(client, codexClients) && text(client) != "Codex Desktop":
		h.Kind = memoir.KindAutomation
	}
}

// environmentCWD returns the working directory in an injected environment_context: sessions of early 2025 have
// it only there.
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

// uuidTime returns the time in a version 7 UUID; ok is false for other ids.
func uuidTime(id string) (t time.Time, ok bool) {
	if len(id) != 36 || id[14] != '7' || !uuidForm.MatchString(id) {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(id[:8]+id[9:13], 16, 64)
	return time.UnixMilli(ms), err == nil
}

// codexHome returns the $CODEX_HOME of a rollout's path, the directory above one of codexDirs; "" if there is none.
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

// updatedTitle returns the last name of the thread in records. A fork also has records of its parent's names.
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

// shortestID is the least length of a thread's id; a shorter one may match names of other threads.
const shortestID = 20

// Thread returns the files of the session that a file belongs to, in reading order. For a Codex thread these are all
// files around it whose names have its id, without outdated ones. Any other file is a session of its own.
func Thread(part Part) []Part {
	parts := []Part{part}
	if part.Head.Source != memoir.SourceCodex || len(part.Head.ID) < shortestID {
		return parts
	}
	top, dirs := filepath.Dir(part.Path), []string{""}
	if home := codexHome(part.Path); home != "" {
		top, dirs = home, nil
		for _, dir := range codexDirs {
			dirs = append(dirs, dir, dir+"/*", dir+"/*/*", dir+"/*/*/*")
		}
	}
	for _, dir := range dirs {
		names, _ := fs.Glob(os.DirFS(top), path.Join(dir, "rollout-*"+part.Head.ID+"*"))
		for _, name := range names {
			file := filepath.Join(top, name)
			head, err := Probe(Entry{File: memoir.File{Path: file}})
			if err == nil && file != part.Path && isRolloutName(name) && head.ID == part.Head.ID {
				parts = append(parts, Part{Path: file, Head: head})
			}
		}
	}
	return Assemble(parts)
}
