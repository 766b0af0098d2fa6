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
// number of the newest generation that this member may accept; without one there is no such header.
const (
	ArchiveType      = "application/zstd"
	GenerationHeader = "Memoir-Generation"
	WaitingHeader    = "Memoir-Waiting"
	MaxArchive       = 8 << 20
)

// Accept is the body of POST /v1/accept, which publishes a generation that waits. It does so if nothing has changed
// since that was shown by GET /v1/waiting?project=KEY&generation=N; else the code is CodeNotFound. Both are for members
// with the role Admin in the project.
type Accept struct {
	Project    string `json:"project"`
	Generation int64  `json:"generation"` // 0 in a Waiting: none waits
	Hash       string `json:"hash"`       // SHA-256 of its archive
	Published  int64  `json:"published"`  // the generation that machines get; 0: none
}

// Waiting is the answer to GET /v1/waiting: a generation that waits, the newest one unless the query names another.
// Each is made of all statements, so it has what the earlier ones have.
type Waiting struct {
	Accept
	Waiting []int64   `json:"waiting"` // the numbers of all, the newest first
	Model   string    `json:"model,omitempty"`
	Made    time.Time `json:"made,omitzero"`
	// Diffs are unified diffs of MEMORY.md and files of skills between the published generation and this one.
	Diffs []string `json:"diffs"`
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

// Check returns an error of code memoir.CodeUsage if a transcript breaks a rule.
func (t Transcript) Check() error {
	if err := CheckProject(t.Project); err != nil {
		return err
	}
	var items []memoir.Item
	if json.Unmarshal(t.Items, &items) != nil || len(items) == 0 || !IsHex(t.Session, SessionDigits) || t.Ended.IsZero() {
		return bad("a transcript has no session, end or items")
	}
	return nil
}
