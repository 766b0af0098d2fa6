package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
)

// openAI answers in the part that OpenAI's two APIs have in common: a body as it is,
// and an error.
func openAI(w http.ResponseWriter, c Call, s Step, path, schema string) (done bool) {
	switch {
	case s.Raw != "":
		kind := "application/json"
		switch {
		case strings.HasPrefix(s.Raw, "<"):
			kind = "text/html; charset=utf-8"
		case strings.HasPrefix(s.Raw, "data:"), strings.HasPrefix(s.Raw, "event:"), strings.HasPrefix(s.Raw, ":"):
			kind = "text/event-stream"
		}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(max(s.Status, http.StatusOK))
		_, _ = io.WriteString(w, s.Raw)
	case !strings.HasSuffix(c.Path, path):
		writeJSON(w, http.StatusNotFound, openAIError(http.StatusNotFound, "", "Unknown request URL: POST "+c.Path, ""))
	case s.Status >= http.StatusBadRequest:
		writeJSON(w, s.Status, openAIError(s.Status, s.Code, s.Message, ""))
	case s.NoSchema && gjson.GetBytes(c.Body, schema+".type").Str == "json_schema":
		message := fmt.Sprintf(
			"Invalid parameter: '%s' of type 'json_schema' is not supported with this model.",
			schema,
		)
		writeJSON(w, http.StatusBadRequest, openAIError(http.StatusBadRequest, "", message, schema))
	default:
		return false
	}
	return true
}

// openAIError is the body of an error.
func openAIError(status int, code, message, param string) map[string]any {
	kind := "invalid_request_error"
	switch {
	case code == "insufficient_quota":
		kind = code
	case status == http.StatusTooManyRequests:
		kind = "requests"
	case status >= http.StatusInternalServerError:
		kind = "server_error"
	}
	return map[string]any{"error": map[string]any{
		"message": message, "type": kind, "param": orNull(param), "code": orNull(code),
	}}
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// writeEvent sends one event of a stream; without a name where the API gives it none.
func writeEvent(w http.ResponseWriter, name string, body any) {
	data, ok := body.(string)
	if !ok {
		encoded, _ := json.Marshal(body)
		data = string(encoded)
	}
	if name != "" {
		_, _ = fmt.Fprintf(w, "event: %s\n", name)
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
	_ = http.NewResponseController(w).Flush()
}

// pieces cuts a text into up to 8 parts of whole characters, as a stream brings it.
func pieces(text string) []string {
	runes := []rune(text)
	size := max((len(runes)+7)/8, 1)
	var parts []string
	for len(runes) > 0 {
		n := min(size, len(runes))
		parts = append(parts, string(runes[:n]))
		runes = runes[n:]
	}
	return parts
}

// streams reports whether a call asks for its answer as a stream.
func streams(c Call) bool { return gjson.GetBytes(c.Body, "stream").Bool() }

// used is what is told of a step, in the names that an API has for it.
func used(u memoir.Usage, input, output string) map[string]any {
	return map[string]any{
		input: u.InputTokens, output: u.OutputTokens, "total_tokens": u.InputTokens + u.OutputTokens,
		input + "_details":  map[string]any{"cached_tokens": u.CachedTokens},
		output + "_details": map[string]any{"reasoning_tokens": 0},
	}
}
