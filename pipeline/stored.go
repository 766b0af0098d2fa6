package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/consolidate"
	"memoir/internal/disk"
	"memoir/memory"
	"memoir/project"
	"memoir/secrets"
	"memoir/store"
)

// StoredPlace is where a secret was found. No field contains the secret.
type StoredPlace struct {
	Rule   string `json:"rule"`
	Path   string `json:"path"`   // of the file; the place in an archive or database follows after "#"
	Line   int    `json:"line"`   // from 1; 0: it is in the name
	Column int    `json:"column"` // in characters, from 1; 0: it is in the name
	Hint   string `json:"hint"`

	Project    string `json:"project,omitempty"`    // the project that it belongs to
	Generation int    `json:"generation,omitempty"` // of the archive that it is in
	File       string `json:"file,omitempty"`       // in the archive
	Table      string `json:"table,omitempty"`      // of the database
	Field      string `json:"field,omitempty"`      // column of the table
	Key        string `json:"key,omitempty"`        // of the row

	live string // path in the live memory, or of a file beside it that forgetting rewrites
}

// StoredReport is the result of ScanStored.
type StoredReport struct {
	Places []StoredPlace `json:"findings"`
	Texts  int           `json:"-"`      // number of scanned texts
	Unread []string      `json:"unread"` // files that could not be read, and why
}

// ScanStored searches stored texts for secrets: the database, live memories, the archives of generations, and
// logs. A value that a rule finds in one text is found in all others as well. With opts.ProjectIDs, which
// then has one id, it scans only texts of that project, and no logs.
func ScanStored(ctx context.Context, st *store.Store, opts Options) (StoredReport, error) {
	s, err := newStoredScan(ctx, st, opts)
	if err != nil {
		return StoredReport{}, err
	}
	return s.findSecrets(ctx)
}

// storedScan scans all stored texts.
type storedScan struct {
	*phases
	project  string            // only texts of this project; empty: all
	known    *secrets.Redactor // knows the secrets of all texts that were scanned
	projects []store.ProjectRow
	texts    int // number of texts in this pass
	unread   []string
}

func newStoredScan(ctx context.Context, st *store.Store, opts Options) (*storedScan, error) {
	r, err := newPhases(st, opts)
	if err != nil {
		return nil, err
	}
	s := &storedScan{phases: r, known: r.scanner.Session()}
	s.projects, err = st.Projects(ctx)
	if len(opts.ProjectIDs) > 0 {
		s.project = opts.ProjectIDs[0]
		s.projects = slices.DeleteFunc(s.projects, func(p store.ProjectRow) bool { return p.ID != s.project })
	}
	return s, err
}

// findSecrets scans all texts twice, since a rule may find a value only in the last text that has it.
func (s *storedScan) findSecrets(ctx context.Context) (StoredReport, error) {
	report := StoredReport{Places: []StoredPlace{}}
	err := s.each(ctx, func(_ StoredPlace, text string) { s.known.Text(text) })
	if err == nil && len(s.known.Counts()) > 0 {
		for _, p := range s.projects {
			for _, identity := range append(p.Aliases, p.Identity) {
				s.known.LearnName(project.Named(identity).Name, identity)
			}
		}
		titles := map[string]string{}
		err = s.each(ctx, func(at StoredPlace, text string) {
			switch at.Table + "." + at.Field {
			case "extraction.title":
				titles[at.Key] = text
			case "extraction.rollout_slug": // the texts of the database come before names of files
				s.known.LearnName(text, titles[at.Key])
			}
			report.Places = append(report.Places, s.places(at, text)...)
		})
	}
	report.Texts, report.Unread = s.texts, s.unread
	return report, err
}

// A looker is called for each text. The line of a place is 0 if the text is a name, else -1.
type looker func(at StoredPlace, text string)

