package consolidate

import (
	"strings"

	"memoir"
)

// OnlyNotes is the memory of a project of whose sessions none is an input any more:
// what people wrote by hand, and a line that says that nothing else is left. It is
// independent of the time and of what was published before.
func OnlyNotes(in Input) memoir.Consolidation {
	name := projectName(titleOf(in.Project, nil))
	notes := LiveNotes(in.Notes, in)
	left := "Nothing"
	for _, n := range notes {
		if n.Action == memoir.NoteAdded && strings.TrimSpace(n.Text) != "" || n.Action == memoir.NoteFile {
			left = "Only what people wrote by hand"
			break
		}
	}
	return ApplyNotes(memoir.Consolidation{
		MemoryMD:      "# Memory of " + name + "\n\n" + left + " is left: the sessions that this memory rested on were taken out.\n",
		MemorySummary: "# " + name + ": what earlier sessions taught\n\n" + left + " is left: the sessions were taken out of memory.\n",
	}, notes)
}
