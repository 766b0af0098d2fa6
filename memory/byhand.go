package memory

import (
	"fmt"
	"slices"
)

// HandState is a memory as people left it: the files of one generation with what
// they changed in them.
type HandState struct {
	Files    Files
	Manifest Manifest // EditedFrom and Inputs are set
}

// HandStates returns the states that people made since the live generation was
// published, each to be kept as a generation of its own: an earlier generation
// as it was saved too late, then the live one as it was edited. Mostly there is none.
func (r Root) HandStates(snap Snapshot) ([]HandState, error) {
	states := r.lateBy(snap)
	live := slices.ContainsFunc(snap.Edited, func(e Edit) bool { return !e.Late })
	if live {
		states = append(states, handState(snap.Generation, snap.Files, snap.Manifest))
	}
	return states, nil
}

func handState(from int, files Files, m Manifest) HandState {
	return HandState{Files: files, Manifest: Manifest{EditedFrom: from, Inputs: m.Inputs}}
}

// RestoredEdits returns how a snapshot of a restored generation differs from the
// state that it was restored over: what the restoring decided. For any other
// snapshot there is none. The error that nobody kept that state is fs.ErrNotExist.
func (r Root) RestoredEdits(snap Snapshot) ([]Edit, error) {
	over := snap.Manifest.RestoredOver
	if over == 0 {
		return nil, nil
	}
	before, err := r.ReadArchive(over)
	if err != nil {
		return nil, fmt.Errorf("tell what generation %d was restored over: %w", snap.Generation, err)
	}
	return differences(before, snap.Files), nil
}
