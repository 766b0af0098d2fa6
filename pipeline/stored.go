package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir/memory"
	"memoir/secrets"
	"memoir/store"
)

// StoredPlace is where a secret was found. No field holds the secret itself.
type StoredPlace struct {
	Rule   string `json:"rule"`
	Path   string `json:"path"`   // of the file; the name of what is inside an archive or a database follows "#"
	Line   int    `json:"line"`   // from 1; 0: it is in the name
	Column int    `json:"column"` // in characters, from 1; 0: it is in the name
	Hint   string `json:"hint"`

	Project    string `json:"project,omitempty"`    // the project that it belongs to
	Generation int    `json:"generation,omitempty"` // of the archive that it is in
	File       string `json:"file,omitempty"`       // in the archive
	Table      string `json:"table,omitempty"`      // of the database
	Field      string `json:"field,omitempty"`      // column of the table
	Key        string `json:"key,omitempty"`        // of the row
}

// StoredReport is what ScanStored found.
type StoredReport struct {
	Places []StoredPlace
	Texts  int      // that were looked at
	Unread []string // what could not be read, and why
}

// ScanStored looks for secrets in what memoir made of sessions: the texts of the database,
// live memories, the archives of their generations, and logs. A value that a rule knows in
// one text is found in all others, too. With opts.ProjectIDs, which then holds one, only
// what is that project's is looked at, and no log.
func ScanStored(ctx context.Context, st *store.Store, opts Options) (StoredReport, error) {
	s, err := newSweep(ctx, st, opts)
	if err != nil {
		return StoredReport{}, err
	}
	return s.find(ctx)
}

// sweep goes through all that is stored.
type sweep struct {
	*run
	project   string            // only what is this project's; empty: all
	known     *secrets.Redactor // knows the secrets of all texts seen so far
	redactors map[string][]*secrets.Redactor
	projects  []store.ProjectRow
	texts     int // looked at, this time
	unread    []string
}

func newSweep(ctx context.Context, st *store.Store, opts Options) (*sweep, error) {
	r, err := newRun(st, opts)
	if err != nil {
		return nil, err
	}
	s := &sweep{run: r, known: r.scanner.Session(), redactors: map[string][]*secrets.Redactor{}}
	if s.projects, err = st.Projects(ctx); err != nil {
		return nil, err
	}
	if len(opts.ProjectIDs) > 0 {
		s.project = opts.ProjectIDs[0]
		s.projects = slices.DeleteFunc(s.projects, func(p store.ProjectRow) bool { return p.ID != s.project })
	}
	for _, p := range s.projects {
		if fault := s.obey(p.Project); fault != nil {
			return nil, fmt.Errorf("project %s: %w", p.ID, fault)
		}
		for _, scanner := range s.scannersFor(p.ID) {
			s.redactors[p.ID] = append(s.redactors[p.ID], s.known.By(scanner))
		}
	}
	return s, nil
}

// mask returns a text without secrets, by the rules of its project, and learns those that
// the rules see.
func (s *sweep) mask(projectID, text string) string {
	redactors := s.redactors[projectID]
	if len(redactors) == 0 {
		return s.known.Text(text)
	}
	for _, redactor := range redactors {
		text = redactor.Text(text)
	}
	return text
}

// maskName is mask for the name of a file.
func (s *sweep) maskName(projectID, name string) string {
	masked := s.mask(projectID, name)
	if masked == name {
		return name
	}
	return strings.NewReplacer(markerStart, "redacted-", "]", "").Replace(masked)
}

// markerStart begins what stands in the place of a secret.
const markerStart = "[REDACTED:"

// find goes through everything twice: a rule may know a value only in the last text that
// holds it.
func (s *sweep) find(ctx context.Context) (StoredReport, error) {
	report := StoredReport{Places: []StoredPlace{}}
	err := s.each(ctx, func(at StoredPlace, text string) { s.mask(at.Project, text) })
	if err == nil && s.known.Secrets() > 0 {
		err = s.each(ctx, func(at StoredPlace, text string) {
			report.Places = append(report.Places, s.places(at, text)...)
		})
	}
	report.Texts, report.Unread = s.texts, s.unread
	return report, err
}

// A looker is called for each text. The line of a place is 0 if the text is a name, else -1.
type looker func(at StoredPlace, text string)

