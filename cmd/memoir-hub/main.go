// Command memoir-hub is a team's hub: it migrates the database, serves machines over HTTP, and does what operators do.
//
// This package parses flags, prints text or JSON, and sets exit codes; package hub does the work. Read main.go first
// (output and exit codes), then command.go (the commands).
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"memoir"
	"memoir/hub"
	"memoir/internal/commandline"
)

// Version is set by the build, as that of memoir is.
var Version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	app := newApp()
	line, _ := commandline.Arrange(app, os.Args[1:], func(string) bool { return false })
	err := app.RunContext(ctx, append([]string{app.Name}, line...))
	code := exitCode(ctx, err)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "memoir-hub: error: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		if hint := memoir.HintOf(err); hint != "" {
			fmt.Fprintf(os.Stderr, "memoir-hub: hint: %s\n", hint)
		}
	}
	os.Exit(code)
}

// exitCode returns 0 for done, 1 for failed, 2 for bad usage or configuration, 130 if a signal stopped a command.
func exitCode(ctx context.Context, err error) int {
	switch code := memoir.CodeOf(err); {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		return 130
	case code == memoir.CodeUsage, code == memoir.CodeConfig:
		return 2
	}
	return 1
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); Version == "" && ok {
		return info.Main.Version
	}
	return Version
}

// arguments returns the arguments of a command, of which there must be one for each word of its usage.
func arguments(c *cli.Context) ([]string, error) {
	args, wanted := c.Args().Slice(), strings.Fields(c.Command.ArgsUsage)
	if len(args) != len(wanted) || slices.Contains(args, "") {
		return nil, memoir.Errorf(memoir.CodeUsage, "`memoir-hub help "+strings.TrimPrefix(c.Command.HelpName, "memoir-hub ")+
			"` shows the usage", "expected: %s %s", c.Command.HelpName, c.Command.ArgsUsage)
	}
	return args, nil
}

// confirm asks on a terminal before something is destroyed; without one, and with --yes, it does not.
func (r run) confirm(do string) error {
	if r.Bool("yes") {
		return nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return memoir.Errorf(memoir.CodeUsage, "pass --yes",
			"cannot ask, since standard input is not a terminal: %s would %s", r.Command.HelpName, do)
	}
	fmt.Fprintf(os.Stderr, "memoir-hub: %s? [y/N] ", do)
	var answer string
	if _, _ = fmt.Scanln(&answer); !strings.HasPrefix(strings.ToLower(answer), "y") {
		return memoir.Errorf(memoir.CodeUsage, "", "nothing was done")
	}
	return nil
}

// print prints a table, or a JSON array with an object for each row.
func (r run) print(t hub.Table, err error) error {
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(r.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ToUpper(strings.Join(t.Columns, "\t")))
	for _, row := range t.Rows {
		fmt.Fprintln(w, strings.Join(memoir.Map(row, cell), "\t"))
	}
	if !r.Bool("json") {
		return w.Flush()
	}
	e := json.NewEncoder(r.App.Writer)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(t.Objects())
}

func cell(v any) string {
	switch v := v.(type) {
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04")
	case nil:
		return "-"
	case []any:
		return strings.ReplaceAll(strings.Trim(fmt.Sprintf("%q", v), `[]"`), `" "`, ", ")
	}
	return fmt.Sprint(v)
}
