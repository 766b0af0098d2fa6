package rollout

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Gemini reads the sessions of Gemini CLI: one JSON document, or the lines that
// later versions write, whose first record is the document's head. See
// gemini_plan.go for which messages stand, gemini_message.go for what they say.
type Gemini struct{}

var _ Agent = Gemini{}

// Source is memoir.SourceGemini.
func (Gemini) Source() memoir.Source { return memoir.SourceGemini }

// Roots is tmp below $GEMINI_CLI_HOME/.gemini (~/.gemini), or below $GEMINI_CLI_HOME
// where that names the directory itself.
func (Gemini) Roots(env Env) []Root {
	home := env.home(".gemini")
	if set := env.expand(env.get("GEMINI_CLI_HOME")); set != "" {
		if home = filepath.Join(set, ".gemini"); !isDir(home) && isDir(filepath.Join(set, "tmp")) {
			home = set
		}
	}
	if home == "" {
		return nil
	}
	return []Root{{filepath.Join(home, "tmp"), func(path string) bool {
		return strings.Contains(path, "/chats/") && (strings.HasSuffix(path, ".json") || strings.HasSuffix(path, ".jsonl"))
	}}}
}

// Recognises looks for the head of a session, which may stand in a patch.
func (Gemini) Recognises(_ string, head [][]byte) bool {
	for _, raw := range head[:min(len(head), 20)] {
		for _, of := range [][]byte{raw, get(raw, "$set")} {
			if !isString(get(of, "sessionId")) {
				continue
			}
			if isString(get(of, "projectHash")) || get(of, "startTime") != nil && get(of, "type") == nil &&
				get(of, "uuid") == nil {
				return true
			}
		}
	}
	return false
}

// Head reads the head and the patches of it. A resumed session's file has the head
// again, with the time of the resumption.
func (Gemini) Head(h *Head, path string, head, tail [][]byte) {
	hash, kind := "", ""
	var listed []string
	for i, raw := range append(head[:len(head):len(head)], tail...) {
		of := raw
		if set := get(raw, "$set"); set != nil {
			of = set
		} else if !isGeminiHead(raw) {
			continue
		}
		if id := getText(of, "sessionId"); h.ID == "" {
			h.ID = id
		}
		if s := getText(of, "projectHash"); hash == "" {
			hash = s
		}
		if s := getText(of, "kind"); s != "" {
			kind = s
		}
		if s := getText(of, "summary"); s != "" {
			h.Title = s
		}
		if t := instant(get(of, "startTime")); i < len(head) && h.CreatedAt.IsZero() {
			h.CreatedAt = t
		}
		if t := instant(get(of, "lastUpdated")); t.After(h.UpdatedAt) {
			h.UpdatedAt = t
		}
		elements(get(of, "directories"), func(dir []byte) bool {
			if len(listed) < 16 {
				listed = append(listed, text(dir))
			}
			return true
		})
	}
	if t := latest(tail, "timestamp"); t.After(h.UpdatedAt) {
		h.UpdatedAt = t
	}
	if kind != "" && kind != "main" {
		h.Kind = memoir.KindSubagent
	}
	project, parent := geminiPlace(path)
	if parent != "" {
		h.Kind = memoir.KindSubagent
		if legalID.MatchString(parent) {
			h.ParentID = parent
		}
	}
	h.CWD = geminiDirectory(project, hash, listed)
}

// isGeminiHead tells the head of a session from a message.
func isGeminiHead(raw []byte) bool {
	return isString(get(raw, "sessionId")) && get(raw, "id") == nil
}

// Read emits a session: the messages that stand at its end, each once, where it was
// written last.
func (Gemini) Read(ctx context.Context, t *tape, e *emitter) error {
	plan, err := planGemini(ctx, t)
	if err != nil {
		return err
	}
	e.results = plan.results
	e.stats.Undone += plan.undone
	r := geminiReader{e: e}
	r.w.cwd = t.parts[0].Head.CWD
	return t.each(ctx, true, func(at place, raw []byte) error {
		eachGemini(parseGeminiLine(raw), raw, func(elem int32, m []byte) bool {
			if first, ok := plan.times[geminiSpot{int32(at.index), elem}]; ok {
				r.message(m, first)
			}
			return e.err == nil
		})
		return e.err
	})
}

// A session's working directory is not in its file. The file lies below
// tmp/<project>/chats, where <project> is a short name that ~/.gemini/projects.json
// gives to the directory, or the SHA-256 hash of the directory's path; the hash is
// in the file, too. So a directory that is known from elsewhere can be told to be
// the one; a hash alone cannot be turned back.

// geminiPlace returns the project's directory below tmp in which a session's file
// lies, and the session in whose directory of sub-agents it lies, "" if in none.
func geminiPlace(path string) (project, parent string) {
	dir := filepath.Dir(path)
	for range 8 {
		if filepath.Base(dir) == "chats" {
			return filepath.Dir(dir), parent
		}
		parent = filepath.Base(dir)
		if up := filepath.Dir(dir); up != dir {
			dir = up
		}
	}
	return "", ""
}

// hashForm is the name of a project's directory in earlier versions.
var hashForm = lazyregexp.New(`^[0-9a-f]{64}$`)

// geminiDirectory finds the working directory of a project: what the client wrote
// beside the sessions, what its list of projects says, or the one of those known
// whose hash is the session's. listed are the directories in the session itself.
func geminiDirectory(project, hash string, listed []string) string {
	var here, named string
	known := slices.Clone(listed)
	if project != "" {
		here = projectRoot(filepath.Join(project, ".project_root"))
		known = append(known, here)
		home := filepath.Dir(filepath.Dir(project))
		registry := smallJSON(filepath.Join(home, "projects.json"))
		if inner := get(registry, "projects"); isObject(inner) {
			registry = inner
		}
		each(registry, func(key, value []byte) bool {
			dir := memberName(key)
			if known = append(known, dir); text(value) == filepath.Base(project) {
				named = dir
			}
			return true
		})
		each(smallJSON(filepath.Join(home, "trustedFolders.json")), func(key, _ []byte) bool {
			known = append(known, memberName(key))
			return true
		})
		if name := filepath.Base(project); hash == "" && hashForm.MatchString(name) {
			hash = name
		}
	}
	if hashForm.MatchString(hash) {
		for _, dir := range known {
			if sum := sha256.Sum256([]byte(dir)); isAbsolute(dir) && hex.EncodeToString(sum[:]) == hash {
				return dir
			}
		}
	}
	for _, dir := range []string{here, named} {
		if isAbsolute(dir) {
			return dir
		}
	}
	return ""
}

// isAbsolute also knows the paths of another system.
func isAbsolute(dir string) bool {
	return filepath.IsAbs(dir) || len(dir) > 2 && dir[1] == ':' && (dir[2] == '\\' || dir[2] == '/')
}

// memberName decodes a key as each gives it.
func memberName(key []byte) string { return text(slices.Concat([]byte{'"'}, key, []byte{'"'})) }

// projectRoot reads the file that names a project's directory, "" without one.
func projectRoot(path string) string {
	root := smallFile(path)
	const longest = 4096
	if len(root) >= longest {
		return ""
	}
	return strings.TrimSpace(string(root))
}
