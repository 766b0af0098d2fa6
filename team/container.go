package team

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"path"
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

// newContainer returns a client of a hub that this home has not joined.
func newContainer(h Hub) (*client, error) {
	c, err := newClient(h, begins)
	if err == nil {
		c.again = "pull again"
		c.renew = "an operator adds another token with `memoir-hub token add`; a one-time code is for `memoir team join`"
	}
	return c, err
}

// NewSender returns a Sender that waits so before it sends a session again.
func NewSender(h Hub, wait func(ctx context.Context, d time.Duration) error) (*Sender, error) {
	c, err := newContainer(h)
	if err == nil {
		c.again = "push again: what was sent counts once"
		c.renew += "; " + c.again
	}
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

// Told returns what the hub said beside its last answer.
func (s *Sender) Told() Told { return s.c.told }

// Pulled is the memory of a project that a home has from a hub which it has not joined.
type Pulled struct {
	Fetched
	URL     string    `json:"url"`
	Project string    `json:"project"`          // its key at the hub
	Live    int       `json:"live"`             // its generation here
	At      time.Time `json:"at"`               // when it was pulled
	Expires time.Time `json:"expires"`          // the token that it was pulled with; zero: the hub has not said when
	Limited time.Time `json:"limited,omitzero"` // until when the hub waits with a newer one, for a spending limit
}

// ReadPulled returns what a home has pulled and still has, by project.
func ReadPulled(home string) (all map[string]Pulled, err error) {
	all = map[string]Pulled{}
	err = read(home, "pulled", &all)
	maps.DeleteFunc(all, func(id string, _ Pulled) bool {
		n, err := memory.At(home, id).Linked()
		return err == nil && n == 0
	})
	return all, err
}

// IsPulled reports whether the live memory of a project was pulled. Who gave this home the token trusts what the
// organisation publishes, so nothing of it waits for a review.
func IsPulled(home, id string) bool {
	all, err := ReadPulled(home)
	n, errLinked := memory.At(home, id).Linked()
	return cmp.Or(err, errLinked) == nil && n > 0 && n <= all[id].Live
}

// SayPulled names what a home has pulled; empty if nothing.
func SayPulled(home string) string {
	all, _ := ReadPulled(home)
	return strings.Join(memoir.Map(slices.Sorted(maps.Keys(all)), func(id string) string {
		return "the memory of " + all[id].Say()
	}), "; ")
}

// MayRun returns an error of code memoir.CodeUsage if a run would replace what a home has pulled.
func MayRun(home string) error {
	if pulled := SayPulled(home); pulled != "" {
		return memoir.Errorf(memoir.CodeUsage, "`memoir team pull` gets the newest; pass another --home for runs",
			"this home has %s, which a run would replace", pulled)
	}
	return nil
}

// Say names what was pulled, and where from.
func (p Pulled) Say() string {
	return fmt.Sprintf("%s, pulled from %s, generation %d of %s", p.Project, p.URL, p.Generation,
		p.At.Format(time.DateOnly))
}

// PullMemory makes the newest generation that a hub has of a project the memory in a home, which keeps no sessions of
// its own, and returns the number; 0 if the home has it. What the hub said is also there beside an error. Repeating it
// after a kill completes it.
func PullMemory(ctx context.Context, home string, h Hub, id, key string, scanner *secrets.Scanner) (
	n int, told Told, err error) {
	c, err := newContainer(h)
	if err == nil {
		n, err = c.pullMemory(ctx, home, id, key, scanner)
		told = c.told
	}
	return n, told, err
}

func (c *client) pullMemory(ctx context.Context, home, id, key string, scanner *secrets.Scanner) (int, error) {
	all, err := ReadPulled(home)
	root := memory.At(home, id)
	_, errRecover := root.Recover(0) // removes what a killed pull left
	live, errLive := root.Current()
	if err = cmp.Or(err, errRecover, errLive); err != nil {
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
	got, err := c.archive(ctx, key, now.ETag, false)
	if now.Expires, now.Limited = c.told.Expires, got.limited; err == nil && got.content == nil {
		all[id] = now
		err = write(home, "pulled", all)
	}
	if err != nil || got.content == nil {
		return 0, err
	}
	files, manifest, err := cleaned(got, scanner)
	if err != nil {
		return 0, err
	}
	now.Fetched = Fetched{Generation: manifest.Generation} // until it is whole, the next pull gets it again
	now.At = time.Now().UTC()
	files, manifest, err = alone(files, manifest, key)
	if err == nil {
		now.Live, err = root.Next(now.Generation - 1)
	}
	if err == nil {
		all[id] = now
		err = write(home, "pulled", all)
	}
	if err == nil {
		err = replace(ctx, root, now.Live, files, manifest)
	}
	if err != nil {
		return 0, err
	}
	now.ETag = got.etag
	all[id] = now
	return now.Generation, write(home, "pulled", all)
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

// alone returns the memory of a home that has only what a hub made. Nobody there can refuse a statement, so those that
// no line shows stay away: a member may have removed the line, or it was not there to be reviewed.
func alone(files memory.Files, m memory.Manifest, key string) (memory.Files, memory.Manifest, error) {
	sessions, err := memory.DecodeStatements(files[memory.StatementsFile])
	base := consolidate.Base{Memory: files.Consolidation(), Sessions: sessions}
	base.Memory.Citations, base.Memory.Edited, base.Relative = m.Citations, m.Edited, memory.Neutralise
	made := base.Alone(memoir.Project{Name: path.Base(key), Remote: key})
	out, errLayout := memory.Layout(made,
		memory.Files{memory.StatementsFile: memory.EncodeStatements(base.Shown(made), memory.Neutralise)})
	return out, memory.Manifest{Redactions: m.Redactions, Citations: made.Citations, Lines: made.Lines,
		Anchors: made.Anchors}, cmp.Or(err, errLayout)
}
