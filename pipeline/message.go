package pipeline

import (
	"slices"
	"strings"

	"memoir"
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
