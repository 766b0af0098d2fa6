// Package consolidate is Phase 2: it makes one set of memory files from the extractions of a project. It knows
// statements, how they agree and contradict, and the form of the files, but no database, disk or transcript.
//
// Read consolidate.go (the interface), then builtin.go (the built-in model) and memory.go (its page). llm.go calls
// a language model; answer.go and skill.go parse the answer. handedit.go applies hand edits, forgotten.go removes
// sessions, and check.go checks every result.
package consolidate

import (
	"context"
	"maps"
	"slices"
	"strings"

	"memoir"
	"memoir/extract"
)

// Input is the input of a consolidation.
type Input struct {
	Project        memoir.Project
	Extractions    []memoir.Extraction   // all selected, ordered by SessionKey
	Changed        map[string]bool       // session keys that are new or changed since Current
	Forced         bool                  // a model processes all extractions again
	Withdrawn      []string              // session keys that must leave no trace
	Known          []string              // session keys that were not selected but may be cited
	Current        *memoir.Consolidation // live, nil if none
	Base           *Base                 // of a hub; nil if none
	HandEdits      []memoir.HandEdit
	Accepted       map[string]int64 // ids of statements that the person answered about in a review
	Own            extract.Own      // of the working tree; statements that it says are marked
	Journals       string           // journals of the last days for a model's prompt, if lines of them changed
	SummaryTokens  int              // of memory_summary.md, 4 bytes a token; 0 is the default of 5000
	MaxMemoryBytes int              // of MEMORY.md; 0 is the default of 32 KiB
}

// Consolidator makes a project's memory files from its extractions.
type Consolidator interface {
	// Name is the model's name: provider/model, or "builtin".
	Name() string
	// Consolidate returns the files. Without extractions the error has the code memoir.CodeInvalid,
	// so that a missing input never empties a memory.
	Consolidate(ctx context.Context, in Input) (memoir.Consolidation, error)
}

// Limits if the input has none.
const (
	DefaultMemoryBytes   = 32 << 10
	DefaultSummaryTokens = 5000
)

// Budgets, which apply even if the limits allow more.
const (
	memoryBudget  = 16 << 10 // bytes of MEMORY.md of the built-in model
	modelBudget   = 24 << 10 // the same of a language model
	summaryBudget = 6000     // bytes of memory_summary.md
)

// limits returns the hard bounds of the two files, in bytes and tokens.
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

// budgets returns the intended sizes within the limits, both in bytes.
func (in Input) budgets(most int) (memory, summary int) {
	bytes, tokens := in.limits()
	return min(bytes, most), min(4*tokens, summaryBudget)
}

// without leaves out the extractions of withdrawn sessions, in case a caller passed them.
func without(extractions []memoir.Extraction, withdrawn []string) []memoir.Extraction {
	return slices.DeleteFunc(slices.Clone(extractions), func(e memoir.Extraction) bool {
		return slices.Contains(withdrawn, e.SessionKey)
	})
}

// artifacts are a consolidation's texts by their paths.
type artifacts map[string]string

func open(c memoir.Consolidation) artifacts { return c.Files() }

// put sets a file if a consolidation can have it: one of the two Markdown files or a file of a skill. It removes
// files whose names conflict with it on some systems.
func (a artifacts) put(name, text string) {
	_, _, _, ok := memoir.SkillPath(name)
	if !ok && name != memoir.MemoryFile && name != memoir.SummaryFile || memoir.CheckPath(name) != nil {
		return
	}
	maps.DeleteFunc(a, func(other, _ string) bool { return memoir.CheckPaths([]string{name, other}) != nil })
	a[name] = text
}

// remove deletes a file; with a SKILL.md it deletes the whole skill.
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

// close makes a consolidation from the files; a skill without a SKILL.md is dropped.
func (a artifacts) close() memoir.Consolidation { return memoir.ConsolidationOf(a) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
