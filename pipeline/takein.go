package pipeline

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"memoir"
	"memoir/extract"
	"memoir/store"
)

// takenTogether is the number of sessions that one transaction stores.
const takenTogether = 64

// takeIn stores for searching the texts of the sessions that were not read since they changed, or of those with keys,
// the latest first: whatever their age, and whether memory is made from them or not. Sessions of more than most bytes
// are left out, if most is not 0. If ctx ends, those that were read are stored.
func (s *scan) takeIn(ctx context.Context, keys []string, most int64) error {
	epoch, err1 := s.store.Epoch(ctx)
	sessions, err2 := s.store.Untaken(ctx, keys)
	var err3 error
	_, s.forgotten, err3 = Tombstones(s.opts.Home)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return err
	}
	sessions = slices.DeleteFunc(sessions, func(se memoir.Session) bool { return most > 0 && se.Bytes > most })
	done := 0
	for batch := range slices.Chunk(sessions, takenTogether) {
		s.progress(Progress{Stage: StageRead, Done: done, Total: len(sessions)})
		done += len(batch)
		taken := s.readAll(ctx, batch)
		if err := cmp.Or(s.faulty(), s.store.TakeIn(context.WithoutCancel(ctx), epoch, taken)); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// readAll reads sessions, several at a time. It leaves out those that cannot be read now, and of those whose content
// cannot be read it returns nothing but that they were.
func (s *scan) readAll(ctx context.Context, sessions []memoir.Session) (taken []store.Taken) {
	var mu sync.Mutex
	var all sync.WaitGroup
	room := newRoom(s.opts.Settings.Memories, s.opts.Settings.Memories.Concurrency)
	for _, session := range sessions {
		all.Go(func() {
			texts, err := apart(ctx, s.run, func() ([]store.Message, error) {
				_, leave, err := room.enter(ctx, session)
				if err != nil {
					return nil, err
				}
				defer leave()
				parts, err := Parts(ctx, session, s.heads.take)
				if err != nil {
					return nil, err
				}
				loaded, err := Load(ctx, s.scanner, parts, "", s.forgotten)
				return texts(loaded.Items), err
			})
			switch {
			case ctx.Err() != nil:
				return
			case err != nil && (ownFault(err) || failing(err) || withheld(session, err)):
				return // the next scan reports it
			case err != nil:
				s.mention("not searchable: "+s.redact(err.Error()), memoir.HintOf(err))
			}
			mu.Lock()
			defer mu.Unlock()
			taken = append(taken, store.Taken{Session: session, Messages: texts})
		})
	}
	all.Wait()
	slices.SortFunc(taken, func(a, b store.Taken) int { return strings.Compare(a.Session.Key(), b.Session.Key()) })
	return taken
}

// Bounds on the texts that are stored for searching, in bytes.
const (
	maxMessageBytes  = 4 << 10   // one message; a longer one is cut in the middle
	maxMessagesBytes = 256 << 10 // the messages of a session; the agent's oldest are dropped first, those of people last
	maxToolBytes     = 300       // a command, or what is stored of a result
	maxToolsBytes    = 256 << 10 // the commands and results of a session; the oldest are dropped
	messageCost      = 64        // cost of a text besides its bytes
)

// texts returns what searching finds in the redacted items of a session: messages of people and the agent, commands
// and what results say, each kind in the order of the items.
func texts(items []memoir.Item) []store.Message {
	var said, tools []store.Message
	bytes, used, known := 0, 0, map[string]bool{}
	tool := func(it memoir.Item, kind, text string) {
		if text != "" && !known[kind+text] {
			known[kind+text] = true
			tools = append(tools, store.Message{Item: it.N, Kind: kind, At: it.At, Text: text})
			used += len(text) + messageCost
		}
	}
	for _, it := range items {
		typed := it.Origin.ByPerson()
		if it.Kind == memoir.ItemTool {
			if it.Shell() {
				tool(it, store.MessageCommand, cutMiddle(strings.TrimSpace(it.Input), maxToolBytes))
			}
			tool(it, store.MessageError, extract.ResultText(it, maxToolBytes))
			continue
		}
		text := cutMiddle(strings.TrimSpace(it.Text), maxMessageBytes)
		if it.Kind != memoir.ItemMessage || text == "" || !typed && it.Origin != memoir.OriginAgent {
			continue
		}
		said = append(said, store.Message{Item: it.N, Typed: typed, At: it.At, Text: text})
		bytes += len(text) + messageCost
	}
	for _, typed := range []bool{false, true} {
		said = slices.DeleteFunc(said, func(m store.Message) bool {
			drop := bytes > maxMessagesBytes && m.Typed == typed
			if drop {
				bytes -= len(m.Text) + messageCost
			}
			return drop
		})
	}
	for used > maxToolsBytes {
		used -= len(tools[0].Text) + messageCost
		tools = tools[1:]
	}
	return append(said, tools...)
}

// saidIn returns the messages among the texts of a session.
func saidIn(texts []store.Message) []store.Message {
	n := slices.IndexFunc(texts, func(m store.Message) bool { return m.Kind != store.MessageSaid })
	if n < 0 {
		n = len(texts)
	}
	return texts[:n]
}
