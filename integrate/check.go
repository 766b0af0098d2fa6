package integrate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
)

// Finding is something about an agent that keeps memory from it, or gives it twice.
type Finding struct {
	Text, Hint string
	Fails      bool // it keeps memoir from working
}

// sign is a setting of an agent that matters to memoir.
type sign struct {
	agent, file string
	form        form
	at          []string
	means       func(value any, set bool) bool
	finding     Finding
}

func isTrue(v any, _ bool) bool   { return v == true }
func isFalse(v any, _ bool) bool  { return v == false }
func notFalse(v any, _ bool) bool { return v != false }

// twoMemories is the finding of an agent that has a memory of its own.
func twoMemories(hint string) Finding {
	return Finding{"it has a memory of its own, which is on: the model is told things twice", hint, false}
}

// noHooks is the finding of an agent that runs no hooks.
func noHooks(setting string) Finding {
	return Finding{setting + " keeps hooks from running: no session gets the memory", "remove " + setting, true}
}

// signs are the settings that doctor looks at.
var signs = []sign{
	{"claude", "settings.json", formJSON, []string{"disableAllHooks"}, isTrue, noHooks("disableAllHooks")},
	{"qwen", "settings.json", formJSON, []string{"disableAllHooks"}, isTrue, noHooks("disableAllHooks")},
	{"gemini", "settings.json", formJSON, []string{"hooksConfig", "enabled"}, isFalse, noHooks("hooksConfig.enabled")},
	{"codex", "config.toml", formTOML, []string{"features", "hooks"}, isFalse, noHooks("features.hooks")},
	{"claude", "settings.json", formJSON, []string{"autoMemoryEnabled"}, notFalse,
		twoMemories("set autoMemoryEnabled to false in settings.json to have one")},
	{"codex", "config.toml", formTOML, []string{"features", "memories"}, isTrue,
		twoMemories("set features.memories to false in config.toml to have one")},
	{"omp", "config.yml", formYAML, []string{"memory", "backend"}, func(v any, set bool) bool { return set && v != "off" },
		twoMemories("set memory.backend to off in config.yml to have one")},
	{"qwen", "settings.json", formJSON, []string{"memory", "enableManagedAutoMemory"}, notFalse,
		twoMemories("set memory.enableManagedAutoMemory to false in settings.json to have one")},
	{"gemini", "settings.json", formJSON, []string{"experimental", "autoMemory"}, isTrue,
		twoMemories("set experimental.autoMemory to false in settings.json to have one")},
}

// contextFiles are the files that an agent loads into each session by itself.
var contextFiles = []string{"CLAUDE.md", "AGENTS.md", "GEMINI.md", "QWEN.md", "RULES.md", "copilot-instructions.md"}

// Check looks for what keeps memory from an agent in which memoir is installed, or gives it twice.
func (r *Record) Check(e Env, o Options, a Agent) (findings []Finding) {
	add := func(f Finding) { findings = append(findings, f) }
	var scopes []string
	for _, f := range r.Files {
		if f.Agent == a.Name && !slices.Contains(scopes, f.Project) {
			scopes = append(scopes, f.Project)
		}
	}
	// Another copy of memoir may ask, such as one that is being built: agents call the one that was
	// installed, as long as it is there.
	if _, err := os.Stat(r.Program); err == nil {
		o.Program = r.Program
	}
	for _, project := range scopes {
		o.Project = project
		o.NoHooks, o.NoMCP = r.without(a.Name, project)
		changes, err := r.Install(e, o, a)
		if err != nil {
			add(Finding{err.Error(), memoir.HintOf(err), true})
		}
		for _, c := range changes {
			add(Finding{fmt.Sprintf("%s is not as install left it: %s", c.Path, strings.Join(c.What, ", ")),
				"`memoir install " + a.Name + "` mends it", true})
		}
	}
	if len(scopes) > 1 {
		add(Finding{"it is installed for you and for " + strings.TrimLeft(strings.Join(scopes, ""), " "),
			"`memoir uninstall " + a.Name + " --scope project` in that project leaves one", false})
	}
	dir := a.dir(e)
	for _, s := range signs {
		value, set := setting(filepath.Join(dir, s.file), s.form, s.at)
		if s.agent == a.Name && s.means(value, set) {
			add(s.finding)
		}
	}
	if a.Name == "codex" && !trusted(dir) {
		add(Finding{"Codex does not trust the start hook and skips it without a word", "call /hooks in Codex", true})
	}
	for _, name := range contextFiles {
		content, _ := read(filepath.Join(dir, name))
		if bytes.Contains(content, []byte("memory_summary.md")) || bytes.Contains(content, []byte("<memoir-context")) {
			add(Finding{filepath.Join(dir, name) + " loads the memory as well", "take it out there", false})
		}
	}
	for _, l := range r.Skills {
		if l.Agent != a.Name {
			continue
		}
		for _, path := range r.broken(l) {
			add(Finding{path + " leads to a skill that is gone", "`memoir install " + a.Name + "` removes it", false})
		}
	}
	return findings
}

// without tells which parts of an agent's integration were left out.
func (r *Record) without(agent, project string) (hooks, mcp bool) {
	hooks, mcp = true, true
	for _, f := range r.Files {
		if f.Agent != agent || f.Project != project {
			continue
		}
		if f.Form == formOwn {
			hooks = false
		}
		for _, e := range f.Entries {
			if e.What == serverWhat {
				mcp = false
			} else {
				hooks = false
			}
		}
	}
	return hooks, mcp
}

// setting is a value in a file of an agent; not set if the file cannot be read.
func setting(path string, f form, at []string) (any, bool) {
	content, err := read(path)
	if err != nil {
		return nil, false
	}
	value, err := decode(f, bytes.TrimPrefix(content, []byte(bom)))
	if err != nil {
		return nil, false
	}
	return lookup(value, at)
}

// trusted reports whether Codex's state says that a person trusts the start hook of memoir. The keys of
// that state tell the place of a hook, so it is looked for there. The hash is Codex's own to compare.
func trusted(dir string) bool {
	path := filepath.Join(dir, "hooks.json")
	value, _ := setting(path, formJSON, []string{"hooks", "SessionStart"})
	groups, _ := value.([]any)
	i := slices.IndexFunc(groups, func(v any) bool { return ours.MatchString(strings.Join(texts(v), " ")) })
	if i < 0 {
		return true // that it is missing is another finding
	}
	states, _ := setting(filepath.Join(dir, "config.toml"), formTOML, []string{"hooks", "state"})
	all, _ := states.(map[string]any)
	state, ok := all[fmt.Sprintf("%s:session_start:%d:0", path, i)].(map[string]any)
	return ok && state["trusted_hash"] != nil && state["enabled"] != false
}

// broken are the links of memoir's in a directory of skills that lead nowhere.
func (r *Record) broken(l Linked) (paths []string) {
	entries, err := os.ReadDir(l.Dir)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		path := filepath.Join(l.Dir, entry.Name())
		if target, err := os.Readlink(path); err != nil || !r.owns(target) {
			continue
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			paths = append(paths, path)
		}
	}
	return paths
}
