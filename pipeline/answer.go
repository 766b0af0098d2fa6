package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/failpoint"
	"memoir/lease"
)

// Answers that could not be used are kept below the home, for a person to look at.
const (
	answersDir   = "log/answers"
	maxAnswers   = 50       // the oldest go first
	maxAnswer    = 64 << 10 // bytes of a file
	maxUnclean   = 1 << 20  // bytes that are redacted: what is cut off first is not kept anyway
	answerSuffix = ".txt"
)

// keepAnswer keeps the answer that a failure is about, if it is about one, and returns
// its path; empty: there is none. An answer that cannot be written is no failure of
// its own.
func (r *run) keepAnswer(phase, projectID, key string, cause error) string {
	var answer *memoir.AnswerError
	if !errors.As(cause, &answer) || strings.TrimSpace(answer.Answer) == "" {
		return ""
	}
	path, err := r.writeAnswer(phase, projectID, key, answer)
	if err != nil {
		r.log.Warn("an answer is not kept", "error", err)
		return ""
	}
	return path
}

// dropLost removes the answer of a failure that could not be recorded because the work is
// no longer ours: a person may have had the session forgotten.
func (r *run) dropLost(err error, path string) {
	if path == "" || memoir.CodeOf(err) != memoir.CodeLeaseLost {
		return
	}
	if err := failpoint.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		r.log.Warn("an answer of work that was lost stays", "error", err)
	}
}

func (r *run) writeAnswer(phase, projectID, key string, answer *memoir.AnswerError) (path string, err error) {
	dir, err := filepath.Abs(filepath.Join(r.opts.Home, filepath.FromSlash(answersDir)))
	if err != nil {
		return "", err
	}
	if err := failpoint.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	now := r.meter.now().UTC()
	text := fmt.Sprintf(
		"%s %s %s\n%s\n\n",
		now.Format("2006-01-02T15:04:05Z"),
		phase,
		r.redact(key),
		cutMiddle(r.redact(answer.Error()), maxAnswer/16),
	)
	text += cutMiddle(r.redact(cutMiddle(answer.Answer, maxUnclean)), maxAnswer-len(text)-len(cutMark)) + "\n"
	// The names are in the order of time, and no two are alike.
	path = filepath.Join(
		dir,
		now.Format("20060102T150405.000Z")+"-"+phase+"-"+answerOf(projectID)+"-"+lease.NewToken()[:6]+answerSuffix,
	)
	if err := failpoint.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	if err := pruneAnswers(dir); err != nil {
		r.log.Warn("old answers stay", "error", err)
	}
	return path, nil
}

// answerOf stands for a project in a file's name.
func answerOf(projectID string) string {
	sum := sha256.Sum256([]byte(projectID))
	return hex.EncodeToString(sum[:6])
}

// DropAnswers removes the answers that are kept about a project and its sessions:
// they hold words of those.
func DropAnswers(home, projectID string) error {
	dir := filepath.Join(home, filepath.FromSlash(answersDir))
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return memoir.Errorf(memoir.CodeStorage, "", "list the answers that are kept: %w", err)
	}
	for _, e := range entries {
		if !strings.Contains(e.Name(), "-"+answerOf(projectID)+"-") {
			continue
		}
		if err := failpoint.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return memoir.Errorf(memoir.CodeStorage, "", "remove an answer that is kept: %w", err)
		}
	}
	return nil
}

// pruneAnswers removes the oldest answers but maxAnswers.
func pruneAnswers(dir string) error {
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return !strings.HasSuffix(e.Name(), answerSuffix) })
	for _, e := range entries[:max(len(entries)-maxAnswers, 0)] {
		if err := failpoint.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
