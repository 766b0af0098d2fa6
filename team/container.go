package team

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
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
	Fetched
	URL     string    `json:"url"`
	Project string    `json:"project"` // its key at the hub
	Live    int       `json:"live"`    // its generation here
	At      time.Time `json:"at"`      // when it was pulled
}

// pulled returns what a home has pulled, by project.
func pulled(home string) (all map[string]Pulled, err error) {
	all = map[string]Pulled{}
	err = read(home, "pulled", &all)
	return all, err
}

// IsPulled reports whether the live memory of a project was pulled. Who gave this home the token trusts what the
// organisation publishes, so nothing of it waits for a review.
func IsPulled(home, id string) bool {
	all, err := pulled(home)
	n, errLinked := memory.At(home, id).Linked()
	return cmp.Or(err, errLinked) == nil && n > 0 && n <= all[id].Live
}

// SayPulled names what a home has pulled; empty if nothing.
func SayPulled(home string) string {
	all, _ := pulled(home)
	said := []string{}
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
	all, errPulled := pulled(home)
	root := memory.At(home, id)
	live, errLive := liveOf(root)
	if err = cmp.Or(err, errPulled, errLive); err != nil {
		return 0, err
	}
	now := all[id]
	now.URL, now.Project = c.url, key
	switch {
	case live.Generation > now.Live:
		return 0, memoir.Errorf(memoir.CodeUsage, "use another --home", "%s has a memory of its own", home)
	case len(live.Edited) > 0:
		return 0, memoir.Errorf(memoir.CodeChanged, "move your lines elsewhere and remove "+root.Dir(),
			"somebody edited the memory of %s here, so it stays", key)
	case live.Generation == 0 || all[id] != now:
		now.ETag = ""
	}
	etag, content, err := c.archive(ctx, key, now.ETag)
	if err != nil || content == nil {
		return 0, err
	}
	files, manifest, err := cleaned(content, etag, scanner)
	if err != nil {
		return 0, err
	}
	now.Fetched = Fetched{Generation: manifest.Generation} // until it is whole, the next pull gets it again
	now.At = time.Now().UTC()
	if now.Live, err = root.Next(now.Generation - 1); err == nil {
		all[id] = now
		err = write(home, "pulled", all)
	}
	if err == nil {
		err = replace(ctx, root, now.Live, files, toTell(files, manifest, key, scanner))
	}
	if err != nil {
		return 0, err
	}
	now.ETag = etag
	all[id] = now
	return now.Generation, write(home, "pulled", all)
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

// toTell makes files of a hub those of a home in which nobody accepts lines: the memory, its statements, a summary with
// all of its lines, and their anchors. Skills stay away, and so does what a person is said to want.
func toTell(files memory.Files, theirs memory.Manifest, key string, scanner *secrets.Scanner) (m memory.Manifest) {
	text := withoutWishes(consolidate.Passive(string(files[memoir.MemoryFile])))
	sessions, _ := memory.DecodeStatements(files[memory.StatementsFile]) // our own form
	clear(files)
	files[memoir.MemoryFile], files[memoir.SummaryFile] = []byte(text), []byte(consolidate.Pulled(key, text))
	files[memory.StatementsFile] = memory.EncodeStatements(tellable(sessions), strings.Clone)
	m = memory.Manifest{Redactions: theirs.Redactions, Lines: theirs.Lines, Anchors: theirs.Anchors}
	maps.DeleteFunc(m.Anchors, func(line string, anchors []memoir.Anchor) bool {
		return len(line) > 100 || len(anchors) > memoir.MaxAnchors ||
			slices.ContainsFunc(anchors, func(a memoir.Anchor) bool {
				return !a.Valid() || len(scanner.Find(line+"\n"+a.Path+"\n"+a.Text+"\n"+a.Key)) > 0
			})
	})
	return m
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
