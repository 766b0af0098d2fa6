// Command sessions runs real coding agents, without a person and against a mock
// model on loopback, lets them hold scripted conversations in an empty home, and
// compares what the readers make of the sessions they leave with what was said
// and done. `make sessions` runs it; CI does not, for the agents are not ours.
//
// Read script.go first (what is said), then agents.go (how each agent is told
// to), compare.go (what must come out) and place.go (where it happens).
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"memoir"
)

func main() {
	prefix := flag.String("prefix", "", "directory below which agents are installed")
	only := flag.String("only", "", "comma-separated names of the agents to run; empty: all")
	keep := flag.Bool("keep", false, "keep the agents' homes")
	installed := flag.Bool("installed", false, "run the agents with memoir installed in them, and look at what reaches the model")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run := runAll
	if *installed {
		run = runAllInstalled
	}
	ok, err := run(ctx, *prefix, *only, *keep)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sessions:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// chosenAgents are those of a list of names, or all, and prefix in full.
func chosenAgents(prefix, only string) ([]agent, string, error) {
	chosen := agents
	if only != "" {
		names := strings.Split(only, ",")
		chosen = slices.DeleteFunc(slices.Clone(agents), func(a agent) bool {
			return !slices.Contains(names, string(a.source))
		})
	}
	if prefix == "" {
		return chosen, "", nil
	}
	prefix, err := filepath.Abs(prefix)
	return chosen, prefix, err
}

// runAllInstalled runs each agent with memoir installed in it.
func runAllInstalled(ctx context.Context, prefix, only string, keep bool) (ok bool, err error) {
	chosen, prefix, err := chosenAgents(prefix, only)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "memoir-agents-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	program, err := buildMemoir(ctx, dir)
	if err != nil {
		return false, err
	}
	var rows []installation
	ok = true
	for _, a := range chosen {
		command, path := find(a, prefix)
		if command == "" {
			fmt.Fprintln(os.Stderr, "agents: not installed:", a.source)
			continue
		}
		fmt.Fprintln(os.Stderr, "agents: running", a.source)
		rows = append(rows, runInstalled(ctx, a, command, path, program, keep))
		if a.source == memoir.SourceClaude {
			rows = append(rows, runDay(ctx, a, command, path, program))
		}
	}
	reportInstalled(rows)
	for _, r := range rows {
		ok = ok && len(r.differences) == 0
	}
	return ok, ctx.Err()
}

// reportInstalled prints the table of docs/agents.md, then what is to be said of each agent.
func reportInstalled(rows []installation) {
	fmt.Println("| agent | version | channel | characters | requests | skill | result | to confirm by hand |\n" +
		"|---|---|---|---|---|---|---|---|")
	for _, r := range rows {
		verdict := "ok"
		if n := len(r.differences); n > 0 {
			verdict = fmt.Sprintf("%d differences", n)
		}
		fmt.Printf("| %s | %s | %s | %d | %d | %t | %s | %s |\n", r.source, r.version, r.channel, r.delivered, r.requests,
			r.skill, verdict, cmp.Or(r.confirm, "nothing"))
	}
	for _, r := range rows {
		for _, d := range r.differences {
			fmt.Printf("%s differs: %s\n", r.source, d)
		}
		for _, n := range r.notes {
			fmt.Printf("%s note: %s\n", r.source, n)
		}
		if r.home != "" {
			fmt.Printf("%s files: %s\n", r.source, r.home)
		}
	}
}

// row is one agent's line of the table.
type row struct {
	agent
	version  string
	sessions string
	verdict  string
	finding
	home string // where its files were kept
}

func runAll(ctx context.Context, prefix, only string, keep bool) (ok bool, err error) {
	chosen, prefix, err := chosenAgents(prefix, only)
	if err != nil {
		return false, err
	}
	rows := make([]row, 0, len(chosen))
	ok = true
	for _, a := range chosen {
		command, path := find(a, prefix)
		if command == "" {
			rows = append(rows, row{agent: a, version: "-", sessions: "-", verdict: "not installed: npm install --prefix " +
				filepath.Join(cmp.Or(prefix, "PREFIX"), string(a.source)) + " " + strings.Join(a.packages, " ")})
			continue
		}
		fmt.Fprintln(os.Stderr, "sessions: running", a.source)
		begin := time.Now()
		r := runOne(ctx, a, command, path, keep)
		fmt.Fprintf(os.Stderr, "sessions: %s took %s\n", a.source, time.Since(begin).Round(time.Second))
		ok = ok && len(r.differences) == 0
		rows = append(rows, r)
	}
	report(rows)
	return ok, ctx.Err()
}

// report prints the table, then what is to be said of each agent.
func report(rows []row) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "agent\tversion\tsessions\tresult")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.source, r.version, r.sessions, r.verdict)
	}
	w.Flush()
	for _, r := range rows {
		if len(r.differences)+len(r.notes) == 0 && r.home == "" {
			continue
		}
		fmt.Printf("\n%s\n", r.source)
		for _, d := range r.differences {
			fmt.Println("  differs:", d)
		}
		slices.Sort(r.notes)
		for _, n := range r.notes {
			fmt.Println("  note:", n)
		}
		if r.home != "" {
			fmt.Println("  files:", r.home)
		}
	}
}
