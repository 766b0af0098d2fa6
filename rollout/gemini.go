package rollout

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoir"
)

// Gemini reads the sessions of Gemini CLI: one JSON document, or in later versions lines, of which the first is
// the document's head. See gemini_message.go for messages.
type Gemini struct{}

// Roots is tmp below $GEMINI_CLI_HOME/.gemini (~/.gemini), or below $GEMINI_CLI_HOME if that has no .gemini.
func (Gemini) Roots(env Env) []Root {
	home := env.home(".gemini")
	if set := env.expand(env.get("GEMINI_CLI_HOME")); set != "" {
		if home = filepath.Join(set, ".gemini"); !isDir(home) && isDir(filepath.Join(set, "tmp")) {
			home = set
		}
	}
	return rootIn(home, "tmp", func(path string) bool {
		return strings.Contains(path, "/chats/") && (strings.HasSuffix(path, ".json") || isJSONL(path))
	})
}

// Recognises looks for the head of a session, which may be in a patch.
func (Gemini) Recognises(_ string, head [][]byte) bool {
	return slices.ContainsFunc(opening(head), func(raw []byte) bool {
		of := geminiHeader(raw)
		return isString(get(of, "projectHash")) ||
			get(of, "startTime") != nil && get(of, "type") == nil && get(of, "uuid") == nil
	})
}

// geminiHeader returns the head of a session or the patch of it in a record, nil for a message.
func geminiHeader(raw []byte) []byte {
	if set := get(raw, "$set"); set != nil {
		return set
	}
	if isString(get(raw, "sessionId")) && get(raw, "id") == nil {
		return raw
	}
	return nil
}

// Head reads the head and its patches. The file of a resumed session repeats the head, with the time of the
// resumption. The directory of a session is not in its file.
func (Gemini) Head(h *Head, path string, head, tail [][]byte) {
	hash, other := "", false
	for _, raw := range slices.Concat(head, tail) {
		of := geminiHeader(raw)
		h.ID, hash = cmp.Or(h.ID, getText(of, "sessionId")), cmp.Or(hash, getText(of, "projectHash"))
		other, h.Title = other || foreign(get(of, "kind"), "main"), cmp.Or(getText(of, "summary"), h.Title)
		if h.CreatedAt.IsZero() {
			h.CreatedAt = instant(get(of, "startTime"))
		}
		h.UpdatedAt = laterOf(h.UpdatedAt, instant(get(of, "lastUpdated")), instant(get(raw, "timestamp")))
	}
	// tmp/<project>/chats/<session>, or chats/<parent>/<sub-agent>
	path = filepath.ToSlash(path)
	chats := strings.LastIndex(path, "/chats/")
	project, parent, nested := "", "", false
	if chats >= 0 {
		project = path[:chats]
		parent, _, nested = strings.Cut(path[chats+len("/chats/"):], "/")
	}
	if nested || other {
		h.Kind = memoir.KindSubagent
	}
	if nested {
		h.ParentID = parent
	}
	h.CWD = geminiDirectory(filepath.FromSlash(project), hash)
}

// geminiDirectory finds the working directory of a project. The name of a project below tmp is a short name, which
// ~/.gemini/projects.json maps to the directory, or the SHA-256 hash of the directory's path. Sessions have the
// hash as well. The directory is the one that the client knows with this hash; else the one in .project_root, else
// the one in projects.json.
func geminiDirectory(project, hash string) string {
	if project == "" {
		return ""
	}
	name, home := filepath.Base(project), filepath.Dir(filepath.Dir(project))
	here, named := strings.TrimSpace(string(smallFile(filepath.Join(project, ".project_root")))), ""
	known := []string{here}
	for _, list := range [][]byte{get(smallJSON(filepath.Join(home, "projects.json")), "projects"),
		smallJSON(filepath.Join(home, "trustedFolders.json"))} {
		for key, value := range members(list) {
			dir := text(slices.Concat([]byte{'"'}, key, []byte{'"'}))
			if known = append(known, dir); text(value) == name {
				named = dir
			}
		}
	}
	// absolute also accepts paths of Windows
	absolute := func(dir string) bool {
		return filepath.IsAbs(dir) || len(dir) > 2 && dir[1] == ':' && (dir[2] == '\\' || dir[2] == '/')
	}
	for _, dir := range known {
		if sum := sha256.Sum256([]byte(dir)); absolute(dir) && hex.EncodeToString(sum[:]) == cmp.Or(hash, name) {
			return dir
		}
	}
	for _, dir := range []string{here, named} {
		if absolute(dir) {
			return dir
		}
	}
	return ""
}

