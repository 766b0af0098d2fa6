// Package consolidate is Phase 2: many Extractions of one project in, one set of
// memory files out. It knows statements, how they agree and contradict, and the
// form of the files; it knows no database, no disk and no transcript.
//
// Read consolidate.go (the interface), then builtin.go (the model that needs no
// network) and memory.go (its page). llm.go asks a language model; answer.go and
// skill.go read what comes back. notes.go applies hand edits, forget.go takes
// sessions out, and check.go checks every result.
package consolidate

import (
	"context"
	"maps"
	"slices"
	"strings"

	"memoir"
)

// Input is what a project's memory is made of.
type Input struct {
	Project        memoir.Project
	Extractions    []memoir.Extraction   // all selected, ordered by SessionKey
	Changed        map[string]bool       // session keys that are new or changed since Current
	Forced         bool                  // a person asked for it: a model is asked about all of them again
	Withdrawn      []string              // session keys that must leave no trace
	Known          []string              // session keys that were not selected but may be cited
	Current        *memoir.Consolidation // live, nil if none
	Notes          []memoir.Note
	Journals       string // pages of the last days, if lines of them changed; a model is shown them
	SummaryTokens  int    // of memory_summary.md, 4 bytes a token; 0 is the default of 5000
	MaxMemoryBytes int    // of MEMORY.md; 0 is the default of 32 KiB
}

// Consolidator makes a project's memory files of its extractions.
type Consolidator interface {
	// Name is the model's name: provider/model, or "builtin".
	Name() string
	// Consolidate returns the files. Without extractions it fails with
	// memoir.CodeInvalid: a caller never wipes a root for want of input.
	Consolidate(ctx context.Context, in Input) (memoir.Consolidation, memoir.Usage, error)
}

// Limits where the input names none.
const (
	DefaultMemoryBytes   = 32 << 10
	DefaultSummaryTokens = 5000
)

// Budgets: what is written is this small even where the limits allow more.
const (
	memoryBudget  = 16 << 10 // bytes of MEMORY.md
	summaryBudget = 2 << 10  // bytes of memory_summary.md
)

// limits are the hard bounds of the two files, in bytes and tokens.
func (in Input) limits() (bytes, tokens int) {
	bytes, tokens = in.MaxMemoryBytes, in.SummaryTokens
	if bytes <= 0 {
		bytes = DefaultMemoryBytes
	}
	if tokens <= 0 {
		tokens = DefaultSummaryTokens
	}
	return bytes, tokens
}

// budgets are what is aimed at within the limits, both in bytes.
func (in Input) budgets() (memory, summary int) {
	bytes, tokens := in.limits()
	return min(bytes, memoryBudget), min(4*tokens, summaryBudget)
}

// without leaves out the extractions of withdrawn sessions, should a caller have
// handed them over.
func without(extractions []memoir.Extraction, withdrawn []string) []memoir.Extraction {
	return slices.DeleteFunc(slices.Clone(extractions), func(e memoir.Extraction) bool {
		return slices.Contains(withdrawn, e.SessionKey)
	})
}

// artifacts are a consolidation's texts by their paths.
type artifacts map[string]string

func open(c memoir.Consolidation) artifacts { return c.Files() }

// put writes a file if the consolidation can hold it: the two Markdown files and
// what belongs to a skill. A file that cannot be beside it on every system gives way.
func (a artifacts) put(name, text string) {
	_, _, _, ok := memoir.SkillPath(name)
	if !ok && name != memoir.MemoryFile && name != memoir.SummaryFile || memoir.CheckPath(name) != nil {
		return
	}
	maps.DeleteFunc(a, func(other, _ string) bool { return memoir.CheckPaths([]string{name, other}) != nil })
	a[name] = text
}

// remove deletes a file; without its SKILL.md a skill is gone.
func (a artifacts) remove(name string) {
	if name == memoir.MemoryFile || name == memoir.SummaryFile {
		a[name] = ""
		return
	}
	delete(a, name)
	if _, folder, _, ok := memoir.SkillPath(name); ok && folder == "" {
		dir := strings.TrimSuffix(name, memoir.SkillMD)
		maps.DeleteFunc(a, func(other, _ string) bool { return strings.HasPrefix(other, dir) })
	}
}

// close puts the files together again; a skill without a SKILL.md is dropped.
func (a artifacts) close() memoir.Consolidation { return memoir.ConsolidationOf(a) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
