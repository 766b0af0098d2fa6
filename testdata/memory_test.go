package testdata_test

import (
	"flag"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/secrets"
	"memoir/testdata"
)

var update = flag.Bool("update", false, "write the golden files anew")

// remember extracts from every main session of a project and consolidates, as a
// run without limits of age and idleness does.
func remember(t *testing.T, dir string, p testdata.Project) memoir.Consolidation {
	t.Helper()
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := consolidate.Input{
		Project: memoir.Project{ID: p.Name, Name: p.Name, Identity: p.Remote, Remote: p.Remote, Directories: p.Directories},
		Changed: map[string]bool{}, SummaryTokens: 5000, MaxMemoryBytes: 64 << 10,
	}
	for _, s := range testdata.Expected() {
		if s.Project != p.Name || s.Kind != memoir.KindMain {
			continue
		}
		parts, items, _ := thread(t, dir, s)
		redactor := scanner.Session()
		for i, it := range items {
			items[i] = redactor.Item(it)
		}
		head := parts[0].Head
		session := memoir.Session{
			ID: s.ID, Source: s.Source, Kind: s.Kind, Title: redactor.Text(head.Title),
			CWD: head.CWD, Branch: head.Branch, CreatedAt: head.CreatedAt, UpdatedAt: s.Updated,
		}
		extraction, err := extract.NewBuiltin().Extract(t.Context(), extract.Input{Session: session, Items: items})
		if err != nil {
			t.Fatalf("%s: extract: %v", s.Name, err)
		}
		if extraction.Empty() {
			if len(s.Facts) > 0 {
				t.Errorf("%s: nothing was extracted", s.Name)
			}
			continue
		}
		extraction.SessionKey, extraction.ProjectID = s.Key(), p.Name
		extraction.CWD, extraction.Branch = head.CWD, head.Branch
		extraction.StartedAt, extraction.EndedAt = head.CreatedAt, s.Updated
		in.Extractions = append(in.Extractions, extraction)
		in.Changed[s.Key()] = true
	}
	result, err := consolidate.NewBuiltin().Consolidate(t.Context(), in)
	if err != nil {
		t.Fatalf("%s: consolidate: %v", p.Name, err)
	}
	if err := consolidate.Verify(result, in); err != nil {
		t.Errorf("%s: %v", p.Name, err)
	}
	return result
}

func TestMemoryHoldsTheFactsAndNotTheTraps(t *testing.T) {
	t.Parallel()
	dir, planted := fixtures(t)
	for _, p := range testdata.Projects {
		result := remember(t, dir, p)
		published := result.MemoryMD + result.MemorySummary
		for _, s := range testdata.Expected() {
			for _, trap := range s.Traps {
				if testdata.Holds(published, trap) {
					t.Errorf("%s holds %q of session %s", p.Name, trap, s.Name)
				}
			}
			if s.Project != p.Name {
				continue
			}
			for _, fact := range s.Facts {
				if !testdata.Holds(result.MemoryMD, fact) {
					t.Errorf("%s: MEMORY.md lacks %q of session %s", p.Name, fact, s.Name)
				}
			}
		}
		for _, secret := range planted {
			if strings.Contains(published, secret) {
				t.Errorf("%s holds the secret %.8s…", p.Name, secret)
			}
		}
	}
}

// The golden files show what the built-in model makes of the fixtures, so that
// a change of it is seen as a change of its text. Write them anew with -update.
func TestMemoryIsTheGoldenOne(t *testing.T) {
	t.Parallel()
	dir, _ := fixtures(t)
	for _, p := range testdata.Projects {
		result := remember(t, dir, p)
		want := result.Files()
		folder := filepath.Join("golden", p.Name)
		if *update {
			if err := os.RemoveAll(folder); err != nil {
				t.Fatal(err)
			}
			for name, text := range want {
				path := filepath.Join(folder, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		golden := map[string]string{}
		for _, file := range tree(t, folder) {
			golden[filepath.ToSlash(file.Path)] = file.Text
		}
		if diff := cmp.Diff(golden, want); diff != "" {
			t.Errorf("%s differs from golden (-golden +got); if that is meant, run go test ./testdata -update\n%s", p.Name, diff)
		}
	}
}

// The picture in the README is of fewer sessions than the golden summary.
func TestTheReadmeShowsLinesOfToday(t *testing.T) {
	t.Parallel()
	picture, err1 := os.ReadFile("../docs/init.svg")
	golden, err2 := os.ReadFile("golden/lanternd/memory_summary.md")
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	unwrapped := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	shown := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(string(picture), ""))
	shown = strings.ReplaceAll(shown, "\u00a0", " ")
	_, shown, _ = strings.Cut(shown, "# lanternd: what earlier sessions taught")
	shown, _, _ = strings.Cut(shown, "</memoir-context>")
	lines := strings.Split(shown, "\n- ")[1:]
	for _, line := range lines {
		line, _, _ = strings.Cut(line, "\n\n")
		if !strings.Contains(unwrapped(string(golden)), unwrapped(line)) {
			t.Errorf("no session is told this, `make picture` draws anew: %s", line)
		}
	}
	if len(lines) == 0 {
		t.Error("the picture has no line of a memory")
	}
}
