package rollout

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"memoir/internal/lazyregexp"
)

// piKeys are equal for an entry and its copy in a fork: by id and time, and by id and
// content, since short ids are unique in their own file only. Entries of version 1
// have no ids and are copied as they are.
func piKeys(raw []byte) []uint64 {
	id := getText(raw, "id")
	switch {
	case getText(raw, "type") == "session":
		return nil
	case id == "":
		return []uint64{textHash("as\x00" + string(raw))}
	}
	content := get(raw, "message", "content")
	for _, key := range []string{"summary", "content"} {
		if content == nil {
			content = get(raw, key)
		}
	}
	keys := []uint64{textHash("at\x00" + id + "\x00" + string(get(raw, "timestamp")))}
	if content != nil {
		keys = append(keys, textHash("in\x00"+id+"\x00"+string(content)))
	}
	return keys
}

func deadPi(ctx context.Context, t *tape) (func(int) bool, error) {
	plan, err := planPi(ctx, t)
	if err != nil {
		return nil, err
	}
	return plan.dead, nil
}

// piBucket is the name of a directory of sessions, which stands for the working
// directory and cannot be turned back into it.
var piBucket = lazyregexp.New(`^(?:-.*|(?:home|tmp|abs)-.*-[0-9a-f]{64})$`)

// piFile finds the file of a session, named by its path or its id, in the tree that
// another file lies in: beside it, or in a directory beside its directory. A path
// says no more than a name here: no other place is looked at. It is "" if there is
// no such file.
func piFile(path, session string) string {
	id := piSessionID(session)
	if path == "" || id == "" {
		return ""
	}
	name := filepath.Base(filepath.ToSlash(strings.ReplaceAll(session, `\`, "/")))
	dir := filepath.Dir(path)
	if found := piFileIn(dir, path, name, id); found != "" {
		return found
	}
	if !piBucket.MatchString(filepath.Base(dir)) {
		return ""
	}
	buckets, _ := os.ReadDir(filepath.Dir(dir)) // what cannot be read holds nothing
	for _, b := range buckets {
		if piBucket.MatchString(b.Name()) && b.Name() != filepath.Base(dir) {
			if found := piFileIn(filepath.Join(filepath.Dir(dir), b.Name()), path, name, id); found != "" {
				return found
			}
		}
	}
	return ""
}

// piFileIn finds the file in one directory: of that name, or of that id, which then
// stands at the end of its name.
func piFileIn(dir, but, name, id string) string {
	if path := filepath.Join(dir, name); isJSONL(name) && path != but && piHeaderOf(path) != nil {
		return path
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if stem := strings.TrimSuffix(e.Name(), ".jsonl"); stem != e.Name() && (stem == id || strings.HasSuffix(stem, "_"+id)) {
			if path := filepath.Join(dir, e.Name()); path != but && getText(piHeaderOf(path), "id") == id {
				return path
			}
		}
	}
	return ""
}
