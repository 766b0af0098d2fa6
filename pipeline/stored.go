package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"memoir"
	"memoir/memory"
	"memoir/secrets"
	"memoir/store"
)

// StoredPlace is where something that memoir keeps holds a secret. No field holds the
// secret itself.
type StoredPlace struct {
	Rule   string `json:"rule"`
	Path   string `json:"path"`   // of the file; what is in an archive or a row has "#" and its name behind it
	Line   int    `json:"line"`   // from 1; 0: it is in the name
	Column int    `json:"column"` // in characters, from 1; 0: it is in the name
	Hint   string `json:"hint"`

	Project    string `json:"project,omitempty"`    // whose folder it is in
	Generation int    `json:"generation,omitempty"` // whose archive it is in
	File       string `json:"file,omitempty"`       // in the archive
	Table      string `json:"table,omitempty"`      // of the database
	Field      string `json:"field,omitempty"`      // column of the table
	Key        string `json:"key,omitempty"`        // of the row
	Kept       string `json:"kept,omitempty"`       // why redacting leaves it as it is; empty: it does not

	owner string // the project whose rules count for it, if it may have its own
	file  string // that it is in, as it is called
	shown string // the same, fit to be shown
	name  bool   // the text is a name
	piece *Piece // the text is of this, of a file that is longer
}

// Container is the file that a place in an archive or in the database is in.
func (p StoredPlace) Container() string { return cmp.Or(p.shown, p.Path) }

// StoredReport is what looking through all that is stored found.
type StoredReport struct {
	Places []StoredPlace // in the order of the database's tables, then of paths
	Texts  int           // that were looked at
	Unread []string      // what could not be read, and why

	dirty map[string]bool // files that redacting changes, and the database's
}

// Redactable is how many places redacting would change.
func (r StoredReport) Redactable() (n int) {
	for _, p := range r.Places {
		if p.Kept == "" {
			n++
		}
	}
	return n
}

// ScanStored looks for secrets in all that a home keeps: each text of the database, each
// file and its name, the contents of archives. Where one text tells that a value is a
// secret, its other occurrences are found, too: what it finds is what RedactStored
// changes, and what that would have to leave. With opts.ProjectIDs, which then
// holds one, only what is that project's is looked at. St may be nil: there is no
// database.
func ScanStored(ctx context.Context, st *store.Store, opts Options) (StoredReport, error) {
	s, err := newSweep(ctx, st, opts)
	if err != nil {
		return StoredReport{}, err
	}
	report, err := s.find(ctx)
	return report, s.asInterrupt(ctx, err)
}

// sweep goes through all that is stored.
type sweep struct {
	*run
	home    string
	project string            // only what is this project's; empty: all
	owners  map[string]string // projects with rules of their own, by row of the database
	texts   int               // looked at, this time
	total   int               // the last time; 0: there was none
	unread  []string
	unruled []string       // projects whose own rules are invalid
	counts  secrets.Counts // replacements, by rule
	sources []source       // by what the secrets are known; nil: nobody asks
}

func newSweep(ctx context.Context, st *store.Store, opts Options) (*sweep, error) {
	r, err := newRun(st, opts)
	if err != nil {
		return nil, err
	}
	home, err := filepath.Abs(opts.Home)
	if err != nil {
		return nil, err
	}
	s := &sweep{run: r, home: home, counts: secrets.Counts{}}
	if len(opts.ProjectIDs) > 0 {
		s.project = opts.ProjectIDs[0]
	}
	return s, s.appoint(ctx)
}

// find goes through everything twice: what is a secret in the last text may stand,
// with nothing to tell it by, in the first.
func (s *sweep) find(ctx context.Context) (StoredReport, error) {
	report := StoredReport{Places: []StoredPlace{}, dirty: map[string]bool{}}
	s.total, s.unread = 0, nil
	some := s.known.Secrets() > 0
	err := s.each(ctx, func(at StoredPlace, text string) error {
		some = s.learn(at.owner, text) || some
		return nil
	})
	report.Texts, s.total = s.texts, s.texts
	if err == nil && some {
		s.unread = nil
		err = s.each(ctx, func(at StoredPlace, text string) error {
			found := s.places(at, text)
			if len(found) > 0 && at.Kept == "" {
				report.dirty[at.file] = true
			}
			report.Places = append(report.Places, found...)
			return nil
		})
	}
	report.Unread = append(s.unread, s.unruled...)
	return report, err
}

// A looker is called for each text. The line of where it is is the number of lines
// before it.
type looker func(at StoredPlace, text string) error

// each calls look for everything that is stored.
func (s *sweep) each(ctx context.Context, look looker) error {
	s.texts = 0
	counted := func(at StoredPlace, text string) error {
		if s.texts++; s.texts%64 == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			s.progress(Progress{Stage: StageSecrets, Done: s.texts, Total: s.total})
		}
		return look(at, text)
	}
	if s.store != nil {
		if err := s.findOwners(ctx); err != nil {
			return err
		}
		at := StoredPlace{file: s.store.Path()}
		if err := s.store.Texts(ctx, s.project, s.rows(at, counted)); err != nil {
			return err
		}
	}
	dir := s.home
	if s.project != "" {
		dir = memory.At(s.home, s.project).Dir()
	}
	return s.tree(ctx, dir, counted)
}

// rows hands texts of a database on.
func (s *sweep) rows(at StoredPlace, look looker) func(store.Text) error {
	return func(t store.Text) error {
		row := at
		row.Table, row.Field, row.Key, row.owner = t.Table, t.Column, t.Key, s.ownerOf(t)
		if row.Kept == "" {
			row.Kept = t.Kept
		}
		return look(row, t.Value)
	}
}

func (s *sweep) leaveUnread(path string, err error) {
	s.unread = append(s.unread, s.redact(fmt.Sprintf("%s: %v", path, err)))
}

// asInterrupt says that what was interrupted can be done again.
func (s *sweep) asInterrupt(ctx context.Context, err error) error {
	if ctx.Err() == nil || err == nil || memoir.CodeOf(err) == memoir.CodeInterrupted {
		return err
	}
	return memoir.Errorf(memoir.CodeInterrupted, "call it again: what was done stays done", "interrupted: %w", context.Cause(ctx))
}

// cleanNameFor redacts a name by the rules of a project. Known values of the whole home,
// where there are any, go from it as from texts.
func (r *run) cleanNameFor(projectID, name string) string {
	if r.known != nil {
		return asName(name, r.judgeOf(projectID).text(name))
	}
	for _, scanner := range r.scannersFor(projectID) {
		name, _ = scanner.Name(name)
	}
	return name
}
