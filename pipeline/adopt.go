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
	"syscall"

	"memoir"
	"memoir/consolidate"
	"memoir/internal/lazyregexp"
	"memoir/memory"
	"memoir/rollout"
	"memoir/store"
)

// adopt restores the state of projects from their memories on disk if the database is older than them,
// because it is new or a backup. For each project whose live generation is not recorded it stores the
// project, its generations, the inputs of the live one and the hand edits. Otherwise the next
// consolidation would treat unknown inputs as withdrawn. The scan, which finds the sessions, comes
// first. No file is changed.
//
// Calls of disable after the backup are lost.
func (s *scan) adopt(ctx context.Context) error {
	if s.opts.DryRun {
		return nil
	}
	rows, err := s.store.Projects(ctx)
	if err != nil {
		return err
	}
	recorded := memoir.MapOf(rows, func(row store.ProjectRow) (string, int64) { return row.ID, row.Generation })
	removed, err := s.store.RemovedFolders(ctx)
	if err != nil {
		return err
	}
	ids, err := ProjectFolders(s.opts.Home)
	if err != nil && len(rows) > 0 {
		return nil // each project that is due reports the error
	}
	if err != nil {
		return err
	}
	for _, id := range ids {
		linked, err := memory.At(s.opts.Home, id).Linked()
		if _, gone := removed[id]; err != nil || int64(linked) <= recorded[id] || gone {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.adoptProject(ctx, id, recorded[id]); err != nil {
			return err
		}
	}
	return nil
}

// adoptProject adopts one project's memory, and warns if it cannot be read.
func (s *scan) adoptProject(ctx context.Context, id string, recorded int64) error {
	a, err := s.adoption(id)
	if err != nil || len(a.Generations) == 0 {
		if err != nil && recorded == 0 { // otherwise its next publication reports the error
			s.warn(fmt.Sprintf("project %s: its memory is not adopted: %s", id, s.redact(err.Error())), memoir.HintOf(err))
		}
		return nil
	}
	// If only the generation was not recorded, because the process was killed, nothing is lost.
	if lacked, err := s.store.Adopt(ctx, a); err != nil || !lacked {
		return err
	}
	s.warn(fmt.Sprintf("project %s: the database does not know generation %d, which is taken from its files", id,
		a.Generations[len(a.Generations)-1].N),
		"calls of `memoir sessions disable` that the database held, and notes that no generation has, are lost: repeat them")
	return nil
}

// ProjectFolders lists the folders below a home that have the form of a project's id.
func ProjectFolders(home string) (ids []string, err error) {
	entries, err := os.ReadDir(filepath.Join(home, "projects"))
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrNotExist) { // the next publication reports it
		return nil, nil
	}
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeStorage, "make the directory readable", "list projects: %w", err)
	}
	for _, entry := range entries {
		if entry.IsDir() && projectIDForm.MatchString(entry.Name()) {
			ids = append(ids, entry.Name())
		}
	}
	return ids, nil
}

// projectIDForm is the form of a project's id: its name and a hash.
var projectIDForm = lazyregexp.New(`^[^.].*-[0-9a-f]{12}$`)

