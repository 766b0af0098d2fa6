package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"memoir"
)

// GET /v1/archive?project=KEY answers with the newest published generation of a project: an archive as memory.Pack
// makes it, of type ArchiveType, with the header GenerationHeader. Its ETag is the quoted SHA-256 of the body, so an
// If-None-Match of the same is answered with 304. Without a generation the code is CodeNotFound. WaitingHeader is the
// number of the newest generation that this member may accept; without one there is no such header. ExpiresHeader says
// when the token ends, in RFC 3339. LimitedHeader says in the same form until when work on the project waits, since a
// spending limit is reached. POST /v1/sessions answers with both, too. A hub of the release before says neither.
const (
	ArchiveType      = "application/zstd"
	GenerationHeader = "Memoir-Generation"
	WaitingHeader    = "Memoir-Waiting"
	ExpiresHeader    = "Memoir-Token-Expires"
	LimitedHeader    = "Memoir-Limited"
	MaxArchive       = 8 << 20
)

// GET /v1/archive?project=KEY&waiting=true answers with the newest generation that waits, which has what the earlier
// ones have. An Accept is the body of POST /v1/accept, which publishes one that waits if it is as it was shown: by its
// hash, and against the published one. Else the code is CodeNotFound. Both are for members with the role Admin.
type Accept struct {
	Project    string `json:"project"`
	Generation int64  `json:"generation"`
	Hash       string `json:"hash"`      // SHA-256 of its archive
	Published  int64  `json:"published"` // the generation that machines get; 0: none
}

// A Transcript is the body of POST /v1/sessions: one session of a machine that is gone before it could extract. The hub
// extracts it as the member that sent it, once for each hash, and then deletes the items. They are redacted by the
// client, and by the hub once more before they are stored.
type Transcript struct {
	Project string          `json:"project"`
	Session string          `json:"session"` // SessionHash
	Source  memoir.Source   `json:"source"`  // the agent
	Ended   time.Time       `json:"ended"`
	Items   json.RawMessage `json:"items"` // []memoir.Item in order; directories of the project are relative
}

// Hash returns what names a transcript: 64 hexadecimal digits. It is sent once for each hash.
func (t Transcript) Hash() string {
	sum := sha256.Sum256([]byte("transcript 1\n" + t.Session + "\n" + string(t.Items)))
	return hex.EncodeToString(sum[:])
}

// Accepted is the answer to a Transcript.
type Accepted struct {
	New bool `json:"new"` // false: the hub has had it
}

// Check returns an error of code memoir.CodeUsage if a transcript breaks a rule. It does not look at the items.
func (t Transcript) Check() error {
	if !IsHex(t.Session, SessionDigits) || t.Ended.IsZero() {
		return bad("a transcript has no session or end")
	}
	return CheckProject(t.Project)
}
