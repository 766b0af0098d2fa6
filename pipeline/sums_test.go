package pipeline_test

import (
	"context"
	"database/sql"
	"net/http"
	"path/filepath"
	"testing"

	"memoir/model/modeltest"
)

// loose lists the calls of a home's ledger that name no work, or have no end.
func loose(t *testing.T, home string) (out []string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(home, "memoir.db")+"?mode=ro")
	must(t, err)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT phase || ' ' || call || ' ' || outcome FROM ledger WHERE work = '' OR call IN ('', 'begun') OR outcome = 'unfinished'`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var row string
		must(t, rows.Scan(&row))
		out = append(out, row)
	}
	must(t, rows.Err())
	return out
}

func TestWhateverARunComesToItsLedgerAddsUpToWhatItReports(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		role  string
		limit int64
		reply func(n int, interrupt func()) modeltest.Step // an empty one: a good answer
		want  string                                       // an outcome, as ledger has them
	}{
		"postponed": {"phase1", 0, func(n int, _ func()) modeltest.Step {
			if n > 0 {
				return modeltest.Step{Status: http.StatusServiceUnavailable, Message: "down"}
			}
			return modeltest.Step{}
		}, "extract failed"},
		"partly published": {"phase2", 0, func(n int, _ func()) modeltest.Step {
			if n > 0 {
				return modeltest.Step{Status: http.StatusServiceUnavailable, Message: "down"}
			}
			return modeltest.Step{}
		}, "consolidate failed"},
		"stopped by a limit": {"phase2", 25000, func(int, func()) modeltest.Step { return modeltest.Step{} }, "consolidate limit"},
		"interrupted": {"phase2", 0, func(n int, interrupt func()) modeltest.Step {
			if n == 1 {
				interrupt()
			}
			return modeltest.Step{}
		}, "consolidate interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := prompted(t, 90)
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			server := modeltest.OpenAIChat(t, func(n int, c modeltest.Call) modeltest.Step {
				if step := test.reply(n, interrupt); step.Status != 0 {
					return step
				}
				return answeredWell(t, c)
			})
			o := ofNarrow(t, home, dir, test.role, server.URL)
			o.Settings.Memories.Concurrency, o.Settings.Limits.TokensPerRun = 1, test.limit
			report, _ := tryRun(ctx, t, o)
			all, outcomes, _ := ledger(t, home)
			if !alike(all, report.Usage) || all.Calls == 0 {
				t.Errorf("the ledger has %+v, the report %+v", all, report.Usage)
			}
			if outcomes[test.want] == 0 {
				t.Errorf("no call is %q: %v, %+v %+v", test.want, outcomes, report.Phase1, report.Phase2)
			}
			if rows := loose(t, home); len(rows) > 0 {
				t.Errorf("%q", rows)
			}
		})
	}
}
