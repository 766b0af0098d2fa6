// Package store is memoir's SQLite database: the registry of sessions and files,
// the job queue of both phases, the extractions, what people changed, what was
// spent. It knows neither the agents' formats nor models, and never touches a
// session file or a memory file.
//
// Read queue.go first (the life of a job), then reason.go (what becomes of a session),
// claim.go and consolidation.go (what claims a job and ends it), publish.go, and open.go
// and tx.go for how the database is opened and written. The schema is in migration/.
//
// # Jobs
//
// A job is a row per session ("extract") or project ("consolidate"). Package lease
// explains owner tokens, fences and heartbeats.
//
//	            claim                     result stored, or unchanged
//	(no row) ───────────► running ─────────────────────────────────► done
//	 pending ───────────►  │ │ │                                       │
//	  ▲  ▲                 │ │ │ FailClaim                             │
//	  │  │ GiveBack        │ │ ├──────────► error ── next attempt ──► running
//	  │  └─────────────────┘ │ │              │ after the delay
//	  │  holder dead, lease  │ │ MaxAttempts, or not transient
//	  │  expired: crashes+1  │ └──────────► dead
//	  └──────────────────────┴── crashes = 3 ──►▲
//
// done, error and dead become claimable again when the session's version or the
// project's change sequence differs from the one that was tried; dead and error
// also through Retry. All methods may be called by any number of processes and
// goroutines at once.
package store
