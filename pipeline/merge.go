package pipeline

import (
	"cmp"
	"context"
	"path"
	"strings"

	"memoir"
	"memoir/entry"
	"memoir/memory"
	"memoir/store"
)

// Merge moves everything of a project into another one, which becomes due: sessions, notes, journals, conversations,
// hand edits, history. The project's memory with its generations is removed. Merge waits opts.Wait for its lease; then
// the error has the code memoir.CodeBusy. After a crash, the next command moves the rest.
func Merge(ctx context.Context, st *store.Store, opts Options, from, into memoir.Project) error {
	return separate(ctx, st, opts, from, func(c *consolidation) error { return st.Merge(ctx, *c.claim, into.ID) })
}

// Split makes parts of a project projects of their own, and all of them due. The memory and the history of the project
// stay as they are until the next run. Errors and crashes are as for Merge.
func Split(ctx context.Context, st *store.Store, opts Options, from memoir.Project, parts []store.Part) error {
	return separate(ctx, st, opts, from, func(c *consolidation) error { return st.Split(ctx, *c.claim, parts) })
}

// separate takes sessions out of a project, under its lease, after its hand edits are recorded.
func separate(
	ctx context.Context, st *store.Store, opts Options, from memoir.Project, do func(*consolidation) error,
) error {
	p, err := newPhases(st, opts)
	if err == nil {
		err = RemoveFolders(ctx, st, opts.Home, p.clean)
	}
	if err == nil {
		err = p.holding(ctx, from, opts.Wait, func(ctx context.Context, c *consolidation) error {
			if _, err := c.current(ctx); err != nil {
				return err
			}
			return do(c)
		})
	}
	if err == nil {
		err = RemoveFolders(ctx, st, opts.Home, p.clean)
	}
	if err == nil {
		p.keepBackup(ctx, true)
	}
	return err
}

// moveBeside moves the files of a merged project to the one that has its sessions now. Of a split one it moves the
// conversations, and removes the lines of journals that are to be filed again.
func moveBeside(ctx context.Context, st *store.Store, home, id, to string) error {
	var failed error
	err := memory.At(home, id).MoveBeside(func(name string) string {
		conversation, ok := strings.CutPrefix(name, "conversations/")
		if to != id || !ok {
			return to
		}
		key := memoir.SessionKey(memoir.SourceConversation, strings.TrimSuffix(path.Base(conversation), ".jsonl"))
		sessions, err := st.Sessions(ctx, store.Filter{Keys: []string{key}})
		if failed = err; err != nil || len(sessions) == 0 || sessions[0].ProjectID == "" {
			return id
		}
		return sessions[0].ProjectID
	})
	if err = cmp.Or(err, failed); err == nil && to == id {
		err = entry.Book{Store: st, Home: home}.EraseUnfiled(ctx, id)
	}
	return err
}
