package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"memoir"
	"memoir/bench/memory/marks"
	"memoir/testdata"
)

// projectFile describes a project; every other .yml beside it is a session.
const projectFile = "project.yml"

// Agents are those whose sessions can be written.
var Agents = []memoir.Source{memoir.SourceCodex, memoir.SourceClaude}

// ReadAll reads the projects below a directory, one folder each, in order of their
// names; a directory that does not exist holds none. What is not of the form is an
// error with memoir.CodeInvalid that names file and line.
func ReadAll(dir string) ([]Project, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the scenarios: %w", err)
	}
	var out []Project
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		p, err := readProject(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		for _, other := range out {
			if other.Dir == p.Dir || other.Remote == p.Remote && p.Remote != "" {
				return nil, marks.Errorf(filepath.Join(dir, entry.Name(), projectFile), "%s has the same directory or remote",
					other.Name)
			}
		}
		out = append(out, p)
	}
	return out, nil
}

func readProject(dir string) (Project, error) {
	var p Project
	path := filepath.Join(dir, projectFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, marks.Errorf(path, "is missing")
	}
	if err != nil {
		return p, fmt.Errorf("read the scenarios: %w", err)
	}
	if err := marks.Decode(path, data, &p); err != nil {
		return p, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yml"))
	if err != nil {
		return p, fmt.Errorf("read the scenarios: %w", err)
	}
	slices.Sort(files)
	for _, file := range files {
		if filepath.Base(file) == projectFile {
			continue
		}
		s, err := readSession(file)
		if err != nil {
			return p, err
		}
		p.Sessions = append(p.Sessions, s)
	}
	return p, p.check(path)
}

func (p Project) check(path string) error {
	switch {
	case p.Name != filepath.Base(filepath.Dir(path)):
		return marks.Errorf(path, "the project is called %q, its folder %q", p.Name, filepath.Base(filepath.Dir(path)))
	case !strings.HasPrefix(p.Dir, "/"):
		return marks.Errorf(path, "dir %q is not absolute", p.Dir)
	case len(p.Sessions) == 0:
		return marks.Errorf(path, "no session stands beside it")
	}
	return marks.Check(path, p.Facts, p.Traps, p.evidence)
}

// evidence of a project's mark is a session, by its name or number.
func (p Project) evidence(e string) bool {
	return slices.ContainsFunc(p.Sessions, func(s Session) bool {
		number, _, _ := strings.Cut(s.Name, "-")
		return s.Name == e || number == e || strings.TrimLeft(number, "0") == e
	})
}

var sessionName = regexp.MustCompile(`^\d{2}-[a-z0-9.]+(?:-[a-z0-9.]+)*$`)

func readSession(path string) (Session, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Session{}, fmt.Errorf("read the scenarios: %w", err)
	}
	var s Session
	if data, s.Planted, err = fill(path, data); err != nil {
		return s, err
	}
	if err := marks.Decode(path, data, &s); err != nil {
		return Session{}, err
	}
	s.At = s.At.UTC()
	switch {
	case s.Name+".yml" != filepath.Base(path):
		return s, marks.Errorf(path, "the session is called %q", s.Name)
	case !sessionName.MatchString(s.Name):
		return s, marks.Errorf(path, "a session is called <nn>-<words>, not %q", s.Name)
	case !slices.Contains(Agents, memoir.Source(s.Agent)):
		return s, marks.Errorf(path, "no agent is called %q; there are %v", s.Agent, Agents)
	case s.At.IsZero():
		return s, marks.Errorf(path, "at is missing")
	case len(s.Said) == 0:
		return s, marks.Errorf(path, "nothing is said")
	}
	at := s.At
	for i := range s.Said {
		e := &s.Said[i]
		if err := e.complete(path, i+1); err != nil {
			return s, err
		}
		if !e.At.IsZero() && e.At.Before(at) {
			return s, marks.Errorf(path, "entry %d: at goes back in time", e.N)
		}
		if e.At.IsZero() {
			e.At = at
		}
		at = e.At.Add(Step)
	}
	known := func(evidence string) bool {
		n, err := strconv.Atoi(evidence)
		return err == nil && n >= 1 && n <= len(s.Said)
	}
	return s, marks.Check(path, s.Facts, s.Traps, known)
}

// placeholder is one with the blanks before it where it begins a line.
var placeholder = regexp.MustCompile(`(?m)(^ *)?@@SECRET:([a-z0-9-]+)@@`)

// fill puts fakes in the place of the placeholders, and lists what of them must not turn up
// anywhere: a session that holds what looks like a secret is never stored. One of several
// lines stands alone in a block, so that each gets the block's indentation.
func fill(path string, data []byte) (filled []byte, planted []string, err error) {
	filled = placeholder.ReplaceAllFunc(data, func(found []byte) []byte {
		parts := placeholder.FindSubmatch(found)
		indent, rule := string(parts[1]), string(parts[2])
		fake, secrets, ok := testdata.Fake(rule)
		if !ok {
			err = marks.Errorf(path, "there is no fake for the rule %q", rule)
		}
		planted = append(planted, secrets...)
		return []byte(indent + strings.ReplaceAll(fake, "\n", "\n"+indent))
	})
	return filled, planted, err
}
