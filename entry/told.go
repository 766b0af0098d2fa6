package entry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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

// maxTold is how many notes a session is told, those that were accessed last.
const maxTold = 100

// Told is what a session in a project is told of a person's notes, the user's own among them: Markdown with a
// heading, a section a category, and the number of each note. It is neutralised; "" where there are none.
func Told(ctx context.Context, st *store.Store, projectID string) (string, error) {
	notes, err := st.Entries(ctx, store.EntryFilter{Projects: []string{memoir.UserProjectID, projectID},
		Kind: memoir.EntryNote, Author: memoir.AuthorUser, Max: maxTold})
	if err != nil || len(notes) == 0 {
		return "", err
	}
	byCategory(notes)
	var b strings.Builder
	b.WriteString("## Long-Term Memory\n")
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
