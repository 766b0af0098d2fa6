package rollout

import (
	"hash/maphash"
	"strings"
)

// contentText joins the texts of a message's content, which is a string, a block or
// an array of them. Images and other data are left out.
func contentText(content []byte) string {
	return joinBlocks(content, nil)
}

// userBlocks joins those blocks that kinds marks as the user's.
func userBlocks(content []byte, kinds []string) string { return joinBlocks(content, kinds) }

func joinBlocks(content []byte, kinds []string) string {
	switch {
	case isString(content):
		return text(content)
	case isObject(content):
		return getText(content, "text")
	}
	var out strings.Builder
	i := 0
	elements(content, func(block []byte) bool {
		keep := kinds == nil || i >= len(kinds) || kinds[i] == "user.text" || kinds[i] == "unknown"
		i++
		if !keep {
			return true
		}
		var s string
		if isString(block) {
			s = text(block)
		} else if s = getText(block, "text"); isImageTag(s) {
			return true
		}
		if out.Len() > 0 && s != "" {
			out.WriteByte('\n')
		}
		out.WriteString(s)
		return out.Len() <= maxText
	})
	return out.String()
}

// contentKinds says what each block of a message is (0.142 and later), nil if the
// message does not say, and whether the user typed any of them.
func contentKinds(p []byte) (kinds []string, typed bool) {
	elements(get(p, "internal_chat_message_metadata_passthrough", "content_item_kinds"), func(v []byte) bool {
		kind := text(v)
		typed = typed || kind == "user.text"
		kinds = append(kinds, kind)
		return true
	})
	return kinds, typed
}

var hashSeed = maphash.MakeSeed()

func textHash(s string) uint64 { return maphash.String(hashSeed, s) }
