package prompts

import (
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/valyala/fasttemplate"
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

// render fills in the values of a prompt. A value is inserted as it is and never looked
// through for variables. It panics on a variable without a value, or a file that is not
// there: both are mistakes in the program.
func render(file string, values map[string]string) string {
	text, err := files.ReadFile(file)
	if err != nil {
		panic(err)
	}
	return fasttemplate.ExecuteFuncString(string(text), "{{", "}}", func(w io.Writer, name string) (int, error) {
		value, ok := values[strings.TrimSpace(name)]
		if !ok {
			return 0, fmt.Errorf("prompt %s: variable %s has no value", file, name)
		}
		return io.WriteString(w, value)
	})
}
