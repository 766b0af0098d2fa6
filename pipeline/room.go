package pipeline

import (
	"context"
	"strings"

	"golang.org/x/sync/semaphore"

	"memoir"
	"memoir/config"
)

// Bounds on the memory that a session needs while it is read, in bytes.
const (
	mostRoom  = 16_000_000 // maxHeld, and about as much for its extraction
	smallRoom = 1_000_000  // most of a small session
	perByte   = 3          // for each byte of its file
)

// room limits the sessions at work by the number of workers and by memories.maxResidentMegabytes. Half of the
// heap (config.Memories.Heap) is for large sessions and an eighth for small ones. The rest is for one large
// record and for shared data.
//
// Large and small sessions wait in separate queues. In one queue a small session would wait behind a large
// one, or a large one would be overtaken by small ones for ever.
type room struct{ large, small, workers *semaphore.Weighted }

func newRoom(m config.Memories, workers int) room {
	return room{
		large:   semaphore.NewWeighted(max(m.Heap()/2, mostRoom)),
		small:   semaphore.NewWeighted(max(m.Heap()/8, smallRoom)),
		workers: semaphore.NewWeighted(int64(workers)),
	}
}

// needOf bounds the memory that a session needs. The size of a database or a compressed file does not limit
// it.
func needOf(s memoir.Session) int64 {
	var need int64
	for _, f := range s.Files {
		if !strings.HasSuffix(f.Path, ".jsonl") && !strings.HasSuffix(f.Path, ".json") {
			return mostRoom
		}
		need += min(perByte*f.Size, mostRoom)
	}
	return min(need, mostRoom)
}

func isLarge(s memoir.Session) bool { return needOf(s) > smallRoom }

// share is the part of a room that a session at work uses.
type share struct {
	room  room
	line  *semaphore.Weighted
	bytes int64
}

// enter waits until memory for a session, then a worker, is free. The error is ctx's.
func (r room) enter(ctx context.Context, session memoir.Session) (*share, error) {
	s := &share{room: r, line: r.small, bytes: needOf(session)}
	if isLarge(session) {
		s.line = r.large
	}
	if err := s.line.Acquire(ctx, s.bytes); err != nil {
		return nil, err
	}
	if err := r.workers.Acquire(ctx, 1); err != nil {
		s.shrink(0)
		return nil, err
	}
	return s, nil
}

// shrink releases the memory above to bytes.
func (s *share) shrink(to int64) {
	if to < s.bytes {
		s.line.Release(s.bytes - to)
		s.bytes = to
	}
}

// leave releases the share.
func (s *share) leave() {
	s.shrink(0)
	s.room.workers.Release(1)
}
