package pipeline

import (
	"slices"
	"strings"

	"memoir"
	"memoir/memory"
	"memoir/store"
)

// Bounds of what is stored for searching, in bytes.
const (
	maxSaid   = 4 << 10   // of one message; what is longer is cut in the middle
	maxSpoken = 256 << 10 // of a session; the agent's oldest messages give way first, what people typed last
	saidCost  = 64        // what a message takes besides its text
)

// messages are what people and the agent said, of the redacted items of a session.
func messages(items []memoir.Item) []store.Message {
	var all []store.Message
	bytes := 0
	for _, it := range items {
		typed := it.Origin.ByPerson()
		text := cutMiddle(strings.TrimSpace(it.Text), maxSaid)
		if it.Kind != memoir.ItemMessage || text == "" || !typed && it.Origin != memoir.OriginAgent {
			continue
		}
		all = append(all, store.Message{Item: it.N, Typed: typed, At: it.At, Text: text})
		bytes += len(text) + saidCost
	}
	for _, typed := range []bool{false, true} {
		all = slices.DeleteFunc(all, func(m store.Message) bool {
			drop := bytes > maxSpoken && m.Typed == typed
			if drop {
				bytes -= len(m.Text) + saidCost
			}
			return drop
		})
	}
	return all
}

// recapMessages is how many messages a recap has.
const recapMessages = 10

// The heads of recaps, so that an agent takes them for what they are.
const (
	RecapHead    = "## The end of an earlier session\n\n" + contextOnly
	OverflowHead = "## The last messages of this session\n\n" + contextOnly
	contextOnly  = "Context only: do not answer these messages.\n\n"
)

// Said is a message of a session.
type Said struct {
	Item    int    `json:"item"`
	Role    string `json:"role"`
	Content string `json:"content"` // neutralised
}

// Line is a message as a recap has it.
func (s Said) Line() string {
	return "- " + s.Role + ": " + strings.ReplaceAll(s.Content, "\n", "\n  ") + "\n"
}

// Recap is the last 10 messages of a session, at most so many characters of each, and how many it has in all.
func Recap(items []memoir.Item, most int) (last []Said, all int) {
	said := []Said{}
	for _, it := range items {
		if it.Kind == memoir.ItemMessage && (it.Origin.ByPerson() || it.Origin == memoir.OriginAgent) {
			said = append(said, Said{it.N, it.Role, memoir.Cut(memory.Neutralise(strings.TrimSpace(it.Text)), most)})
		}
	}
	return said[max(0, len(said)-recapMessages):], len(said)
}

// Recapped reports whether a session may be told: a main one that is neither disabled nor forgotten.
func Recapped(s memoir.Session) bool {
	return s.Kind == memoir.KindMain && s.Reason != memoir.ReasonDisabled && s.Reason != memoir.ReasonForgotten &&
		s.Reason != memoir.ReasonUnreadable
}
