package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"memoir"
	"memoir/lease"
	"memoir/store"
)

// crowd registers sessions in projects, a tenth of them extracted and each project with a
// generation of those.
func crowd(b *testing.B, home string, sessions, projects int) {
	b.Helper()
	st, err := store.Open(b.Context(), filepath.Join(home, databaseName), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	check := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	var scans []store.SessionScan
	for i := range sessions {
		n := i % projects
		id := fmt.Sprintf("project-%04d-0123456789ab", n)
		if i < projects {
			_, err := st.Register(b.Context(), memoir.Project{ID: id, Name: id[:12], Identity: "host/" + id, Directories: []string{"/src/" + id}})
			check(err)
		}
		at := time.Now().Add(-24*time.Hour - time.Duration(i)*time.Minute)
		scans = append(scans, store.SessionScan{Session: memoir.Session{
			ID: fmt.Sprintf("019f1fd6-%012d", i), Source: memoir.SourceCodex, Kind: memoir.KindMain, ProjectID: id, Title: fmt.Sprint("about ", i), CWD: "/src/" + id,
			CreatedAt: at, UpdatedAt: at, Files: []memoir.File{{Path: fmt.Sprintf("/sessions/%d.jsonl", i), Size: 1000, ModTime: at}},
		}})
	}
	check(st.SaveScan(b.Context(), scans, nil))
	claims, err := st.ClaimSessions(b.Context(), store.ClaimOptions{Holder: lease.Self(), Lease: time.Minute, Limit: sessions / 10})
	check(err)
	inputs := map[string]map[string]string{}
	for _, c := range claims {
		e := memoir.Extraction{SessionKey: c.Session.Key(), ProjectID: c.Session.ProjectID, RawMemory: "x", RolloutSummary: "x", RolloutSlug: "x", ContentHash: "h", EndedAt: c.Session.UpdatedAt}
		check(st.StoreExtraction(b.Context(), c, store.Result{Extraction: e}))
		if inputs[e.ProjectID] == nil {
			inputs[e.ProjectID] = map[string]string{}
		}
		inputs[e.ProjectID][e.SessionKey] = "h"
	}
	for id, of := range inputs {
		c, ok, err := st.ClaimProject(b.Context(), id, store.ProjectClaimOptions{Holder: lease.Self(), Lease: time.Minute})
		check(err)
		if ok {
			check(st.Publish(b.Context(), c, store.GenerationRecord{N: 1, At: time.Now(), Inputs: of}, func() error { return nil }))
		}
	}
}

// BenchmarkStatus looks at 10,000 sessions in 500 projects, and takes the time of
// `memoir --version` in the same run.
func BenchmarkStatus(b *testing.B) {
	home := filepath.Join(b.TempDir(), "home")
	crowd(b, home, 10000, 500)
	bin := filepath.Join(b.TempDir(), "memoir")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	took := func(args ...string) time.Duration {
		began := time.Now()
		cmd := exec.Command(bin, args...)
		cmd.Env = []string{"HOME=" + home}
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		return time.Since(began)
	}
	var status, version time.Duration
	for b.Loop() {
		status += took("status", "--home", home)
		version += took("--version")
	}
	b.ReportMetric(float64(status.Milliseconds())/float64(b.N), "ms-status")
	b.ReportMetric(float64(status)/float64(version), "ratio")
}
