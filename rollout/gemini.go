package rollout

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"memoir"
)

// Gemini reads the sessions of Gemini CLI: one JSON document, or the lines that
// later versions write, whose first record is the document's head.
type Gemini struct{}

var _ Agent = Gemini{}

// Source is memoir.SourceGemini.
func (Gemini) Source() memoir.Source { return memoir.SourceGemini }

// Roots is tmp below $GEMINI_CLI_HOME/.gemini (~/.gemini).
func (Gemini) Roots(env Env) []Root {
	home := env.home(".gemini")
	if set := env.get("GEMINI_CLI_HOME"); set != "" {
		home = filepath.Join(set, ".gemini")
	}
	if home == "" {
		return nil
	}
	return []Root{{filepath.Join(home, "tmp"), func(path string) bool {
		return strings.Contains(path, "/chats/") && (strings.HasSuffix(path, ".json") || strings.HasSuffix(path, ".jsonl"))
	}}}
}

// Recognises looks for the head of a session.
func (Gemini) Recognises(_ string, head [][]byte) bool {
	return isString(get(head[0], "sessionId")) && isString(get(head[0], "projectHash"))
}

// Head reads the first record. The working directory is not in the file; newer
// versions write it beside.
func (Gemini) Head(h *Head, path string, head, tail [][]byte) {
	h.ID = getText(head[0], "sessionId")
	h.CreatedAt = instant(get(head[0], "startTime"))
	h.UpdatedAt = instant(get(head[0], "lastUpdated"))
	if t := latest(tail, "timestamp"); t.After(h.UpdatedAt) {
		h.UpdatedAt = t
	}
	h.Title = getText(head[0], "summary")
	if kind := getText(head[0], "kind"); kind != "" && kind != "main" {
		h.Kind = memoir.KindSubagent
	}
	if dir := filepath.Dir(path); filepath.Base(dir) == "chats" {
		h.CWD = projectRoot(filepath.Join(filepath.Dir(dir), ".project_root"))
	}
}

// grow reads lines; a document is written anew each time.
func (Gemini) grow(h *Head, path string, tail [][]byte) bool {
	if t := latest(tail, "timestamp"); t.After(h.UpdatedAt) {
		h.UpdatedAt = t
	}
	if h.CWD == "" && filepath.Base(filepath.Dir(path)) == "chats" {
		h.CWD = projectRoot(filepath.Join(filepath.Dir(filepath.Dir(path)), ".project_root"))
	}
	return true
}

// projectRoot reads the file that names a session's directory, "" without one.
func projectRoot(path string) string {
	f, err := openFile(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const longest = 4096
	root, err := io.ReadAll(io.LimitReader(f, longest))
	if err != nil || len(root) == longest {
		return ""
	}
	return strings.TrimSpace(string(root))
}

// Read emits a session. A later record with the same id replaces an earlier one,
// $set.messages replaces all, and $rewindTo takes back a message and what follows.
func (Gemini) Read(ctx context.Context, t *tape, e *emitter) error {
	dead, err := planGemini(ctx, t)
	if err != nil {
		return err
	}
	r := geminiReader{e: e}
	r.w.cwd = t.parts[0].Head.CWD
	return t.each(ctx, true, func(at place, raw []byte) error {
		if dead[at.index] {
			if kind := getText(raw, "type"); kind == "user" || kind == "gemini" {
				e.stats.Undone++
			}
			return nil
		}
		if set := get(raw, "$set"); set != nil {
			elements(get(set, "messages"), func(m []byte) bool {
				r.message(m)
				return e.err == nil
			})
			return e.err
		}
		if at.index > 0 {
			r.message(raw)
		}
		return e.err
	})
}

// planGemini finds the records that later ones replaced or took back.
func planGemini(ctx context.Context, t *tape) (map[int]bool, error) {
	dead := map[int]bool{}
	byID := map[string]int{}
	from := func(first int) {
		for id, i := range byID {
			if i >= first {
				dead[i] = true
				delete(byID, id)
			}
		}
	}
	err := t.each(ctx, false, func(at place, raw []byte) error {
		if id := getText(raw, "id"); id != "" && at.index > 0 {
			if old, ok := byID[id]; ok {
				dead[old] = true
			}
			byID[id] = at.index
			return nil
		}
		if id := getText(raw, "$rewindTo"); id != "" {
			if i, ok := byID[id]; ok {
				from(i)
			}
		}
		if isArray(get(raw, "$set", "messages")) {
			from(0)
		}
		return nil
	})
	return dead, err
}

type geminiReader struct {
	e *emitter
	w where
}

func (r *geminiReader) message(m []byte) {
	if t := instant(get(m, "timestamp")); !t.IsZero() {
		r.w.at = t
	}
	switch kind := getText(m, "type"); kind {
	case "user":
		full := contentText(get(m, "content"))
		r.e.hear(full)
		if shown := contentText(get(m, "displayContent")); shown != "" {
			full = shown // what was typed, before files were put in
		}
		own, n := cutElements(stripOwn(full), []string{"session_context", "hook_context", "system-reminder"})
		for range n {
			r.e.injected()
		}
		switch {
		case own == "System: Please continue." || own == "Please continue.":
			r.e.injected()
		case own != "":
			r.e.user(memoir.OriginTyped, own, r.w)
		}
	case "gemini":
		r.e.assistant(contentText(get(m, "content")), false, r.w)
		elements(get(m, "toolCalls"), func(call []byte) bool {
			r.call(call)
			return true
		})
	case "info", "warning", "error", "":
	default:
		r.e.stats.unknown(kind)
	}
}

func (r *geminiReader) call(call []byte) {
	w := r.w
	if t := instant(get(call, "timestamp")); !t.IsZero() {
		w.at = t
	}
	tool, args := getText(call, "name"), get(call, "args")
	input := compact(args)
	var o outcome
	elements(get(call, "result"), func(part []byte) bool {
		response := get(part, "functionResponse", "response")
		for _, key := range []string{"output", "error"} {
			if s := getText(response, key); s != "" {
				if o.output != "" {
					o.output += "\n"
				}
				o.output += s
			}
		}
		return true
	})
	if tool == "run_shell_command" {
		if command := get(args, "command"); isString(command) {
			input = text(command)
		}
		o = geminiShell(o.output)
	}
	status := getText(call, "status")
	o.failed = o.failed || status == "error" || status == "cancelled"
	r.e.lone(tool, input, o, w)
}

// geminiShell takes the frame off a shell result and reads its exit code:
// "Command: …\nDirectory: …\nOutput: …\nError: …\nExit Code: 0\nSignal: …".
func geminiShell(s string) outcome {
	o := outcome{output: s}
	body, status := s, ""
	if i := strings.LastIndex(s, "\nExit Code: "); i >= 0 {
		body, status = s[:i], s[i+len("\nExit Code: "):]
		if n, ok := leadingInt(status); ok {
			o.exit = &n
		}
	}
	if _, after, ok := strings.Cut(body, "\nOutput: "); ok && strings.HasPrefix(body, "Command: ") {
		body = after
	} else if after, ok := strings.CutPrefix(body, "Output: "); ok {
		body = after
	} else if status == "" {
		return o
	}
	if i := strings.LastIndex(body, "\nError: "); i >= 0 {
		if failure := body[i+len("\nError: "):]; failure == "(none)" {
			body = body[:i]
		}
	}
	if body == "(empty)" {
		body = ""
	}
	o.output = body
	return o
}
