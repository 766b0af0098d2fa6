// Command stale measures whether memoir notices that a memory is no longer true. Histories of files are
// replayed: at one commit a session reads them and states values, names and paths, which memoir
// anchors; at later commits each anchor is judged by memoir's check, and by git's diff of the
// two commits, which decides. The histories are those of a repository, and of the edits of real sessions.
//
// Read main.go first (what is printed), then replay.go (statements and the check), truth.go (git's
// verdict) and edits.go (histories of edits).
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"memoir/memory"
)

func main() {
	repo := flag.String("repo", ".", "the repository whose history is replayed")
	corpus := flag.String("corpus", cmp.Or(os.Getenv("MEMOIR_CORPUS"), filepath.Join("..", "shared", "corpus")),
		"sessions whose edits are replayed, if the directory exists")
	misses := flag.Bool("misses", false, "list the anchors that memoir and git judge differently")
	flag.Parse()
	ctx := context.Background()
	history, edits := tally{n: map[verdict]int{}}, tally{n: map[verdict]int{}}
	err := history.replayCommits(ctx, *repo)
	if err == nil {
		history.print("history of "+*repo, *misses)
		err = edits.replayEdits(ctx, *corpus)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "stale:", err)
		os.Exit(1)
	}
	edits.print("edits of the sessions in "+*corpus, *misses)
}

// A verdict is what was said of an anchor of some kind, and what is true.
type verdict struct {
	kind        string
	truth, said memory.State
}

// A tally counts verdicts.
type tally struct {
	n                 map[verdict]int
	stated, anchored  int // statements, and those that have an anchor
	elsewhere, marked int // anchors on untouched lines of files, and how many of them are marked stale or gone
	renamed, followed int // anchors in files that git says were renamed, and how many of them are moved
	misses            []string
}

// print writes how many anchors of a kind were judged, how many of them have a state, and with what precision and
// recall memoir says so.
func (t *tally) print(title string, misses bool) {
	fmt.Printf("%s: %d statements, %d anchored\n", title, t.stated, t.anchored)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "anchors\tjudged\tstate\t\tprecision\trecall")
	for _, kind := range []string{"value", "name", "path", "all"} {
		for _, state := range []memory.State{memory.Stale, memory.Gone, memory.Moved} {
			judged, right, said, was := 0, 0, 0, 0
			for v, n := range t.n {
				if kind != "all" && v.kind != kind {
					continue
				}
				judged += n
				if v.said == state {
					said += n
				}
				if v.truth == state {
					was += n
				}
				if v.said == state && v.truth == state {
					right += n
				}
			}
			if said > 0 && was > 0 {
				fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%.3f\t%.3f\n", kind, judged, state, was, float64(right)/float64(said),
					float64(right)/float64(was))
			}
		}
	}
	_ = w.Flush() // what could not be written shows at the next line
	fmt.Printf("in renamed files: %d, moved %d; edits elsewhere in the file: %d, marked %d\n\n", t.renamed, t.followed,
		t.elsewhere, t.marked)
	for _, miss := range t.misses {
		if misses {
			fmt.Println(" ", miss)
		}
	}
}
