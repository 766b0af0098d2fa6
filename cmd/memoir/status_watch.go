package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/pipeline"
	"memoir/store"
)

// watchEvery is how often status is shown where nothing else is said, in seconds.
const watchEvery = "2"

// shortestWatch is the shortest time between two looks.
const shortestWatch = 100 * time.Millisecond

// watchStatus shows the status again and again: in place on a terminal, else as one
// JSON object a line. The database is opened for each look, for reading alone, so
// that it may be made, migrated, replaced or removed meanwhile.
func (p *program) watchStatus(c *cli.Context, opts pipeline.Options) error {
	every, err := watchInterval(c.String("watch"))
	if err != nil {
		return err
	}
	if c.Bool("usage") {
		return usagef("", "--watch and --usage exclude each other")
	}
	if c.Bool("json") {
		return p.watchLines(c.Context, opts, every)
	}
	if !p.ui.outTTY || p.getenv("TERM") == "dumb" {
		return usagef("--json prints one object a line; without --watch it is shown once", "--watch needs a terminal")
	}
	s := p.ui.openScreen()
	defer s.close()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		s.draw(p.statusFrame(c.Context, opts, s.width()))
		select {
		case <-c.Context.Done():
			return status(exitInterrupted)
		case key := <-s.keys:
			switch key {
			case 'q', 'Q':
				return nil
			case ctrlC:
				return status(exitInterrupted)
			case ctrlZ:
				s.suspend()
			}
		case <-s.resumed:
			s.resume()
		case <-s.resized:
		case <-tick.C:
		}
		if s.broken() {
			return nil
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
		return 0, usagef("for example 2, 0.5 or 1m", "--watch: %q is no number of seconds, or too small", text)
	}
	return every, nil
}

// watchLines writes one object a line until it is interrupted or nobody reads on.
func (p *program) watchLines(ctx context.Context, opts pipeline.Options, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		out, err := p.look(ctx, opts)
		if err != nil {
			out.Error = p.redact(err.Error())
		}
		line, err := json.Marshal(out)
		if err != nil {
			return err
		}
		if !p.ui.handOn(escaped(string(line)) + "\n") {
			return nil // close says why, if that is not the reader's doing
		}
		select {
		case <-ctx.Done():
			return status(exitInterrupted)
		case <-tick.C:
		}
	}
}

// statusFrame is one look as a terminal shows it.
func (p *program) statusFrame(ctx context.Context, opts pipeline.Options, width int) []string {
	now := time.Now().UTC().Format("15:04:05")
	head := fmt.Sprintf("memoir status, %s UTC; q ends", now)
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
