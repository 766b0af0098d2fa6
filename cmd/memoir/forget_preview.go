package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"memoir/pipeline"
	"memoir/store"
)

// previewForgetting says what forgetting would take out of each memory, and what only
// --purge would.
func (p *program) previewForgetting(c *cli.Context, st *store.Store, opts pipeline.Options, out forgetJSON, f pipeline.Forgetting) error {
	would, err := pipeline.PreviewForgetting(c.Context, st, opts, f)
	if err != nil {
		return err
	}
	for i := range would {
		w := &would[i]
		w.Name = p.redact(w.Name)
		for j := range w.Lines {
			w.Lines[j].Path, w.Lines[j].Text = p.redact(w.Lines[j].Path), p.redact(w.Lines[j].Text)
		}
		for j := range w.Files {
			w.Files[j] = p.redact(w.Files[j])
		}
	}
	out.Would = would
	if !c.Bool("json") {
		for _, w := range would {
			p.sayWouldForget(w, c.Bool("purge"))
		}
	}
	p.ui.say("would forget %s", whatIsForgotten(out))
	return p.forgetResult(c, out)
}

func (p *program) sayWouldForget(w pipeline.WouldForget, purge bool) {
	text := "no line of its live memory rests on that alone"
	switch n := len(w.Lines); {
	case n == 1:
		text = "1 line of its live memory rests on that alone"
	case n > 1:
		text = fmt.Sprintf("%d lines of its live memory rest on that alone", n)
	}
	if w.Shared > 0 {
		text += fmt.Sprintf(", %d on other sessions, too", w.Shared)
	}
	if n := len(w.Files); n > 0 {
		text += fmt.Sprintf("; so does the summary of %s", count(n, "session"))
	}
	p.ui.say("%s: %s", w.Name, text)
	if p.ui.verbose {
		for _, line := range w.Lines {
			p.ui.printf("%s %s:%d: %s\n", w.Project, line.Path, line.Line, oneLine(line.Text))
		}
	} else if len(w.Lines) > 0 {
		p.ui.sayHint("-v lists the lines")
	}
	switch n := len(w.Archives); {
	case n == 0:
	case purge:
		p.ui.say("%s: --purge would remove %s: %s", w.Name, count(n, "archived generation"), shortened(w.Archives))
	default:
		p.ui.say("%s: %s would keep it without --purge: %s", w.Name, count(n, "archived generation"), shortened(w.Archives))
	}
}
