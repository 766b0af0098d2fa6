package entry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
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

// Notes are those that a session gets, the last accessed first.
type Notes struct {
	all     []memoir.Entry
	Waiting []memoir.Entry // of agents, which a session does not get
}

// Injected returns the person's notes that a session in a project gets, those of the user included.
func Injected(ctx context.Context, st *store.Store, projectID string) (n Notes, err error) {
	notes, err := st.Entries(ctx, store.EntryFilter{Projects: []string{memoir.UserProjectID, projectID},
		Kind: memoir.EntryNote})
	for _, one := range notes {
		if one.Author == memoir.AuthorUser {
			n.all = append(n.all, one)
		} else {
			n.Waiting = append(n.Waiting, one)
		}
	}
	return n, err
}

// Text returns as many notes as fit a number of tokens, the last accessed ones, and says how many there are: Markdown
// with a heading, a section for each category, and the number of each note. It also says how many notes of agents wait
// for a person. It is neutralised, and "" if there are no notes or if it has no room.
func (n Notes) Text(tokens int) string {
	fits := func(shown int) bool { return memoir.Tokens(n.text(shown)) <= tokens }
	shown := len(n.all)
	if !fits(shown) {
		shown = sort.Search(shown, func(less int) bool { return !fits(less + 1) })
	}
	if n.Empty() || !fits(shown) {
		return ""
	}
	return n.text(shown)
}

// Empty reports whether there are no notes, also of agents.
func (n Notes) Empty() bool { return len(n.all)+len(n.Waiting) == 0 }

func (n Notes) text(shown int) string {
	var b strings.Builder
	b.WriteString("## Long-Term Memory\n")
	if shown < len(n.all) {
		fmt.Fprintf(&b, "\n%d of %s, those that were written or recalled last; `memoir search` finds the others.\n", shown,
			memoir.Count(len(n.all), "note"))
	}
	if len(n.Waiting) > 0 {
		fmt.Fprintf(&b, "\nWaiting for the user's confirmation: %s of agents (`memoir notes` lists them, "+
			"`memoir remember '#N'` confirms one).\n", memoir.Count(len(n.Waiting), "note"))
	}
	notes := slices.Clone(n.all[:shown])
	byCategory(notes)
	category := ""
	for _, n := range notes {
		if n.Category != category {
			category = n.Category
			b.WriteString("\n### " + category + "\n\n")
		}
		fmt.Fprintf(&b, "- [#%d] %s\n", n.ID, memory.Neutralise(n.Text))
	}
	return b.String() + "\n"
}
