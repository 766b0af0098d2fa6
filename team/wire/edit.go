package wire

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"memoir"
)

// MaxEdit bounds each of the two texts of an Edit, in bytes.
const MaxEdit = 4 << 10

// An Edit is what a person made of a line of a hub's generation. It is pushed to POST /v1/edits, which takes a Push: a
// hub of the release before answers it with CodeNotFound, where it would ignore a field of POST /v1/push. The texts
// have neither list mark nor citation, nor the names of members behind them. Hash is Of; the hub computes it again.
type Edit struct {
	Hash       string `json:"hash"`
	Generation int    `json:"generation"` // that the person edited
	Before     string `json:"before"`
	After      string `json:"after,omitempty"`   // empty: the line was removed
	Day        string `json:"day"`               // of the edit, UTC: 2006-01-02
	Again      int    `json:"again,omitempty"`   // makes another hash of an edit that was withdrawn
	Machine    string `json:"machine,omitempty"` // its id: what it takes back, another one of the member may hold
}

// Of returns the hash of an edit: 64 hexadecimal digits. An edit is stored once for each member and hash.
func (e Edit) Of() string {
	e.Hash = ""
	text, _ := json.Marshal(e) // of plain fields
	sum := sha256.Sum256([]byte("edit 1\n" + string(text)))
	return hex.EncodeToString(sum[:])
}

// Check returns an error of code memoir.CodeUsage if an edit breaks a rule.
func (e Edit) Check() error {
	for _, text := range []string{e.Before, e.After} {
		if len(text) > MaxEdit || oneLine(text) != text {
			return bad("a text of an edit is not one visible line of at most %d bytes", MaxEdit)
		}
	}
	_, err := time.Parse(time.DateOnly, e.Day)
	if err != nil || e.Before == "" || e.Generation < 1 || e.Before == e.After {
		return bad("an edit has no day, generation or line, or changes nothing")
	}
	if e.Hash != e.Of() {
		return bad("an edit's hash is not that of its content")
	}
	return nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(memoir.Visible(text)), " ") }

// Edit returns an edit as it leaves, and why it stays; that is empty if it may leave. taken is as for Of.
func (l Leaving) Edit(e Edit, taken map[string]bool) (leaf Edit, stays string) {
	e.Before, e.After = oneLine(l.Relative(e.Before)), oneLine(l.Relative(e.After))
	st := memoir.Statement{Text: e.Before, Detail: e.After}
	stays = cmp.Or(l.Secret(st), personal(st, true))
	for e.Hash = e.Of(); taken[e.Hash]; e.Hash = e.Of() {
		e.Again++
	}
	if err := e.Check(); err != nil {
		stays = cmp.Or(stays, err.Error())
	}
	return e, stays
}
