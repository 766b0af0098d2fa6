package serve

import (
	"fmt"
	"testing"
	"time"

	"memoir"
	"memoir/store"
	"memoir/testdata"
)

// BenchmarkAPageOfManySessions reports how long the page of 10,000 sessions takes, and of the last of them, as shares of
// the page of 100.
func BenchmarkAPageOfManySessions(b *testing.B) {
	few, many := newWorld(b), newWorld(b)
	few.add(100)
	many.add(10_000)
	took := func(w *world, target string) float64 {
		r := request("GET", target, "")
		r.Header.Set("Accept", "text/html")
		began := time.Now()
		if answer := w.send(r); answer.Code != 200 {
			b.Fatal(answer.Body)
		}
		return float64(time.Since(began))
	}
	least := [4]float64{}
	for b.Loop() {
		for i, target := range []string{"/sessions", "/sessions?page=100", "/sessions?reason=up_to_date&since=2026-01-01", ""} {
			w := many
			if target == "" {
				w, target = few, "/sessions"
			}
			if n := took(w, target); least[i] == 0 || n < least[i] { // other programs make it longer
				least[i] = n
			}
		}
	}
	b.ReportMetric(least[3]/1e6, "ms-of-100")
	for i, name := range []string{"x-first", "x-last", "x-filtered"} {
		b.ReportMetric(least[i]/least[3], name)
	}
}

// add registers more sessions of lanternd, one a minute.
func (w *world) add(n int) {
	st, err := w.open(w.t.Context(), store.Options{})
	must(w.t, err)
	defer st.Close()
	var scans []store.SessionScan
	for i := range n {
		scans = append(scans, w.session(i))
	}
	must(w.t, st.SaveScan(w.t.Context(), scans, nil))
}

func (w *world) session(i int) store.SessionScan {
	at := testdata.Now.Add(-time.Duration(i) * time.Minute)
	return store.SessionScan{Session: memoir.Session{
		ID: fmt.Sprintf("many-%06d", i), Source: memoir.SourceCodex, Kind: memoir.KindMain, ProjectID: lanternd, Bytes: 1 << 20,
		Title: fmt.Sprintf("Make the lamps of room %d flicker less when the broker comes back", i), CWD: "/home/mira/src/lanternd",
		Branch: "main", CreatedAt: at, UpdatedAt: at, Files: []memoir.File{{Path: fmt.Sprintf("/s/%d.jsonl", i), Size: 1 << 20, ModTime: at}}}}
}
