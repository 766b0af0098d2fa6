package entry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/memory"
	"memoir/store"
)

func markPath(root memory.Root) string { return filepath.Join(root.Dir(), markName) }

// Any reports whether a project may have notes. It reads no database.
func Any(root memory.Root) bool {
	_, err := os.Lstat(markPath(root))
	return err == nil
}

// maxInjected bounds the notes that a session gets. The last accessed ones are chosen.
const maxInjected = 100

// Injected returns the person's notes that a session in a project gets, those of the user included: Markdown with a
// heading, a section for each category, and the number of each note. It says how many notes of agents wait for a
// person. It is neutralised, and "" if there are no notes.
func Injected(ctx context.Context, st *store.Store, projectID string) (string, error) {
	notes, err := st.Entries(ctx, store.EntryFilter{Projects: []string{memoir.UserProjectID, projectID},
		Kind: memoir.EntryNote})
	if err != nil || len(notes) == 0 {
		return "", err
	}
	waiting := len(notes)
	notes = slices.DeleteFunc(notes, func(n memoir.Entry) bool { return n.Author != memoir.AuthorUser })
	waiting -= len(notes)
	notes = notes[:min(len(notes), maxInjected)]
	byCategory(notes)
	var b strings.Builder
	b.WriteString("## Long-Term Memory\n")
	if waiting > 0 {
		fmt.Fprintf(&b, "\nWaiting for the user's confirmation: %s of agents (`memoir memories` lists them, "+
			"`memoir remember '#N'` confirms one).\n", memoir.Count(waiting, "note"))
	}
	category := ""
	for _, n := range notes {
		if n.Category != category {
			category = n.Category
			b.WriteString("\n### " + category + "\n\n")
		}
		fmt.Fprintf(&b, "- [#%d] %s\n", n.ID, memory.Neutralise(n.Text))
	}
	return b.String() + "\n", nil
}
