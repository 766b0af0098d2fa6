package rollout

import (
	"path/filepath"

	"memoir"
)

// maxSegments bounds the files of a thread that are looked for beside one of them.
const maxSegments = 1024

// Thread returns the files of the session that a file is a part of, in reading
// order, as a scan of the directories around it would find them: of a Codex thread
// in several files all that say so by their names and are still read. Any other file
// is a session by itself.
func Thread(part Part) []Part {
	alone := []Part{part}
	if part.Head.Source != memoir.SourceCodex || len(part.Head.ID) < shortestID {
		return alone
	}
	dirs := []string{filepath.Dir(part.Path)}
	if home := codexHome(part.Path); home != "" {
		for _, dir := range codexDirs {
			dirs = append(dirs, dirsBelow(filepath.Join(home, dir))...)
		}
	}
	parts := alone
	for _, path := range rolloutsOf(part.Head.ID, part.Path, dirs, maxSegments) {
		head, err := Probe(Entry{File: memoir.File{Path: path}})
		if err == nil && head.Source == part.Head.Source && head.ID == part.Head.ID {
			parts = append(parts, Part{Path: path, Head: head})
		}
	}
	ordered, _ := Assemble(parts)
	return ordered
}
