package prompts

import (
	"embed"
	"errors"
	"io/fs"
	"sync"

	"memoir"
)

//go:embed *.md
var files embed.FS

// The prompt files.
const (
	fileStageOneSystem      = "stage_one_system.md"
	fileStageOneInput       = "stage_one_input.md"
	fileConsolidationSystem = "consolidation_system.md"
	fileConsolidation       = "consolidation.md"
	fileReadPath            = "read_path.md"
)

// declared lists the prompts and the variables that each has to use.
var declared = []struct {
	file      string
	variables []string
}{
	{fileStageOneSystem, nil},
	{fileStageOneInput, []string{"thread_id", "agent", "cwd", "branch", "started_at", "ended_at",
		"item_count", "omitted_count", "response_items_json"}},
	{fileConsolidationSystem, nil},
	{fileConsolidation, []string{"project", "date", "memory_bytes", "summary_tokens", "current_memory", "current_summary",
		"current_skills", "hand_edits", "new_sessions", "changed_sessions", "withdrawn_sessions", "raw_memories",
		"rollout_summaries"}},
	{fileReadPath, []string{"project", "root", "memory_summary"}},
}

// Set is all prompts, parsed and checked. It does not change and is safe for
// concurrent use.
type Set struct {
	templates map[string]template
}

// Load parses the prompts that are part of the program, each replaced by the file
// of the same name in override if there is one; override may be nil. An error
// names the file and the variable.
func Load(override fs.FS) (*Set, error) {
	s := &Set{templates: make(map[string]template)}
	for _, d := range declared {
		text, err := read(override, d.file)
		if err != nil {
			return nil, err
		}
		t, err := parse(d.file, text, d.variables)
		if err != nil {
			return nil, err
		}
		s.templates[d.file] = t
	}
	return s, nil
}

func read(override fs.FS, file string) (string, error) {
	if override != nil {
		data, err := fs.ReadFile(override, file)
		if err == nil {
			return string(data), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", memoir.Errorf(memoir.CodeConfig, "", "cannot read prompt %s: %w", file, err)
		}
	}
	data, err := files.ReadFile(file)
	if err != nil {
		return "", memoir.Errorf(memoir.CodeInternal, "", "prompt %s is not part of the program: %w", file, err)
	}
	return string(data), nil
}

// Default returns the prompts that are part of the program.
var Default = sync.OnceValues(func() (*Set, error) { return Load(nil) })

func (s *Set) render(file string, values map[string]string) (string, error) {
	return s.templates[file].render(values)
}
