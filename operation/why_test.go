package operation_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/operation"
	"memoir/secrets"
	"memoir/store"
	"memoir/team/wire"
)

// A line that a model wrote has the sessions that it cites; one with a statement has each session, of which the items
// beyond the bounds are counted.
func TestASourceIsCitedAndNothingIsLeftOutInSilence(t *testing.T) {
	t.Parallel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	a := operation.Access{Home: t.TempDir(), Redact: func(text string) string { return text },
		Scanner: func() (*secrets.Scanner, error) { return secrets.New(secrets.Options{}) }}
	st, err := store.Open(t.Context(), a.Home+"/memoir.db", store.Options{})
	must(err)
	defer st.Close()
	pond := memoir.Project{Name: "pond", Identity: "host/pond", Directories: []string{"/src/pond"}}
	pond.ID = memoir.ProjectID(pond.Name, pond.Identity)
	project := pond.ID
	_, err = st.Register(t.Context(), pond)
	must(err)
	at := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
	var scans []store.SessionScan
	var extractions []memoir.Extraction
	held := memoir.StatementID(project, memoir.StatementFinding, "the valve sticks in frost")
	var eight []string
	for i := range 8 {
		eight = append([]string{fmt.Sprintf("codex:%08x-aaaa %s ", 0xa0+i, at.AddDate(0, 0, i).Format(time.DateOnly))}, eight...)
		se := memoir.Session{ID: fmt.Sprintf("%08x-aaaa", 0xa0+i), Source: memoir.SourceCodex, Kind: memoir.KindMain, ProjectID: project,
			Title: fmt.Sprint("day ", i), UpdatedAt: at.AddDate(0, 0, i), Files: []memoir.File{{Path: fmt.Sprint(a.Home, "/gone", i)}}}
		scans = append(scans, store.SessionScan{Session: se})
		extractions = append(extractions, memoir.Extraction{SessionKey: se.Key(), ProjectID: project, EndedAt: se.UpdatedAt, Statements: []memoir.Statement{
			{ID: held, Kind: memoir.StatementFinding, Text: "the valve sticks in frost", By: memoir.ByTool, At: se.UpdatedAt.Format(time.DateOnly), Items: []int{2, 3}}}})
	}
	must(st.SaveScan(t.Context(), scans, nil))
	hub, day := "team:ben-"+wire.SessionHash(scans[2].Session.Key(), ""), "2026-07-03"
	must(os.MkdirAll(a.Home+"/team", 0o700))
	must(os.WriteFile(a.Home+"/team/hub.json", []byte(`{"url":"https://hub.example","member":"ben"}`), 0o600))
	lines := "- frost makes the valve stick [000000a1 2026-07-02]\n- pumps run at night [000000a1 2026-07-02, +1]\n- the valve sticks in frost [000000a7 2026-07-08, +7]\n- ask Ada\n" +
		"- in frost the outer valve sticks (from the team: ben, carla) [ben-" + hub[9:17] + " " + day + "]\n- other words of the hub [ben-" + hub[9:17] + " " + day + "]\n"
	files := memory.Files{memoir.MemoryFile: []byte("# pond\n\n## What is known\n\n" + lines), memoir.SummaryFile: []byte("# pond\n\n- pumps rest by day\n"),
		memory.StatementsFile: memory.EncodeStatements(extractions, func(text string) string { return text })}
	manifest := memory.Manifest{Citations: map[string][]string{}, Lines: map[string]memoir.LineOrigin{memoir.LineKey("pumps rest by day"): {}, memoir.LineKey("the valve sticks in frost"): {Statements: []string{held}}}}
	for _, line := range strings.Split(lines, "\n") {
		if strings.Contains(line, "[ben-") {
			sum := sha256.Sum256([]byte(consolidate.Uncited(line)))
			manifest.Citations[hex.EncodeToString(sum[:12])] = []string{hub + " " + day}
		}
	}
	root := memory.At(a.Home, project)
	must(root.Stage(t.Context(), 1, files, manifest))
	must(root.Swap(1))
	must(os.WriteFile(root.Dir()+"/base.tar.zst", nil, 0o600)) // a hub made lines
	for _, test := range []struct {
		of, by, sessions string
		hand             bool
	}{
		{"frost makes", memoir.SignalModel, "[codex:000000a1-aaaa 2026-07-02 day 1]", false},
		{"outer valve", "tool", fmt.Sprint(eight), false},
		{"other words", memoir.SignalModel, "[codex:000000a2-aaaa 2026-07-03 day 2]", false},
		{"pumps rest", memoir.SignalModel, "[]", false},
		{"ask ada", "", "", true},
	} {
		out, err := a.Why(t.Context(), st, project, test.of)
		must(err)
		got, by := "", ""
		for _, s := range out.Statements {
			var all []string
			for _, e := range s.Sessions {
				all = append(all, e.ID+" "+e.At+" "+e.Title)
			}
			got, by = got+fmt.Sprint(all), s.By
		}
		if got != test.sessions || by != test.by || out.HandWritten != test.hand || len(out.Lines) != 1 {
			t.Errorf("%s: %s by %q: %+v", test.of, got, by, out)
		}
		if again, err := a.Why(t.Context(), st, project, memoir.LineKey(out.Lines[0])); err != nil || len(again.Lines) != 1 {
			t.Errorf("by its key: %+v, %v", again, err)
		}
	}
	many := "# pond\n\n"
	for i := range 12 {
		many += fmt.Sprintf("- pump %d rests by day\n", i)
	}
	must(os.WriteFile(root.Link()+"/"+memoir.MemoryFile, []byte(many), 0o600))
	if out, err := a.Why(t.Context(), st, project, "rests by day"); err != nil || len(out.Lines) != 10 || out.More != 2 {
		t.Errorf("%d lines, %d more: %v", len(out.Lines), out.More, err)
	}
	must(os.WriteFile(root.Link()+"/"+memoir.MemoryFile, files[memoir.MemoryFile], 0o600))
	out, err := a.Why(t.Context(), st, project, held)
	must(err)
	if len(out.Statements) != 1 || len(out.Statements[0].Sessions) != 8 {
		t.Fatalf("%+v", out)
	}
	for _, e := range out.Statements[0].Sessions {
		if e.More != 2 || len(e.Items) > 0 {
			t.Errorf("%s: %d more", e.ID, e.More)
		}
	}
}
