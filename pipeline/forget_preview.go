package pipeline

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/memory"
	"memoir/store"
)

// WouldForget is what one project's memory has of what is to be forgotten.
type WouldForget struct {
	Project    string      `json:"project"`
	Name       string      `json:"name"`
	Generation int         `json:"generation"` // the live one; 0: none
	Lines      []FoundLine `json:"lines"`      // of the live memory, that rest on it alone
	Shared     int         `json:"shared"`     // lines that cite other sessions, too
	Files      []string    `json:"files"`      // of the live memory, that tell of such a session alone
	Archives   []string    `json:"archives"`   // generations that hold it, the live one last: a purge removes them
}

// PreviewForgetting says what Forget would find in the memories, by project. It reads,
// and changes nothing. Memories that have nothing of it are left out.
func PreviewForgetting(ctx context.Context, st *store.Store, opts Options, f Forgetting) ([]WouldForget, error) {
	r, err := newRun(st, opts)
	if err != nil {
		return nil, err
	}
	found, err := st.Remembering(ctx, f.Keys)
	if err != nil {
		return nil, err
	}
	for _, id := range f.Projects {
		if _, ok := found[id]; !ok && f.Text != "" {
			found[id] = nil
		}
	}
	delete(found, "")
	out := []WouldForget{}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		would, err := r.wouldForget(ctx, id, found[id], f.Text)
		if err != nil {
			return nil, fmt.Errorf("project %s: %w", id, err)
		}
		if len(would.Lines)+would.Shared+len(would.Files)+len(would.Archives) > 0 {
			out = append(out, would)
		}
	}
	return out, nil
}

func (r *run) wouldForget(ctx context.Context, id string, keys []string, text string) (WouldForget, error) {
	out := WouldForget{Project: id, Lines: []FoundLine{}, Files: []string{}, Archives: []string{}}
	row, err := r.store.FindProject(ctx, id)
	if err != nil {
		return out, err
	}
	root := memory.At(r.opts.Home, row.ID)
	live, err := root.Current()
	if err != nil {
		return out, err
	}
	out.Name, out.Generation = row.Name, live.Generation
	f, err := r.foreseen(ctx, row, live, keys, text)
	if err != nil {
		return out, err
	}
	for _, path := range live.Files.Paths() {
		content := live.Files[path]
		switch {
		case path == rawMemoriesFile:
			continue
		case strings.HasPrefix(path, summariesDir):
			if isAbout(string(content), keys) {
				out.Files = append(out.Files, path)
			}
			continue
		}
		alone, shared := f.what.Places(content, f.in)
		out.Shared += len(shared)
		lines := strings.Split(string(content), "\n")
		for _, n := range alone {
			out.Lines = append(out.Lines, FoundLine{id, path, n, strings.TrimSpace(lines[n-1])})
		}
	}
	if out.Archives, _, err = f.archives(root); err != nil || len(out.Lines)+len(out.Files)+out.Shared == 0 {
		return out, err
	}
	own, err := filepath.Rel(root.Dir(), root.Archive(live.Generation)) // an earlier one by then
	out.Archives = append(out.Archives, filepath.ToSlash(own))
	return out, err
}

// foreseen is a forgetting as it would be once it is begun.
func (r *run) foreseen(ctx context.Context, row store.ProjectRow, live memory.Snapshot, keys []string, text string) (*forgetting, error) {
	in, err := r.inputs(ctx, row, live)
	if err != nil {
		return nil, err
	}
	gone := func(key string) bool { return slices.Contains(keys, key) }
	f := &forgetting{keys: map[string]bool{}}
	in.Extractions = slices.DeleteFunc(in.Extractions, func(e memoir.Extraction) bool { return gone(e.SessionKey) })
	in.Known, in.Lost = slices.DeleteFunc(in.Known, gone), slices.DeleteFunc(in.Lost, gone)
	in.Withdrawn = append(in.Withdrawn, keys...)
	for _, key := range keys {
		f.keys[key] = true
		e, _, err := r.store.Prior(ctx, key)
		if err != nil {
			return nil, err
		}
		if e != nil {
			f.what.Extractions = append(f.what.Extractions, *e)
		}
	}
	if text != "" {
		f.what.Texts = []string{text}
	}
	f.in = in
	f.lines, err = r.store.ForgottenLines(ctx, row.ID)
	return f, err
}
