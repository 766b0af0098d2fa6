package team

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
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

// Fetched is the generation of a hub that a project's memory begins with.
type Fetched struct {
	Project    string `json:"project"` // its id
	Generation int    `json:"generation"`
	ETag       string `json:"etag"`
}

func baseFile(home, projectID string) string {
	return filepath.Join(memory.At(home, projectID).Dir(), "base.tar.zst")
}

// HasBase reports whether a hub made a memory of a project that this home has.
func HasBase(home, projectID string) bool {
	_, err := os.Stat(baseFile(home, projectID))
	return err == nil
}

// DropBase removes what a hub made of a project. Its lines are to be made anew.
func DropBase(ctx context.Context, st *store.Store, home, projectID string) error {
	if !HasBase(home, projectID) {
		return nil
	}
	err := st.Enqueue(ctx, projectID)
	if err == nil {
		err = disk.Discard(baseFile(home, projectID))
	}
	return err
}

// Unshare ends the sharing of a project, as store.Unshare does.
func Unshare(ctx context.Context, o Options, projectID string, keep bool) error {
	if err := DropBase(ctx, o.Store, o.Home, projectID); err != nil { // fetched again if this is all that was done
		return err
	}
	return o.Store.Unshare(ctx, projectID, keep)
}

// archive returns the newest generation of a project, unless it has a tag. It is nil without an error if it has, or if
// the hub has none; then is.ETag is empty.
func (c *client) archive(ctx context.Context, key string, was Fetched) (content []byte, is Fetched, err error) {
	is = Fetched{Project: was.Project}
	res, content, err := c.request(ctx, http.MethodGet, "/v1/archive?"+url.Values{"project": {key}}.Encode(), nil, was.ETag)
	switch {
	case refused(err) == wire.CodeNotFound: // also a hub of the release before
		return nil, is, nil
	case err != nil:
		return nil, is, err
	case res.StatusCode == http.StatusNotModified:
		return nil, was, nil
	}
	sum := sha256.Sum256(content)
	is.ETag = `"` + hex.EncodeToString(sum[:]) + `"`
	is.Generation, err = strconv.Atoi(res.Header.Get(wire.GenerationHeader))
	if err != nil || len(content) > wire.MaxArchive || res.Header.Get("ETag") != is.ETag {
		return nil, is, errBase(errors.New("it is not what its header says"))
	}
	return content, is, nil
}

func errBase(err error) error {
	return memoir.Errorf(memoir.CodeHub, "tell the operator; what the other machines sent is there without it",
		"the hub's memory of the project cannot be used: %w", err)
}

// fetchBase returns what pull does with the archive of a project once the statements that it was made from are here.
func (s *syncing) fetchBase(ctx context.Context, share store.Share) (keep func() error, err error) {
	i := slices.IndexFunc(s.state.Bases, func(f Fetched) bool { return f.Project == share.ProjectID })
	was := Fetched{Project: share.ProjectID}
	if i >= 0 && HasBase(s.Home, share.ProjectID) {
		was = s.state.Bases[i]
	}
	content, is, err := s.client.archive(ctx, share.Key, was)
	return func() (err error) {
		switch {
		case is.ETag == "" && HasBase(s.Home, share.ProjectID):
			err = DropBase(ctx, s.Store, s.Home, share.ProjectID)
		case content == nil:
			return nil
		default:
			if content, err = cleanArchive(content, s.Scanner); err == nil {
				err = disk.Replace(baseFile(s.Home, share.ProjectID), content, 0o600)
			}
			if err == nil {
				err = s.Store.Edited(ctx, share.ProjectID)
			}
		}
		if err == nil {
			s.state.Bases = slices.DeleteFunc(s.state.Bases, func(f Fetched) bool { return f.Project == is.Project })
			if is.ETag != "" {
				s.state.Bases = append(s.state.Bases, is)
			}
			s.report.changed(share.ProjectID)
		}
		return err
	}, err
}

// cleanArchive returns what is kept of an archive of a hub: MEMORY.md, skills and statements, redacted and neutralised.
func cleanArchive(content []byte, scanner *secrets.Scanner) ([]byte, error) {
	files, m, err := memory.Unpack(bytes.NewReader(content))
	if err != nil {
		return nil, errBase(err)
	}
	r, kept := scanner.Session(), memory.Files{}
	clean := func(text string) string { return r.Text(memory.Neutralise(text)) }
	for path, content := range files {
		switch _, _, _, isSkill := memoir.SkillPath(path); {
		case path == memory.StatementsFile:
			sessions, err := memory.DecodeStatements(content)
			if err != nil {
				return nil, errBase(err)
			}
			kept[path] = memory.EncodeStatements(bareSessions(sessions), clean)
		case path == memoir.MemoryFile, isSkill && r.Name(path) == path:
			kept[path] = []byte(clean(string(content)))
		}
	}
	return packed(kept, m.Generation, m.Citations)
}

