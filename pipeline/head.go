package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"

	"memoir"
	"memoir/rollout"
)

// redactedID begins the id of a session whose own id holds a secret.
const redactedID = "redacted-"

// cleanHead redacts all that a file's head says, before any of it is stored,
// printed, or names a project. Only the path stays as it is: it is how the file
// is opened. A head of which more than the title had to be changed does not
// stand for the file any more, and the next scan does not build on it.
func (r *run) cleanHead(h rollout.Head) rollout.Head {
	raw := h
	byOwn := func(text string) string { // by the rules of its project
		text, _ = r.scannerOf(raw.CWD).Redact(text)
		return text
	}
	h.Title = memoir.ShortTitle(h.CleanTitle(byOwn))
	h.CWD, h.Branch = r.redact(h.CWD), byOwn(h.Branch)
	h.Remote = r.cleanRemote(h.Remote)
	for _, id := range []*string{&h.ID, &h.FileID, &h.BaseID, &h.ParentID} {
		if *id != "" && len(r.scanner.Find(*id)) > 0 {
			sum := sha256.Sum256([]byte(*id))
			*id = redactedID + hex.EncodeToString(sum[:8])
		}
	}
	if h.ID != raw.ID || h.FileID != raw.FileID || h.BaseID != raw.BaseID || h.ParentID != raw.ParentID ||
		h.CWD != raw.CWD || h.Branch != raw.Branch {
		h.Mark = rollout.Mark{}
	}
	return h
}

// cleanRemote redacts the URL of a repository, and leaves out what follows its name.
func (r *run) cleanRemote(remote string) string {
	remote = r.redact(remote) // whole: half a secret is not recognised
	remote, _, _ = strings.Cut(remote, "?")
	if plain, err := url.PathUnescape(remote); err == nil { // no rule sees through its escapes
		if clean := r.redact(plain); clean != plain {
			return clean
		}
	}
	return remote
}
