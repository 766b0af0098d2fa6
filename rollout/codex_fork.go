package rollout

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// codexFork finds where a forked or spawned thread's own history begins. Its file
// repeats the parent's, with new timestamps but the old turn ids, and those are
// version 7 UUIDs: a turn older than the thread is the parent's. Where ids tell
// nothing, the replay is recognised as one burst of writing.
type codexFork struct {
	possible bool      // the thread has a parent
	based    bool      // it continues another file instead of repeating it
	born     time.Time // from the thread's id
	written  time.Time // of the first line
	sawOld   bool      // a turn older than the thread, or a foreign session_meta
	dated    bool      // turn ids tell their time
	ownStart int       // index of the first own record by turn ids, 0: not found
	burst    int       // index of the first own record by time, 0: not found
	alien    bool
	last     int
}

func newCodexFork(id string, l codexLine) codexFork {
	f := codexFork{written: l.at()}
	f.born, _ = uuidTime(id)
	f.based = isObject(get(l.payload, "history_base"))
	f.possible = getText(l.payload, "forked_from_id") != "" || getText(l.payload, "parent_thread_id") != ""
	return f
}

func (f *codexFork) foreign(at place) {
	if at.index <= 3 {
		f.possible, f.alien, f.sawOld = true, true, true
	}
	f.last = at.index
}

func (f *codexFork) line(at place, l codexLine, said utterance, opening int, opened bool) {
	if !f.possible {
		return
	}
	f.last = at.index
	boundary := l.opensTurn() || l.kind == "turn_context"
	if f.ownStart == 0 && boundary && !f.born.IsZero() {
		if t, ok := uuidTime(l.turnID()); ok {
			f.dated = true
			if t.Before(f.born) {
				f.sawOld = true
			} else {
				f.ownStart = at.index
				if !opened {
					f.ownStart = opening
				}
			}
		}
	}
	if f.burst == 0 && (boundary || said == userResponse || said == userEvent || said == userItem) {
		if t := l.at(); !t.IsZero() && t.Sub(f.written) >= time.Second {
			f.burst = at.index
		}
	}
}

// ownFrom returns the index of the first record that is the thread's own.
func (f *codexFork) ownFrom() int {
	switch {
	case !f.possible:
		return 0
	case f.dated && !f.sawOld:
		return 0
	case f.dated && f.ownStart > 0:
		return f.ownStart
	case f.dated:
		return f.last + 1
	case f.based || !f.alien:
		return 0
	}
	return f.burst // 0: nothing tells, so all is given
}

const (
	maxDirs    = 4096 // directories in which a thread's files are looked for
	shortestID = 20   // characters; what is shorter names no file for certain
)

// dirsBelow lists a directory and those in it, as far as it can be read.
func dirsBelow(dir string) []string {
	var dirs []string
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if len(dirs) >= maxDirs {
			return filepath.SkipAll
		}
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	return dirs
}

// rolloutsOf are the rollouts in directories whose names have an id, at most so
// many; path is none.
func rolloutsOf(id, path string, dirs []string, most int) []string {
	var files []string
	seen := map[string]bool{path: true}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			file := filepath.Join(dir, e.Name())
			if !seen[file] && len(files) < most && isRolloutName(e.Name()) && strings.Contains(e.Name(), id) {
				seen[file] = true
				files = append(files, file)
			}
		}
	}
	return files
}
