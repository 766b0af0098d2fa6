// Command memory is the benchmark of what memoir remembers: sessions written for it,
// in the formats of the coding agents, with the facts that a later session needs and
// the traps that it must not be led into. It needs no network and no model.
//
// Read main.go first (the modes), then memoir.go (a run and where its results are), score.go
// (what is counted), corpus.go and real.go (marked sessions of people).
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
	"strings"
	"text/tabwriter"

	"memoir"
	"memoir/bench/memory/scenario"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err == nil || err == flag.ErrHelp {
		return
	}
	fmt.Fprintln(os.Stderr, "memory:", err)
	if memoir.CodeOf(err) == memoir.CodeInvalid {
		os.Exit(2)
	}
	os.Exit(1)
}

type options struct {
	data   string // directory of sessions/ and corpus/
	memoir string // the program, "" to build it
	corpus string // real sessions
	real   bool
	home   string // a home with memories of real sessions
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
	flags.BoolVar(&o.real, "real", false, "score memories of the real sessions, and what survives fitting")
	flags.StringVar(&o.home, "home", "", "with -real: score the memories of this home, of the sessions that it has")
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
		return runReal(ctx, o, stdout, stderr)
	}
	projects, err := scenario.ReadAll(filepath.Join(o.data, "sessions"))
	if err != nil {
		return err
	}
	if len(projects) == 0 {
		_, err = fmt.Fprintf(stdout, "no sessions below %s\n", o.data)
		return err
	}
	report, err := scoreMemoir(ctx, o, projects, stderr)
	if err != nil {
		return err
	}
	return give(o, stdout, report, &report.Misses)
}

// give prints a report with its misses, if they are asked for.
func give(o options, out io.Writer, report interface{ print(io.Writer) }, misses *[]Miss) error {
	if !o.misses {
		*misses = nil
	}
	if o.json {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	report.print(out)
	for _, m := range *misses {
		fmt.Fprintf(out, "\n%s\n", m)
	}
	return nil
}

// table prints lines in columns.
func table(out io.Writer, lines []string) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(lines, "\n"))
	w.Flush()
}
