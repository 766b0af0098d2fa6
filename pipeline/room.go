package pipeline

import (
	"context"
	"strings"

	"golang.org/x/sync/semaphore"

	"memoir"
	"memoir/config"
)

// What a session takes of memory while it is read, at most, in bytes.
const (
	mostRoom  = 16_000_000 // maxHeld, and about as much for what is made of it
	smallRoom = 1_000_000  // up to this it is a small one
	perByte   = 3          // of its file
)

// room is what the sessions that are at work may take together: of workers, and of
// memories.maxResidentMegabytes. A part of these is for the heap (config.Memories.Heap), of which half is for
// large sessions, an eighth for small ones, and the rest for one large record and for what all share.
//
// Large and small sessions wait in lines of their own, first come first served. In one line a small
// session would wait behind a large one, and a large one for as long as small ones pass it.
type room struct{ large, small, workers *semaphore.Weighted }

func newRoom(m config.Memories, workers int) room {
	return room{
		large:   semaphore.NewWeighted(max(m.Heap()/2, mostRoom)),
		small:   semaphore.NewWeighted(max(m.Heap()/8, smallRoom)),
		workers: semaphore.NewWeighted(int64(workers)),
	}
}

// needOf is what a session takes at most. Of a database or a compressed file the size tells nothing.
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

// share is what a session at work takes of a room.
type share struct {
	room  room
	line  *semaphore.Weighted
	bytes int64
}

// enter waits until there is memory for a session, then for a worker. The error is ctx's.
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

// shrink gives back what turned out not to be needed.
func (s *share) shrink(to int64) {
	if to < s.bytes {
		s.line.Release(s.bytes - to)
		s.bytes = to
	}
}

// leave gives everything back.
func (s *share) leave() {
	s.shrink(0)
	s.room.workers.Release(1)
}
