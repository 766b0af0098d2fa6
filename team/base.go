package team

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/internal/disk"
	"memoir/internal/lazyregexp"
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

// archive is an answer of a hub to a request for a generation. Without content, the caller has it. waits is the number
// of the newest generation that waits for this member; 0: none, or a hub of the release before. limited is that of
// wire.LimitedHeader; zero: no limit is reached.
type archive struct {
	etag    string
	content []byte
	waits   int
	limited time.Time
}

// archive fetches the newest generation of a project, unless it has the ETag tag, or, if waiting is set, the newest one
// that waits.
func (c *client) archive(ctx context.Context, key, tag string, waiting bool) (a archive, err error) {
	query := url.Values{"project": {key}}
	if waiting {
		query.Set("waiting", "true")
	}
	res, content, err := c.request(ctx, http.MethodGet, "/v1/archive?"+query.Encode(), nil, tag)
	if res != nil { // also if there is none but one that waits
		a.waits, _ = strconv.Atoi(res.Header.Get(wire.WaitingHeader))
		a.limited = c.told.Limited
	}
	switch {
	case err != nil:
		return a, err
	case res.StatusCode == http.StatusNotModified:
		a.etag = tag
	default:
		a.etag, a.content = res.Header.Get("ETag"), content
	}
	return a, nil
}

// fetchBase fetches the newest generation of a shared project, without an ETag if there is none, as at a hub of the
// release before.
func (s *syncing) fetchBase(ctx context.Context, share store.Share) (archive, error) {
	tag := ""
	if HasBase(s.Home, share.ProjectID) {
		tag = s.state.Bases[share.ProjectID].ETag
	}
	a, err := s.client.archive(ctx, share.Key, tag, false)
	if a.waits > 0 {
		s.state.Unaccepted[share.ProjectID] = a.waits
	}
	if !a.limited.IsZero() {
		s.state.Limited[share.ProjectID] = a.limited
	}
	if refused(err) == wire.CodeNotFound {
		err = nil
	}
	return a, err
}

// storeBase stores what fetchBase returned. All that it may have been made from is received before.
func (s *syncing) storeBase(ctx context.Context, share store.Share, a archive) (err error) {
	id := share.ProjectID
	switch {
	case a.etag == "" && HasBase(s.Home, id):
		err = DropBase(ctx, s.Store, s.Home, id)
	case a.content == nil:
		return nil
	default:
		var files memory.Files
		var m memory.Manifest
		if files, m, err = cleaned(a, s.Scanner); err == nil {
			err = putBase(s.Home, id, m.Generation, files, memory.Manifest{Citations: m.Citations, Edited: m.Edited})
		}
		if err == nil {
			err = s.Store.Edited(ctx, id)
		}
		if err == nil {
			s.state.Bases[id] = Fetched{m.Generation, a.etag}
		}
	}
	if err == nil {
		s.report.Projects = append(s.report.Projects, id)
	}
	return err
}

func putBase(home, id string, generation int, files memory.Files, m memory.Manifest) error {
	content, err := memory.Pack(files, m.Describing(generation, files))
	if err == nil {
		err = disk.Replace(baseFile(home, id), content, 0o600)
	}
	return err
}

// cleaned returns what is kept of an archive, which may be from anybody: MEMORY.md, skills and statements, redacted and
// neutralised, with a manifest of the hub.
func cleaned(a archive, scanner *secrets.Scanner) (kept memory.Files, m memory.Manifest, err error) {
	files, m, err := memory.Unpack(bytes.NewReader(a.content))
	sessions, errStatements := memory.DecodeStatements(files[memory.StatementsFile])
	if err = cmp.Or(err, errStatements); err == nil && (len(a.content) > wire.MaxArchive || m.Generation > 1e9 ||
		a.etag != fmt.Sprintf(`"%x"`, sha256.Sum256(a.content))) {
		err = errors.New("it is not what its header says")
	}
	kept = memory.Files{memory.StatementsFile: memory.EncodeStatements(usable(sessions), memory.Neutralise)}
	for path, text := range files {
		if _, _, _, isSkill := memoir.SkillPath(path); isSkill || path == memoir.MemoryFile {
			kept[path] = []byte(memory.Neutralise(string(text)))
		}
	}
	if err == nil {
		kept, m.Redactions, err = kept.Redacted(scanner.Session())
	}
	if err != nil {
		err = memoir.Errorf(memoir.CodeHub, "tell its operator", "the hub's memory cannot be used: %w", err)
	}
	return kept, m, err
}

// groupKey matches the key of what a member's machine sent of a session, as in memoir.ReceivedKey.
var groupKey = lazyregexp.New(`^(?:team:[\pL\pN._-]+-|machine:)[0-9a-f]{24,32}$`)

// usable returns what may be used of an archive's statements. A hub has nothing that a person said, or nobody verified.
func usable(sessions []memoir.Extraction) (out []memoir.Extraction) {
	for _, e := range sessions {
		one := memoir.Extraction{SessionKey: e.SessionKey, EndedAt: e.EndedAt}
		for _, st := range e.Statements {
			_, err := time.Parse(time.DateOnly, cmp.Or(st.At, time.DateOnly))
			odd := func(a memoir.Anchor) bool { return !a.Valid() }
			st.Anchors = slices.DeleteFunc(st.Anchors, odd)
			st.Anchors = st.Anchors[:min(len(st.Anchors), memoir.MaxAnchors)]
			if err == nil && !wire.Said(st) && st.Kind != memoir.StatementClaim {
				one.Statements = append(one.Statements, st)
			}
		}
		if groupKey.MatchString(e.SessionKey) {
			out = append(out, one)
		}
	}
	return out
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
	places := placesOf(of.Directories, o.UserHome)
	b := &consolidate.Base{Memory: files.Consolidation(), Covers: map[[2]string]string{},
		Member: wire.MemberName(hub.Member), Generation: m.Generation,
		Relative: func(text string) string { return memory.Neutralise(relative(text, places)) }}
	b.Memory.Citations, b.Memory.Edited = m.Citations, m.Edited
	known, holds := map[string]*memoir.Statement{}, map[*memoir.Statement]bool{}
	for _, e := range sessions {
		at, _ := memoir.ReceivedGroup(e.SessionKey)
		for i := range e.Statements {
			known[factOf(at, e.Statements[i], nil)] = &e.Statements[i]
		}
	}
	for _, e := range here {
		for _, st := range e.Statements {
			if one := known[factOf(hub.KeyOf(e.SessionKey), st, places)]; one != nil {
				b.Covers[[2]string{e.SessionKey, st.ID}] = hub.KeyOf(e.SessionKey)
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

// KeyOf returns the key that a session has at the hub, without a number.
func (h Hub) KeyOf(key string) string {
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
	return putBase(o.Home, of.ID, b.Generation, files,
		memory.Manifest{Citations: left.Citations, Edited: b.Memory.Edited})
}
