package rollout

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A session's file is a log: a message with an id that is known replaces the
// earlier one, {"$set":{"messages":[…]}} replaces all, {"$rewindTo":id}
// takes back a message and what follows, or everything if the id is unknown. A
// compression sets messages too, and begins with a summary: what was said before it
// was said all the same, and is kept.

// geminiSpot is where a message stands: in which record, and in which place of the
// list in it, -1 where it is the record.
type geminiSpot struct{ record, elem int32 }

// geminiMessage is a message that stands.
type geminiMessage struct {
	spot geminiSpot
	id   uint64
	key  uint64    // of id and type: an answer and what was answered to its call may share an id
	at   time.Time // when it was first written: a resumed session has them all with a new time
	said bool      // counts as undone if it is taken back
}

type geminiPlan struct {
	messages []geminiMessage
	times    map[geminiSpot]time.Time // of the messages that stand: when they were first written
	results  map[uint64]bool          // hashes of the ids of calls that were answered
	undone   int
}

// geminiLine is what a record is: a message, unless one of these is there.
type geminiLine struct {
	set    []byte // a patch
	rewind []byte // the id of the message before which all is taken back to
	head   bool
	list   []byte // the messages that a patch or a head came with
}

// parseGeminiLine looks at a record's members once; most records begin with an id,
// and are messages.
func parseGeminiLine(raw []byte) geminiLine {
	l, id, session := geminiLine{}, false, false
	each(raw, func(key, value []byte) bool {
		switch string(key) {
		case "id":
			id = true
			return l.set != nil
		case "$set":
			l.set = value
		case "$rewindTo":
			l.rewind = value
		case "sessionId":
			session = isString(value)
		case "messages":
			l.list = value
		}
		return true
	})
	if l.head = session && !id; l.set != nil {
		l.list = get(l.set, "messages")
	} else if !l.head {
		l.list = nil
	}
	return l
}

// eachGemini calls fn for the messages in a record: the elements of a patch's list,
// those of a head that came with a list, or the record itself.
func eachGemini(l geminiLine, raw []byte, fn func(elem int32, m []byte) bool) {
	if list := l.list; isArray(list) {
		n := int32(0)
		elements(list, func(m []byte) bool {
			n++
			return fn(n-1, m)
		})
		return
	}
	if l.set == nil && l.rewind == nil && !l.head {
		fn(-1, raw)
	}
}

func planGemini(ctx context.Context, t *tape) (*geminiPlan, error) {
	p := &geminiPlan{results: map[uint64]bool{}, times: map[geminiSpot]time.Time{}}
	byKey := map[uint64]int{}      // of messages
	seen := map[uint64]time.Time{} // by key
	among := map[uint64]int{}      // messages without an id, by their content
	undone := map[uint64]bool{}    // keys of what was said and no longer stands
	cut := func(from int) {
		for _, m := range p.messages[from:] {
			if delete(byKey, m.key); m.said {
				undone[m.key] = true
			}
		}
		p.messages = p.messages[:from]
	}
	err := t.each(ctx, false, func(at place, raw []byte) error {
		l := parseGeminiLine(raw)
		if id := text(l.rewind); id != "" {
			cut(max(0, slices.IndexFunc(p.messages, func(m geminiMessage) bool { return m.id == textHash(id) })))
			return nil
		}
		compressed := isGeminiCompressed(l.list)
		if l.set != nil && l.list != nil {
			if isArray(l.list) && !compressed {
				cut(0)
			}
			among = map[uint64]int{}
		}
		eachGemini(l, raw, func(elem int32, m []byte) bool {
			id, kind := getText(m, "id"), getText(m, "type")
			g := geminiMessage{spot: geminiSpot{int32(at.index), elem}, id: textHash(id)}
			g.key, g.at = textHash(kind+"\x00"+id), instant(get(m, "timestamp"))
			g.said = (kind == "user" || kind == "gemini") && !p.answers(m)
			if id == "" { // the same words again are said again, but for a list that repeats all
				same := textHash(string(m))
				among[same]++
				g.key = textHash(fmt.Sprint(same, among[same]))
			}
			if first, ok := seen[g.key]; ok {
				g.at = first
			} else {
				seen[g.key] = g.at
			}
			if i, ok := byKey[g.key]; !ok {
				byKey[g.key] = len(p.messages)
				p.messages = append(p.messages, g)
			} else if !compressed { // which repeats what it keeps, behind its summary
				p.messages[i] = g
			}
			return true
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(undone, func(key uint64, _ bool) bool { _, stands := byKey[key]; return stands })
	p.undone = len(undone)
	p.noteTimes()
	return p, nil
}

func (p *geminiPlan) noteTimes() {
	for _, m := range p.messages {
		p.times[m.spot] = m.at
	}
}

// answers notes the calls that a message has the results of, and reports whether it
// consists of nothing else.
func (p *geminiPlan) answers(m []byte) bool {
	only := false
	elements(get(m, "content"), func(part []byte) bool {
		if response := get(part, "functionResponse"); response != nil {
			p.results[textHash(getText(response, "id"))] = true
			only = true
		} else {
			only = false
		}
		return only
	})
	elements(get(m, "toolCalls"), func(call []byte) bool {
		if isArray(get(call, "result")) {
			p.results[textHash(getText(call, "id"))] = true
		}
		return true
	})
	return only
}

// isGeminiCompressed reports whether a list of messages begins with a summary of
// those before it.
func isGeminiCompressed(list []byte) bool {
	found, n := false, 0
	elements(list, func(m []byte) bool {
		n++
		found = getText(m, "type") == "user" && isGeminiSummary(geminiText(get(m, "content")))
		return !found && n < 4
	})
	return found
}

// isGeminiSummary reports whether a text is the client's summary of what it cut off.
func isGeminiSummary(s string) bool {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "{") {
		for _, key := range []string{`"active_tasks"`, `"discovered_facts"`, `"constraints_and_preferences"`,
			`"recent_arc"`} {
			if !strings.Contains(s, key) {
				return false
			}
		}
		return true
	}
	return strings.HasPrefix(s, "<") && strings.Contains(s, "<state_snapshot>") && strings.Contains(s, "</state_snapshot>")
}