// bareSessions returns what is used of other members' sessions.
func bareSessions(sessions []memoir.Extraction) (out []memoir.Extraction) {
	for _, e := range sessions {
		_, session := memoir.ReceivedGroup(e.SessionKey)
		member := memoir.MemberOf(e.SessionKey)
		if member != "" && memberName(member) == member && e.SessionKey == memoir.ReceivedKey(member, session) &&
			wire.IsHex(session, wire.SessionDigits) {
			out = append(out, memoir.Extraction{SessionKey: e.SessionKey, StartedAt: e.StartedAt, EndedAt: e.EndedAt,
				Statements: e.Statements})
		}
	}
	return out
}

func packed(files memory.Files, generation int, citations map[string][]string) ([]byte, error) {
	return memory.Pack(files, memory.Manifest{Citations: citations}.Describing(generation, files))
}

// Base returns what a hub made of a project, as far as this machine has it. here are all extractions of the project
// whose statements hold. It is nil if the hub made nothing.
func (o Options) Base(of memoir.Project, here []memoir.Extraction) (*consolidate.Base, error) {
	f, err := os.Open(baseFile(o.Home, of.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var files memory.Files
	var m memory.Manifest
	if err == nil {
		files, m, err = memory.Unpack(f)
		_ = f.Close()
	}
	hub, errHub := Load(o.Home)
	sessions, errSessions := memory.DecodeStatements(files[memory.StatementsFile])
	if err = cmp.Or(err, errSessions); err != nil {
		err = memoir.Errorf(memoir.CodeStorage, "remove it; the next run fetches it again", "read %s: %w",
			baseFile(o.Home, of.ID), err)
	}
	if err = cmp.Or(err, errHub); err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, path := range files.Paths() {
		texts[path] = string(files[path])
	}
	b := &consolidate.Base{Memory: memoir.ConsolidationOf(texts), Covers: map[[2]string]bool{}}
	b.Memory.Citations = m.Citations
	places, known := placesOf(of.Directories, o.UserHome), map[string][]memoir.Extraction{} // of one statement each
	for _, e := range here {
		of := hub.keyOf(e.SessionKey)
		for _, st := range e.Statements {
			at := factOf(of, st, places)
			known[at] = append(known[at], memoir.Extraction{SessionKey: e.SessionKey, Statements: []memoir.Statement{st}})
		}
	}
	for _, e := range sessions {
		has, lacks := e, e
		has.Statements, lacks.Statements = nil, nil
		for _, st := range e.Statements {
			same := known[factOf(e.SessionKey, st, nil)]
			for _, one := range same {
				b.Covers[[2]string{one.SessionKey, one.Statements[0].ID}] = true
			}
			if len(same) == 0 {
				lacks.Statements = append(lacks.Statements, st)
				continue
			}
			one := same[0].Statements[0]
			one.Text = st.Text
			has.Statements = append(has.Statements, one)
		}
		if len(has.Statements) > 0 {
			b.Sessions = append(b.Sessions, has)
		}
		if len(lacks.Statements) > 0 {
			b.Gone = append(b.Gone, lacks)
		}
	}
	return b, nil
}

// factOf returns by what a statement is known here and at the hub.
func factOf(session string, st memoir.Statement, places []place) string {
	text := memory.Neutralise(relative(memoir.Visible(st.Text), places))
	return session + "\n" + string(st.Kind) + "\n" + memoir.Folded(strings.Join(strings.Fields(text), " "))
}

// keyOf returns the key that a session has at the hub.
func (h Hub) keyOf(key string) string {
	base, session := memoir.ReceivedGroup(key)
	switch {
	case memoir.MemberOf(key) != "":
		return base
	case !memoir.IsReceived(key):
		session = wire.SessionHash(key, h.Machine)
	}
	return memoir.ReceivedKey(memberName(h.Member), session)
}

// ForgetBase removes what is gone from a base in the home: the hub has it until it makes the next one.
func (o Options) ForgetBase(of memoir.Project, b *consolidate.Base) error {
	if b == nil || len(b.Gone)+len(b.Texts) == 0 {
		return nil
	}
	left := b.Left(of)
	files := memory.Files{memory.StatementsFile: memory.EncodeStatements(b.Sessions, strings.Clone)}
	for path, text := range left.Files() {
		if path != memoir.SummaryFile {
			files[path] = []byte(text)
		}
	}
	content, err := packed(files, 1, left.Citations)
	if err == nil {
		err = disk.Replace(baseFile(o.Home, of.ID), content, 0o600)
	}
	return err
}
