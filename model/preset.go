package model

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/internal/failpoint"
)

// preset is an agent that answers a question as a model does: without tools, hooks or
// servers and, where it can, without keeping a session. Its name is that of its program.
//
// In switches, variables and files, {model}, {effort}, {schema} and {cap} are values of the request, {work} is the
// working directory, {prompt} the system prompt as JSON, and the name of a file in braces is that file's path.
type preset struct {
	name     string
	newer    string            // a switch that older versions reject; they are called without it
	switches [][]string        // in groups; a group with an empty value is left out
	env      []string          // the same, one by one
	files    map[string]string // besides system.md and schema.json
	schema   bool              // it accepts a schema; else the question has the schema in words
	efforts  map[string]string // its words for ours, if they differ
	events   []event           // of its output
}

// event describes a JSON line of an agent's output with the paths of its values. The last line
// with a text or a failure counts; usage is added up.
type event struct {
	when                  map[string]string // values by path that identify the event
	text                  []string          // the first that exists
	stop                  string
	why                   []string // of a failure, joined; none is there if it is none
	input, cached, output []string // tokens, added up; cached ones are part of the input
	cost                  string   // US dollars
}

// piEvents are those of pi and oh-my-pi.
var piEvents = []event{{
	when: map[string]string{"type": "message_end", "message.role": "assistant"},
	text: []string{`message.content.#(type=="text")#.text`}, stop: "message.stopReason",
	why:    []string{"message.errorMessage"},
	input:  []string{"message.usage.input", "message.usage.cacheRead", "message.usage.cacheWrite"},
	cached: []string{"message.usage.cacheRead"}, output: []string{"message.usage.output"},
	cost: "message.usage.cost.total",
}}

var presets = []preset{
	{
		// It reads no settings, so no hooks and no memory.
		name: "claude",
		switches: [][]string{
			{"-p", "--output-format", "json", "--tools", "", "--strict-mcp-config", "--setting-sources", "",
				"--disable-slash-commands", "--no-session-persistence", "--system-prompt-file", "{system.md}"},
			{"--model", "{model}"}, {"--json-schema", "{schema}"}, {"--effort", "{effort}"},
		},
		env: []string{"CLAUDE_CODE_DISABLE_AUTO_MEMORY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"CLAUDE_CODE_MAX_RETRIES=1", // the caller repeats calls, with longer waits
			"CLAUDE_CODE_MAX_OUTPUT_TOKENS={cap}"},
		schema:  true,
		efforts: map[string]string{"none": "low", "minimal": "low"},
		events: []event{{
			when: map[string]string{"type": "result"},
			text: []string{"structured_output", "result"}, stop: "stop_reason",
			why:    []string{"[@this].#(is_error==true).result", "[@this].#(is_error==true).errors.0"},
			input:  []string{"usage.input_tokens", "usage.cache_creation_input_tokens", "usage.cache_read_input_tokens"},
			cached: []string{"usage.cache_read_input_tokens"}, output: []string{"usage.output_tokens"},
			cost: "total_cost_usd",
		}},
	},
	{
		// It ignores the person's config.toml, and with it servers, hooks and the choice of a
		// model, but keeps their login. Some 30 KB of its own prompt and tools stay.
		name: "codex",
		switches: [][]string{
			{"exec", "--ephemeral", "--json", "--skip-git-repo-check", "--ignore-user-config", "--ignore-rules",
				"-s", "read-only", "-C", "{work}", "-c", `model_instructions_file="{system.md}"`,
				"-c", `web_search="disabled"`, "-c", "project_doc_max_bytes=0",
				"--disable", "hooks", "--disable", "shell_tool", "--disable", "apps", "--disable", "plugins",
				"--disable", "multi_agent", "--disable", "memories"},
			{"--output-schema", "{schema.json}"}, {"-m", "{model}"}, {"-c", `model_reasoning_effort="{effort}"`}, {"-"},
		},
		schema: true,
		events: []event{
			{when: map[string]string{"type": "item.completed", "item.type": "agent_message"}, text: []string{"item.text"}},
			{when: map[string]string{"type": "turn.completed"}, input: []string{"usage.input_tokens"},
				cached: []string{"usage.cached_input_tokens"}, output: []string{"usage.output_tokens"}},
			{when: map[string]string{"type": "turn.failed"}, why: []string{"error.message"}},
			{when: map[string]string{"type": "error"}, why: []string{"message"}},
		},
	},
	{
		name: "pi", newer: "--no-mcp",
		switches: [][]string{
			{"-p", "--mode", "json", "--no-session", "--no-tools", "--no-extensions", "--no-skills",
				"--system-prompt", "{system.md}", "--no-context-files", "--no-prompt-templates", "--no-mcp", "--no-approve"},
			{"--model", "{model}"}, {"--thinking", "{effort}"},
		},
		efforts: map[string]string{"none": "off"},
		events:  piEvents,
	},
	{
		// It has no switch against servers: those called memoir are disabled by name, a
		// person's others are started but not used.
		name: "omp",
		switches: [][]string{
			{"-p", "--mode", "json", "--no-session", "--no-tools", "--no-extensions", "--no-skills",
				"--system-prompt", "{system.md}", "--no-rules", "--no-lsp", "--no-title", "--config={overlay.yml}"},
			{"--model", "{model}"}, {"--thinking", "{effort}"},
		},
		files:   map[string]string{"overlay.yml": "disabledExtensions: [\"mcp:memoir\"]\n"},
		efforts: map[string]string{"none": "off"},
		events:  piEvents,
	},
	{
		// Its configuration is merged over the person's own, which names their providers. It
		// keeps each run as a session, in a database of its own here.
		name: "opencode",
		switches: [][]string{
			{"run", "--pure", "--format", "json", "--agent", "memoir", "--title", memoir.OwnRunMarker},
			{"--model", "{model}"}, {"--variant", "{effort}"},
		},
		env: []string{`OPENCODE_CONFIG_CONTENT={"agent": {"memoir": {"mode": "primary", "prompt": {prompt}, ` +
			`"tools": {"*": false}, "permission": {"*": "deny"}}}, "mcp": {"memoir": {"enabled": false}}, ` +
			`"share": "disabled", "autoupdate": false, "snapshot": false}`, "OPENCODE_DB={work}/../files/sessions.db"},
		efforts: map[string]string{"none": ""},
		events: []event{
			{when: map[string]string{"type": "text"}, text: []string{"part.text"}},
			{when: map[string]string{"type": "step_finish"}, stop: "part.reason",
				input:  []string{"part.tokens.input", "part.tokens.cache.read", "part.tokens.cache.write"},
				cached: []string{"part.tokens.cache.read"},
				output: []string{"part.tokens.output", "part.tokens.reasoning"}, cost: "part.cost"},
			{when: map[string]string{"type": "error"},
				why: []string{"error.name", "error.data.statusCode", "error.data.message"}},
		},
	},
}

