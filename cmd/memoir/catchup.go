package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/pipeline"
	"memoir/store"
)

// Bounds of what a search does before it answers.
const (
	catchUpWithin = 2 * time.Second
	catchUpLock   = 500 * time.Millisecond // a wait for the database
)

// catchUp reads what agents have written since the last scan. If that scan is old, it starts another one in the
// background, if memories.enabled.
func (p *program) catchUp(c *cli.Context, st *store.Store) error {
	opts, err := p.options(c, nil)
	if err != nil {
		return err
	}
	opts.Progress = nil
	unread, err := st.CountUntaken(c.Context, pipeline.MaxCatchUp)
	if err == nil {
		err = pipeline.CatchUp(c.Context, opts, catchUpWithin, unread > 0, func(ctx context.Context) (*store.Store, error) {
			return store.Open(ctx, filepath.Join(opts.Home, databaseName), store.Options{BusyTimeout: catchUpLock})
		})
	}
	if errors.Is(err, context.DeadlineExceeded) || memoir.CodeOf(err) == memoir.CodeBusy { // the answer counts what is left
		err = nil
	}
	if err == nil && opts.Settings.Memories.Enabled && p.getenv(memoir.ChildVariable) == "" &&
		pipeline.ClaimScan(opts.Home) {
		err = p.background(c, "--take-in")
	}
	return err
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