// each calls look for each stored text.
func (s *storedScan) each(ctx context.Context, look looker) error {
	s.texts, s.unread = 0, []string{}
	counted := func(at StoredPlace, text string) {
		if s.texts++; s.texts%64 == 0 {
			s.progress(Progress{Stage: StageSearch, Done: s.texts})
		}
		look(at, text)
	}
	err := s.store.Texts(ctx, s.project, func(t store.Text) error {
		at := StoredPlace{Path: s.store.Path(), Line: -1, Project: t.ProjectID, Table: t.Table, Field: t.Column, Key: t.Key}
		if t.Name {
			at.Line = 0
		}
		counted(at, t.Plain())
		return nil
	})
	for _, p := range s.projects {
		if err == nil {
			err = s.eachInRoot(ctx, p.ID, memory.At(s.opts.Home, p.ID), counted)
		}
	}
	if err != nil || s.project != "" {
		return err
	}
	for _, name := range logFiles {
		path := filepath.Join(s.opts.Home, filepath.FromSlash(name))
		text, err := disk.ReadFile(path, maxLog)
		if err == nil {
			counted(StoredPlace{Path: path, Line: -1}, string(text))
		} else if !errors.Is(err, fs.ErrNotExist) {
			s.leave(path, err)
		}
	}
	return nil
}

// leave records a file that cannot be read.
func (s *storedScan) leave(path string, err error) {
	s.unread = append(s.unread, s.redact(fmt.Sprintf("%s: %v", path, err)))
}

// eachInRoot calls look for the live files of a root, for files that were saved too late to be merged, and
// for the files in its archives.
func (s *storedScan) eachInRoot(ctx context.Context, projectID string, root memory.Root, look looker) error {
	both := func(at StoredPlace, name string, content []byte) {
		at.Project = projectID
		look(at, name)
		at.Line = -1
		look(at, memory.Readable(name, content))
	}
	live, err := root.Current()
	if err != nil {
		return err
	}
	for _, name := range live.Files.Paths() {
		path := filepath.Join(root.Live(live.Generation), filepath.FromSlash(name))
		at := StoredPlace{Path: path, live: name}
		if name == memory.StatementsFile { // it is made again from the extractions
			at.live = ""
		}
		both(at, name, live.Files[name])
	}
	late, err := root.Beside()
	if err != nil {
		s.leave(filepath.Join(root.Dir(), "unmerged"), err)
	}
	for _, name := range late.Paths() {
		path := filepath.Join(root.Dir(), filepath.FromSlash(name))
		at := StoredPlace{Path: path, Line: -1, Project: projectID}
		if !strings.HasPrefix(name, "unmerged/") {
			at.live = name
		}
		look(at, string(late[name]))
	}
	generations, err := root.Generations()
	for _, g := range generations {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		archive := root.Archive(g.Number)
		files, err := root.ReadArchive(g.Number)
		if err != nil {
			s.leave(archive, err)
		}
		for _, name := range files.Paths() {
			both(StoredPlace{Path: archive, Generation: g.Number, File: name}, name, files[name])
		}
	}
	return err
}

// elsewhere is the hint for a secret that a rule finds only in another text.
const elsewhere = "known from another place"

