package rollout

import (
	"cmp"
	"hash/maphash"
)

// claudeLineage finds the lines that a resumed or forked session repeats.
var claudeLineage = &lineage{mark: claudeMark}

// claudeMark reads what a line says of where it comes from. A fork keeps the ids,
// or names the old one; its answers name the session that asked for them, and lines
// of a session that was resumed under another id may bear the old id still.
func claudeMark(raw []byte) (m mark) {
	uuid, session, asked, chain := "", "", "", false
	var fork, said []byte
	each(raw, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			switch word(value) {
			case "user", "assistant", "system", "attachment":
				chain = true
			}
		case "uuid":
			uuid = text(value)
		case "sessionId":
			session = text(value)
		case "requestSessionId":
			asked = text(value)
		case "timestamp":
			m.at = instant(value)
		case "forkedFrom":
			fork = value
		case "message":
			said = get(value, "content")
		case "isSidechain":
			if isTrue(value) { // of a sub-agent's conversation, which no fork repeats
				uuid, chain = "", false
				return false
			}
		}
		return true
	})
	if !chain || uuid == "" {
		return mark{at: m.at}
	}
	m.numbered = !uuidForm.MatchString(uuid)
	entry := func(uuid string) uint64 {
		id := textHash(uuid) ^ maphash.Bytes(hashSeed, said)
		if !uuidForm.MatchString(uuid) { // a copy keeps the time
			id ^= uint64(m.at.UnixNano())
		}
		return id
	}
	m.own, m.id = textHash(uuid), entry(uuid)
	if of := getText(fork, "messageUuid"); of != "" {
		m.of = entry(of)
	}
	m.origin = cmp.Or(getText(fork, "sessionId"), asked, session)
	return m
}
