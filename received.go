package memoir

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// Sources of sessions whose statements another machine extracted: another member's, and this person's own. Their
// transcripts are not here.
const (
	SourceTeam    Source = "team"
	SourceMachine Source = "machine"
)

// IsReceived reports whether a session's key is that of statements that another machine sent.
func IsReceived(key string) bool {
	source, _ := SplitKey(key)
	return source == SourceTeam || source == SourceMachine
}

// ReceivedKey returns the key of the statements that a member sent of one session; SessionHash is session. An empty
// member is this person.
func ReceivedKey(member, session string) string {
	if member == "" {
		return SessionKey(SourceMachine, session)
	}
	return SessionKey(SourceTeam, member+"-"+session)
}

// receivedDigits is the length of a session's hash in a key; a repository's has that of its project behind it.
const receivedDigits, repositoryDigits = 24, 34

// Numbered returns the key of a group of which n keys are taken: something of it was withdrawn, or another project has
// it. No key begins with another one, since what names a forgotten session must go.
func Numbered(base string, n int) string {
	if n == 0 {
		return base
	}
	at := max(strings.IndexByte(base, ':'), strings.LastIndexByte(base, '-')) + 1
	return base[:at] + fmt.Sprintf("%02x", n) + base[at:]
}

// ReceivedGroup returns a key without its number, and the hash of the session.
func ReceivedGroup(key string) (base, session string) {
	at := max(strings.IndexByte(key, ':'), strings.LastIndexByte(key, '-')) + 1
	digits := key[at:]
	switch n := len(digits); {
	case n > repositoryDigits:
		digits = digits[n-repositoryDigits:]
	case n > receivedDigits && n < repositoryDigits:
		digits = digits[n-receivedDigits:]
	}
	return key[:at] + digits, digits[:min(len(digits), receivedDigits)]
}

// IsRepository reports whether a session's key is that of statements that a repository has.
func IsRepository(key string) bool {
	base, session := ReceivedGroup(key)
	return IsReceived(key) && !strings.HasSuffix(base, session)
}

// CountedAs returns what a session is counted by: one that several members have counts once.
func CountedAs(key string) string {
	if IsReceived(key) {
		_, key = ReceivedGroup(key)
	}
	return key
}

// AddReceived adds what a machine sent of a session to its extraction, in the order of days and hashes.
func (e *Extraction) AddReceived(day, hash string, statements ...Statement) error {
	at, err := time.Parse(time.DateOnly, day)
	sum := sha256.Sum256([]byte(e.ContentHash + hash))
	e.StartedAt, e.EndedAt, e.ContentHash, e.Model = at, at, hex.EncodeToString(sum[:]), "received"
	e.Statements = append(e.Statements, statements...)
	return err
}

// MemberOf returns the other member that a session's statements are from; empty if they are this person's.
func MemberOf(key string) string {
	source, id := SplitKey(key)
	if source != SourceTeam {
		return ""
	}
	return id[:max(0, strings.LastIndexByte(id, '-'))]
}

// EditHere is HandEdit.Hub of a hub's line that is removed on this machine alone.
const EditHere = -1

// FromTeam returns the end of a line that only other members' statements support. WithoutTeam removes it. In Markdown,
// an underscore of a name stands for itself.
func FromTeam(members []string) string {
	return fromTeam + strings.ReplaceAll(strings.Join(members, ", "), "_", `\_`) + ")"
}

// HubsWords is the end of a line about what members' sessions say, in the words of the members who changed it, else in
// the hub's own.
func HubsWords(cited, editors []string) string {
	words := hubsWords
	if len(editors) > 0 {
		words = changedBy + strings.Join(editors, ", ") + citing
	}
	return FromTeam([]string{words + strings.Join(cited, ", ")})
}

// WithoutTeam removes the end that FromTeam adds to a line, and all like it before: a text may end with one.
func WithoutTeam(line string) string {
	at := strings.LastIndex(line, fromTeam)
	if at >= 0 && strings.IndexByte(line[at:], ')') == len(line[at:])-1 {
		return WithoutTeam(line[:at])
	}
	return line
}

// TeamOf returns the members that the end of a line names, and those who are said to have changed it; see FromTeam and
// HubsWords.
func TeamOf(line string) (members, editors []string) {
	if WithoutTeam(line) == line {
		return nil, nil
	}
	end := strings.TrimSuffix(line[strings.LastIndex(line, fromTeam)+len(fromTeam):], ")")
	end = strings.TrimPrefix(strings.ReplaceAll(end, `\_`, "_"), hubsWords)
	if by, cited, changed := strings.Cut(end, citing); changed {
		editors, end = strings.Split(strings.TrimPrefix(by, changedBy), ", "), cited
	}
	return strings.Split(end, ", "), editors
}

// Answered reports whether a person answered about a line, by the times of answers. Whose the line is may have changed
// since.
func Answered(at map[string]int64, line string) bool {
	return at[LineKey(line)] > 0 || at[LineKey(WithoutTeam(LineText(line)))] > 0
}

const (
	fromTeam  = " (from the team: "
	hubsWords = "the hub's words" + citing
	changedBy = "changed by "
	citing    = ", citing "
)
