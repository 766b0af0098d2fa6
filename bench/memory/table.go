package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"memoir/bench/memory/score"
)

// printReport prints a score for a person.
func printReport(out io.Writer, r *score.Report) {
	table(out,
		"project\tsessions\traw\tfiles\tcarried\ttraps raw\ttraps files\tcontradictions\tsecrets\ttokens "+
			"avg\tlargest\tMEMORY.md\tskills", func(row func(string, ...any)) {
			line := func(name string, c score.Counts) {
				row("%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%d/%d\t%.0f\t%d\t%d\t%d", name, c.Sessions, recall(c.Raw),
					recall(c.Files), recall(c.Carried),
					fallen(c.TrapsRaw), fallen(c.TrapsFiles), fallen(c.Contradictions), c.Secrets.Into, c.Secrets.Of,
					c.Size.Average(), c.Size.Largest, c.MemoryBytes, c.Skills)
			}
			for _, p := range r.Projects {
				line(p.Name, p.Counts)
			}
			line("all", r.Total)
		})
	fmt.Fprintln(out,
		"raw, files, carried: share of the weight of the facts that is stated (facts stated/facts); raw: a session's "+
			"facts in its raw memory,")
	fmt.Fprintln(out,
		"files: a project's in MEMORY.md, memory_summary.md and skills, carried: the sessions' there.")
	if r.Millis > 0 {
		fmt.Fprintf(out, "%d ms, %.1f ms a session\n", r.Millis, r.PerSession())
	}
	for _, m := range r.Misses {
		fmt.Fprintf(out, "\n%s\n", m)
	}
}

// table prints rows in columns, a blank line after them.
func table(out io.Writer, heading string, rows func(row func(format string, args ...any))) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, heading)
	rows(func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) })
	w.Flush()
	fmt.Fprintln(out)
}

func recall(r score.Recall) string {
	if r.Facts == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f (%d/%d)", r.Weighted(), r.Found, r.Facts)
}

func fallen(f score.Fallen) string {
	if f.Of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f (%d/%d)", f.Share(), f.Into, f.Of)
}
