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
	ok, err := runAll(ctx, *prefix, *only, *keep, *installed)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sessions:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// row is one agent's line of the table.
type row struct {
	agent
	finding
	version          string
	sessions         int
	channel, confirm string // of an agent with memoir installed in it, as the rest
	delivered        int    // characters
	requests         int
	skill            bool   // the model was offered the skill
	kept             string // where its files were kept
}

func runAll(ctx context.Context, prefix, only string, keep, installed bool) (ok bool, err error) {
	program := ""
	if prefix != "" {
		if prefix, err = filepath.Abs(prefix); err != nil {
			return false, err
		}
	}
	if installed {
		dir, err := os.MkdirTemp("", "memoir-agents-")
		if err != nil {
			return false, err
		}
		defer os.RemoveAll(dir)
		if program, err = buildMemoir(ctx, dir); err != nil {
			return false, err
		}
	}
	var rows []row
	ok = true
	for _, a := range agents {
		if only != "" && !slices.Contains(strings.Split(only, ","), string(a.source)) {
			continue
		}
		command, path := find(a, prefix)
		if command == "" {
			fmt.Fprintf(os.Stderr, "sessions: %s is not installed: npm install --prefix %s %s\n", a.source,
				filepath.Join(cmp.Or(prefix, "PREFIX"), string(a.source)), strings.Join(a.packages, " "))
			continue
		}
		kinds := []func(a agent, work string) kind{holding}
		if installed {
			if kinds = []func(agent, string) kind{installing, acting}; a.source == memoir.SourceClaude {
				kinds = append(kinds, aDay, plugging, actingPlugged)
			}
		}
		for _, k := range kinds {
			fmt.Fprintln(os.Stderr, "sessions: running", a.source)
			begin := time.Now()
			r := runOne(ctx, a, k, command, path, program, keep)
			fmt.Fprintf(os.Stderr, "sessions: %s took %s\n", a.source, time.Since(begin).Round(time.Second))
			ok = ok && len(r.differences) == 0
			rows = append(rows, r)
		}
	}
	report(rows, installed)
	return ok, ctx.Err()
}

// report prints the table, that of docs/agents.md if memoir was installed, then what is to be said of each agent.
func report(rows []row, installed bool) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	if installed {
		fmt.Fprintln(w, "agent\tversion\tchannel\tcharacters\trequests\tskill\tresult\tto confirm by hand")
	} else {
		fmt.Fprintln(w, "agent\tversion\tsessions\tresult")
	}
	for _, r := range rows {
		verdict := "ok"
		if n := len(r.differences); n > 0 {
			verdict = fmt.Sprintf("%d differences", n)
		}
		if installed {
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%t\t%s\t%s\n", r.source, r.version, r.channel, r.delivered, r.requests, r.skill,
				verdict, cmp.Or(r.confirm, "nothing"))
		} else {
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", r.source, r.version, r.sessions, verdict)
		}
	}
	w.Flush()
	for _, r := range rows {
		for _, d := range r.differences {
			fmt.Printf("%s differs: %s\n", r.source, d)
		}
		slices.Sort(r.notes)
		for _, n := range r.notes {
			fmt.Printf("%s note: %s\n", r.source, n)
		}
		if r.kept != "" {
			fmt.Printf("%s files: %s\n", r.source, r.kept)
		}
	}
}
