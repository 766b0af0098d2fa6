package integrate

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
)

// Finding is a reason why an agent gets no memory, or gets it twice.
type Finding struct {
	Text, Hint string
	Fails      bool // memoir does not work, for want of more than a person's yes in the agent
}

// signs are the settings of agents that doctor checks.
var signs = []struct {
	agent, file string
	key         string
	good        any
	unset       bool // it is also a finding if the key is not set
	hooks       bool // it concerns hooks, not the agent's own memory
}{
	{"claude", "settings.json", "disableAllHooks", false, false, true},
	{"qwen", "settings.json", "disableAllHooks", false, false, true},
	{"gemini", "settings.json", "hooksConfig.enabled", true, false, true},
	{"codex", "config.toml", "features.hooks", true, false, true},
	{"claude", "settings.json", "autoMemoryEnabled", false, true, false},
	{"codex", "config.toml", "features.memories", false, false, false},
	{"omp", "config.yml", "memory.backend", "off", false, false},
	{"qwen", "settings.json", "memory.enableManagedAutoMemory", false, true, false},
	{"gemini", "settings.json", "experimental.autoMemory", false, false, false},
}

// contextFiles are the files that agents load into each session.
var contextFiles = []string{"CLAUDE.md", "AGENTS.md", "GEMINI.md", "QWEN.md", "RULES.md", "copilot-instructions.md"}

// Check finds reasons why an agent in which memoir is installed gets no memory, or gets it twice.
func (r *Record) Check(e Env, a Agent) (findings []Finding) {
	add := func(fails bool, hint, format string, args ...any) {
		findings = append(findings, Finding{fmt.Sprintf(format, args...), hint, fails})
	}
	mend := "`memoir install " + a.Name + "` repairs it"
	var scopes, programs []string
	for _, f := range r.Files {
		if f.Agent != a.Name {
			continue
		}
		scopes, programs = append(scopes, f.Project), append(programs, f.Program)
		findings = append(findings, f.check(mend)...)
		if missing := f.lacksHooks(e, a); len(missing) > 0 {
			add(true, mend, "%s lacks what an earlier version did not install: %s", f.Path, strings.Join(missing, ", "))
		}
	}
	slices.Sort(programs)
	for _, program := range slices.Compact(programs) {
		if _, err := os.Stat(program); err != nil && program != "" {
			add(true, mend, "the installed program is missing: %v", err)
		}
	}
	slices.Sort(scopes)
	if scopes = slices.Compact(scopes); len(scopes) > 1 {
		add(false, "`memoir uninstall "+a.Name+" --scope project` in that project removes one",
			"it is installed for the user and for %s", strings.TrimLeft(strings.Join(scopes, ""), " "))
	}
	dir := a.dir(e)
	findings = append(findings, a.settingsAgainst(dir)...)
	for _, hook := range []struct{ event, state, name string }{
		{"SessionStart", "session_start", "start hook"}, {"PostToolUse", "post_tool_use", "hook of tool calls"},
	} {
		if a.Name == "codex" && !trusted(dir, hook.event, hook.state) {
			add(false, "call /hooks in Codex", "Codex does not trust the %s and skips it silently", hook.name)
		}
	}
	for _, name := range contextFiles {
		content, _ := read(filepath.Join(dir, name))
		if bytes.Contains(content, []byte("memory_summary.md")) || bytes.Contains(content, []byte("<memoir-context")) {
			add(false, "remove it there", "%s loads the memory as well", filepath.Join(dir, name))
		}
	}
	return findings
}

