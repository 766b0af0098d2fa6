package team

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/secrets"
	"memoir/team/wire"
)

// A Sender sends sessions to a hub that this home has not joined.
type Sender struct {
	c    *client
	wait func(ctx context.Context, d time.Duration) error
}

// NewSender returns a Sender that waits so before it sends a session again.
func NewSender(h Hub, wait func(ctx context.Context, d time.Duration) error) (*Sender, error) {
	c, err := newClient(h, begins)
	return &Sender{c, wait}, err
}

// Send sends a session: sent, or known if the hub had it. A hub that is busy is asked four times. ends says that no
// other session can be sent either.
func (s *Sender) Send(ctx context.Context, t wire.Transcript) (outcome string, ends bool, err error) {
	var done wire.Accepted
	for try := range 4 {
		err = s.c.call(ctx, http.MethodPost, "/v1/sessions", t, &done)
		if refused(err) != wire.CodeUnavailable || try == 3 {
			break
		}
		if err := s.wait(ctx, time.Second<<try); err != nil {
			return "", true, err
		}
	}
	code := refused(err)
	ends = code != wire.CodeUsage && code != wire.CodeTooLarge
	return map[bool]string{true: "sent", false: "known"}[done.New], ends, err
}

// Pulled is the memory of a project that a home has from a hub which it has not joined.
type Pulled struct {
	URL     string `json:"url"`
	Project string `json:"project"` // its key at the hub
	ETag    string `json:"etag"`

	Generation int       `json:"generation"` // its number at the hub
	Live       int       `json:"live"`       // and here
	At         time.Time `json:"at"`         // when it was pulled
}

// IsPulled reports whether the live memory of a project was pulled. Who gave this home the token trusts what the
// organisation publishes, so nothing of it waits for a review.
func IsPulled(home, id string) bool {
	all := map[string]Pulled{}
	err := read(home, "pulled", &all)
	n, errLinked := memory.At(home, id).Linked()
	return cmp.Or(err, errLinked) == nil && n > 0 && n <= all[id].Live
}

// SayPulled names what a home has pulled; empty if nothing.
func SayPulled(home string) string {
	all, said := map[string]Pulled{}, []string{}
	_ = read(home, "pulled", &all)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		is := all[id]
		said = append(said, fmt.Sprintf("the memory of %s, pulled from %s, generation %d of %s", is.Project, is.URL,
			is.Generation, is.At.Format(time.DateOnly)))
	}
	return strings.Join(said, "; ")
}

// PullMemory makes the newest generation that a hub has of a project the memory in a home, which keeps no sessions of
// its own, and returns the number; 0 if the home has it. Repeating it after a kill completes it.
func PullMemory(ctx context.Context, home string, h Hub, id, key string, scanner *secrets.Scanner) (int, error) {
	c, err := newClient(h, begins)
	if err != nil {
		return 0, err
	}
	all := map[string]Pulled{}
	if err := read(home, "pulled", &all); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	root := memory.At(home, id)
	live, err := liveOf(root)
	if err != nil {
		return 0, err
	}
	was := all[id]
	now := was
	now.URL, now.Project = c.url, key
	switch {
	case live.Generation > was.Live:
		return 0, memoir.Errorf(memoir.CodeUsage, "use another --home", "%s has a memory of its own", home)
	case len(live.Edited) > 0:
		return 0, memoir.Errorf(memoir.CodeChanged, "move your lines elsewhere and remove "+root.Dir(),
			"somebody edited the memory of %s here, so it stays", key)
	case live.Generation == 0 || was != now:
		now.ETag = ""
	}
	path := "/v1/archive?" + url.Values{"project": {key}}.Encode()
	res, body, err := c.request(ctx, http.MethodGet, path, nil, now.ETag)
	if err != nil || res.StatusCode == http.StatusNotModified {
		return 0, err
	}
	files, manifest, n, err := cleaned(body, key, scanner)
	if err != nil {
		return 0, memoir.Errorf(memoir.CodeHub, "", "the archive of %s is not valid: %w", c.url, err)
	}
	now.ETag, now.Generation, now.At = "", n, time.Now().UTC() // until it is whole, the next pull gets it again
	if now.Live, err = root.Next(n - 1); err == nil {
		all[id] = now
		err = write(home, "pulled", all)
	}
	if err == nil {
		err = replace(ctx, root, now.Live, files, manifest)
	}
	if err != nil {
		return 0, err
	}
	now.ETag = fmt.Sprintf(`"%x"`, sha256.Sum256(body))
	all[id] = now
	return n, write(home, "pulled", all)
}