func presetNames() string {
	return strings.Join(memoir.Map(presets, func(p preset) string { return p.name }), ", ")
}

// presetOf returns the preset of a model, nil for a person's own command, and the agent's name of the model. The
// provider exec has its preset in the model's name, as in exec/claude/opus; other providers have it in Options.
func presetOf(spec Spec, o Options) (p *preset, model string, err error) {
	name, model := o.Preset, spec.Model
	if first, rest, _ := strings.Cut(spec.Model, "/"); spec.Provider == string(APIExec) &&
		(name == first || name == "" && len(o.Command) == 0) {
		name, model = first, rest
	}
	i := slices.IndexFunc(presets, func(p preset) bool { return p.name == name })
	switch {
	case name == "" && len(o.Command) > 0:
		return nil, model, nil
	case i < 0:
		return nil, "", memoir.Errorf(memoir.CodeConfig, "use one of "+presetNames()+", or name a command",
			"%s has the unknown preset %q", spec, name)
	}
	return &presets[i], model, nil
}

// ask adds an agent's switches, variables and input to a start.
func (p *preset) ask(s *start, q Request, model, effort string) error {
	if its, ok := p.efforts[effort]; ok {
		effort = its
	}
	quoted, _ := json.Marshal(q.System) // a text can be encoded
	values := map[string]string{"model": model, "effort": effort, "schema": string(q.Schema), "cap": "", "work": s.dir,
		"prompt": string(quoted), "system.md": q.System, "schema.json": string(q.Schema)}
	if q.MaxOutput > 0 {
		values["cap"] = strconv.Itoa(q.MaxOutput)
	}
	maps.Copy(values, p.files)
	for name, content := range values {
		if filepath.Ext(name) == "" || content == "" {
			continue
		}
		values[name] = filepath.Join(filepath.Dir(s.dir), fileDir, name)
		if err := failpoint.WriteFile(values[name], []byte(content), 0o600); err != nil {
			return err
		}
	}
	s.stdin = prompt(q, false, !p.schema)
	for _, group := range p.switches {
		s.command = append(s.command, fill(group, values)...)
	}
	for _, variable := range p.env {
		s.env = append(s.env, fill([]string{variable}, values)...)
	}
	return nil
}

// fill replaces placeholders by their values; nil if one of them is empty.
func fill(group []string, values map[string]string) []string {
	var pairs []string
	for name, value := range values {
		place := "{" + name + "}"
		if value == "" && slices.ContainsFunc(group, func(word string) bool { return strings.Contains(word, place) }) {
			return nil
		}
		pairs = append(pairs, place, value)
	}
	return memoir.Map(group, strings.NewReplacer(pairs...).Replace)
}

// read returns the answer in an agent's output, or its message of failure.
func (p *preset) read(stdout []byte) (r received, why string) {
	found, used := false, memoir.Usage{}
	for line := range bytes.Lines(stdout) {
		e := gjson.ParseBytes(line)
		for _, known := range p.events {
			if known.is(e) {
				found, why = true, strings.Join(texts(e, known.why...), ": ")
				known.read(e, &r)
				used = used.Add(memoir.Usage{InputTokens: sum(e, known.input), CachedTokens: sum(e, known.cached),
					OutputTokens: sum(e, known.output), Cost: e.Get(known.cost).Float()})
			}
		}
	}
	if used != (memoir.Usage{}) {
		r.usage = &used
	}
	if text := strings.TrimSpace(string(stdout)); !found && text != "" {
		why = "it printed no result in the requested form: " + text
	}
	return r, why
}

func (k event) is(e gjson.Result) bool {
	for path, value := range k.when {
		if e.Get(path).String() != value {
			return false
		}
	}
	return true
}

func (k event) read(e gjson.Result, r *received) {
	for _, path := range k.text {
		if r.text = strings.Join(texts(e, path), ""); r.text != "" {
			break
		}
	}
	switch e.Get(k.stop).String() {
	case "max_tokens", "length":
		r.stop = StopLength
	case "refusal", "content-filter":
		r.stop = StopRefusal
	}
}

// texts returns the non-empty texts at some paths, one or a list at each.
func texts(e gjson.Result, paths ...string) (out []string) {
	for _, path := range paths {
		for _, one := range e.Get(path).Array() {
			if text := one.String(); text != "" {
				out = append(out, text)
			}
		}
	}
	return out
}

func sum(e gjson.Result, paths []string) (n int64) {
	for _, path := range paths {
		n += e.Get(path).Int()
	}
	return n
}
