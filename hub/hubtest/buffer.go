package hubtest

import (
	"bytes"
	"sync"
)

// Buffer takes what hubs and workers log at once. Read it when they have ended.
type Buffer struct {
	mu sync.Mutex
	bytes.Buffer
}

// Write appends to the buffer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}
