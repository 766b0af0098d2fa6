// Command typed measures which sentences that people typed to an agent the built-in model takes as a rule, as what may
// hold from now on, or as neither. It reads labelled sentences, one JSON object a line, with the fields repo, lang,
// part, label ("lasting" or another), acted and text. Each is the last message of a small session.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"memoir"
	"memoir/extract"
)

type sentence struct {
	Repo, Lang, Text, Label, Part string
	First                         bool
}

// A row counts the sentences of a repository or part, and for each signal those that it takes and those of them
// that last.
type row struct {
	all, lasting int
	taken, right map[string]int
}

func main() {
	path := flag.String("sentences", filepath.Join("..", "shared", "typed", "items.jsonl"), "the labelled sentences")
	show := flag.String("show", "", "print the sentences of this part with their signals and labels")
	relearn := flag.Bool("learn", false, "write the weights that extract embeds, from the sentences in testdata")
	flag.Parse()
	if *relearn {
		from := filepath.Join("bench", "typed", "testdata", "learn.tsv")
		if err := learn(from, filepath.Join("extract", "lasting.txt")); err != nil {
			fmt.Fprintln(os.Stderr, "typed:", err)
			os.Exit(1)
		}
		return
	}
	if err := measure(*path, *show); err != nil {
		fmt.Fprintln(os.Stderr, "typed:", err)
		os.Exit(1)
	}
}

func measure(path, show string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	rows := map[string]*row{}
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var s sentence
		if err := json.Unmarshal(in.Bytes(), &s); err != nil {
			return err
		}
		if s.Lang != "en" {
			continue
		}
		signal, err := signalOf(s)
		if err != nil {
			return err
		}
		for _, key := range []string{"all", s.Part, s.Part + " " + s.Repo} {
			if rows[key] == nil {
				rows[key] = &row{taken: map[string]int{}, right: map[string]int{}}
			}
			rows[key].count(s, signal)
		}
		if s.Part == show && (signal != "" || s.Label == "lasting") {
			fmt.Printf("%-6s %-10s %.240q\n", signal, s.Label, s.Text)
		}
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "part, repository\tsentences\tlasting\trule: right of\tmaybe: right of")
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		r := rows[key]
		fmt.Fprintf(out, "%s\t%d\t%d\t%d of %d\t%d of %d\n", key, r.all, r.lasting,
			r.right[memoir.SignalRule], r.taken[memoir.SignalRule], r.right[memoir.SignalMaybe], r.taken[memoir.SignalMaybe])
	}
	return errors.Join(out.Flush(), in.Err())
}

func (r *row) count(s sentence, signal string) {
	r.all++
	lasting := s.Label == "lasting"
	if lasting {
		r.lasting++
	}
	if signal != "" {
		r.taken[signal]++
		if lasting {
			r.right[signal]++
		}
	}
}

// signalOf returns the signal that takes a sentence as a preference; empty if none does.
func signalOf(s sentence) (string, error) {
	items := []memoir.Item{
		{N: 1, Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: s.Text},
	}
	if !s.First {
		items = append([]memoir.Item{
			{N: 1, Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: "look at the parser"},
			{N: 2, Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "Edit",
				Input: `{"file_path":"/srv/app/parser.go","old_string":"a","new_string":"b"}`},
			{N: 3, Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Text: "Done."},
		}, items...)
		items[3].N = 4
	}
	e, err := extract.NewBuiltin().Extract(context.Background(),
		extract.Input{Session: memoir.Session{ID: "typed", Source: memoir.SourceClaude, CWD: "/srv/app"}, Items: items})
	signal := ""
	for _, st := range e.Statements {
		if st.Kind == memoir.StatementPreference && signal != memoir.SignalRule {
			signal = st.Signal
		}
	}
	return signal, err
}
