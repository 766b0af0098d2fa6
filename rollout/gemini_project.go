package rollout

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"memoir/internal/lazyregexp"
)

// A session's working directory is not in its file. The file lies below
// tmp/<project>/chats, where <project> is a short name that ~/.gemini/projects.json
// gives to the directory, or the SHA-256 hash of the directory's path; the hash is
// in the file, too. So a directory that is known from elsewhere can be told to be
// the one; a hash alone cannot be turned back.

// geminiPlace returns the project's directory below tmp in which a session's file
// lies, and the session in whose directory of sub-agents it lies, "" if in none.
func geminiPlace(path string) (project, parent string) {
	dir := filepath.Dir(path)
	for range 8 {
		if filepath.Base(dir) == "chats" {
			return filepath.Dir(dir), parent
		}
		parent = filepath.Base(dir)
		if up := filepath.Dir(dir); up != dir {
			dir = up
		}
	}
	return "", ""
}

// hashForm is the name of a project's directory in earlier versions.
var hashForm = lazyregexp.New(`^[0-9a-f]{64}$`)

// geminiDirectory finds the working directory of a project: what the client wrote
// beside the sessions, what its list of projects says, or the one of those known
// whose hash is the session's. listed are the directories in the session itself.
func geminiDirectory(project, hash string, listed []string) string {
	var here, named string
	known := slices.Clone(listed)
	if project != "" {
		here = projectRoot(filepath.Join(project, ".project_root"))
		known = append(known, here)
		home := filepath.Dir(filepath.Dir(project))
		registry := smallJSON(filepath.Join(home, "projects.json"))
		if inner := get(registry, "projects"); isObject(inner) {
			registry = inner
		}
		each(registry, func(key, value []byte) bool {
			dir := memberName(key)
			if known = append(known, dir); text(value) == filepath.Base(project) {
				named = dir
			}
			return true
		})
		each(smallJSON(filepath.Join(home, "trustedFolders.json")), func(key, _ []byte) bool {
			known = append(known, memberName(key))
			return true
		})
		if name := filepath.Base(project); hash == "" && hashForm.MatchString(name) {
			hash = name
		}
	}
	if hashForm.MatchString(hash) {
		for _, dir := range known {
			if sum := sha256.Sum256([]byte(dir)); isAbsolute(dir) && hex.EncodeToString(sum[:]) == hash {
				return dir
			}
		}
	}
	for _, dir := range []string{here, named} {
		if isAbsolute(dir) {
			return dir
		}
	}
	return ""
}

// isAbsolute also knows the paths of another system.
func isAbsolute(dir string) bool {
	return filepath.IsAbs(dir) || len(dir) > 2 && dir[1] == ':' && (dir[2] == '\\' || dir[2] == '/')
}

// memberName decodes a key as each gives it.
func memberName(key []byte) string { return text(slices.Concat([]byte{'"'}, key, []byte{'"'})) }

// projectRoot reads the file that names a project's directory, "" without one.
func projectRoot(path string) string {
	root := smallFile(path)
	const longest = 4096
	if len(root) >= longest {
		return ""
	}
	return strings.TrimSpace(string(root))
}
