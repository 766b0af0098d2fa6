package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"memoir"
	"memoir/rollout"
)

// redactedID begins the id of a session whose own id holds a secret.
const redactedID = "redacted-"

// cleanHead redacts all that a file's head says, before any of it is stored,
// printed, or names a project. Only the path stays as it is: it is how the file
// is opened.
func (r *run) cleanHead(h rollout.Head) rollout.Head {
	h.Title = memoir.ShortTitle(r.redact(h.Title))
	h.CWD, h.Branch = r.redact(h.CWD), r.redact(h.Branch)
	h.Remote, _, _ = strings.Cut(h.Remote, "?") // what follows is no part of a repository's name
	h.Remote = r.redact(h.Remote)
	for _, id := range []*string{&h.ID, &h.FileID, &h.BaseID, &h.ParentID} {
		if *id != "" && len(r.scanner.Find(*id)) > 0 {
			sum := sha256.Sum256([]byte(*id))
			*id = redactedID + hex.EncodeToString(sum[:8])
		}
	}
	return h
}
