package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"memoir"
	"memoir/bench/memory/marks"
	"memoir/pipeline"
	"memoir/rollout"
	"memoir/secrets"
)

// marked is a real session with what a person found in it to be worth remembering.
type marked struct {
	Session     string `yaml:"session"` // its file, relative to the corpus
	marks.Marks `yaml:",inline"`
	path        string // of the marks
}

// readMarks reads every marks file in a directory, in order; one that does not exist
// holds none.
func readMarks(dir string) ([]marked, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.yml"))
	if err != nil {
		return nil, err
	}
	var out []marked
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		m := marked{path: path}
		if err := marks.Decode(path, data, &m); err != nil {
			return nil, err
		}
		if !filepath.IsLocal(m.Session) {
			return nil, marks.Errorf(path, "session %q is no path below the corpus", m.Session)
		}
		if err := m.Check(path, nil); err != nil {
			return nil, err
		}
		for _, f := range m.Facts {
			if len(f.Proof) == 0 {
				return nil, marks.Errorf(path, "%s has no proof", f.ID)
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// realSession is a session of the corpus as Phase 1 sees it.
type realSession struct {
	marked
	session memoir.Session
	items   []memoir.Item
}

// load reads and redacts the session of one marks file, which names only items that
// there are.
func (m marked) load(ctx context.Context, corpus string, scanner *secrets.Scanner) (realSession, error) {
	r := realSession{marked: m}
	path := filepath.Join(corpus, filepath.FromSlash(m.Session))
	if _, err := os.Stat(path); err != nil {
		return r, marks.Errorf(m.path, "the corpus has no session %s", m.Session)
	}
	head, err := rollout.Probe(rollout.Entry{File: memoir.File{Path: path}})
	if err != nil {
		return r, err
	}
	parts := rollout.Thread(rollout.Part{Path: path, Head: head})
	loaded, err := pipeline.Load(ctx, scanner, parts, "", nil)
	if err != nil {
		return r, err
	}
	first, last := parts[0].Head, parts[len(parts)-1].Head
	r.session = memoir.Session{ID: head.ID, Source: head.Source, Kind: head.Kind, Title: first.Title, CWD: first.CWD,
		Branch: head.Branch, Remote: head.Remote, CreatedAt: first.CreatedAt, UpdatedAt: last.UpdatedAt}
	r.items = loaded.Items
	return r, r.Check(r.path, func(evidence string) bool {
		return slices.ContainsFunc(r.items, func(it memoir.Item) bool { return strconv.Itoa(it.N) == evidence })
	})
}

// eachReal loads the marked sessions one after the other. Without a corpus it fails
// with memoir.CodeNotFound.
func eachReal(ctx context.Context, o options, scanner *secrets.Scanner, fn func(realSession) error) error {
	all, err := readMarks(filepath.Join(o.data, "corpus"))
	if err != nil {
		return err
	}
	if _, err := os.Stat(o.corpus); err != nil {
		return memoir.Errorf(memoir.CodeNotFound, "", "there are no real sessions in %s", o.corpus)
	}
	for _, m := range all {
		r, err := m.load(ctx, o.corpus, scanner)
		if err != nil {
			return err
		}
		if err := fn(r); err != nil {
			return err
		}
	}
	return nil
}
