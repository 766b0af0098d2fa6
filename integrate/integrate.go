// Package integrate connects memoir with coding agents: hooks, extension files, entries for the MCP
// server and links to skills. It knows where each agent reads them, edits configuration files without
// changing anything else in them, and can undo its edits. It does not read memories.
//
// Read agents.go first (the table of agents), then plan.go (what would be changed), record.go (the
// writes, and what was changed), edit.go with json.go (how a file is edited), skill.go (links to skills)
// and check.go (why an agent gets no memory).
package integrate

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	shell "mvdan.cc/sh/v3/syntax"

	"memoir"
)

// Env is the environment in which agents are looked for.
type Env struct {
	UserHome string              // the person's home directory
	Getenv   func(string) string // the environment
}

// Options say what is installed.
type Options struct {
	Program string   // absolute path of memoir; it should stay valid when memoir is updated
	Flags   []string // of every call, such as --home=DIR
	Project string   // the directory of a project whose own files are changed; "": the user's
	Turns   bool     // also install a hook that runs after each turn
	Prompts bool     // also install a hook for each prompt, where the agent takes settings with hooks
	NoHooks bool
	NoMCP   bool
}

// Found reports whether an agent is used here, and why: its command is on PATH or its configuration directory exists.
func (a Agent) Found(e Env) (why string, ok bool) {
	if path, err := exec.LookPath(a.command); err == nil {
		return path, true
	}
	dir := a.dir(e)
	info, err := os.Stat(dir)
	return dir, err == nil && info.IsDir()
}

// Program returns the path by which agents should call the running program: the first one on PATH that is this program,
// links included, since that path stays when a new version takes its place; else its own path.
func Program() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	info, err := os.Stat(self)
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath("memoir"); err == nil {
		if other, err := os.Stat(path); err == nil && os.SameFile(info, other) {
			self = path
		}
	}
	if strings.ContainsFunc(self, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", memoir.Errorf(memoir.CodeInvalid, "move memoir to another directory",
			"the path of this program, %q, has a control character, which agents' configurations do not accept", self)
	}
	return self, nil
}

type site struct {
	Options
	Env
	agent string
	dir   string // of the agent's configuration, for the user or in the project
}

func (s site) call(words ...string) []string {
	return slices.Concat([]string{s.Program}, words, s.Flags)
}

// commandLine returns a command line for a shell. Words are quoted only if needed.
func commandLine(words []string) string {
	line := slices.Clone(words)
	for i, word := range line {
		if runtime.GOOS == "windows" {
			if strings.ContainsAny(word, " &^()") {
				line[i] = `"` + word + `"`
			}
		} else if quoted, err := shell.Quote(word, shell.LangPOSIX); err == nil {
			line[i] = quoted
		}
	}
	return strings.Join(line, " ")
}
