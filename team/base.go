package team

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"memoir"
	"memoir/consolidate"
	"memoir/internal/disk"
	"memoir/memory"
	"memoir/secrets"
	"memoir/store"
	"memoir/team/wire"
)

// Fetched is a generation of a hub.
type Fetched struct {
	Generation int    `json:"generation"`
	ETag       string `json:"etag"`
}

func baseFile(home, projectID string) string {
	return filepath.Join(memory.At(home, projectID).Dir(), "base.tar.zst")
}

// HasBase reports whether a home has what a hub made of a project.
func HasBase(home, projectID string) bool {
	_, err := os.Stat(baseFile(home, projectID))
	return err == nil
}

// DropBase removes what a hub made of a project, which is due then.
func DropBase(ctx context.Context, st *store.Store, home, projectID string) error {
	if !HasBase(home, projectID) {
		return nil
	}
	err := st.Enqueue(ctx, projectID) // a language model knows none of what the hub had
	if err == nil {
		err = disk.Discard(baseFile(home, projectID))
	}
	return err
}

// Unshare ends the sharing of a project, as store.Unshare does.
func Unshare(ctx context.Context, o Options, projectID string, keep bool) error {
	if err := DropBase(ctx, o.Store, o.Home, projectID); err != nil { // if no more is done, it is fetched again
		return err
	}
	return o.Store.Unshare(ctx, projectID, keep)
}

// fetchBase fetches the newest generation of a project, unless it is here. keep stores it; that is for when all is
// received that it may have been made from. A hub of the release before has none.
func (s *syncing) fetchBase(ctx context.Context, share store.Share) (keep func() error, err error) {
	id, tag := share.ProjectID, ""
	if HasBase(s.Home, id) {
		tag = s.state.Bases[id].ETag
	}
	path := "/v1/archive?" + url.Values{"project": {share.Key}}.Encode()
	res, content, err := s.client.request(ctx, http.MethodGet, path, nil, tag)
	none := refused(err) == wire.CodeNotFound
	if err != nil && !none {
		return nil, err
	}
	if n, _ := strconv.Atoi(res.Header.Get(wire.WaitingHeader)); n > 0 {
		s.state.Unaccepted[id] = n
	}
	return func() (err error) {
		switch {
		case none && !HasBase(s.Home, id), !none && res.StatusCode == http.StatusNotModified:
			return nil
		case none:
			err = DropBase(ctx, s.Store, s.Home, id)
		default:
			sum := sha256.Sum256(content)
			is := Fetched{ETag: `"` + hex.EncodeToString(sum[:]) + `"`}
			is.Generation, _ = strconv.Atoi(res.Header.Get(wire.GenerationHeader))
			if len(content) > wire.MaxArchive || res.Header.Get("ETag") != is.ETag {
				err = errors.New("it is not what its header says")
			}
			if content, err = cleanArchive(content, s.Scanner, err); err == nil {
				err = disk.Replace(baseFile(s.Home, id), content, 0o600)
			}
			if err == nil {
				err = s.Store.Edited(ctx, id)
			}
			if s.state.Bases == nil {
				s.state.Bases = map[string]Fetched{}
			}
			if err == nil {
				s.state.Bases[id] = is
			}
		}
		if err == nil && !slices.Contains(s.report.Projects, id) {
			s.report.Projects = append(s.report.Projects, id)
		}
		return err
	}, nil
}

// Waiting is a generation that waits at a hub until this member accepts it. Diffs are unified diffs of MEMORY.md and
// files of skills between what machines get and this one.
type Waiting struct {
	wire.Accept
	Diffs    []string `json:"diffs"`
	Accepted bool     `json:"accepted"`
}

// Accept reads the newest generation of a project that waits; if none does, its number is 0. If agree returns true, it
// accepts that, if the hub has it as it was read, and receives it.
func Accept(ctx context.Context, o Options, key string, agree func(Waiting) (bool, error)) (w Waiting, err error) {
	w.Project, w.Diffs = key, []string{}
	_, c, err := dial(o.Home)
	path, files := "/v1/archive?"+url.Values{"project": {key}}.Encode(), [2]memory.Files{}
	for i, number := range []*int64{&w.Generation, &w.Published} {
		if err != nil {
			return w, err
		}
		res, content, failed := c.request(ctx, http.MethodGet, path+[]string{"&waiting=true", ""}[i], nil, "")
		if refused(failed) == wire.CodeNotFound || failed == nil && i == 0 && res.Header.Get(wire.WaitingHeader) == "" {
			break // none, or a hub of the release before
		}
		if err = failed; err == nil {
			content, err = cleanArchive(content, o.Scanner, nil)
		}
		if err == nil {
			files[i], _, err = memory.Unpack(bytes.NewReader(content))
			delete(files[i], memory.StatementsFile)
			*number, _ = strconv.ParseInt(res.Header.Get(wire.GenerationHeader), 10, 64)
			w.Hash = cmp.Or(w.Hash, strings.Trim(res.Header.Get("ETag"), `"`))
		}
	}
	for _, change := range memory.Changes(files[1], files[0]) {
		w.Diffs = append(w.Diffs, change.Text)
	}
	if err == nil && w.Generation > 0 {
		w.Accepted, err = agree(w)
	}
	if err == nil && w.Accepted {
		if err = c.call(ctx, http.MethodPost, "/v1/accept", w.Accept, nil); err == nil {
			_, err = Sync(ctx, o, Pull)
		}
	}
	return w, err
}

