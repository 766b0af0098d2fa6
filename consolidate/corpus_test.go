package consolidate_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/rollout"
)

// corpus extracts every main session of the corpus, by project.
func corpus(t testing.TB) map[string][]memoir.Extraction {
	t.Helper()
	dir := os.Getenv("MEMOIR_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no corpus of real sessions: set MEMOIR_CORPUS to a directory of them")
	}
	ctx := context.Background()
	threads := map[string][]rollout.Part{}
	if err := rollout.WalkDir(ctx, dir, func(e rollout.Entry) error {
		if head, err := rollout.Probe(e); err == nil && head.Kind == memoir.KindMain {
			key := memoir.SessionKey(head.Source, head.ID)
			threads[key] = append(threads[key], rollout.Part{Path: e.Path, Head: head})
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	out := map[string][]memoir.Extraction{}
	for _, key := range slices.Sorted(maps.Keys(threads)) {
		parts, _ := rollout.Assemble(threads[key])
		if len(parts) == 0 {
			continue
		}
		h := parts[0].Head
		var items []memoir.Item
		if _, err := rollout.Read(ctx, parts, func(it memoir.Item) error { items = append(items, it); return nil }); err != nil {
			t.Fatal(err)
		}
		e, _, err := extract.NewBuiltin().Extract(ctx, extract.Input{Items: items, Session: memoir.Session{
			ID: h.ID, Source: h.Source, Title: h.Title, CWD: h.CWD, Branch: h.Branch, Remote: h.Remote, CreatedAt: h.CreatedAt, UpdatedAt: parts[len(parts)-1].Head.UpdatedAt,
		}})
		if err != nil {
			t.Fatal(err)
		}
		project := strings.TrimSuffix(strings.TrimPrefix(h.Remote, "https://"), ".git")
		if project == "" {
			project = strings.Trim(h.CWD, "/")
		}
		if project == "" {
			project = string(h.Source)
		}
		out[project] = append(out[project], e)
	}
	return out
}

func TestCorpusProjectsConsolidateWithinTheRules(t *testing.T) {
	t.Parallel()
	dump := os.Getenv("MEMOIR_DUMP")
	for project, extractions := range corpus(t) {
		if !slices.ContainsFunc(extractions, func(e memoir.Extraction) bool { return !e.Empty() }) {
			continue
		}
		in := consolidate.Input{Project: memoir.Project{Name: filepath.Base(project)}, Extractions: extractions}
		c, _, err := consolidate.NewBuiltin().Consolidate(context.Background(), in)
		if err != nil {
			t.Fatalf("%s: %v", project, err)
		}
		if err := consolidate.Verify(c, in); err != nil {
			t.Errorf("%s: %v", project, err)
		}
		if dump == "" {
			continue
		}
		dir := filepath.Join(dump, strings.ReplaceAll(project, "/", "_"))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		files := map[string]string{"MEMORY.md": c.MemoryMD, "memory_summary.md": c.MemorySummary}
		for _, s := range c.Skills {
			files["skill-"+s.Name+".md"] = s.Content
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
