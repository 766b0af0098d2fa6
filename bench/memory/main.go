// Command memory is the benchmark of what memoir remembers: sessions written for it,
// in the formats of the coding agents, with the facts that a later session needs and
// the traps that it must not be led into. It needs no network and no model.
//
// Read main.go first (the modes and what is printed), then memoir.go (a run and where its
// results are), corpus.go (sessions on the disk), real.go (marked sessions of people).
// README.md has the form of the data.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"text/tabwriter"

	"memoir"
	"memoir/bench/memory/scenario"
	"memoir/bench/memory/score"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil, err == flag.ErrHelp:
	case memoir.CodeOf(err) == memoir.CodeInvalid:
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

type options struct {
	data   string // directory of sessions/ and corpus/
	memoir string // the program, "" to build it
	corpus string // real sessions
	real   bool
	json   bool
	misses bool
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	flags := flag.NewFlagSet("memory", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.data, "data", filepath.Join("bench", "memory"), "directory of sessions/ and corpus/")
	flags.StringVar(&o.memoir, "memoir", "", "the memoir to measure (default: built from ./cmd/memoir)")
	flags.StringVar(&o.corpus, "corpus", cmp.Or(os.Getenv("MEMOIR_CORPUS"), filepath.Join("..", "shared", "corpus")),
		"the real sessions that corpus/ marks")
	flags.BoolVar(&o.real, "real", false, "score raw memories of the real sessions, and what survives fitting")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	flags.BoolVar(&o.misses, "misses", false, "list each fact that was missed and each trap that was fallen into")
	if err := flags.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return err
		}
		return memoir.Errorf(memoir.CodeInvalid, "", "%w", err)
	}
	if flags.NArg() > 0 {
		return memoir.Errorf(memoir.CodeInvalid, "", "there are no arguments, %q is one", flags.Arg(0))
	}
	if o.real {
		return runReal(ctx, o, stdout)
	}
	projects, err := scenario.ReadAll(filepath.Join(o.data, "sessions"))
	if err != nil {
		return err
	}
	if len(projects) == 0 {
		fmt.Fprintf(stdout, "no sessions below %s\n", o.data)
		return nil
	}
	report, err := scoreMemoir(ctx, o, projects, stderr)
	if err != nil {
		return err
	}
	if !o.misses {
		report.Misses = nil
	}
	return give(o, stdout, report, err)
}

// give prints a report, or says that there are no real sessions.
func give(o options, out io.Writer, report any, err error) error {
	switch {
	case memoir.CodeOf(err) == memoir.CodeNotFound:
		_, err = fmt.Fprintln(out, err)
		return err
	case err != nil:
		return err
	case o.json:
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	switch r := report.(type) {
	case *score.Report:
		printReport(out, r)
	case *realReport:
		r.print(out)
	}
	return nil
}

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
