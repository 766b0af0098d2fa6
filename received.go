package memoir

import "strings"

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

// MemberOf returns the other member that a session's statements are from; empty if they are this person's.
func MemberOf(key string) string {
	source, id := SplitKey(key)
	if source != SourceTeam {
		return ""
	}
	return id[:max(0, strings.LastIndexByte(id, '-'))]
}

// FromTeam returns the end of a line that only other members' statements support. WithoutTeam removes it.
func FromTeam(members []string) string { return fromTeam + strings.Join(members, ", ") + ")" }

// WithoutTeam removes the end that FromTeam adds to a line.
func WithoutTeam(line string) string {
	if at := strings.LastIndex(line, fromTeam); at >= 0 && strings.IndexByte(line[at:], ')') == len(line[at:])-1 {
		return line[:at]
	}
	return line
}

const fromTeam = " (from the team: "