// lacksHooks returns the hooks that install adds to a file now and an earlier version did not add.
func (f FileRecord) lacksHooks(e Env, a Agent) (what []string) {
	s := site{Options: Options{Program: f.Program, Project: f.Project}, Env: e, agent: a.Name, dir: a.dir(e)}
	if f.Project != "" {
		s.dir = filepath.Join(f.Project, a.projectDir)
	}
	hooks := slices.ContainsFunc(f.Entries, func(e Entry) bool { return e.List })
	for _, wanted := range a.files(s) {
		current, _ := readIn(f.Project, f.Path)
		if wanted.path == f.Path && wanted.content != "" && hashOf(current) == f.After &&
			bytes.Contains([]byte(wanted.content), []byte(actionFlag)) && !bytes.Contains(current, []byte(actionFlag)) {
			what = append(what, "hooks of tool calls")
		} else if wanted.path == f.Path && hashOf(current) == f.After &&
			!bytes.Equal(code(current), code([]byte(wanted.content))) {
			what = append(what, "changes of the "+a.Channel)
		}
		for _, one := range wanted.entries {
			if wanted.path == f.Path && hooks && one.List && (file{entries: f.Entries}).lacks(one) {
				what = append(what, one.What)
			}
		}
	}
	return what
}

// code returns what follows in an extension or a plugin after the values that install fills in.
func code(content []byte) []byte {
	_, rest, _ := bytes.Cut(content, []byte("const turns"))
	_, rest, _ = bytes.Cut(rest, []byte("\n"))
	return rest
}

func (f FileRecord) check(mend string) []Finding {
	current, err := readIn(f.Project, f.Path)
	if err == nil && len(f.Entries) > 0 {
		if _, parse := syntaxOf(f.Path).read(current); parse != nil {
			err = memoir.Errorf(memoir.CodeInvalid, "correct the file", "%s: %w", f.Path, parse)
		}
	}
	if err != nil {
		return []Finding{{err.Error(), memoir.HintOf(err), true}}
	}
	what := drifted(file{path: f.Path, entries: f.Entries}, current)
	if len(f.Entries) == 0 && hashOf(current) != f.After {
		agent, _ := Named(f.Agent)
		what = []string{"the " + agent.Channel}
		if current != nil {
			mend = "move it away; then `memoir install " +
				f.Agent + "` writes it again, or `memoir uninstall " + f.Agent + "` completes the removal"
		}
	}
	if len(what) == 0 {
		return nil
	}
	if current == nil {
		return []Finding{{f.Path + " is missing", mend, true}}
	}
	return []Finding{{fmt.Sprintf("%s was changed: %s", f.Path, strings.Join(what, ", ")), mend, true}}
}

func (a Agent) settingsAgainst(dir string) (findings []Finding) {
	for _, s := range signs {
		path := filepath.Join(dir, s.file)
		value, set := setting(path, strings.Split(s.key, ".")...)
		if s.agent != a.Name || value == s.good || !set && !s.unset {
			continue
		}
		f := Finding{"the agent's own memory is on: the model gets two memories",
			fmt.Sprintf("set %s to %v in %s to use only memoir's", s.key, s.good, path), false}
		if s.hooks {
			f = Finding{s.key + " disables hooks: no session gets the memory", "remove " + s.key + " from " + path, true}
		}
		findings = append(findings, f)
	}
	return findings
}

// setting returns a value in a file of an agent; set is false if the file cannot be read.
func setting(path string, at ...string) (value any, set bool) {
	content, _ := read(path)
	file, _ := syntaxOf(path).read(content)
	value, found := lookup(file, at)
	return value, found == len(at)
}

// trusted reports whether Codex's state says that a person trusts memoir's hook of an event. A key of that state
// contains the hook's position in the file. The hash is not checked: Codex does that.
func trusted(dir, event, state string) bool {
	path := filepath.Join(dir, "hooks.json")
	value, _ := setting(path, "hooks", event)
	groups, _ := value.([]any)
	i := slices.IndexFunc(groups, isOurs)
	if i < 0 {
		return true // a missing hook is another finding
	}
	value, _ = setting(filepath.Join(dir, "config.toml"), "hooks", "state", fmt.Sprintf("%s:%s:%d:0", path, state, i))
	known, _ := value.(object)
	return known["trusted_hash"] != nil && known["enabled"] != false
}
