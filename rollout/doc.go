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
// a session as a file implements keeper.go's interface too, as opencode.go does.
package rollout
