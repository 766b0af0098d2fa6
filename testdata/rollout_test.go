package testdata_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/rollout"
	"memoir/testdata"
)

// fixtures writes the sessions, and returns where and the secrets in them.
func fixtures(t *testing.T) (dir string, planted []string) {
	t.Helper()
	dir = t.TempDir()
	planted, err := testdata.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, planted
}

// thread reads the files of one fixture the way a run does.
func thread(t *testing.T, dir string, s testdata.Session) ([]rollout.Part, []memoir.Item, rollout.Stats) {
	t.Helper()
	var parts []rollout.Part
	for _, name := range s.Files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		head, err := rollout.Probe(rollout.Entry{File: memoir.File{Path: path}})
		if err != nil {
			t.Fatalf("%s: probe %s: %v", s.Name, name, err)
		}
		parts = append(parts, rollout.Part{Path: path, Head: head})
	}
	ordered := rollout.Assemble(parts)
	if len(ordered) < len(parts) {
		t.Errorf("%s: files dropped: %v of %v", s.Name, ordered, parts)
	}
	var items []memoir.Item
	stats, err := rollout.Read(t.Context(), ordered, func(it memoir.Item) error {
		items = append(items, it)
		return nil
	})
	if err != nil {
		t.Fatalf("%s: read: %v", s.Name, err)
	}
	return ordered, items, stats
}

func TestReadersRecogniseEachSession(t *testing.T) {
	t.Parallel()
	dir, _ := fixtures(t)
	for _, s := range testdata.Expected() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if s.Reason == memoir.ReasonUnreadable {
				path := filepath.Join(dir, filepath.FromSlash(s.Files[0]))
				_, err := rollout.Probe(rollout.Entry{File: memoir.File{Path: path}})
				if memoir.CodeOf(err) != memoir.CodeUnreadable {
					t.Errorf("probe gave %v, want code %s", err, memoir.CodeUnreadable)
				}
				return
			}
			parts, items, _ := thread(t, dir, s)
			head := parts[len(parts)-1].Head
			type identity struct {
				Source  memoir.Source
				ID      string
				Kind    memoir.SessionKind
				Updated string
			}
			got := identity{head.Source, head.ID, head.Kind, head.UpdatedAt.UTC().String()}
			want := identity{s.Source, s.ID, s.Kind, s.Updated.UTC().String()}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("identity (-want +got):\n%s", diff)
			}
			if strings.Contains(head.Remote, "@") && !strings.HasPrefix(head.Remote, "git@") {
				t.Errorf("remote %q has credentials in it", head.Remote)
			}
			if s.Kind != memoir.KindMain {
				return
			}
			var want2, prompts []string
			for _, prompt := range s.Prompts {
				filled, _ := testdata.Fill(prompt)
				want2 = append(want2, filled)
			}
			for _, it := range items {
				if it.Origin == memoir.OriginShell {
					prompts = append(prompts, it.Input)
				} else if it.Origin.ByPerson() {
					prompts = append(prompts, it.Text)
				}
			}
			if diff := cmp.Diff(want2, prompts); diff != "" {
				t.Errorf("a person's words (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFailuresAndTheirFixesHaveTheirOutcome(t *testing.T) {
	t.Parallel()
	dir, _ := fixtures(t)
	tests := []struct {
		session, command string
		failed           []bool // one a call, in order
	}{
		{"bare", "go build ./...", []bool{true, false}},
		{"fade", "make gen", []bool{true, false}},
		{"fade", "make test", []bool{true, false, false}},
		{"release-4", "make lint", []bool{true, false}},
		{"scenes", "go test ./scene", []bool{true, false, false}},
		{"mqtt", "make test-mqtt", []bool{true, false}},
		{"groups", "go test ./group", []bool{true, false}},
		{"ocr", "uv run pytest -q tests/test_ocr.py", []bool{true, false}},
		{"dates", "pytest -q tests/test_dates.py", []bool{true}},
		{"dates", "uv run pytest -q tests/test_dates.py", []bool{true, false}},
		{"trigram", "uv run papertrail reindex", []bool{true, false}},
		{"exitcode", "uv run ruff check .", []bool{true}},
		{"exitcode", "uv run pytest -q", []bool{false}},
	}
	for _, test := range tests {
		_, items, _ := thread(t, dir, testdata.Find(test.session))
		var failed []bool
		for _, it := range items {
			if it.Shell() && it.Input == test.command {
				failed = append(failed, it.Failed)
			}
		}
		if diff := cmp.Diff(test.failed, failed); diff != "" {
			t.Errorf("%s: calls of %q that failed (-want +got):\n%s", test.session, test.command, diff)
		}
	}
}

func TestDamageIsCountedAndTheRestIsRead(t *testing.T) {
	t.Parallel()
	dir, _ := fixtures(t)
	s := testdata.Find("exitcode")
	_, items, stats := thread(t, dir, s)
	if stats.Malformed == 0 || !stats.CutTail {
		t.Errorf("malformed %d, cut tail %v: want some, true", stats.Malformed, stats.CutTail)
	}
	if len(items) < 6 {
		t.Errorf("only %d items were read", len(items))
	}
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(s.Files[0])))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, make([]byte, 64)) || bytes.HasSuffix(data, []byte("\n")) {
		t.Error("the fixture lost its NULs or its cut end")
	}
}
