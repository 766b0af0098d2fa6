package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/pipeline"
	"memoir/store"
)

// watchEvery is the default interval, in seconds.
const watchEvery = "2"

// shortestWatch is the shortest time between two looks.
const shortestWatch = 100 * time.Millisecond

// watchStatus prints the status at each interval: on a cleared terminal, or as one JSON
// object a line. The database is opened read-only for each look, so that it may be created,
// migrated, replaced or removed meanwhile.
func (p *program) watchStatus(c *cli.Context, opts pipeline.Options) error {
	every, err := watchInterval(c.String("watch"))
	if err != nil {
		return err
	}
	if c.Bool("usage") {
		return usagef("", "--watch and --usage exclude each other")
	}
	if c.Bool("json") {
		return p.watch(c.Context, every, func() string { return p.statusLine(c.Context, opts) })
	}
	if !p.ui.outTTY || p.getenv("TERM") == "dumb" {
		return usagef("--json prints one object a line; without --watch it is shown once", "--watch needs a terminal")
	}
	return p.watch(c.Context, every, func() string {
		return clearScreen + strings.Join(p.statusFrame(c.Context, opts, p.ui.width()), "\n") + "\n"
	})
}

// clearScreen clears a terminal and puts the cursor at its upper left corner.
const clearScreen = "\x1b[H\x1b[2J"

// watch writes a text at each interval until it is interrupted or nobody reads any more.
func (p *program) watch(ctx context.Context, every time.Duration, text func() string) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if !p.ui.handOn(text()) {
			return nil // close reports why, unless the reader went away
		}
		select {
		case <-ctx.Done():
			return status(exitInterrupted)
		case <-tick.C:
		}
	}
}

// watchInterval reads a number of seconds, or a length of time.
func watchInterval(text string) (time.Duration, error) {
	every, err := config.ParseDuration(text)
	if n, numErr := strconv.ParseFloat(text, 64); numErr == nil && n > 0 && n < 1e6 {
		every, err = time.Duration(n*float64(time.Second)), nil
	}
	if err != nil || every < shortestWatch {
		return 0, usagef("for example 2, 0.5 or 1m", "--watch: %q is not a number of seconds of at least 0.1", text)
	}
	return every, nil
}

// statusLine is one look as a line of JSON.
func (p *program) statusLine(ctx context.Context, opts pipeline.Options) string {
	out, err := p.look(ctx, opts)
	if err != nil {
		out.Error = p.redact(err.Error())
	}
	line, err := json.Marshal(out)
	if err != nil {
		return ""
	}
	return escaped(string(line)) + "\n"
}

// statusFrame is one look as a terminal shows it.
func (p *program) statusFrame(ctx context.Context, opts pipeline.Options, width int) []string {
	now := time.Now().UTC().Format("15:04:05")
	head := fmt.Sprintf("memoir status, %s UTC; Ctrl-C ends", now)
	out, err := p.look(ctx, opts)
	v := view{width: width, color: p.ui.outColor, verbose: p.ui.verbose}
	if err != nil {
		v.line("", p.redact(err.Error()))
		v.hint(memoir.HintOf(err))
	} else {
		v.status(out)
	}
	lines := append([]string{head, ""}, v.lines...)
	if !p.ui.quiet {
		for _, hint := range v.hints {
			for i, part := range wrap("hint: "+oneLine(hint), max(width, 40)) {
				if i == 0 {
					lines = append(lines, "")
				}
				lines = append(lines, part)
			}
		}
	}
	return lines
}

// look opens the database for reading, whatever it is by now, and closes it again.
func (p *program) look(ctx context.Context, opts pipeline.Options) (statusJSON, error) {
	out := emptyStatus(time.Now())
	path := filepath.Join(opts.Home, databaseName)
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return out, memoir.Errorf(memoir.CodeNotFound, "`memoir run` looks for sessions", "nothing is registered in %s yet", opts.Home)
	}
	st, err := store.Open(ctx, path, store.Options{ReadOnly: true, BusyTimeout: busyTimeout(opts.Settings)})
	if err != nil {
		return out, err
	}
	defer st.Close()
	rows, err := st.Projects(ctx)
	if err != nil {
		return out, err
	}
	for i := range rows {
		rows[i].Project = p.cleanProject(rows[i].Project)
	}
	return p.statusOf(ctx, st, rows, opts.Home, opts)
}

// handOn writes to standard output at once, and reports whether that still works.
func (u *ui) handOn(text string) bool {
	u.put(text)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.flush()
	return u.outBroken == nil
}
