package rollout

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// codexHome is the directory above the one that holds rollouts, and so the path's
// $CODEX_HOME, "" if the path is not laid out like one.
func codexHome(path string) string {
	dir := filepath.Dir(path)
	for range 5 {
		if slices.Contains(codexDirs, filepath.Base(dir)) {
			return filepath.Dir(dir)
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// Threads are named in session_index.jsonl, to which Codex appends a line for each
// naming. It is read once for all rollouts, and again when it has changed. It only
// grows, and the names of today's threads are at its end: of a larger one, the last
// 4 MiB are read.
const (
	indexTail  = 4 << 20
	maxIndexes = 8 // homes whose names are kept
)

type codexIndex struct {
	size  int64
	mtime time.Time
	names map[string]string // by thread id
}

var codexIndexes = struct {
	sync.Mutex
	byPath map[string]codexIndex
}{byPath: map[string]codexIndex{}}

// indexedTitle looks a thread's name up in its home's session_index.jsonl.
func indexedTitle(path, id string) string {
	home := codexHome(path)
	if home == "" || id == "" {
		return ""
	}
	file := filepath.Join(home, "session_index.jsonl")
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	codexIndexes.Lock()
	defer codexIndexes.Unlock()
	index, ok := codexIndexes.byPath[file]
	if !ok || index.size != info.Size() || !index.mtime.Equal(info.ModTime()) {
		index = codexIndex{info.Size(), info.ModTime(), readIndex(file)}
		if len(codexIndexes.byPath) >= maxIndexes {
			clear(codexIndexes.byPath)
		}
		codexIndexes.byPath[file] = index
	}
	return index.names[id]
}

// readIndex returns the last name of each thread; an empty one names nothing.
func readIndex(file string) map[string]string {
	names := map[string]string{}
	for _, raw := range readEnd(file, indexTail) {
		if name := strings.TrimSpace(getText(raw, "thread_name")); name != "" {
			names[getText(raw, "id")] = name
		}
	}
	return names
}

// updatedTitle is the last name that records give the thread. A fork repeats its
// parent's.
func updatedTitle(id string, records [][]byte) string {
	title := ""
	for _, raw := range records {
		if !bytes.Contains(raw, []byte("thread_name_updated")) {
			continue
		}
		l := parseCodexLine(raw)
		if l.sub == "thread_name_updated" && cmp.Or(getText(l.payload, "thread_id"), id) == id {
			title = cmp.Or(strings.TrimSpace(getText(l.payload, "thread_name")), title)
		}
	}
	return title
}
