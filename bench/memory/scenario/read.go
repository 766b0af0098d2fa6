package scenario

import (
	"fmt"
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
	folders, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, fmt.Errorf("read the scenarios: %w", err)
	}
	var out []Project
	for _, folder := range folders {
		p, err := readProject(filepath.Join(folder, projectFile))
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func readProject(path string) (p Project, err error) {
	if _, err := read(path, &p); err != nil {
		return p, err
	}
	folder := filepath.Dir(path)
	switch {
	case p.Name != filepath.Base(folder):
		return p, marks.Errorf(path, "the project is called %q, its folder %q", p.Name, filepath.Base(folder))
	case !strings.HasPrefix(p.Dir, "/"):
		return p, marks.Errorf(path, "dir %q is not absolute", p.Dir)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.yml"))
	if err != nil {
		return p, fmt.Errorf("read the scenarios: %w", err)
	}
	for _, file := range files {
		if file == path {
			continue
		}
		s, err := readSession(file)
		if err != nil {
			return p, err
		}
		p.Sessions = append(p.Sessions, s)
	}
	return p, p.Check(path, func(e string) bool { // a session, by its name or number
		return slices.ContainsFunc(p.Sessions, func(s Session) bool {
			number, _, _ := strings.Cut(s.Name, "-")
			return s.Name == e || number == e || strings.TrimLeft(number, "0") == e
		})
	})
}

func readSession(path string) (s Session, err error) {
	if s.Planted, err = read(path, &s); err != nil {
		return s, err
	}
	switch {
	case s.Name+".yml" != filepath.Base(path):
		return s, marks.Errorf(path, "the session is called %q", s.Name)
	case !slices.Contains(Agents, memoir.Source(s.Agent)):
		return s, marks.Errorf(path, "no agent is called %q; there are %v", s.Agent, Agents)
	}
	at := s.At.UTC()
	for i := range s.Said {
		e := &s.Said[i]
		if err := e.complete(path, i+1); err != nil {
			return s, err
		}
		if e.At.IsZero() {
			e.At = at
		}
		if e.At.Before(at) {
			return s, marks.Errorf(path, "entry %d: at goes back in time", e.N)
		}
		at = e.At.Add(Step)
	}
	return s, s.Check(path, func(evidence string) bool {
		n, err := strconv.Atoi(evidence)
		return err == nil && n >= 1 && n <= len(s.Said)
	})
}

// kinds are the keys that say what an entry is, in the order of Kind.
var kinds = []string{"person", "agent", "run", "read", "edit", "write", "search", "tool", "refused", "queued",
	"interrupted", "injected", "summary"}

// complete makes the nth entry of its file of what was decoded: one key says what it is, others
// go with it.
func (e *Entry) complete(path string, n int) error {
	e.N, e.At, e.Output, e.Fails = n, e.At.UTC(), strings.TrimRight(e.Output, "\n"), strings.TrimSpace(e.Fails)
	kind := -1
	for key, node := range e.Kinds {
		kind = slices.Index(kinds, key)
		e.Kind, e.Text = Kind(kind), strings.TrimSpace(node.Value)
	}
	if len(e.Kinds) != 1 || kind < 0 {
		return marks.Errorf(path, "entry %d has one key of %s, not %d", n, strings.Join(kinds, ", "), len(e.Kinds))
	}
	switch e.Kind {
	case Refused: // a call; it has no result
		node := e.Kinds["refused"]
		e.Call, e.Text = &Entry{}, strings.TrimSpace(e.Reason)
		if err := node.Decode(e.Call); err != nil {
			return marks.Errorf(path, "entry %d: %v", n, err)
		}
		if err := e.Call.complete(path, n); err != nil {
			return err
		}
		if !e.Call.IsCall() {
			return marks.Errorf(path, "entry %d: only a tool call can be refused", n)
		}
	case Edit:
		if e.Old == e.New {
			return marks.Errorf(path, "entry %d: an edit that changes nothing", n)
		}
	}
	if e.Text == "" && e.Kind != Refused {
		return marks.Errorf(path, "entry %d: %s is empty", n, kinds[e.Kind])
	}
	return nil
}

// read reads a file with the fakes in it, and lists what of them must not turn up anywhere.
func read(path string, out any) (planted []string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the scenarios: %w", err)
	}
	if data, planted, err = fill(path, data); err != nil {
		return nil, err
	}
	return planted, marks.Decode(path, data, out)
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
