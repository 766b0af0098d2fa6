// Package wire is what a machine and a hub send each other: JSON bodies over HTTP, with the rules that both check. It
// knows neither a database nor the network. docs/teams.md describes the protocol for people; hub/openapi.json is its
// schema.
package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"memoir"
)

// Version is the version of the protocol that this program speaks, sent as the header VersionHeader. A hub serves
// clients of one version older and newer. Fields are only added; kinds and fields that a reader does not know are kept.
const (
	Version       = 1
	VersionHeader = "Memoir-Protocol"
)

// Bounds of one push. A body may be smaller; a larger one is refused as a whole.
const (
	MaxItems      = 500     // statements, edits and tombstones
	MaxBytes      = 4 << 20 // of the body
	MaxStatement  = 64 << 10
	MaxProject    = 500 // bytes of a project's key
	MaxPage       = 1000
	MaxMemberName = 40
)

// Role is what a member may do in a project: a reader pulls and withdraws its own, a writer also pushes, an admin also
// accepts generations that wait, and grants. An admin of every project also erases members.
type Role string

// The roles, each with the rights of those before it.
const (
	Reader Role = "reader"
	Writer Role = "writer"
	Admin  Role = "admin"
)

// Roles are all roles.
var Roles = []Role{Reader, Writer, Admin}

// EveryProject stands for the key of a project: every one, also those to come.
const EveryProject = "*"

// A Statement is what leaves a machine of a memoir.Statement. Hash is Of(Session, Own, Day, Body); the hub computes it
// again. No field names a directory, a title or a branch.
type Statement struct {
	Hash    string          `json:"hash"`
	Session string          `json:"session"`       // SessionHash
	Own     bool            `json:"own,omitempty"` // for the member's own machines only
	Day     string          `json:"day"`           // of the session's end, UTC: 2006-01-02
	Body    json.RawMessage `json:"body"`          // a memoir.Statement without id, quote and items; unknown fields stay
}

// Of returns the hash of a statement: 64 hexadecimal digits. A statement is stored once for each member and hash.
func Of(session string, own bool, day string, body []byte) string {
	if own {
		session += " own"
	}
	sum := sha256.Sum256(append([]byte("statement 1\n"+session+"\n"+day+"\n"), body...))
	return hex.EncodeToString(sum[:])
}

// SessionHash returns what stands for a session: the same on every machine that has its transcript. What only memoir
// has is numbered or named on each machine, so machine is part of it.
func SessionHash(key, machine string) string {
	if !memoir.IsKept(key) {
		machine = ""
	}
	sum := sha256.Sum256([]byte("session 1\n" + machine + "\n" + key))
	return hex.EncodeToString(sum[:SessionDigits/2])
}

// The lengths of a statement's hash and of a SessionHash.
const (
	HashDigits    = 64
	SessionDigits = 24
)

// Push is the body of POST /v1/push. It is carried out whole or not at all. What is known already changes nothing, and
// a hash with a tombstone of this member does not come back.
type Push struct {
	Project    string      `json:"project"` // key; see Page
	Statements []Statement `json:"statements,omitempty"`
	Edits      []Edit      `json:"edits,omitempty"`
	Tombstones []string    `json:"tombstones,omitempty"` // hashes of the member's; they need not be known
	// Unshared says that the machine shares the project no more. Another one of the member may send again what the
	// tombstones withdraw, unless a person withdrew it.
	Unshared bool `json:"unshared,omitempty"`
}

// Items counts what a push has.
func (p Push) Items() int { return len(p.Statements) + len(p.Edits) + len(p.Tombstones) }

// Pushed is the answer to a Push.
type Pushed struct {
	Epoch string `json:"epoch"`
	New   int    `json:"new"` // items that were not known
	// Withdrawn are the hashes of statements and edits that are not stored, since they have a tombstone.
	Withdrawn []string `json:"withdrawn,omitempty"`
	Again     []string `json:"again,omitempty"` // those of them that may be sent under another hash
}

// Cursor is a place in a project's changes: "EPOCH.SEQ", opaque to a client. A hub whose database was restored has a
// new epoch: it then answers from the start, and Page.Epoch tells the client to send again what it has.
type Cursor string

// Page is the answer to GET /v1/pull?project=KEY&after=CURSOR&limit=N: changes in the order in which they were
// committed. A project's key is its canonical remote, or the name that people gave it with --as. An empty cursor begins
// at the start. A limit is 1 to MaxPage.
type Page struct {
	Epoch  string   `json:"epoch"`
	Items  []Change `json:"items"`
	Cursor Cursor   `json:"cursor"`
	More   bool     `json:"more"`
}

// Change is a statement that was pushed, or one that was withdrawn. Then Gone is set and only Member and Hash with it.
type Change struct {
	Member string `json:"member"` // its name
	Gone   bool   `json:"gone,omitempty"`
	Statement
}

// Join is the body of POST /v1/join: a one-time code for a token of this machine.
type Join struct {
	Code    string `json:"code"`
	Machine string `json:"machine"` // a name for people, as in the list of machines
}

// Check returns an error of code memoir.CodeUsage if the name of the machine breaks a rule.
func (j Join) Check() error { return CheckName(j.Machine, 100) }

// Rotate is the body of POST /v1/rotate: the token of this machine from now on. Without a body, the hub makes one.
type Rotate struct {
	Token string `json:"token"` // 26 letters and digits of base32, at random
}

