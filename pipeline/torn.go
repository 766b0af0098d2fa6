package pipeline

import (
	"io/fs"
	"os"

	"memoir"
	"memoir/rollout"
)

// looks are how files were when a session began to be read, by path.
type looks map[string]fs.FileInfo

// lookAt looks at files. What is no file of its own, or cannot be looked at, is left to who
// reads it.
func lookAt(files []memoir.File) looks {
	out := looks{}
	for _, f := range files {
		if info, err := os.Stat(f.Path); err == nil {
			out[f.Path] = info
		}
	}
	return out
}

// whole is an error where a file was written anew while it was read: what was read may be
// the beginning of one session and the end of another, or a half of it. The session is
// then left for the next run, with the code memoir.CodeUnreadable.
func (l looks) whole() error {
	for path, before := range l {
		after, err := os.Stat(path)
		if err != nil || !rollout.Appended(path, before, after) {
			return memoir.Errorf(memoir.CodeUnreadable, "run memoir again, once the agent has ended", "%s was written anew while it was read", path)
		}
	}
	return nil
}
