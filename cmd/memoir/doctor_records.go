package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"memoir/store"
)

// maxTypesShown bounds how many unknown types doctor names for one agent.
const maxTypesShown = 8

// recordsJSON is what the sessions of one agent have of one kind of record that
// its reader skipped.
type recordsJSON struct {
	Source   string     `json:"source"`
	Why      string     `json:"why"`  // unknown, malformed, oversized or cut
	Type     string     `json:"type"` // of unknown ones
	N        int        `json:"n"`
	Sessions int        `json:"sessions"`
	Newest   string     `json:"newest"` // key of the session that was active last
	At       *time.Time `json:"at"`     // of its last record
}

// unread says what the readers did not understand of the sessions that were
// extracted. Types that nobody knows tell that an agent's format has moved on:
// worth knowing, and no fault of the installation.
func (d *doctor) unread(ctx context.Context, st *store.Store) {
	rows, err := st.SkippedRecords(ctx)
	if err != nil {
		d.check("records", "", err)
		return
	}
	for i := range rows {
		rows[i].Type, rows[i].Newest = d.redact(rows[i].Type), d.redact(rows[i].Newest)
		r := rows[i]
		d.records = append(d.records, recordsJSON{string(r.Source), r.Why, r.Type, r.N, r.Sessions, r.Newest, moments(r.At)})
	}
	for len(rows) > 0 {
		end := slices.IndexFunc(rows, func(r store.SkippedRow) bool { return r.Source != rows[0].Source })
		if end < 0 {
			end = len(rows)
		}
		d.unreadOf(rows[:end])
		rows = rows[end:]
	}
}

// unreadOf adds one agent's check.
func (d *doctor) unreadOf(rows []store.SkippedRow) {
	var parts, types []string
	more, newest := 0, rows[0]
	for _, r := range rows {
		in := "in " + count(r.Sessions, "session")
		switch {
		case r.Why != store.SkippedUnknown:
			parts = append(parts, fmt.Sprintf("%s %s", count(r.N, r.Why+" record"), in))
			continue
		case len(types) == maxTypesShown:
			more++
		default:
			types = append(types, fmt.Sprintf("%s ×%d %s", r.Type, r.N, in))
		}
		if newest.Why != store.SkippedUnknown || r.At.After(newest.At) {
			newest = r
		}
	}
	status, hint, name := checkOK, "", "records of "+string(rows[0].Source)
	if len(types) > 0 {
		if more > 0 {
			types = append(types, "and "+count(more, "more type"))
		}
		unknown := "unknown record types: " + strings.Join(types, ", ") + fmt.Sprintf(" (newest: %s, %s)", newest.Newest, when(newest.At))
		parts = append([]string{unknown}, parts...)
		status, hint = checkWarn, "the agent's format has moved on: look for a newer memoir; all other records were read"
	}
	d.add(status, name, hint, strings.Join(parts, "; "))
}
