package model

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"sync"

	"memoir"
	"memoir/internal/failpoint"
)

// preset is an agent that answers a question as a model does: without tools, without
// hooks, without servers and, where it can, without a session.
type preset struct {
	name    string
	program string // what is started unless a person names another
	// newer are switches against what older versions do not have: one that does not
	// know such a switch is called without it.
	newer []string
	// invoke says how a question is put.
	invoke func(q question, s scratch) (invocation, error)
	// read finds the answer in what was printed or left in a file, whether the
	// program failed or not.
	read func(out printed, s scratch) reading
}

// presets are those that are known.
var presets = []*preset{&claude, &codex, &pi, &omp, &opencode, &gemini, &llm}

// Presets returns the names of the agents whose switches are known.
func Presets() []string {
	var names []string
	for _, p := range presets {
		names = append(names, p.name)
	}
	return names
}

// question is a request as a preset sees it.
type question struct {
	Request
	model       string // as the agent calls it; "": the agent's own choice
	effort      string
	temperature *float64
}

// system is the system prompt: an agent that is given none takes its own, which speaks
// of tools and files.
func (q question) system() string {
	if q.System == "" {
		return "Answer the question."
	}
	return q.System
}

// scratch are the directories of one call.
type scratch struct {
	work  string // where the program runs: empty, but for settings that it takes from nowhere else
	files string // what it is told to read, and writes its answer to
	temp  string // its temporary files
}

// write puts a file among those that the program is told to read, and returns its path.
func (s scratch) write(name, content string) (string, error) {
	path := filepath.Join(s.files, name)
	return path, failpoint.WriteFile(path, []byte(content), 0o600)
}

// invocation is what a program is started with.
type invocation struct {
	args  []string
	env   []string
	stdin string
}

// reading is what a program said.
type reading struct {
	text      string
	stop      Stop   // "": it is whole
	objection string // why there is no answer, in its words; "": there is one
	usage     memoir.Usage
}

// classes tell by an agent's words what a failure means. The first that matches counts:
// a limit is often told together with a status that says less.
var classes = sync.OnceValue(func() []classForm {
	return []classForm{
		{ClassTooLong, regexp.MustCompile(`(?i)prompt is too long|context.?(length|window|limit)|too many (input )?tokens|maximum context|input is too long|exceeds the (context|model)`)},
		{ClassLimited, regexp.MustCompile(`(?i)\b(429|529)\b|(rate|usage|session|weekly|5-hour|hourly|daily).{0,12}limit|quota|too many requests|overloaded|resource.?exhausted`)},
		{ClassDenied, regexp.MustCompile(`(?i)\b(401|403)\b|unauthori[sz]ed|forbidden|authenticat|api.?key|not logged in|log ?in\b|credential`)},
		{ClassMissing, regexp.MustCompile(`(?i)\b404\b|(model|provider).{0,60}(not found|not exist|unknown|not supported|no access)|(unknown|no such|invalid) (model|provider)|issue with the selected model`)},
		{ClassUnreachable, regexp.MustCompile(`(?i)ECONNREFUSED|ENOTFOUND|EAI_AGAIN|connection refused|unable to connect|fetch failed|network (error|unreachable)|getaddrinfo`)},
		{ClassTemporary, regexp.MustCompile(`(?i)\b50[0234]\b|timed? ?out|temporar|high demand|ECONNRESET|connection (error|reset|closed)|disconnected|internal server error|service unavailable`)},
	}
})

// A classForm is how agents tell of a failure of a class.
type classForm struct {
	class Class
	form  *regexp.Regexp
}

func classify(message string) Class {
	for _, c := range classes() {
		if c.form.MatchString(message) {
			return c.class
		}
	}
	return ClassProgram
}

// flag is a switch with a value, nothing where the value is empty.
func flag(name, value string) []string {
	if value == "" {
		return nil
	}
	return []string{name, value}
}

// object writes a value made here as JSON.
func object(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
