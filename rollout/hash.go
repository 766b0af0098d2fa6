package rollout

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"memoir"
)

// FilterVersion is the version of the rules that choose and cut items. It grows
// when the same files give other items, so that a content hash of an earlier
// version is known to be incomparable.
const FilterVersion = 1

// Hasher makes the content hash of a thread's items: of what was said and done,
// not of when or where, nor of the files that hold it. The zero value is ready.
type Hasher struct{ h hash.Hash }

// Add takes an item in.
func (h *Hasher) Add(it memoir.Item) {
	if h.h == nil {
		h.h = sha256.New()
	}
	var n [8]byte
	for _, s := range []string{it.Kind, it.Role, string(it.Origin), it.Text, it.Tool, it.Input, it.Output} {
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.h.Write(n[:])
		h.h.Write([]byte(s))
	}
	exit := []byte{0}
	if it.Exit != nil {
		exit = binary.AppendVarint([]byte{1}, int64(*it.Exit))
	}
	h.h.Write(exit)
}

// Sum returns the hash of the items so far, in hexadecimal.
func (h *Hasher) Sum() string {
	if h.h == nil {
		h.h = sha256.New()
	}
	return hex.EncodeToString(h.h.Sum(nil))
}
