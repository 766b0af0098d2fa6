package main

import (
	"context"
	"os"

	"github.com/urfave/cli/v2"

	"memoir/isolate"
	"memoir/pipeline"
)

// isolation is how a run starts this program to work on what a process died over: with
// its own flags and environment, so that the work comes out the same.
func (p *program) isolation(c *cli.Context, home string) (isolate.Command, error) {
	self, err := isolate.Self()
	if err != nil { // nothing is lost until there is something to work on in this way
		return isolate.Command{Path: "memoir"}, nil
	}
	args, err := repeatedArgs(c, home, "isolated", "json", "background", "timeout", "wait")
	return isolate.Command{Path: self, Args: append([]string{"memoir"}, args...), Env: p.environ}, err
}

// runIsolated does what a run that started this process says on standard input.
func (p *program) runIsolated(c *cli.Context) error {
	frugal()
	opts, home, err := p.runOptions(c)
	if err != nil {
		return err
	}
	opts.Progress = nil // the run that watches says what there is to say
	return isolate.Serve(c.Context, p.ui.stdin, os.Stdout, func(ctx context.Context, task []byte) (isolate.Work, error) {
		st, err := p.openStore(ctx, home, opts.Settings)
		if err != nil {
			return nil, err
		}
		work, err := pipeline.Isolated(ctx, st, opts, task)
		if err != nil {
			_ = st.Close()
			return nil, err
		}
		return func(ctx context.Context) ([]byte, error) {
			defer st.Close()
			return work(ctx)
		}, nil
	})
}
