// Command stale measures whether memoir notices that a memory is no longer true. Histories of files are
// replayed: at one commit a session reads them and states values, names, targets and paths, which
// memoir anchors; at later commits each anchor is judged by memoir's check, and by git's diff of the
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
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"memoir/memory"
)

func main() {
	repo := flag.String("repo", ".", "the repository whose history is replayed")
	corpus := flag.String("corpus", cmp.Or(os.Getenv("MEMOIR_CORPUS"), filepath.Join("..", "shared", "corpus")),
		"sessions whose edits are replayed, if the directory exists")
	starts := flag.Int("from", 4, "`commits` of the repository at which statements are made")
	misses := flag.Bool("misses", false, "list the anchors that memoir and git judge differently")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *repo, *corpus, *starts, *misses); err != nil {
		fmt.Fprintln(os.Stderr, "stale:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, repo, corpus string, starts int, misses bool) error {
	history := &tally{n: map[verdict]int{}}
	if err := history.replayCommits(ctx, repo, starts); err != nil {
		return err
	}
	history.print(out, "history of "+repo, misses)
	if _, err := os.Stat(corpus); err != nil {
		return nil
	}
	edits := &tally{n: map[verdict]int{}}
	if err := edits.replayEdits(ctx, corpus); err != nil {
		return err
	}
	edits.print(out, "edits of the sessions in "+corpus, misses)
	return nil
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

// score is the precision and recall of a state among anchors of a kind, and how many have it.
func (t *tally) score(kind string, state memory.State) string {
	right, said, was := 0, 0, 0
	for v, n := range t.n {
		if kind != "all" && v.kind != kind {
			continue
		}
		if v.said == state {
			said += n
		}
		if v.truth == state {
			was += n
			if v.said == state {
				right += n
			}
		}
	}
	return fmt.Sprintf("%d\t%s\t%s", was, share(right, said), share(right, was))
}

func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", float64(n)/float64(of))
}

func (t *tally) print(out io.Writer, title string, misses bool) {
	fmt.Fprintf(out, "%s: %d statements, %d anchored\n", title, t.stated, t.anchored)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "anchors\tjudged\tstale\tprecision\trecall\tgone\tprecision\trecall\tmoved\tprecision\trecall")
	for _, kind := range []string{"value", "name", "target", "path", "all"} {
		judged := 0
		for v, n := range t.n {
			if kind == "all" || v.kind == kind {
				judged += n
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\n", kind, judged, t.score(kind, memory.Stale), t.score(kind, memory.Gone),
			t.score(kind, memory.Moved))
	}
	_ = w.Flush() // what could not be written shows at the next line
	fmt.Fprintf(out, "in renamed files: %d, moved %s; edits elsewhere in the file: %d, marked %d\n\n", t.renamed,
		share(t.followed, t.renamed), t.elsewhere, t.marked)
	if misses {
		for _, miss := range t.misses {
			fmt.Fprintln(out, " ", miss)
		}
	}
}
