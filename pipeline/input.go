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
	last, err := r.lastInputs(ctx, project.ID, live)
	if err != nil {
		return consolidate.Input{}, err
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
	if in.Withdrawn, in.Lost, err = r.withdrawn(ctx, project, last); err != nil {
		return consolidate.Input{}, err
	}
	in.Known = append(in.Known, in.Lost...)
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

// withdrawn lists the sessions that must leave no trace: those that were taken out by a
// person or a setting, and those of the last inputs of which it is known why they are none
// any more. The others of those are lost.
func (r *run) withdrawn(ctx context.Context, project store.ProjectRow, missing map[string]string) (withdrawn, lost []string, err error) {
	withdrawn, lost, err = r.store.Absent(ctx, project.ID, slices.Sorted(maps.Keys(missing)))
	if err != nil {
		return nil, nil, err
	}
	sessions, err := r.store.Sessions(ctx, store.Filter{Project: project.ID, Reason: memoir.ReasonDisabled})
	if err != nil {
		return nil, nil, fmt.Errorf("list withdrawn sessions: %w", err)
	}
	for _, s := range sessions {
		withdrawn = append(withdrawn, s.Key())
	}
	forgotten, err := r.store.ForgottenOf(ctx, project.ID)
	if err != nil {
		return nil, nil, err
	}
	withdrawn = append(withdrawn, forgotten...)
	slices.Sort(withdrawn)
	return slices.Compact(withdrawn), lost, nil
}

// restingOn are the sessions that a generation rests on: those that it was made from, and
// those that are lost, of which it has what the live one had.
func restingOn(in consolidate.Input, live memory.Snapshot) []memory.Input {
	before := inputsByKey(live.Manifest.Inputs)
	inputs := make([]memory.Input, 0, len(in.Extractions)+len(in.Lost))
	for _, e := range in.Extractions {
		inputs = append(inputs, memory.Input{Session: e.SessionKey, Hash: e.ContentHash})
	}
	for _, key := range in.Lost {
		inputs = append(inputs, memory.Input{Session: key, Hash: before[key]})
	}
	return inputs
}