// adoption reads the state of a project from its folder.
func (s *scan) adoption(id string) (store.Adoption, error) {
	var a store.Adoption
	root := memory.At(s.opts.Home, id)
	live, err := root.Current()
	if err != nil || live.Generation == 0 {
		return a, err
	}
	if published, err := root.ReadArchive(live.Generation); err == nil { // the live file may be damaged
		live.Files[memory.StatementsFile] = published[memory.StatementsFile]
	}
	a.Extractions, err = extractionsIn(live.Files, live.Manifest.Inputs)
	if n := len(live.Manifest.Inputs) - len(a.Extractions); n > 0 && id != memoir.UserProjectID {
		s.warn(fmt.Sprintf("project %s: %s of %s cannot be adopted (%v)", id, memoir.Count(n, "input"),
			memory.StatementsFile, s.redact(fmt.Sprint(err))), "sessions are extracted again; notes among them are lost")
	}
	a.Project = s.ownerOf(id, a.Extractions)
	kept, err := root.Generations()
	if err != nil {
		return a, err
	}
	last := store.GenerationRecord{
		N: int64(live.Generation), ManifestHash: live.Manifest.Hash(), Inputs: inputsByKey(live.Manifest.Inputs),
	}
	for _, g := range kept {
		switch {
		case g.Number == live.Generation:
			last.At = g.ModTime
		case g.Number < live.Generation && g.Err == nil && g.Manifest.EditedFrom == 0:
			a.Generations = append(a.Generations, store.GenerationRecord{
				N: int64(g.Number), ManifestHash: g.Manifest.Hash(), Inputs: inputsByKey(g.Manifest.Inputs), At: g.ModTime,
			})
		}
	}
	slices.SortFunc(a.Generations, func(a, b store.GenerationRecord) int { return int(a.N - b.N) })
	a.Generations = append(a.Generations, last)

	past, err := root.PastEdits()
	a.HandEdits = map[int64][]memoir.HandEdit{}
	for _, p := range past {
		a.HandEdits[int64(p.Base)] = append(a.HandEdits[int64(p.Base)], memory.HandEdits(id, p.Edits, p.At)...)
	}
	return a, err
}

// ownerOf returns the project with an id that is not registered: the one that the directory of an
// extraction leads to, else one of which only the id is known.
func (s *scan) ownerOf(id string, extractions []memoir.Extraction) memoir.Project {
	identify := s.identifier()
	for _, e := range extractions {
		if p, status := identify(e.CWD, ""); status.OK() && p.ID == id {
			return p
		}
	}
	return memoir.Project{ID: id, Name: id[:strings.LastIndexByte(id, '-')], Identity: id}
}

// extractionsIn reads the extractions of a generation: the statements as data, and the summaries, with hand edits. It
// leaves out an extraction of which a part is missing.
func extractionsIn(files memory.Files, inputs []memory.Input) ([]memoir.Extraction, error) {
	all, err := memory.DecodeStatements(files[memory.StatementsFile])
	short := consolidate.ShortIDs(all)
	var out []memoir.Extraction
	for _, in := range inputs {
		i := slices.IndexFunc(all, func(e memoir.Extraction) bool { return e.SessionKey == in.Session })
		if i < 0 || len(all[i].Statements) == 0 {
			continue
		}
		e := all[i]
		_, body, _ := strings.Cut(string(files[consolidate.SummaryFileName(e, short[e.SessionKey])]), "\n\n")
		e.RolloutSummary = strings.TrimSpace(body)
		if e.RolloutSummary == "" && memoir.EntryID(in.Session) == 0 {
			continue
		}
		e.ContentHash, e.FilterVersion = adopted(in.Hash), rollout.FilterVersion
		out = append(out, e)
	}
	return out, err
}

// adoptJournals makes new lines of the journals of the last days inputs of this run's consolidations. If one
// project's journals cannot be read, the others are still processed.
func (p *phases) adoptJournals(ctx context.Context) error {
	projects, err := p.store.Projects(ctx)
	for _, row := range projects {
		err := p.adoptJournal(ctx, row.Project)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			p.warn(fmt.Sprintf("project %s: its journals are left out: %s", row.Name, p.redact(err.Error())), memoir.HintOf(err))
		}
	}
	return err
}

// adoptJournal does nothing if another process has the project's lease.
func (p *phases) adoptJournal(ctx context.Context, project memoir.Project) error {
	week := p.week(project, p.consolidatorOf(project.ID))
	if days, err := week.Days(project.ID); err != nil || len(days) == 0 || !p.selected(project.ID) {
		return err
	}
	settings, fault := p.settingsOf(project) // Phase 2 reports faults
	if fault != nil || settings.Off || !settings.MemConsolidate.Enabled {
		return nil
	}
	err := week.Read(ctx)
	since := p.now().Sub(week.Last)
	if err != nil || !week.Fresh() || since >= 0 && since.Hours() < settings.MemConsolidate.IntervalHours {
		return err
	}
	err = p.holding(ctx, project, 0, func(ctx context.Context, _ *consolidation) error {
		return week.Adopt(ctx)
	})
	if code := memoir.CodeOf(err); code == memoir.CodeBusy || code == memoir.CodeNotFound {
		return nil
	}
	return err
}
