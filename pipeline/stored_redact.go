package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/internal/failpoint"
	"memoir/store"
)

// StoredRedaction is what RedactStored did.
type StoredRedaction struct {
	Found       StoredReport   // before
	Left        StoredReport   // after; what is in it is kept, or could not be read
	Rows        int            // of the database that were rewritten
	Files       int            // that were rewritten
	Archives    int            // generations whose archive was rewritten
	Generations []RedactedIn   // that were published
	Removed     []string       // copies of the database
	Redactions  map[string]int // replacements by rule
	Resumed     bool           // a process that died had begun
}

// RedactedIn is a project whose live memory became a new generation.
type RedactedIn struct {
	Project    string `json:"project"`
	From       int    `json:"from"`
	Generation int    `json:"generation"`
}

// maxSweeps bounds how often everything is gone through again because something was
// stored meanwhile.
const maxSweeps = 3

// RedactStored takes the secrets that ScanStored finds out of all that a home keeps. The
// database's texts are rewritten row by row, its free pages and log emptied, copies
// of it removed; the live files of a project become a new generation without them,
// and archives and other files are replaced one by one, each in one step. Hashes that
// decide what is work stay, so that nothing is extracted or consolidated because of it.
//
// While another process holds work it waits opts.Wait; then the error has the
// code memoir.CodeBusy and nothing was changed. A process that dies on the way leaves a
// journal: calling it again finishes.
func RedactStored(ctx context.Context, st *store.Store, opts Options, dryRun bool) (out StoredRedaction, err error) {
	s, err := newSweep(ctx, st, opts)
	if err != nil {
		return out, err
	}
	s.sources = []source{}
	out.Generations, out.Redactions = []RedactedIn{}, map[string]int{}
	if dryRun {
		out.Found, err = s.find(ctx)
		out.Left = out.Found
		return out, s.asInterrupt(ctx, err)
	}
	err = s.redactAll(ctx, &out)
	maps.Copy(out.Redactions, s.counts)
	return out, s.asInterrupt(ctx, err)
}

func (s *sweep) redactAll(ctx context.Context, out *StoredRedaction) (err error) {
	if err := s.waitForOthers(ctx); err != nil {
		return err
	}
	if err := FinishMoves(ctx, s.store, s.home); err != nil {
		return err
	}
	if err := s.finishForgetting(ctx); err != nil { // which looks for texts that may be secrets
		return err
	}
	if out.Resumed, err = s.recallJournal(); err != nil {
		return err
	}
	if out.Found, err = s.find(ctx); err != nil {
		return err
	}
	out.Left = out.Found
	for round := 1; out.Left.Redactable() > 0 || out.Resumed && round == 1; round++ {
		if round > maxSweeps {
			return memoir.Errorf(memoir.CodeChanged, "call it again", "%d places hold secrets that were stored while others were taken out", out.Left.Redactable())
		}
		if err := s.keepJournal(); err != nil {
			return err
		}
		if err := s.redactOnce(ctx, out); err != nil {
			return err
		}
		if err := s.dropJournal(); err != nil {
			return err
		}
		s.sources = []source{}
		if out.Left, err = s.find(ctx); err != nil {
			return err
		}
	}
	if s.project != "" || len(out.Left.Places) > 0 || len(out.Left.Unread) > 0 {
		return nil
	}
	return noteRules(ctx, s.store, s.opts.ConfigDir)
}

// waitForOthers waits until nobody holds work.
func (s *sweep) waitForOthers(ctx context.Context) error {
	deadline := time.Now().Add(s.opts.Wait)
	for {
		err := s.store.Working(ctx)
		if memoir.CodeOf(err) != memoir.CodeBusy || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(200*time.Millisecond, s.opts.Wait)):
		}
	}
}

// redactOnce rewrites all that was found.
func (s *sweep) redactOnce(ctx context.Context, out *StoredRedaction) error {
	before := s.known.Counts()
	rows, err := s.store.Rewrite(ctx, s.project, s.maskRow)
	out.Rows += rows
	if err != nil {
		return err
	}
	if err := s.redactFolders(ctx, out); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(out.Left.dirty)) {
		if at := s.placeOf(path); at.area != "" || path == s.store.Path() || path == s.journalPath() {
			continue
		}
		if s.store.IsCopy(path) {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return memoir.Errorf(memoir.CodeStorage, "", "remove the copy of the database: %w", err)
			}
			out.Removed = append(out.Removed, path)
			continue
		}
		if err := s.redactFile(ctx, path); err != nil {
			return err
		}
		out.Files++
	}
	s.counts.Merge(since(before, s.known.Counts()))
	if err := s.sweepUnfinished(); err != nil {
		return err
	}
	failpoint.After("rewrote")
	return s.store.Compact(ctx)
}

// redactFile replaces one file that is no part of a memory.
func (s *sweep) redactFile(ctx context.Context, path string) error {
	in, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return memoir.Errorf(memoir.CodeStorage, "", "rewrite: %w", err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return memoir.Errorf(memoir.CodeStorage, "", "rewrite: %w", err)
	}
	owner := s.placeOf(path).owner
	return replaceFile(path, info.Mode().Perm(), func(f *os.File) error {
		text, encoding, err := Decode(in)
		if err == nil {
			_, err = io.WriteString(f, encoding.Mark())
		}
		if err == nil {
			err = Pieces(ctx, text, pieceSize, func(piece Piece) error {
				_, err := io.WriteString(f, encoding.Encode(s.maskPart(owner, piece)))
				return err
			})
		}
		return errors.Join(err, os.Chtimes(f.Name(), info.ModTime(), info.ModTime()))
	})
}

// sweepUnfinished removes what processes that died left of files that were to replace
// others.
func (s *sweep) sweepUnfinished() error {
	return filepath.WalkDir(s.home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasPrefix(entry.Name(), unfinishedStart) || s.placeOf(path).area == inLive {
			return nil
		}
		if err := failpoint.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return memoir.Errorf(memoir.CodeStorage, "", "remove a file that was not finished: %w", err)
		}
		return nil
	})
}

// joined makes one error of those of several projects.
func joined(errs []error) error {
	if err := errors.Join(errs...); err != nil {
		return worst(errs, fmt.Errorf("redacting: %w", err))
	}
	return nil
}