// places lists where a text has secrets.
func (s *storedScan) places(at StoredPlace, text string) []StoredPlace {
	masked := s.known.Text(text)
	if masked == text {
		return nil
	}
	named := at.Line == 0
	at = s.shown(at)
	var found []StoredPlace
	for _, f := range s.scanner.Find(text) {
		at.Rule, at.Hint, at.Line, at.Column = f.Rule, f.Hint, f.Line, f.Column
		if named {
			at.Line, at.Column = 0, 0
		}
		found = append(found, at)
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
	_, marker, _ := strings.Cut(masked, "[REDACTED:")
	at.Rule, _, _ = strings.Cut(marker, "]")
	return []StoredPlace{at}
}

// shown redacts the names in a place, so that it is safe to print.
func (s *storedScan) shown(at StoredPlace) StoredPlace {
	at.Path, at.Key, at.File = s.known.Text(at.Path), s.known.Text(at.Key), s.known.Text(at.File)
	at.Project = s.known.Text(at.Project)
	switch {
	case at.Table != "":
		at.Path += "#" + at.Table + "." + at.Field + "[" + at.Key + "]"
	case at.File != "":
		at.Path += "#" + at.File
	}
	return at
}

// logFiles are the logs of background runs, which may quote sessions.
var logFiles = []string{"log/run.log", "log/run.log.1", "log/startup.log", "log/startup.log.1"}

// maxLog bounds the size of a log that is searched, in bytes; a run rotates logs at 1 MiB.
const maxLog = 64 << 20

// Found lists where a text was found, as memoir.Folded compares it.
type Found struct {
	Sessions []memoir.Session // whose extraction, messages, title or directory contain it, the latest first
	Lines    []FoundLine      // of live memories, journals, histories and conversations, by project
	Projects []string         // ids of those whose memory, archives or hand edits contain it; sorted
}

// Empty reports whether nothing was found.
func (f Found) Empty() bool { return len(f.Sessions)+len(f.Projects) == 0 }

// FoundLine is a line of a live memory, or of a file beside it.
type FoundLine struct {
	Project string
	Path    string // in the memory, or in the project's folder
	Line    int    // from 1; 0: the path contains the text
	Text    string
}

// FindText searches extractions, messages and memories for a text, but not transcripts. Forgotten sessions
// are left out. opts.ProjectIDs limits it to projects.
func FindText(ctx context.Context, st *store.Store, opts Options, text string) (Found, error) {
	var out Found
	text = memoir.Folded(text)
	s, err := newStoredScan(ctx, st, opts)
	if err != nil {
		return out, err
	}
	extracted := map[string]bool{}
	err = s.each(ctx, func(at StoredPlace, value string) {
		held := memoir.LinesHolding(value, text)
		switch {
		case len(held) == 0:
			return
		case slices.Contains([]string{"extraction", "fallback", "said", "searchable"}, at.Table):
			extracted[at.Key] = true
			return
		case at.Table == "message":
			_, key, _ := strings.Cut(at.Key, " ")
			extracted[key] = true
			return
		case at.Table != "hand_edit" && at.Table != "" || at.Project == "":
			return
		case at.live != "" && at.Line == 0: // the path
			out.Lines = append(out.Lines, FoundLine{Project: at.Project, Path: at.live})
		case at.live != "":
			lines := strings.Split(value, "\n")
			for _, n := range held {
				out.Lines = append(out.Lines, FoundLine{at.Project, at.live, n, strings.TrimSpace(lines[n-1])})
			}
		}
		out.Projects = append(out.Projects, at.Project)
	})
	if err != nil {
		return out, err
	}
	slices.Sort(out.Projects)
	out.Projects = slices.Compact(out.Projects)
	if err := supporting(opts.Home, out.Lines, extracted); err != nil {
		return out, err
	}
	sessions, err := st.Sessions(ctx, store.Filter{})
	for _, session := range sessions {
		about := strings.Join([]string{session.Title, session.CWD, session.Branch, session.Remote, session.Error}, "\n")
		wanted := session.Reason != memoir.ReasonForgotten && (s.project == "" || s.project == session.ProjectID)
		if wanted && (extracted[session.Key()] || strings.Contains(memoir.Folded(about), text)) {
			out.Sessions = append(out.Sessions, session)
		}
	}
	return out, err
}

// supporting adds the sessions that a line of MEMORY.md cites if none of them contains the text. Otherwise
// the next consolidation would make the line from them again.
func supporting(home string, lines []FoundLine, holding map[string]bool) error {
	for _, line := range lines {
		if line.Path != memoir.MemoryFile {
			continue
		}
		live, err := memory.At(home, line.Project).Current()
		if err != nil {
			return err
		}
		inputs := live.Manifest.Inputs
		var cited []string
		for _, ref := range consolidate.Cited(line.Text, live.Manifest.Citations) {
			for _, in := range inputs {
				if consolidate.Cites(ref, in.Session) {
					cited = append(cited, in.Session)
				}
			}
		}
		if !slices.ContainsFunc(cited, func(key string) bool { return holding[key] }) {
			for _, key := range cited {
				holding[key] = true
			}
		}
	}
	return nil
}