// liveOf returns the live memory of a root after it removed what a killed pull left.
func liveOf(root memory.Root) (live memory.Snapshot, err error) {
	n, err := root.Linked()
	if err == nil {
		_, err = root.Recover(n)
	}
	if err == nil {
		live, err = root.Current()
	}
	return live, err
}

// replace publishes the files as generation n, and removes those before.
func replace(ctx context.Context, root memory.Root, n int, files memory.Files, m memory.Manifest) error {
	err := root.Stage(ctx, n, files, m)
	if err == nil {
		err = root.Swap(n)
	}
	if err == nil {
		_, err = root.Prune(1, time.Time{})
	}
	if err == nil {
		_, err = root.RemovePrevious()
	}
	return err
}

// cleaned returns what is kept of an archive, which may be from anybody, and its number: the memory, its statements and
// a summary with all of its lines, with their anchors. Skills stay away, since nobody here has accepted them, and so
// does what a person is said to want.
func cleaned(body []byte, key string, scanner *secrets.Scanner) (
	out memory.Files, m memory.Manifest, n int, err error) {
	files, theirs, err := memory.Unpack(bytes.NewReader(body))
	if err == nil && (theirs.Generation > 1e9 || len(body) > wire.MaxArchive) {
		err = errors.New("it is too large")
	}
	sessions, errStatements := memory.DecodeStatements(files[memory.StatementsFile])
	if err = cmp.Or(err, errStatements); err != nil {
		return nil, m, 0, err
	}
	text := withoutWishes(consolidate.Passive(memory.Neutralise(string(files[memoir.MemoryFile]))))
	out = memory.Files{memoir.MemoryFile: []byte(text), memoir.SummaryFile: []byte(consolidate.Pulled(key, text)),
		memory.StatementsFile: memory.EncodeStatements(tellable(sessions), memory.Neutralise)}
	if out, m.Redactions, err = out.Redacted(scanner.Session()); err != nil {
		return nil, m, 0, err
	}
	m.Lines = theirs.Lines
	m.Anchors = maps.Clone(theirs.Anchors)
	maps.DeleteFunc(m.Anchors, func(line string, anchors []memoir.Anchor) bool {
		return len(line) > 100 || len(anchors) > memoir.MaxAnchors ||
			slices.ContainsFunc(anchors, func(a memoir.Anchor) bool {
				return !a.Valid() || len(scanner.Find(line+"\n"+a.Path+"\n"+a.Text+"\n"+a.Key)) > 0
			})
	})
	return out, m, theirs.Generation, nil
}

// tellable returns what may be told of an archive's statements.
func tellable(sessions []memoir.Extraction) []memoir.Extraction {
	for i, e := range sessions {
		_, session := memoir.ReceivedGroup(e.SessionKey)
		sessions[i] = memoir.Extraction{EndedAt: e.EndedAt,
			SessionKey: memoir.ReceivedKey(wire.MemberName(memoir.MemberOf(e.SessionKey)), wire.MemberName(session))}
		sessions[i].Statements = slices.DeleteFunc(e.Statements, func(st memoir.Statement) bool {
			_, errDay := time.Parse(time.DateOnly, cmp.Or(st.At, time.DateOnly))
			return errDay != nil || wire.Said(st) || st.Kind == memoir.StatementClaim
		})
	}
	return sessions
}

func withoutWishes(text string) string {
	wishes := false
	return memory.Without(text, func(_ int, line string) bool {
		line = strings.TrimSpace(line)
		if memoir.IsHeading(line) && !strings.HasPrefix(line, "###") {
			wishes = consolidate.SaysWishes(line)
			return false
		}
		return wishes && line != ""
	})
}
