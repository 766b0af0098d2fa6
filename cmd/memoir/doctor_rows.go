package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"memoir/store"
)

// What a clock may be wrong by, and the longest that a server asks to wait, before a
// row counts as one from the future.
const (
	skewAllowed = 24 * time.Hour
	longestWait = 31 * 24 * time.Hour
)

// rows looks for what the database has that belongs to nothing, waits for something
// that is dead, or cannot be true.
func (d *doctor) rows(ctx context.Context, home string, st *store.Store) {
	before := len(d.checks)
	for _, look := range []func(context.Context, *store.Store) error{d.orphans, d.holders, d.clock} {
		if err := look(ctx, st); err != nil {
			d.check("rows", "", err)
		}
	}
	unfinished := emptyStatus(time.Now())
	if err := d.addUnfinished(ctx, &unfinished, st, home); err != nil {
		d.check("rows", "", err)
	}
	for _, u := range unfinished.Unfinished {
		d.add(checkWarn, "unfinished", u.Hint, strings.TrimSpace(u.What+" "+u.Project)+": "+d.redact(u.Detail))
	}
	n, err := st.UnendedCalls(ctx)
	if err != nil {
		d.check("rows", "", err)
	}
	switch {
	case len(d.checks) > before:
	case n > 0:
		d.add(checkOK, "rows", "", count(n, "call")+" of processes that died "+counts(n)+" by an estimate: `memoir status --usage`")
	default:
		d.add(checkOK, "rows", "", "nothing is left over, unfinished or from the future")
	}
}

func counts(n int) string {
	if n == 1 {
		return "counts"
	}
	return "count"
}

func (d *doctor) orphans(ctx context.Context, st *store.Store) error {
	o, err := st.Orphans(ctx)
	if err != nil {
		return err
	}
	lost, err := st.LostExtractions(ctx)
	if err != nil {
		return err
	}
	if n := len(lost); n > 0 {
		keys := make([]string, n)
		for i := range lost {
			keys[i] = lost[i].Key
		}
		d.add(checkWarn, "rows", "`memoir run` takes it over from the memory, or extracts it anew",
			"what was extracted from "+count(n, "session")+" is gone from the database, though nobody took that out: "+shortened(keys))
	}
	garbled, err := st.GarbledExtractions(ctx)
	if err != nil {
		return err
	}
	if n := len(garbled); n > 0 {
		keys := make([]string, n)
		for i := range garbled {
			keys[i] = garbled[i].SessionKey
		}
		d.add(checkFail, "rows", "`memoir doctor --repair` takes it from the memory, or has the session read again",
			"what was extracted from "+count(n, "session")+" is not what was stored: the disk, or another program, changed it: "+shortened(keys))
	}
	if n := o.Jobs + o.Redactions; n > 0 {
		d.add(checkWarn, "rows", "the next run removes them", fmt.Sprintf("%s belong to nothing: %s, %s of redactions", count(n, "row"), count(o.Jobs, "job"), count(o.Redactions, "count")))
	}
	if n := len(o.Forgotten); n > 0 {
		hint := "`memoir forget " + shellWords(o.Forgotten[:min(n, 3)]) + "`"
		if n > 3 {
			hint += ", and the others"
		}
		d.add(checkWarn, "rows", hint+" deletes it", "what was extracted from "+count(n, "session")+" is stored, though forgotten: "+shortened(o.Forgotten))
	}
	return nil
}

// holders says what nobody works on any more.
func (d *doctor) holders(ctx context.Context, st *store.Store) error {
	now, err := st.Status(ctx)
	if err != nil {
		return err
	}
	var stale []string
	for _, j := range now.Running {
		if j.Stale {
			stale = append(stale, j.Key+" ("+j.Holder.Describe()+")")
		}
	}
	if len(stale) > 0 {
		d.add(checkWarn, "jobs", "the next run takes them over", fmt.Sprintf("%s held by a process that is dead, or does not extend its lease: %s", countAre(len(stale), "job"), shortened(stale)))
	}
	return nil
}

// clock looks for rows from the future.
func (d *doctor) clock(ctx context.Context, st *store.Store) error {
	o, err := st.Oddities(ctx, skewAllowed, longestWait)
	if err != nil {
		return err
	}
	now := "it is " + when(time.Now()) + " here"
	if o.Sessions > 0 {
		d.add(checkWarn, "clock", "set this machine's clock, or give the right moment with `memoir run --now`; such sessions count as too recent",
			fmt.Sprintf("%s ended after now, the last on %s; %s", count(o.Sessions, "session"), when(o.Newest), now))
	}
	if o.Waits > 0 {
		d.add(checkWarn, "clock", "`memoir retry --all` does not wait", fmt.Sprintf("%s for more than a month to be tried again; %s", countWait(o.Waits), now))
	}
	if o.Ledger > 0 {
		d.add(checkWarn, "clock", "set this machine's clock; limits of a day count them until then", fmt.Sprintf("%s in the ledger from after now; %s", countAre(o.Ledger, "call"), now))
	}
	return nil
}

func countWait(n int) string {
	if n == 1 {
		return "1 job waits"
	}
	return fmt.Sprintf("%d jobs wait", n)
}
