// Package rollout knows where each coding agent keeps its sessions and how to
// read them: it is the only place that knows an agent's format. It turns the
// files of one conversation into a stream of memoir.Item, each utterance once,
// each tool call joined to its result, and knows nothing of memory, models or
// the database. What a file says is foreign data: no line may crash a reader or
// make it hold more than a bounded amount.
//
// Read agent.go first (what an agent's reader must provide), then read.go and
// probe.go (what callers use), record.go (JSON values out of damaged files) and
// one agent, for instance copilot.go, which is one file. An agent that does not keep
// a session as a file implements Keeper in open.go too, as opencode.go does.
package rollout

import (
	"context"
	"path/filepath"

	"memoir"
)

// Env is what finding an agent's files depends on.
type Env struct {
	Home   string                   // the person's home directory
	Getenv func(name string) string // nil: nothing is set
	GOOS   string
}

func (e Env) get(name string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(name)
}

// home joins a path to the home directory; it is "" without one.
func (e Env) home(elem ...string) string {
	if e.Home == "" {
		return ""
	}
	return filepath.Join(append([]string{e.Home}, elem...)...)
}

// Root is a directory below which an agent keeps sessions, or a file that holds them.
type Root struct {
	Dir string
	// Session reports whether a file may by its name be a session; path is
	// relative to Dir and slash-separated.
	Session func(path string) bool
}

// Agent knows one coding agent's format; each has a file of its own.
type Agent interface {
	// Source names the agent.
	Source() memoir.Source
	// Roots lists where the agent keeps sessions, whether they exist or not.
	Roots(env Env) []Root
	// Recognises reports whether records can only be this agent's; they are the
	// first ones of a file, at least one.
	Recognises(path string, head [][]byte) bool
	// Head fills in what the first and last records of a file say of it.
	Head(h *Head, path string, head, tail [][]byte)
	// Read emits a thread's items.
	Read(ctx context.Context, t *tape, e *emitter) error
}

// Agents lists the agents in the order in which they are asked whether they
// recognise a file: the more particular format first.
var Agents = []Agent{Codex{}, OMP{}, Pi{}, Gemini{}, OpenCode{}, Qwen{}, Copilot{}, Claude{}}

// AgentOf returns the agent of a source, nil if there is none.
func AgentOf(source memoir.Source) Agent {
	for _, a := range Agents {
		if a.Source() == source {
			return a
		}
	}
	return nil
}