// each calls look for everything that is stored.
func (s *sweep) each(ctx context.Context, look looker) error {
	s.texts, s.unread = 0, nil
	counted := func(at StoredPlace, text string) {
		if s.texts++; s.texts%64 == 0 {
			s.progress(Progress{Stage: StageSecrets, Done: s.texts})
		}
		look(at, text)
	}
	err := s.store.Texts(ctx, s.project, func(t store.Text) error {
		at := StoredPlace{Path: s.store.Path(), Line: -1, Project: t.ProjectID, Table: t.Table, Field: t.Column, Key: t.Key}
		if t.Name {
			at.Line = 0
		}
		counted(at, t.Value)
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range s.projects {
		if err := s.eachInRoot(ctx, p.ID, memory.At(s.opts.Home, p.ID), counted); err != nil {
			return err
		}
	}
	if s.project != "" {
		return nil
	}
	return s.eachLog(counted)
}

// eachInRoot calls look for the live files of a root, and for what its archives hold.
func (s *sweep) eachInRoot(ctx context.Context, projectID string, root memory.Root, look looker) error {
	live, err := root.Current()
	if err != nil {
		return err
	}
	for _, path := range live.Files.Paths() {
		at := StoredPlace{Path: filepath.Join(root.Live(live.Generation), filepath.FromSlash(path)), Project: projectID}
		look(at, path)
		at.Line = -1
		look(at, string(live.Files[path]))
	}
	unmerged, err := root.Unmerged()
	if err != nil {
		return err
	}
	for _, path := range unmerged {
		s.lookInto(StoredPlace{Path: path, Line: -1, Project: projectID}, look)
	}
	generations, err := root.Generations()
	if err != nil {
		return err
	}
	for _, g := range generations {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		archive := root.Archive(g.Number)
		files, err := root.ReadArchive(g.Number)
		if err != nil {
			s.unread = append(s.unread, s.redact(fmt.Sprintf("%s: %v", archive, err)))
			continue
		}
		for _, path := range files.Paths() {
			at := StoredPlace{Path: archive, Project: projectID, Generation: g.Number, File: path}
			look(at, path)
			at.Line = -1
			look(at, string(files[path]))
		}
	}
	return nil
}

// eachLog calls look for the files of the log directory.
func (s *sweep) eachLog(look looker) error {
	return filepath.WalkDir(filepath.Join(s.opts.Home, "log"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			s.lookInto(StoredPlace{Path: path, Line: -1}, look)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.unread = append(s.unread, s.redact(fmt.Sprintf("%s: %v", path, err)))
		}
		return nil
	})
}

// lookInto calls look for the text of a file.
func (s *sweep) lookInto(at StoredPlace, look looker) {
	if info, err := os.Lstat(at.Path); err == nil && !info.Mode().IsRegular() {
		return // a link that somebody put there leads elsewhere
	}
	text, err := os.ReadFile(at.Path)
	if err == nil {
		look(at, string(text))
	} else if !errors.Is(err, fs.ErrNotExist) {
		s.unread = append(s.unread, s.redact(fmt.Sprintf("%s: %v", at.Path, err)))
	}
}

// elsewhere is the hint for a secret that only another text tells from other words.
const elsewhere = "known from another place"

// places lists where a text holds secrets.
func (s *sweep) places(at StoredPlace, text string) []StoredPlace {
	masked := s.mask(at.Project, text)
	if masked == text {
		return nil
	}
	named := at.Line == 0
	at = s.shown(at)
	var found []StoredPlace
	for _, scanner := range s.scannersFor(at.Project) {
		for _, f := range scanner.Find(text) {
			at.Rule, at.Hint, at.Line, at.Column = f.Rule, f.Hint, f.Line, f.Column
			if named {
				at.Line, at.Column = 0, 0
			}
			found = append(found, at)
		}
	}
	if len(found) > 0 {
		return slices.Compact(found)
	}
	at.Hint = elsewhere
	same := 0
	for same < min(len(text), len(masked)) && text[same] == masked[same] {
		same++
	}
	if !named {
		before := text[:same]
		at.Line = 1 + strings.Count(before, "\n")
		at.Column = 1 + len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))
	}
	_, marker, _ := strings.Cut(masked, markerStart)
	at.Rule, _, _ = strings.Cut(marker, "]")
	return []StoredPlace{at}
}

// shown makes a place safe to print: no name in it holds a secret.
func (s *sweep) shown(at StoredPlace) StoredPlace {
	at.Path, at.Key, at.File = s.mask(at.Project, at.Path), s.mask(at.Project, at.Key), s.mask(at.Project, at.File)
	switch {
	case at.Table != "":
		at.Path += "#" + at.Table + "." + at.Field + "[" + at.Key + "]"
	case at.File != "":
		at.Path += "#" + at.File
	}
	return at
}

// pathIn is the path of a file relative to the folder of a project.
func pathIn(root memory.Root, path string) string {
	name, err := filepath.Rel(root.Dir(), path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(name)
}
