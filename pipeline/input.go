package pipeline

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/store"
)

// inputs selects what Phase 2 works from.
func (r *run) inputs(ctx context.Context, project store.ProjectRow, live memory.Snapshot) (consolidate.Input, error) {
	extractions, others, err := r.store.Selected(ctx, project.ID, r.opts.Settings.Memories.MaxRawMemoriesForGlobal)
	if err != nil {
		return consolidate.Input{}, fmt.Errorf("read extractions: %w", err)
	}
	extractions, aside := withoutAside(extractions, live.Manifest.SetAside)
	others = append(others, aside...) // what cites them, and stands in the memory all the same, may stay
	draft, err := r.store.Draft(ctx, project.ID, r.consolidator.Name())
	if err != nil {
		return consolidate.Input{}, fmt.Errorf("read what was left for this consolidation: %w", err)
	}
	last, err := r.store.LastInputs(ctx, project.ID)
	if err != nil {
		return consolidate.Input{}, fmt.Errorf("read the last inputs: %w", err)
	}
	notes, err := r.store.Notes(ctx, project.ID)
	if err != nil {
		return consolidate.Input{}, fmt.Errorf("read notes: %w", err)
	}
	settings, err := r.settingsOf(project.Project)
	if err != nil {
		return consolidate.Input{}, err
	}
	in := consolidate.Input{
		Project:        project.Project,
		Extractions:    extractions,
		Changed:        map[string]bool{},
		Known:          others,
		Notes:          notes,
		Draft:          draft,
		SummaryTokens:  settings.Memories.SummaryInjectionTokenLimit,
		MaxMemoryBytes: settings.Memories.MaxMemorySize,
		Current:        live.Consolidation(),
	}
	for _, e := range extractions {
		if last[e.SessionKey] != e.ContentHash {
			in.Changed[e.SessionKey] = true
		}
		delete(last, e.SessionKey)
	}
	for _, key := range others {
		delete(last, key)
	}
	in.Withdrawn, err = r.withdrawn(ctx, project, last)
	if err != nil {
		return consolidate.Input{}, err
	}
	if r.forgetting != nil {
		r.forgetting.restrict(&in, live)
	}
	return in, nil
}

// withoutAside leaves out the extractions that a restoring set aside. A session
// that went on since is an input again.
func withoutAside(extractions []memoir.Extraction, aside []memory.Input) (left []memoir.Extraction, keys []string) {
	for _, e := range extractions {
		if slices.Contains(aside, memory.Input{Session: e.SessionKey, Hash: e.ContentHash}) {
			keys = append(keys, e.SessionKey)
		} else {
			left = append(left, e)
		}
	}
	return left, keys
}

// stillAside are the sessions set aside that are no inputs now. One that was
// withdrawn is named no more, which is worth a generation.
func stillAside(aside []memory.Input, in consolidate.Input) (left []memory.Input, withdrawn bool) {
	for _, input := range aside {
		switch {
		case slices.Contains(in.Withdrawn, input.Session):
			withdrawn = true
		case !slices.ContainsFunc(in.Extractions, func(e memoir.Extraction) bool { return e.SessionKey == input.Session }):
			left = append(left, input)
		}
	}
	return left, withdrawn
}

// withdrawn lists the sessions that must leave no trace: those that were taken out
// by a person or a setting, and those of the last inputs that are none any more.
func (r *run) withdrawn(ctx context.Context, project store.ProjectRow, missing map[string]string) ([]string, error) {
	keys := maps.Clone(missing)
	sessions, err := r.store.Sessions(ctx, store.Filter{Project: project.ID, Reason: memoir.ReasonDisabled})
	if err != nil {
		return nil, fmt.Errorf("list withdrawn sessions: %w", err)
	}
	for _, s := range sessions {
		keys[s.Key()] = ""
	}
	forgotten, err := r.store.ForgottenOf(ctx, project.ID)
	if err != nil {
		return nil, err
	}
	for _, key := range forgotten {
		keys[key] = ""
	}
	return slices.Sorted(maps.Keys(keys)), nil
}

// hashes says what a generation rests on: session keys and content hashes.
func hashes(extractions []memoir.Extraction) map[string]string {
	inputs := make(map[string]string, len(extractions))
	for _, e := range extractions {
		inputs[e.SessionKey] = e.ContentHash
	}
	return inputs
}

func manifestInputs(extractions []memoir.Extraction) []memory.Input {
	inputs := make([]memory.Input, len(extractions))
	for i, e := range extractions {
		inputs[i] = memory.Input{Session: e.SessionKey, Hash: e.ContentHash}
	}
	return inputs
}
