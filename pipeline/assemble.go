package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
	"unique"

	"memoir"
	"memoir/rollout"
	"memoir/store"
)

// probedFile is the row of one changed file for the registry. It does not keep the text that was read, since a first
// scan may find many thousands of files.
type probedFile struct {
	row store.FileRow
	err error // why the file cannot be read, or is not a session
}

// register groups files into sessions, finds their projects, and saves the changes.
func (s *scan) register(
	ctx context.Context,
	known map[string]store.FileRow,
	probed []probedFile,
	gone []string,
) error {
	groups, err := s.grouped(ctx, known, probed, gone)
	if err != nil {
		return err
	}
	s.report.Scan.Changed = len(groups)
	found := make([]foundSession, 0, len(groups))
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		rows := groups[key]
		slices.SortFunc(rows, func(a, b store.FileRow) int { return strings.Compare(a.Path, b.Path) })
		session, err := assemble(key, rows)
		if err != nil {
			return err
		}
		found = append(found, foundSession{key: key, files: rows, cwd: unique.Make(session.CWD),
			remote: unique.Make(session.Remote), unreadable: session.Error != ""})
	}
	for try := 1; ; try++ {
		if err := s.assignProjects(ctx, found); err != nil {
			return err
		}
		err := s.save(ctx, found, gone)
		if memoir.CodeOf(err) == memoir.CodeNotFound && try < maxRounds {
			continue // a project was removed meanwhile
		}
		return err
	}
}

// saved is the number of sessions that one transaction registers: few enough to fit SQLite's cache.
const saved = 2000

// save stores the result of the scan. Missing files come last, after those that replaced them are registered.
func (s *scan) save(ctx context.Context, found []foundSession, gone []string) error {
	for batch := range slices.Chunk(found, saved) {
		scans := make([]store.SessionScan, 0, saved)
		for _, f := range batch {
			session, err := assemble(f.key, f.files)
			if err != nil {
				return err
			}
			session.ProjectID = f.project
			scans = append(scans, store.SessionScan{Session: session, Identity: f.identity, Files: f.files})
		}
		if err := s.store.SaveScan(ctx, scans, nil); err != nil {
			return err
		}
	}
	return s.store.SaveScan(ctx, nil, gone)
}

// grouped returns the files of all changed sessions, by session: the changed files, and the other files of
// these sessions as they are registered. A session is also changed if one of its files was overwritten by
// another session.
func (s *scan) grouped(
	ctx context.Context,
	known map[string]store.FileRow,
	probed []probedFile,
	gone []string,
) (map[string][]store.FileRow, error) {
	groups, touched, seen := map[string][]store.FileRow{}, map[string]bool{}, map[string]bool{}
	for _, p := range probed {
		row := p.row
		groups[row.SessionKey] = append(groups[row.SessionKey], row)
		touched[row.SessionKey], touched[known[row.Path].SessionKey] = true, true
		seen[row.Path] = true
	}
	for _, path := range gone {
		touched[known[path].SessionKey] = true
		seen[path] = true
	}
	var others []string
	for path, row := range known {
		if touched[row.SessionKey] && !seen[path] {
			others = append(others, path)
		}
	}
	heads, err := s.store.Heads(ctx, others)
	if err != nil {
		return nil, err
	}
	for _, path := range others {
		row := known[path]
		row.Head = heads[path]
		groups[row.SessionKey] = append(groups[row.SessionKey], row)
	}
	return groups, nil
}

// assemble makes a session from its files.
func assemble(key string, rows []store.FileRow) (memoir.Session, error) {
	var parts []rollout.Part
	files := map[string]store.FileRow{}
	for _, row := range rows {
		files[row.Path] = row
		if len(row.Head) == 0 { // it is not a session, or a forgotten one
			continue
		}
		part := rollout.Part{Path: row.Path, Withheld: row.Error != ""}
		if err := json.Unmarshal(row.Head, &part.Head); err != nil {
			return memoir.Session{}, fmt.Errorf("read the recorded head of %s: %w", row.Path, err)
		}
		parts = append(parts, part)
	}
	source, id := memoir.SplitKey(key)
	session := memoir.Session{ID: id, Source: source, Kind: memoir.KindMain}
	if len(parts) == 0 {
		for _, row := range rows {
			session.Files = append(session.Files, row.File)
			session.Bytes += row.Size
			session.Error = cmp.Or(session.Error, row.Error)
			session.UpdatedAt = laterOf(session.UpdatedAt, row.ModTime)
		}
		session.CreatedAt = session.UpdatedAt
		return session, nil
	}
	ordered := rollout.Assemble(parts)
	first := ordered[0].Head
	session.Kind, session.ParentID = first.Kind, first.ParentID
	session.CWD, session.CreatedAt = first.CWD, first.CreatedAt
	for _, p := range ordered {
		f := files[p.Path]
		session.Files = append(session.Files, f.File)
		session.Error = cmp.Or(session.Error, f.Error) // one unreadable file makes the session unreadable
		session.Bytes += cmp.Or(p.Head.Size, f.Size)
		session.Title = cmp.Or(session.Title, p.Head.Title)
		session.Branch = cmp.Or(p.Head.Branch, session.Branch)
		session.Remote = cmp.Or(session.Remote, p.Head.Remote)
		session.CWD = cmp.Or(session.CWD, p.Head.CWD)
		session.UpdatedAt = laterOf(session.UpdatedAt, p.Head.UpdatedAt)
	}
	return session, nil
}

func laterOf(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }

// maxUnreadable bounds how many files that cannot be read are named one by one.
const maxUnreadable = 10

// sayUnreadable names the files and directories that are unreadable or not sessions. probed does not have
// those that were so in the scan before.
func (s *scan) sayUnreadable(probed []probedFile) {
	failed := slices.DeleteFunc(slices.Clone(probed), func(p probedFile) bool { return p.err == nil })
	for _, p := range failed[:min(len(failed), maxUnreadable)] {
		s.mention("left out: "+p.row.Error, memoir.HintOf(p.err))
	}
	if more := len(failed) - maxUnreadable; more > 0 {
		s.mention(fmt.Sprintf("left out: %d more", more), "`memoir sessions --reason unreadable` lists them all")
	}
}

// noSession reports and counts a file that is not a session and is not in an agent's directory. It is not
// registered, since --sessions may name any directory. A file that was a session before is registered as
// unreadable.
func (s *scan) noSession(known map[string]store.FileRow, p probedFile) bool {
	unknown := func(key string) bool {
		source, _ := memoir.SplitKey(key)
		return source == memoir.SourceUnknown
	}
	if !errors.Is(p.err, rollout.ErrNoSession) || !unknown(p.row.SessionKey) ||
		known[p.row.Path].SessionKey != "" && !unknown(known[p.row.Path].SessionKey) {
		return false
	}
	s.report.Scan.NotSessions++
	s.progress(Progress{Stage: StageScan, What: "skipped: " + p.row.Error})
	return true
}

// denied reports that the system did not permit reading the file. Permission can be given without a change of
// the file, so its row gets a time that no file has, and each scan tries again.
func denied(err error) bool {
	var system *fs.PathError
	return errors.As(err, &system)
}

// readableDir reports whether a path is a readable directory. A registered directory was unreadable before;
// its sessions have been found now.
func readableDir(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() { // opening a pipe would block
		return false
	}
	d, err := os.Open(path)
	return err == nil && d.Close() == nil
}

// printablePath writes the bytes of a path that are not UTF-8 as \xNN, since keys are encoded as JSON, which
// would lose them.
func printablePath(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return strings.Trim(strconv.Quote(path), `"`)
}
