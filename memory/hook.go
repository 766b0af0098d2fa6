package memory

import (
	"sync"

	"memoir/internal/failpoint"
)

// hook lets a test stop a publication before any of its writes. Steps have
// names; those of different files may come in any order.
type hook struct {
	mu sync.Mutex
	at func(step string) error
}

// step is called before each write. What it returns stands for the write's failure.
func (r Root) step(name string) error {
	if r.hook == nil {
		return failpoint.Before(name)
	}
	r.hook.mu.Lock()
	defer r.hook.mu.Unlock()
	return r.hook.at(name)
}
