package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"memoir"
	"memoir/bench/memory/marks"
	"memoir/bench/memory/scenario"
	"memoir/bench/memory/transcript"
	"memoir/pipeline"
	"memoir/rollout"
	"memoir/secrets"
)

// marked is a real session with what a person found in it to be worth remembering.
type marked struct {
	Session string       `yaml:"session"` // its file, relative to the corpus
	Facts   []marks.Fact `yaml:"facts"`
	Traps   []marks.Trap `yaml:"traps"`
	path    string       // of the marks
}

// readMarks reads every marks file below a directory, in order; one that does not
// exist holds none.
func readMarks(dir string) ([]marked, error) {
	var out []marked
	seen := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yml") {
			if path == dir && errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		m := marked{path: path}
		if err := marks.Decode(path, data, &m); err != nil {
			return err
		}
		if !filepath.IsLocal(m.Session) {
			return marks.Errorf(path, "session %q is no path below the corpus", m.Session)
		}
		if other := seen[m.Session]; other != "" {
			return marks.Errorf(path, "%s marks the same session", other)
		}
		seen[m.Session] = path
		if err := marks.Check(path, m.Facts, m.Traps, nil); err != nil {
			return err
		}
		for _, f := range m.Facts {
			if len(f.Proof) == 0 {
				return marks.Errorf(path, "%s has no proof", f.ID)
			}
		}
		out = append(out, m)
		return nil
	})
	return out, err
}

// realSession is a session of the corpus as Phase 1 sees it.
type realSession struct {
	marked
	session memoir.Session
	items   []memoir.Item
}

// load reads and redacts the session of one marks file.
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
	loaded, err := pipeline.Load(ctx, scanner, parts, "")
	if err != nil {
		return r, err
	}
	first, last := parts[0].Head, parts[len(parts)-1].Head
	r.session = memoir.Session{ID: head.ID, Source: head.Source, Kind: head.Kind, Title: first.Title, CWD: first.CWD,
		Branch: head.Branch,
		Remote: head.Remote, CreatedAt: first.CreatedAt, UpdatedAt: last.UpdatedAt}
	r.items = loaded.Items
	return r, r.checkEvidence()
}

// checkEvidence fails if a mark names an item that there is not.
func (r realSession) checkEvidence() error {
	known := func(evidence string) bool {
		return slices.ContainsFunc(r.items, func(it memoir.Item) bool { return strconv.Itoa(it.N) == evidence })
	}
	return marks.Check(r.path, r.Facts, r.Traps, known)
}

// eachReal loads the marked sessions one after the other. Without a corpus it fails
// with memoir.CodeNotFound.
func eachReal(ctx context.Context, o options, fn func(realSession) error) error {
	all, err := readMarks(filepath.Join(o.data, "corpus"))
	if err != nil {
		return err
	}
	if !isDir(o.corpus) {
		return memoir.Errorf(memoir.CodeNotFound, "", "there are no real sessions in %s", o.corpus)
	}
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		return err
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

// written is one session on the disk.
type written struct {
	project, session string
	id               string // the agent's id of it
}

// writeSessions writes the sessions below a directory.
func writeSessions(dir string, projects []scenario.Project) ([]written, error) {
	var out []written
	for _, p := range projects {
		for _, s := range p.Sessions {
			file := transcript.New(p, s)
			if _, err := file.Save(dir); err != nil {
				return nil, err
			}
			out = append(out, written{p.Name, s.Name, file.ID})
		}
	}
	return out, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
