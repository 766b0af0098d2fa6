package main

import (
	"context"
	"runtime"
	"slices"

	"memoir"
	"memoir/rollout"
)

// session is what the readers make of one session.
type session struct {
	head  rollout.Head
	items []memoir.Item
	stats rollout.Stats
}

// collect reads every session below a home directory, in order of creation.
// What cannot be read is said in problems.
func collect(ctx context.Context, home string) (sessions []session, problems []string, err error) {
	env := rollout.Env{Home: home, GOOS: runtime.GOOS}
	threads := map[string][]rollout.Part{}
	err = rollout.Walk(ctx, env, func(entry rollout.Entry) error {
		head, err := rollout.Probe(entry)
		if err != nil {
			problems = append(problems, err.Error())
			return nil
		}
		key := memoir.SessionKey(head.Source, head.ID)
		threads[key] = append(threads[key], rollout.Part{Path: entry.Path, Head: head})
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for _, parts := range threads {
		parts, _ = rollout.Assemble(parts)
		s := session{head: parts[0].Head}
		s.stats, err = rollout.Read(ctx, parts, func(it memoir.Item) error {
			s.items = append(s.items, it)
			return nil
		})
		if err != nil {
			problems = append(problems, err.Error())
		}
		sessions = append(sessions, s)
	}
	slices.SortFunc(sessions, func(a, b session) int { return a.head.CreatedAt.Compare(b.head.CreatedAt) })
	slices.Sort(problems)
	return sessions, problems, nil
}