// Joined is the answer to a Join, to POST /v1/rotate, which replaces the token that it is called with, and, without a
// token, to GET /v1/me. DELETE /v1/me revokes the token that it is called with.
type Joined struct {
	Token        string    `json:"token,omitempty"`
	Expires      time.Time `json:"expires"`
	Organisation string    `json:"organisation"`
	Member       string    `json:"member"`
	Machine      string    `json:"machine"` // its id
	Epoch        string    `json:"epoch"`
}

// Machine is a machine of the member: GET /v1/machines answers with all that have a valid token, by id, and
// DELETE /v1/machines/ID revokes the token of one.
type Machine struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Seen    time.Time `json:"seen"` // within ten minutes
	Expires time.Time `json:"expires"`
	This    bool      `json:"this,omitempty"` // it asks
}

// Grant is the body of POST /v1/grant: the role that a member of the caller's organisation gets in a project, in place
// of the one that was given for it; None ends that. It is for members with the role Admin there, and so is Erase, the
// body of POST /v1/erase, in every project. What is refused has the code CodeForbidden: a hub of the release before
// answers CodeNotFound.
type Grant struct {
	Member  string `json:"member"`
	Project string `json:"project"` // its key, or EveryProject
	Role    Role   `json:"role"`
}

// None is the role of a member who has none.
const None Role = "none"

// Granted is the answer to a Grant: the role that counts there now. That is the highest: one for every project counts
// in each.
type Granted struct {
	Role Role `json:"role"`
}

// Check returns an error of code memoir.CodeUsage if a grant breaks a rule.
func (g Grant) Check() error {
	if g.Role != None && !slices.Contains(Roles, g.Role) {
		return bad("a role is reader, writer or admin, or none to end it, not %q", memoir.Cut(string(g.Role), 60))
	}
	if err := CheckProject(g.Project); err != nil && g.Project != EveryProject {
		return err
	}
	return Erase{g.Member}.Check()
}

// Erase names the member that is removed with all that they have sent.
type Erase struct {
	Member string `json:"member"`
}

// Check returns an error of code memoir.CodeUsage if the name breaks a rule.
func (e Erase) Check() error { return CheckName(e.Member, MaxMemberName) }

// Erased is the answer to an Erase.
type Erased struct {
	Erased int `json:"erased"` // statements and edits
}

// Problem is the body of every answer that is not 2xx, after RFC 9457. Code is for programs.
type Problem struct {
	Title string `json:"title"`
	Code  string `json:"code"`
	Hint  string `json:"hint,omitempty"`
	Rule  string `json:"rule,omitempty"` // of a secret
	Hash  string `json:"hash,omitempty"` // of the statement that is refused
}

// The codes of a Problem.
const (
	CodeUsage        = "usage"
	CodeUnauthorised = "unauthorised"
	CodeRevoked      = "revoked"
	CodeForbidden    = "forbidden"
	CodeNotFound     = "not_found"
	CodeTooLarge     = "too_large"
	CodeSecret       = "secret"
	CodeVersion      = "version"
	CodeUnavailable  = "unavailable"
)

// Check returns an error of code memoir.CodeUsage if a push breaks a rule.
func (p Push) Check() error {
	if err := CheckProject(p.Project); err != nil {
		return err
	}
	if n := p.Items(); n == 0 || n > MaxItems {
		return bad("a push has %d items, not 1 to %d", n, MaxItems)
	}
	for _, s := range p.Statements {
		if err := s.Check(); err != nil {
			return err
		}
	}
	for _, e := range p.Edits {
		if err := e.Check(); err != nil {
			return err
		}
	}
	for _, hash := range p.Tombstones {
		if !IsHex(hash, HashDigits) {
			return bad("a tombstone is no hash")
		}
	}
	return nil
}

// Check returns an error of code memoir.CodeUsage if a statement breaks a rule.
func (s Statement) Check() error {
	if len(s.Body) > MaxStatement {
		return bad("a statement has %d bytes, more than %d", len(s.Body), MaxStatement)
	}
	var compact bytes.Buffer // what is encoded again keeps its hash
	if json.Compact(&compact, s.Body) != nil || len(s.Body) < len(`{"":0}`) || s.Body[0] != '{' || !utf8.Valid(s.Body) {
		return bad("a statement's body is no JSON object")
	}
	if !bytes.Equal(compact.Bytes(), s.Body) {
		return bad("a statement's body has blanks between its parts")
	}
	if _, err := time.Parse(time.DateOnly, s.Day); err != nil || !IsHex(s.Session, SessionDigits) {
		return bad("a statement has no day or session")
	}
	if s.Hash != Of(s.Session, s.Own, s.Day, s.Body) {
		return bad("a statement's hash is not that of its content")
	}
	return nil
}

func bad(format string, args ...any) error {
	return memoir.Errorf(memoir.CodeUsage, "", format, args...)
}

// CheckProject returns an error of code memoir.CodeUsage if key can't be a project's.
func CheckProject(key string) error {
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part == "." || part == ".." || key == EveryProject {
			return bad("%q is no key of a project: no part of one is empty, . or .., and * is all", memoir.Cut(key, 60))
		}
	}
	return CheckName(key, MaxProject)
}

// CheckName returns an error of code memoir.CodeUsage unless a name is printable, without spaces at its ends, and has 1
// to most bytes.
func CheckName(name string, most int) error {
	if name == "" || len(name) > most || strings.TrimSpace(name) != name || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return bad("%q is no name: one is printable and has 1 to %d bytes", memoir.Cut(name, 60), most)
	}
	return nil
}

// IsHex reports whether a text is a hash of a number of digits.
func IsHex(text string, digits int) bool {
	return len(text) == digits && strings.Trim(text, "0123456789abcdef") == ""
}
