package consolidate

import (
	"maps"
	"slices"
	"strings"

	"memoir"
)

// artifacts are a consolidation's texts by their paths.
type artifacts map[string]string

func open(c memoir.Consolidation) artifacts { return c.Files() }

func (a artifacts) has(name string) bool { _, ok := a[name]; return ok }

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