// cleanArchive returns what is kept of an archive of a hub: MEMORY.md, skills and statements, redacted and neutralised.
func cleanArchive(content []byte, scanner *secrets.Scanner, err error) ([]byte, error) {
	files, m, errFiles := memory.Unpack(bytes.NewReader(content))
	_, errStatements := memory.DecodeStatements(files[memory.StatementsFile])
	if err = cmp.Or(err, errFiles, errStatements); err != nil {
		return nil, memoir.Errorf(memoir.CodeHub, "tell its operator", "the hub's memory cannot be used: %w", err)
	}
	r, kept := scanner.Session(), memory.Files{}
	clean := func(text string) string { return r.Text(memory.Neutralise(text)) }
	for path, content := range files {
		switch _, _, _, isSkill := memoir.SkillPath(path); {
		case path == memory.StatementsFile:
			kept[path] = memory.ChangeStatements(content, clean, r.Name)
		case path == memoir.MemoryFile, isSkill && r.Name(path) == path:
			kept[path] = []byte(clean(string(content)))
		}
	}
	return packed(kept, m.Citations)
}

// packed returns the content of a base's file.
func packed(files memory.Files, citations map[string][]string) ([]byte, error) {
	return memory.Pack(files, memory.Manifest{Citations: citations}.Describing(1, files))
}

// Base returns what a hub made of a project. here are the extractions whose statements hold on this machine.
func (o Options) Base(of memoir.Project, here []memoir.Extraction) (*consolidate.Base, error) {
	hub, err := Load(o.Home)
	if err != nil {
		return nil, err
	}
	content, err := disk.ReadFile(baseFile(o.Home, of.ID), 2*wire.MaxArchive)
	files, m, errFiles := memory.Unpack(bytes.NewReader(content))
	sessions, errSessions := memory.DecodeStatements(files[memory.StatementsFile])
	if err = cmp.Or(err, errFiles, errSessions); err != nil {
		return nil, memoir.Errorf(memoir.CodeStorage, "remove it: it is fetched again", "read %s: %w",
			baseFile(o.Home, of.ID), err)
	}
	b := &consolidate.Base{Memory: files.Consolidation(), Covers: map[[2]string]bool{},
		Member: wire.MemberName(hub.Member)}
	b.Memory.Citations = m.Citations
	known, holds := map[string]*memoir.Statement{}, map[*memoir.Statement]bool{}
	for _, e := range sessions {
		at, _ := memoir.ReceivedGroup(e.SessionKey)
		for i := range e.Statements {
			known[factOf(at, e.Statements[i], nil)] = &e.Statements[i]
		}
	}
	places := placesOf(of.Directories, o.UserHome)
	for _, e := range here {
		for _, st := range e.Statements {
			if one := known[factOf(hub.keyOf(e.SessionKey), st, places)]; one != nil {
				b.Covers[[2]string{e.SessionKey, st.ID}] = true
				if st.Text = one.Text; !holds[one] { // which has no path of this machine
					*one, holds[one] = st, true
				}
			}
		}
	}
	for _, e := range sessions {
		all := e.Statements
		for _, part := range []*[]memoir.Extraction{&b.Sessions, &b.Gone} {
			e.Statements = nil
			for i := range all {
				if holds[&all[i]] == (part == &b.Sessions) {
					e.Statements = append(e.Statements, all[i])
				}
			}
			if len(e.Statements) > 0 {
				*part = append(*part, e)
			}
		}
	}
	return b, nil
}

// factOf returns by what a statement is known here and at the hub. Its kind is another one where it was overturned.
func factOf(session string, st memoir.Statement, places []place) string {
	return session + "\n" + memoir.Folded(strings.TrimSpace(memory.Neutralise(relative(memoir.Visible(st.Text), places))))
}

// keyOf returns the key that a session has at the hub, without a number.
func (h Hub) keyOf(key string) string {
	base, session := memoir.ReceivedGroup(key)
	switch {
	case memoir.MemberOf(key) != "":
		return base
	case !memoir.IsReceived(key):
		session = wire.SessionHash(key, h.Machine)
	}
	return memoir.ReceivedKey(wire.MemberName(h.Member), session)
}

// ForgetBase removes what is gone from what a home has of a hub, which has it until it makes the next one.
func (o Options) ForgetBase(of memoir.Project, b *consolidate.Base) error {
	if b == nil {
		return nil
	}
	left := b.Left(of)
	files := memory.Files{memory.StatementsFile: memory.EncodeStatements(b.Sessions, strings.Clone)}
	for path, text := range left.Files() {
		if path != memoir.SummaryFile {
			files[path] = []byte(text)
		}
	}
	content, err := packed(files, left.Citations)
	if err == nil {
		err = disk.Replace(baseFile(o.Home, of.ID), content, 0o600)
	}
	return err
}
