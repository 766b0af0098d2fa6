package prompts

import (
	"strings"
)

// ReadPathVars is what is injected into an agent's session.
type ReadPathVars struct {
	Project       string // name; empty: not told
	Root          string // path or URL of the memory; empty: memory://root
	MemorySummary string // within the caller's limit
}

// ReadPath renders the text that is injected into an agent's session. Whatever
// the values contain, its first line opens the one memoir-context element in it
// and its last line closes it, so that it is recognised in transcripts.
func ReadPath(v ReadPathVars) string {
	project, root := v.Project, v.Root
	if project == "" {
		project = "this project"
	}
	if root == "" {
		root = "memory://root"
	}
	return render(fileReadPath, map[string]string{
		"project":        attribute(project),
		"root":           attribute(strings.TrimRight(root, "/")),
		"memory_summary": strings.Trim(inert(v.MemorySummary), "\n"),
	})
}

var attributeEscapes = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;")

// attribute is a text that may stand between the quotes of an attribute.
func attribute(text string) string { return attributeEscapes.Replace(inline(text)) }
