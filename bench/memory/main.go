// Command memory is the benchmark of what memoir remembers: sessions written for it,
// in the formats of the coding agents, with the facts that a later session needs and
// the traps that it must not be led into. It needs no network and no model.
//
// Read main.go first (the modes), then memoir.go (a run and where its results are),
// corpus.go (sessions on the disk), fit.go and real.go (marked sessions of people) and table.go (what
// is printed). README.md has the form of the data.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

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
		return
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
	only   string
	fit    bool
	real   bool
	json   bool
	misses bool
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	flags := flag.NewFlagSet("memory", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.data, "data", "", "directory of sessions/ and corpus/ (default: bench/memory of this module)")
	flags.StringVar(&o.memoir, "memoir", "", "the memoir to measure (default: built from ./cmd/memoir)")
	flags.StringVar(&o.only, "project", "", "only this project of sessions/")
	flags.StringVar(&o.corpus, "corpus", "",
		"the real sessions that corpus/ marks (default: shared/corpus beside this module)")
	flags.BoolVar(&o.real, "real", false, "score raw memories of the real sessions")
	flags.BoolVar(&o.fit, "fit", false, "measure what of the real sessions survives being fitted to a budget")
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
	if err := o.places(); err != nil {
		return err
	}
	switch {
	case o.fit:
		return runFit(ctx, o, stdout)
	case o.real:
		return runReal(ctx, o, stdout)
	}
	projects, err := o.projects()
	if err != nil {
		return err
	}
	if len(projects) == 0 {
		fmt.Fprintf(stdout, "no sessions below %s\n", o.sessions())
		return nil
	}
	report, err := scoreMemoir(ctx, o, projects, stderr)
	if err != nil {
		return err
	}
	return show(stdout, o, report)
}

// projects reads those that are to be measured.
func (o options) projects() ([]scenario.Project, error) {
	all, err := scenario.ReadAll(o.sessions())
	if err != nil || o.only == "" {
		return all, err
	}
	for _, p := range all {
		if p.Name == o.only {
			return []scenario.Project{p}, nil
		}
	}
	return nil, memoir.Errorf(memoir.CodeInvalid, "", "no project is called %q", o.only)
}

func show(out io.Writer, o options, report *score.Report) error {
	if !o.misses {
		report.Misses = nil
	}
	if o.json {
		return printJSON(out, report)
	}
	printReport(out, report)
	return nil
}

func printJSON(out io.Writer, v any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// A printed report is one that people can read.
type printed interface{ print(out io.Writer) }

// give prints a report of the real sessions, or says that there are none.
func give(o options, out io.Writer, r printed, err error) error {
	switch {
	case memoir.CodeOf(err) == memoir.CodeNotFound:
		_, err = fmt.Fprintln(out, err)
		return err
	case err != nil:
		return err
	case o.json:
		return printJSON(out, r)
	}
	r.print(out)
	return nil
}
