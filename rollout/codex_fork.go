package rollout

import (
	"context"
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

// unclear reports whether nothing in the file dates the turns of a thread that may
// repeat another.
func (f *codexFork) unclear() bool { return f.possible && !f.based && !f.dated }

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
	case f.burst > 0:
		return f.burst
	}
	return f.last + 1
}

// codexPast is what a thread's parent said and did, as far as it tells a record that
// repeats it from one that does not.
type codexPast struct {
	ids   map[uint64]bool // hashes of the ids of turns, calls and messages
	texts []uint64        // hashes of what the user said, in order
}

const (
	maxPast    = 1 << 20 // ids, and texts, of a parent that are kept
	maxParents = 32      // files of a parent that are read
	maxDirs    = 4096    // directories in which it is looked for
	shortestID = 20      // characters; what is shorter names no file for certain
)

// parentsPast reads the parent of a thread, nothing if its file is not at hand: it
// is looked for beside the thread's own, under the day of its id, among the archived
// and where early versions kept all; an id that tells no day is looked for everywhere.
func parentsPast(ctx context.Context, part Part) (codexPast, error) {
	past := codexPast{ids: map[uint64]bool{}}
	id := part.Head.ParentID
	if len(id) < shortestID || part.Path == "" {
		return past, nil
	}
	for _, path := range parentsFiles(part.Path, id) {
		t := &tape{parts: []Part{{Path: path}}, stats: &Stats{}}
		last := uint64(0)
		err := t.each(ctx, false, func(_ place, raw []byte) error {
			l := parseCodexLine(raw)
			for _, id := range l.ids() {
				if len(past.ids) < maxPast {
					past.ids[textHash(id)] = true
				}
			}
			h, ok := l.userWords()
			if ok && h != last && len(past.texts) < maxPast { // each stands there twice
				past.texts = append(past.texts, h)
				last = h
			} else if l.acts() {
				last = 0
			}
			return nil
		})
		if ctx.Err() != nil {
			return past, err
		}
		// A parent that cannot be read is as good as none.
	}
	return past, nil
}

// parentsFiles are the rollouts of a thread, found by its id in their names.
func parentsFiles(path, id string) []string {
	dirs := []string{filepath.Dir(path)}
	if home := codexHome(path); home != "" {
		sessions := filepath.Join(home, "sessions")
		dirs = append(dirs, sessions, filepath.Join(home, "archived_sessions"))
		if born, ok := uuidTime(id); ok {
			for day := -1; day <= 1; day++ { // names bear local time
				dirs = append(dirs, filepath.Join(sessions, filepath.FromSlash(born.UTC().AddDate(0, 0, day).Format("2006/01/02"))))
			}
		}
	}
	files := rolloutsOf(id, path, dirs, maxParents)
	if home := codexHome(path); len(files) == 0 && home != "" {
		if _, dated := uuidTime(id); !dated {
			files = rolloutsOf(id, path, dirsBelow(filepath.Join(home, "sessions")), maxParents)
		}
	}
	return files
}

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

// ids are the ids in a line that a copy of it has too.
func (l codexLine) ids() []string {
	var ids []string
	for _, id := range []string{l.turnID(), getText(l.payload, "call_id"), getText(l.payload, "id")} {
		if id != "" && l.kind != "session_meta" {
			ids = append(ids, id)
		}
	}
	return ids
}

// acts reports whether the agent says or does something in a line.
func (l codexLine) acts() bool {
	switch l.utterance() {
	case assistantMessage, assistantEvent, assistantItem, toolCall:
		return true
	}
	return false
}

// userWords is the hash of what the user says in a line.
func (l codexLine) userWords() (uint64, bool) {
	own := ""
	switch said := l.utterance(); said {
	case userResponse:
		own = ownWords(contentText(get(l.payload, "content")))
	case userEvent, userItem:
		own = typedWords(rawCodexUserText(l, said))
	}
	return textHash(own), own != ""
}

// ownFrom returns the index of the first record that is the thread's own: that of
// the turn which follows the last record that the parent has too. ok is false where
// the past says nothing.
func (p codexPast) ownFrom(ctx context.Context, t *tape) (own int, ok bool, err error) {
	if len(p.ids) == 0 && len(p.texts) == 0 {
		return 0, false, nil
	}
	shared, next, said, last, end := false, -1, 0, uint64(0), 0
	err = t.each(ctx, false, func(at place, raw []byte) error {
		end = at.index + 1
		l := parseCodexLine(raw)
		known := false
		for _, id := range l.ids() {
			known = known || p.ids[textHash(id)]
		}
		h, speaks := l.userWords()
		if speaks && said < len(p.texts) && h == p.texts[said] {
			known, last = true, h
			said++
		} else if speaks && h == last { // the second copy
			known = true
		} else if l.acts() {
			last = 0
		}
		switch {
		case known:
			shared, next = true, -1
		case next < 0 && (speaks || l.opensTurn() || l.kind == "turn_context"):
			next = at.index
		}
		return nil
	})
	switch {
	case err != nil || !shared:
		return 0, err == nil, err
	case next < 0:
		return end, true, nil
	}
	return next, true, nil
}
