package pipeline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"memoir"
	"memoir/entry"
	"memoir/internal/failpoint"
	"memoir/memory"
	"memoir/store"
)

// Regroup moves sessions out of a project by store.Merge or store.Split, and the files that belong to them. Hand edits
// are recorded before. It waits opts.Wait for the project's lease; then the error has the code memoir.CodeBusy. After a
// crash, the next command moves the files that are left.
func Regroup(ctx context.Context, st *store.Store, opts Options, from memoir.Project,
	do func(context.Context, store.ProjectClaim) error) error {
	p, err := newPhases(st, opts)
	if err != nil {
		return err
	}
	err = p.holding(ctx, from, opts.Wait, func(ctx context.Context, c *consolidation) error {
		if _, err := c.current(ctx); err != nil {
			return err
		}
		return do(ctx, *c.claim)
	})
	if err == nil {
		err = RemoveFolders(ctx, st, opts.Home, p.clean)
		p.keepBackup(ctx, true)
	}
	return err
}

// moveBeside moves the files of a merged project to the one that has its sessions now, and the conversations of a split
// one. A repeated call adds nothing twice.
func moveBeside(ctx context.Context, st *store.Store, home, id, to string) (fault error) {
	root := memory.At(home, id)
	err := root.RewriteBeside(func(name, text string) string {
		if thread, ok := strings.CutPrefix(strings.TrimSuffix(name, ".jsonl"), "conversations/"); ok {
			key, owner := memoir.SessionKey(memoir.SourceConversation, thread), to
			sessions, err := st.Sessions(ctx, store.Filter{Keys: []string{key}})
			if len(sessions) > 0 && sessions[0].ProjectID != "" {
				owner = sessions[0].ProjectID
			}
			dir := memory.At(home, owner).Conversations()
			if err = errors.Join(err, failpoint.MkdirAll(dir, 0o700)); err == nil { // the same file need not be read again
				err = failpoint.Rename(filepath.Join(root.Dir(), name), filepath.Join(dir, thread+".jsonl"))
			}
			fault = errors.Join(fault, err)
			return text
		}
		if to == id {
			return text
		}
		into := memory.At(home, to)
		path := filepath.Join(into.Dir(), name)
		if there, _ := os.ReadFile(path); !strings.Contains(string(there), text) {
			if err := entry.Append(into, path, text); err != nil {
				fault = errors.Join(fault, err)
				return text
			}
		}
		return ""
	})
	return errors.Join(err, fault)
}