// A session's file is a log: a message with a known id replaces the earlier one, {"$set":{"messages":[…]}}
// replaces all messages, {"$rewindTo":id} removes a message and all later ones, or all if the id is unknown. A
// compression also sets messages, beginning with a summary; the messages before it are kept.

// geminiMessage is a message that was not undone.
type geminiMessage struct {
	n   int    // in the file
	id  uint64 // hashed
	key uint64 // of id and type: an answer and the result of its call may share an id
}

type geminiPlan struct {
	messages []geminiMessage
	byKey    map[uint64]int       // index in messages
	first    map[uint64]time.Time // by key: when it was first written; a resumed session repeats all with a new time
	said     map[uint64]bool      // keys of messages of people and the agent
	results  map[uint64]bool      // hashed ids of calls with a result
}

// Read emits a session: the messages that were not undone, each once, at its last position.
func (Gemini) Read(ctx context.Context, t *tape, e *emitter) error {
	p := geminiPlan{byKey: map[uint64]int{}, first: map[uint64]time.Time{}, said: map[uint64]bool{},
		results: map[uint64]bool{}}
	n := 0
	err := t.each(ctx, false, func(_ place, raw []byte) error {
		l := parseGeminiLine(raw)
		summed := isGeminiCompressed(l.list)
		if l.rewind != "" {
			is := func(m geminiMessage) bool { return m.id == textHash(l.rewind) }
			p.cut(max(0, slices.IndexFunc(p.messages, is)))
		} else if l.patch && isArray(l.list) && !summed {
			p.cut(0)
		}
		for m := range l.messages(raw) {
			p.add(n, m, summed)
			n++
		}
		return nil
	})
	if err != nil {
		return err
	}
	stand := map[int]time.Time{} // by position: when the message was first written
	for _, m := range p.messages {
		stand[m.n] = p.first[m.key]
		delete(p.said, m.key)
	}
	e.results, e.stats.Undone = p.results, e.stats.Undone+len(p.said)
	r := geminiReader{e: e}
	r.w.cwd = t.parts[0].Head.CWD
	n = 0
	return t.each(ctx, true, func(_ place, raw []byte) error {
		for m := range parseGeminiLine(raw).messages(raw) {
			if first, ok := stand[n]; ok {
				r.message(m, first)
			}
			n++
		}
		return e.err
	})
}

func (p *geminiPlan) cut(from int) {
	for _, m := range p.messages[from:] {
		delete(p.byKey, m.key)
	}
	p.messages = p.messages[:from]
}

// add adds a message. A message that a compression repeats after its summary keeps its earlier position.
func (p *geminiPlan) add(n int, m []byte, summed bool) {
	id, kind := getText(m, "id"), getText(m, "type")
	g := geminiMessage{n: n, id: textHash(id), key: textHash(kind + "\x00" + id)}
	if id == "" {
		g.key += uint64(n)
	}
	if p.first[g.key].IsZero() {
		p.first[g.key] = instant(get(m, "timestamp"))
	}
	if (kind == "user" || kind == "gemini") && !p.answers(m) {
		p.said[g.key] = true
	}
	if i, ok := p.byKey[g.key]; !ok {
		p.byKey[g.key] = len(p.messages)
		p.messages = append(p.messages, g)
	} else if !summed {
		p.messages[i] = g
	}
}

// answers records the calls whose results are in a message, and reports whether its content has any: then its
// texts are the tool's.
func (p *geminiPlan) answers(m []byte) (any bool) {
	for response := range parts(get(m, "content"), "functionResponse") {
		p.results[textHash(getText(response, "id"))] = true
		any = true
	}
	for call := range elements(get(m, "toolCalls")) {
		if isArray(get(call, "result")) {
			p.results[textHash(getText(call, "id"))] = true
		}
	}
	return any
}

// geminiLine is the type of a record: a message, unless it has no id and one of these.
type geminiLine struct {
	patch  bool
	head   bool
	rewind string // id of the first message to remove
	list   []byte // messages in a patch or a head
}

// parseGeminiLine finds the type of a record. Most records begin with an id and are messages.
func parseGeminiLine(raw []byte) (l geminiLine) {
	for key, value := range members(raw) {
		switch string(key) {
		case "id":
			return geminiLine{}
		case "$set":
			l.patch, l.list = true, get(value, "messages")
		case "$rewindTo":
			l.rewind = text(value)
		case "sessionId":
			l.head = isString(value)
		case "messages":
			l.list = value
		}
	}
	return l
}

// messages returns the messages in a record: those in the list of a patch or a head, or the record itself.
func (l geminiLine) messages(raw []byte) iter.Seq[[]byte] {
	switch {
	case l.patch || l.head:
		return elements(l.list)
	case l.rewind != "":
		return slices.Values([][]byte(nil))
	}
	return slices.Values([][]byte{raw})
}
