package prompts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
)

// LoadDir is Load with the prompt files of a directory; "" is the program's own
// prompts. A directory that is not there, or that holds a Markdown file which
// replaces none, is an error with memoir.CodeConfig: it would be no use to
// whoever wrote it. A README.md is let be.
func LoadDir(dir string) (*Set, error) {
	if dir == "" {
		return Default()
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		var system *fs.PathError
		if errors.As(err, &system) { // in quotes: the name may hold a secret that rules know by where it ends
			err = fmt.Errorf("%s %q: %w", system.Op, system.Path, system.Err)
		}
		return nil, memoir.Errorf(memoir.CodeConfig, "name a directory with prompt files in prompts.dir",
			"cannot read the prompts: %w", err)
	}
	var known []string
	for _, d := range declared {
		known = append(known, d.file)
	}
	for _, e := range entries {
		name := e.Name()
		if strings.EqualFold(filepath.Ext(name), ".md") && !strings.EqualFold(name, "README.md") &&
			!slices.Contains(known, name) {
			return nil, memoir.Errorf(memoir.CodeConfig, "the prompts are "+strings.Join(known, ", "),
				"%s is none of the prompts", filepath.Join(dir, name))
		}
	}
	set, err := Load(os.DirFS(dir))
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeOf(err), memoir.HintOf(err), "%w (in %s)", err, dir)
	}
	return set, nil
}
